// One message: who, when, what, reactions, replies, and what can be done with it.

import { avatar, el, icon, shortTimeOf, timeOf, toast } from "./dom.js";
import { renderBlocks, task } from "./blocks.js";
import { emoji, REACTIONS } from "./emoji.js";
import { markdown, mrkdwn } from "./format.js";

const BADGES = { guest: "Guest", single_channel_guest: "Guest", external: "External", bot: "App", deactivated: "Deactivated" };
const NOTICES = { channel_join: 1, channel_leave: 1, channel_convert_to_private: 1, channel_convert_to_public: 1 };

// hooks: {pressed: Map, openThread(ts), inThread: bool}
export function renderMessage(message, store, hooks, { joined = false } = {}) {
  const person = store.person(message.user) || { id: message.user, name: "workspace", real_name: "This workspace", kind: "notice" };
  const classes = ["message", joined && "joined", person.kind === "bot" && "of-app", message.private && "private", NOTICES[message.subtype] && "notice"];
  return el("article", {
    class: classes.filter(Boolean).join(" "), tabindex: "-1", "data-ts": message.ts,
    "aria-label": `${person.real_name}, ${timeOf(message.ts)}`, "aria-busy": message.stream?.open ? "true" : null,
  },
  joined ? el("time", { class: "gutter", title: timeOf(message.ts) }, shortTimeOf(message.ts)) : avatar(person),
  el("div", { class: "message-body" },
    message.private ? el("p", { class: "only-you" }, icon("eye"), "Only visible to you") : null,
    joined ? null : byline(person, message),
    content(message, store, hooks),
    files(message, store),
    reactions(message, store),
    summary(message, store, hooks)),
  message.private || NOTICES[message.subtype] ? null : toolbar(message, store, hooks));
}

function byline(person, message) {
  const badge = BADGES[person.kind];
  return el("header", {}, el("strong", { class: "author" }, person.real_name || person.name),
    badge ? el("span", { class: `badge ${person.kind}` }, badge) : null,
    el("time", { datetime: new Date(Number(message.ts) * 1000).toISOString() }, timeOf(message.ts)));
}

function content(message, store, hooks) {
  const context = {
    store, pressed: hooks.pressed, prefix: message.ts,
    act: (block, element, value) => store.act("click", {
      user: store.me, channel: message.channel, ts: message.ts, action_id: element.action_id, block_id: block.block_id, value,
    }).catch((error) => toast(error.message)),
  };
  const nodes = [];
  if (message.stream) nodes.push(...streamed(message.stream, context));
  if (message.blocks?.length) nodes.push(...renderBlocks(message.blocks, context));
  if (!nodes.length && message.text) nodes.push(...mrkdwn(message.text, store.names));
  if (message.edited) nodes.push(el("span", { class: "edited" }, "(edited)"));
  return el("div", { class: "content" }, nodes);
}

function streamed(stream, context) {
  const names = context.store.names;
  const tasks = new Map();
  let text = "";
  const blocks = [];
  let plan = null;
  for (const chunk of stream.chunks) {
    if (chunk.type === "markdown_text") text += chunk.text;
    if (chunk.type === "task_update") tasks.set(chunk.id, { ...tasks.get(chunk.id), ...chunk });
    if (chunk.type === "plan_update") plan = chunk.title;
    if (chunk.type === "blocks") blocks.push(...chunk.blocks);
  }
  const nodes = [];
  if (plan) nodes.push(el("strong", {}, plan));
  for (const each of tasks.values()) nodes.push(task(each, names));
  if (text) nodes.push(el("div", { class: "block block-markdown" }, markdown(text, names)));
  nodes.push(...renderBlocks(blocks, context));
  if (stream.open) nodes.push(el("span", { class: "writing", role: "img", "aria-label": "still writing" }));
  return nodes;
}

function files(message, store) {
  if (!message.files?.length) return null;
  return el("div", { class: "files" }, message.files.map((file) => {
    const address = store.file(file.id);
    if (file.mimetype.startsWith("image/")) {
      return el("figure", {}, el("figcaption", {}, file.title), el("img", { src: address, alt: file.alt_txt || file.title, loading: "lazy" }));
    }
    return el("a", { class: "file", href: address, download: file.name }, icon("clip"), file.title, el("small", {}, ` ${kilobytes(file.size)}`));
  }));
}

function kilobytes(bytes) {
  return bytes < 1024 ? `${bytes} B` : bytes < 1048576 ? `${Math.round(bytes / 1024)} KB` : `${(bytes / 1048576).toFixed(1)} MB`;
}

function reactions(message, store) {
  if (!message.reactions?.length) return null;
  return el("div", { class: "reactions" }, message.reactions.map(({ name, users }) => {
    const mine = users.includes(store.me);
    const who = users.map((user) => store.person(user)?.real_name || user).join(", ");
    return el("button", {
      type: "button", class: "reaction", "aria-pressed": String(mine), title: `${who} reacted with :${name}:`,
      "aria-label": `${name}, ${users.length}. ${mine ? "Withdraw" : "React too"}`,
      onclick: () => react(store, message, name, mine),
    }, emoji(name), el("span", {}, ` ${users.length}`));
  }));
}

export function react(store, message, name, withdraw) {
  store.act(withdraw ? "unreact" : "react", { user: store.me, channel: message.channel, ts: message.ts, name })
    .catch((error) => toast(error.message));
}

function summary(message, store, hooks) {
  if (hooks.inThread) return null;
  const status = hooks.statuses?.get(message.ts);
  const nodes = [];
  if (status?.text) nodes.push(statusLine(status, store));
  if (message.reply_count) {
    const faces = message.reply_users.slice(0, 4).map((user) => store.person(user)).filter(Boolean).map((person) => avatar(person, "small"));
    nodes.push(el("button", { type: "button", class: "replies", onclick: () => hooks.openThread(message.ts) }, faces,
      el("span", {}, message.reply_count === 1 ? "1 reply" : `${message.reply_count} replies`), el("small", {}, `last at ${timeOf(message.latest_reply)}`)));
  }
  return nodes;
}

export function statusLine(status, store) {
  return el("p", { class: "status-line", role: "status" }, el("span", { class: "dots", "aria-hidden": "true" }),
    `${store.workspace.bot.name} ${status.text}`);
}

function toolbar(message, store, hooks) {
  const own = message.user === store.me;
  const tools = [
    tool("smile", "Add a reaction", (event) => pickReaction(event.currentTarget, store, message)),
    hooks.inThread ? null : tool("reply", "Reply in thread", () => hooks.openThread(message.ts)),
  ];
  const more = store.workspace.shortcuts.filter((each) => each.kind === "message").map((each) => [each.name, () =>
    store.act("shortcut", { user: store.me, callback_id: each.id, channel: message.channel, ts: message.ts })]);
  more.push(["Copy link", () => navigator.clipboard.writeText(`${location.origin}/archives/${message.channel}/p${message.ts.replace(".", "")}`)]);
  if (own) {
    more.push(["Edit message", () => hooks.edit(message)]);
    more.push(["Delete message", () => store.act("delete", { user: store.me, channel: message.channel, ts: message.ts })]);
  }
  tools.push(tool("more", "More actions", (event) => menu(event.currentTarget, more)));
  return el("div", { class: "toolbar", role: "toolbar", "aria-label": "Message actions" }, tools);
}

function tool(name, label, act) {
  return el("button", { type: "button", "aria-label": label, title: label, onclick: act }, icon(name));
}

function pickReaction(anchor, store, message) {
  const close = popover(anchor, el("div", { class: "picker", role: "menu", "aria-label": "Reactions" }, REACTIONS.map((name) =>
    el("button", { type: "button", role: "menuitem", "aria-label": name, title: `:${name}:`, onclick: () => { close(); react(store, message, name, false); } }, emoji(name)))));
}

export function menu(anchor, entries) {
  const close = popover(anchor, el("div", { class: "menu", role: "menu" }, entries.map(([label, act]) =>
    el("button", { type: "button", role: "menuitem", onclick: async () => { close(); try { await act(); } catch (error) { toast(error.message); } } }, label))));
}

// A small panel by its button: arrow keys move, Escape and a click elsewhere close it, focus returns.
export function popover(anchor, panel) {
  document.querySelector(".popover")?.dispatchEvent(new Event("dismiss"));
  const box = el("div", { class: "popover" }, panel);
  document.body.append(box);
  const place = anchor.getBoundingClientRect();
  const size = box.getBoundingClientRect();
  box.style.left = `${Math.max(8, Math.min(place.left, innerWidth - size.width - 8))}px`;
  box.style.top = `${place.bottom + size.height + 8 < innerHeight ? place.bottom + 4 : Math.max(8, place.top - size.height - 4)}px`;
  const items = () => [...box.querySelectorAll("button, input, a")];
  const outside = (event) => { if (!box.contains(event.target)) close(false); };
  function close(refocus = true) {
    box.remove();
    document.removeEventListener("pointerdown", outside);
    anchor.setAttribute("aria-expanded", "false");
    if (refocus) anchor.focus();
  }
  box.addEventListener("dismiss", () => close(false));
  box.addEventListener("keydown", (event) => {
    const list = items();
    const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
    if (event.key === "Escape") { event.stopPropagation(); close(); }
    if (event.key === "Tab") close(false);
    if (step) {
      event.preventDefault();
      list[(list.indexOf(document.activeElement) + step + list.length) % list.length].focus();
    }
  });
  anchor.setAttribute("aria-expanded", "true");
  document.addEventListener("pointerdown", outside);
  (box.querySelector("[aria-checked=true]") || items()[0])?.focus();
  return close;
}
