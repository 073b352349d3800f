"""views.*: modals by trigger, Home tabs by user."""

from typing import Any

from bot.local_slack.arguments import Arguments
from bot.local_slack.changes import ViewChanged
from bot.local_slack.errors import ApiError
from bot.local_slack.methods.registry import method
from bot.local_slack.state import State
from bot.local_slack.validation import check_view
from bot.local_slack.views import MODAL_DEPTH, new_view

Json = dict[str, Any]


@method("views.open", tier="4")
def views_open(state: State, arguments: Arguments) -> Json:
    view = _view(arguments, "modal")
    user = state.interactions.exchange(arguments.required("trigger_id"), state.clock.now())
    shown = _new(state, view)
    state.views.modals[user] = [shown]
    state.tell(ViewChanged(user))
    return {"view": shown}


@method("views.push", tier="4")
def views_push(state: State, arguments: Arguments) -> Json:
    view = _view(arguments, "modal")
    user = state.interactions.exchange(arguments.required("trigger_id"), state.clock.now())
    shown = push(state, user, view)
    return {"view": shown}


@method("views.update", tier="4")
def views_update(state: State, arguments: Arguments) -> Json:
    view = arguments.structure("view") or {}
    check_view(view)
    found = state.views.find(view_id=arguments.text("view_id"), external_id=arguments.text("external_id"))
    if found is None:
        raise ApiError("not_found")
    user, old = found
    if arguments.text("hash") not in ("", old["hash"]):
        raise ApiError("hash_conflict")
    return {"view": update(state, user, old, view)}


@method("views.publish", tier="4")
def views_publish(state: State, arguments: Arguments) -> Json:
    view = _view(arguments, "home")
    user = arguments.required("user_id")
    if user not in state.people:
        raise ApiError("user_not_found")
    old = state.views.homes.get(user)
    if old and arguments.text("hash") not in ("", old["hash"]):
        raise ApiError("hash_conflict")
    shown = _new(state, view)
    if old:
        shown["id"] = old["id"]
    state.views.homes[user] = shown
    state.tell(ViewChanged(user))
    return {"view": shown}


def push(state: State, user: str, view: Json) -> Json:
    """Put a modal on top of the open ones. Raises ApiError("push_limit_reached")."""
    stack = state.views.modals.setdefault(user, [])
    if len(stack) >= MODAL_DEPTH:
        raise ApiError("push_limit_reached")
    shown = _new(state, view, root=stack[0]["id"] if stack else None)
    shown["previous_view_id"] = stack[-1]["id"] if stack else None
    stack.append(shown)
    state.tell(ViewChanged(user))
    return shown


def update(state: State, user: str, old: Json, view: Json) -> Json:
    """Show `view` in place of `old`, keeping its id and its place in the stack."""
    shown = _new(state, view, root=old["root_view_id"])
    shown |= {"id": old["id"], "previous_view_id": old["previous_view_id"]}
    state.views.replace(user, old, shown)
    state.tell(ViewChanged(user))
    return shown


def _new(state: State, view: Json, root: str | None = None) -> Json:
    return new_view(view, team=state.team.id, app=state.bot.app_id, bot=state.bot.bot_id, root=root)


def _view(arguments: Arguments, kind: str) -> Json:
    view = arguments.structure("view")
    if not isinstance(view, dict) or view.get("type") != kind:
        message = f"[ERROR] view must be of type {kind}"
        raise ApiError("invalid_arguments", response_metadata={"messages": [message]})
    check_view(view)
    return view
