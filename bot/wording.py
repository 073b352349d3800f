"""Every sentence that a person reads in Slack, in one place, so that another language is one more file like this.

Short and plain; no exception text; ids only where they help an administrator to find the log line.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from bot.check import counted
from knowledge.outcomes import SyncOutcome

STATUS = "is looking in the documents…"
PROMPTS = "You can ask me, for example:"
ASK_HELP = "What can you do?"
NO_CHANNEL = "private-channel"
"""In place of the name of a channel that not everyone who reads it may know."""
COMMAND_RECEIVED = "On it. I will report here, only to you."

FEEDBACK_YES = "Helpful"
FEEDBACK_NO = "Not right"
SOURCES = "Sources"

HELP = (
    "Ask me anything that is written down, in your own words: mention me in a channel, or write to me directly. "
    "I answer in the thread, name my sources, and only use documents that everyone who reads the answer may open. "
    "Ask on in that thread: there I know what we spoke of. "
    "In a direct message I can use everything *you* may open. If an answer is not right, press *Not right*: that is how I learn."
)

FACTS_UNKNOWN = "I cannot check right now who may read what, so I have not looked at any document. Please ask again in a few minutes."
NOTHING_ALLOWED_PERSON = "I cannot answer you here: your account may not read this workspace's documents through me."
NOTHING_ALLOWED_PLACE = (
    "I cannot answer in this conversation, because I do not know for sure who reads it. Ask me in a direct message."
)
CHANGED_MEANWHILE = "While I was writing, who may read this conversation or its documents changed, so I have kept the answer back. Please ask again."
CHECKING_AGAIN = "_Who may read this changed while I was writing; I am checking again…_"

QUOTED = "In the documents' own words:"
NOTICES = {
    "unavailable": "The answering service does not respond right now.",
    "over_budget": "Today's budget for written answers is used up.",
    "declined": "I could not write an answer to this.",
    "unverified": "I could not write an answer that the documents support word for word.",
    "cut_short": "This answer was cut short; what is here was checked.",
}
"""By `knowledge.answers.Notice`."""
ABSTAINED = "I found no answer to this in the documents that everyone here may open."
ABSTAINED_DIRECT = "I found no answer to this in the documents that you may open."
IN_ENGLISH = "The documents nearest to it are in English: the same question in English may find more."
NEAREST = "The nearest I found:"
SERVICE_FAILED = (
    "The answering service does not respond right now, and no single sentence of the documents answers this."
)

PRIVATE_REMAINDER = "Only you see this: documents that not everyone here may open seem to answer this better."
SHOW_PRIVATELY = "Show me privately"
NOT_YOURS = "Only the person who asked can use this button."
ANSWER_GONE = "That answer is not there any more."
CANNOT_REPLY = "I cannot write any more in the conversation where you asked me: it was archived, or I was removed from it. Ask me here."
SENT_PRIVATELY = "I have answered you in a direct message."
SHARE = "Share in the channel"
SHARED = "I have answered again in the channel's thread, from documents that everyone there may open."
NOTHING_TO_SHARE = (
    "I asked again with what everyone in that channel may open. That adds nothing to what I said there, "
    "so I have posted nothing."
)
CANNOT_SHARE = "I cannot post in that channel for you any more, so I have posted nothing."

ASK_SOURCE = "Thank you for telling me. Which source would have been right? One tap helps the next person."
CANNOT_VOTE = "Only people who can read this answer can rate it."
NOT_IN_DOCUMENTS = "It is not in the documents"
OTHER_SOURCE = "Another document…"
NAME_SOURCE_TITLE = "Which document?"
NAME_SOURCE_LABEL = "Its title, or a link to it"
NAME_SOURCE_HINT = "I look among the documents that you may open."
SAVE = "Save"
CANCEL = "Cancel"
LABEL_THANKS = "Thank you. I have put this forward; somebody who looks after the documents will check it."
NOTHING_FOUND = "The search found nothing that you may read today."
NOT_AN_ANSWER = "This shortcut works on my answers. It changes nothing elsewhere."
LABEL_LIMIT = "Thank you. You have put forward a lot today; I will take more from you tomorrow."

WITHDRAWN_QUESTION = "_The question was deleted, so I have taken my answer back._"
WITHDRAWN_SOURCE = "_A document that this answer relied on is no longer available here, so I have taken the answer back. Ask again for a new one._"

ADMINS_ONLY = "Only administrators can do this."
NO_SOURCES = "There is no source that you may know of."


def doubtful(missing: Sequence[str], unanswered: Sequence[str] = ()) -> str:
    """Before quotes that may not answer. `missing`: what the question names and nothing that was found has. `unanswered`: of
    several questions those for which nothing was found.
    """
    whys = [f"nothing I found mentions {' or '.join(f'`{name}`' for name in missing)}"] if missing else []
    whys += [f"I found nothing for {' and '.join(f'“{question}”' for question in unanswered)}"] if unanswered else []
    because = f": {', and '.join(whys)}" if whys else ""
    what = "all of it" if unanswered else "it"
    return f"I am not sure that this answers {what}{because}. The nearest, in the documents' own words:"


def failed(error_id: str) -> str:
    return f"Something went wrong on my side and I could not do this. If it happens again, tell an administrator the id `{error_id}`."


def ask_about(title: str) -> str:
    """Said to the bot by whoever taps on a document that is offered: in words that no document is searched for."""
    return f"What is “{title}” about?"


def part(number: int, of: int) -> str:
    return f"Part {number} of {of}"


def date(moment: datetime) -> str:
    return f"{moment.day} {moment:%b %Y}"


def last_changed(days: int) -> str:
    """Of a document that has not changed for longer than its source trusts it."""
    months = round(days / 30.44)
    count, unit = (days, "day") if days < 61 else (months, "month") if days < 730 else (days // 365, "year")
    return f"last changed {count} {unit}{'s' if count != 1 else ''} ago"


def changed_since(count: int) -> str:
    """Of the passages that were given to answer from: so many are not there any more for whoever looks."""
    return f"{count} of what was given {'has changed or is' if count == 1 else 'have changed or are'} gone since."


def private_answer(question: str) -> str:
    return f"You asked: {question}"


def unknown_document(named: str, nearest: Sequence[str] = ()) -> str:
    """`nearest`: titles that may have been meant."""
    meant = " or ".join(f"“{title}”" for title in nearest)
    hint = f"Did you mean {meant}?" if meant else "Check the title, or paste its link."
    return f"I found no document called “{named}” that you may open. {hint}"


def which_document(named: str) -> str:
    return f"More than one document fits “{named}”. Which one?"


def unknown_source(name: str, known: Sequence[str]) -> str:
    return f"There is no source “{name}”. There are: {', '.join(known)}; or all, or status."


def reindex_usage(known: Sequence[str]) -> str:
    return (
        "`/reindex` or `/reindex all` reads the documents of every source again, `/reindex SOURCE` those of one, and "
        f"`/reindex status` tells when each was read last. The sources are: {', '.join(known)}."
    )


def already_running(name: str) -> str:
    return f"{name} is being read already; I will not start it twice."


def index_building(model: str, share: float) -> str:
    return f"The index of the model {model} is being built: {share:.0%}. Until it is whole the one before serves."


def index_held(model: str) -> str:
    return (
        f"The index of the model {model} is whole but does not serve: it did not prove to find as many of the accepted "
        "questions as the one before. `footnote sync --full` says how many, and what can be done."
    )


def source_not_in_settings(name: str) -> str:
    return f"*{name}* is not in the settings any more; its documents stay until `footnote sync --remove {name}`."


def sync_progress(name: str, done: int, total: int) -> str:
    return f"Reading {name}: {done} of {total} documents…"


def sync_outcome(done: SyncOutcome) -> str:
    counts = {
        "added": done.added,
        "changed": done.changed,
        "with other readers": done.narrowed,
        "removed": done.deleted,
        "not readable": done.unreadable,
    }
    said = [f"{count} {what}" for what, count in counts.items() if count] or ["nothing new"]
    return f"*{done.name}*: {', '.join(said)}, {done.same} unchanged, in {done.ms / 1000:.1f} s."


def sync_failed(name: str, error_id: str) -> str:
    return f"*{name}* could not be read; nothing of it was removed. The log has the reason under `{error_id}`."


def sync_outdated(name: str, why: str) -> str:
    return f":warning: *{name}*: {why}."


def sync_unreadable(count: int) -> str:
    return f"{count} document{'s' if count != 1 else ''} could not be read, or only in part:"


def hidden_failures(count: int) -> str:
    return f"{count} document{'s' if count != 1 else ''} that you may not open could not be read, or only in part."


def ago(moment: datetime | None, now: datetime) -> str:
    """How long ago, roughly, in words."""
    if moment is None:
        return "never"
    past = now - moment
    for unit, name in ((timedelta(days=1), "day"), (timedelta(hours=1), "hour"), (timedelta(minutes=1), "minute")):
        if past >= unit:
            count = past // unit
            return f"{count} {name}{'s' if count != 1 else ''} ago"
    return "just now"


HOME_TITLE = "What I can search for you"
HOME_HOW = "How to ask"
HOME_RECENT = "Your recent questions"
HOME_NONE = "Nothing yet. Mention me in a channel, or write to me in *Messages*."
HOME_NO_ACCESS = "There is nothing that I may search for you. Ask an administrator if you expected something else."
HOME_ADMIN = "For administrators"
HOME_REINDEX = "Read all documents again"
HOME_NIGHTLY = "Run the nightly evaluation now"
HOME_REVIEW = "Questions to review"
HOME_CHANNELS_NOTE = "In a channel I use less: only what everybody who can read that channel may open."
REJECT = "Reject"


def home_source(name: str, documents: int, synced: str) -> str:
    return f"*{name}* · {documents} document{'s' if documents != 1 else ''} · last read {synced}"


def home_failure(name: str, reason: str) -> str:
    return f":warning: *{name}*: {reason}"


def home_health(waiting: int, failed_today: int) -> str:
    return f"{waiting} question{'s' if waiting != 1 else ''} waiting · {failed_today} failed in the last day"


CHART_TITLE = "Recall and MRR of the last nights"
NIGHTLY_BEGUN = "I am measuring the reviewed questions. This takes a minute; I will tell you here when it is done."
NIGHTLY_RUNNING = "The reviewed questions are being measured already; I will not start that twice."


def nightly_posted(channel: str) -> str:
    return f"The reviewed questions are measured, and the digest is in <#{channel}>."


def nightly_measured(recall: float | None, questions: int) -> str:
    """Where there is no channel for the digest. `recall`: recall@5 over so many `questions`; None when there are none."""
    figure = "there is none yet that could be looked for in the documents"
    if recall is not None:
        figure = f"recall@5 is {recall:.0%} over {counted(questions, 'question')}"
    unset = "`schedule.digest_channel` in footnote.toml names no channel, so no digest was posted"
    return f"The reviewed questions are measured: {figure}. {unset}."


def nightly_failed(error_id: str) -> str:
    return f"The nightly evaluation did not come to its end. The log has the reason under `{error_id}`."
