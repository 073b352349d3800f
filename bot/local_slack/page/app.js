// The page: puts sidebar, conversation, thread and the app's surfaces together.

import { Composer } from "./composer.js";
import { avatar, el, icon, toast } from "./dom.js";
import { popover, statusLine } from "./message.js";
import { called, nameOf, renderSidebar, role, sign } from "./sidebar.js";
import { Store } from "./store.js";
import { Timeline } from "./timeline.js";
import { Modal, isDrawn, renderHome } from "./views.js";

const store = new Store();
const places = Object.fromEntries(["app", "sidebar", "conversation", "thread"].map((id) => [id, document.getElementById(id)]));
const modal = new Modal(store);
// What is being written, by place: it stays when the place is drawn anew, closed with Escape, or seen as somebody else.
const drafts = new Map();
const shown = { channel: null, tab: "messages", thread: null, statuses: new Map(), pressed: new Map() };

store.follow = (url) => {
  const [, channel, packed] = new URL(url).pathname.match(/^\/archives\/(\w+)\/p(\d+)/) || [];
  const root = new URL(url).searchParams.get("thread_ts");
  const ts = packed && `${packed.slice(0, -6)}.${packed.slice(-6)}`;
  if (channel) openChannel(channel).then(() => (root ? openThread(root, ts) : shown.timeline?.highlight(ts)));
};

function hooks(inThread) {
  return { pressed: shown.pressed, statuses: shown.statuses, inThread, openThread, edit };
}

// where one is

function remember() {
  const place = new URLSearchParams({ as: store.me, c: shown.channel || "" });
  if (shown.thread) place.set("t", shown.thread);
  if (shown.tab === "home") place.set("tab", "home");
  history.replaceState(null, "", `/#${place}`);
}

async function start() {
  const place = new URLSearchParams(location.hash.slice(1));
  const link = location.pathname.startsWith("/archives/") ? location.href : null;
  const people = await fetch("/_page/people").then((response) => response.json());
  const first = people.find((person) => person.id === place.get("as")) || people[0];
  await become(first.id, { channel: place.get("c"), thread: place.get("t"), tab: place.get("tab") });
  if (link) store.follow(link);
}

async function become(person, wanted = {}) {
  const before = shown.channel;
  const old = before && store.channel(before);
  const writingAt = old && placeOf(old);
  const left = old ? called(old, store) : "that channel";
  await store.become(person);
  if (store.me !== person) return;
  closeThread();
  shown.pressed = new Map();
  const readable = (id) => id && store.channel(id);
  const home = store.workspace.channels.find((channel) => channel.members.includes(person) && channel.members.includes(store.workspace.bot.id));
  const target = [wanted.channel, before && before === dmOfBefore ? store.workspace.dm : before, home?.id, store.workspace.channels[0]?.id].find(readable);
  if (before && before !== dmOfBefore && !readable(before)) toast(`${store.person(person).real_name} cannot see ${left}.`);
  dmOfBefore = store.workspace.dm;
  drawSidebar();
  modal.update();
  if (target) await openChannel(target, { tab: wanted.tab || "messages", quiet: true, from: writingAt });
  else places.conversation.replaceChildren(el("p", { class: "nothing" }, "There is nothing this person can see here."));
  if (wanted.thread) await openThread(wanted.thread);
}
let dmOfBefore = null;

// drawing

function drawSidebar() {
  const focused = document.activeElement?.dataset?.channel;
  places.sidebar.replaceChildren(...renderSidebar(store, shown.channel, { open: openChannel, become: (person) => become(person).catch((error) => toast(error.message)) }));
  if (focused) places.sidebar.querySelector(`[data-channel="${focused}"]`)?.focus();
}

async function openChannel(id, { tab = "messages", quiet = false, from = null } = {}) {
  const channel = store.channel(id);
  if (!channel) { toast("That conversation is not visible to you."); return; }
  if (id !== shown.channel || tab === "home") closeThread();
  const changed = id !== shown.channel || tab !== shown.tab || quiet;
  shown.channel = id;
  shown.tab = tab;
  store.unread.delete(id);
  places.app.classList.remove("menu-open");
  const timeline = new Timeline(store, `Messages in ${nameOf(channel, store)}`, (message) =>
    message.channel === id && (!message.thread_ts || message.thread_ts === message.ts), hooks(false));
  shown.timeline = timeline;
  const document_ = await store.read("channel", { channel: id });
  if (shown.timeline !== timeline) return;
  shown.statuses = new Map(document_.statuses.map((status) => [status.thread_ts, status]));
  if (from) carry(from, placeOf(channel));
  drawConversation(channel, document_);
  drawSidebar();
  remember();
  if (channel.kind === "im" && changed) store.act("open_home", { user: store.me, tab }).catch(() => {});
  document.title = `${called(channel, store)} · ${store.workspace.team.name} (local)`;
  if (!quiet && innerWidth > 760) shown.composer?.field.focus();
}

function placeOf(channel, thread = "") { return `${channel.kind === "im" ? "im" : channel.id}/${thread}`; }

// Somebody who cannot see the channel goes on writing where they arrive.
function carry(from, to) {
  if (from === to || !drafts.has(from) || drafts.has(to)) return;
  drafts.set(to, drafts.get(from));
  drafts.delete(from);
}

function drawConversation(channel, document_) {
  const home = channel.kind === "im" && shown.tab === "home";
  const writing = shown.composer && document.activeElement === shown.composer.field;
  const label = `Message ${called(channel, store)}`;
  shown.composer = channel.writable && !home ? new Composer(store, label, sender(channel.id), drafts, placeOf(channel)) : null;
  places.conversation.replaceChildren(header(channel), home ? renderHome(store) : shown.timeline.node,
    ...(home ? [] : [el("div", { class: "foot" }, prompts(channel, document_.prompts), shown.composer?.node || closed(channel))]));
  shown.timeline.hooks.statuses = shown.statuses;
  if (!home) shown.timeline.load(document_);
  if (!home && !document_.messages.length) shown.timeline.rows.append(welcome(channel));
  shown.composer?.grow();
  if (writing) shown.composer?.field.focus();
}

function header(channel) {
  const bot = store.person(store.workspace.bot.id);
  const tabs = channel.kind === "im" ? el("div", { class: "tabs", role: "tablist" }, ["messages", "home"].map((tab) => el("button", {
    type: "button", role: "tab", "aria-selected": String(shown.tab === tab), onclick: () => openChannel(channel.id, { tab }),
  }, tab === "home" ? "Home" : "Messages"))) : null;
  return el("header", { class: "top" },
    el("button", { type: "button", class: "tool open-menu", "aria-label": "Channels", "aria-controls": "sidebar", onclick: () => places.app.classList.toggle("menu-open") }, icon("menu")),
    el("h1", {}, sign({ ...channel, person: channel.kind === "im" ? bot : null }), nameOf(channel, store)),
    el("p", { class: "topic" }, channel.topic), tabs,
    channel.kind === "im" ? null : el("button", { type: "button", class: "members", "aria-haspopup": "menu", "aria-expanded": "false", "aria-label": `${channel.members.length} members`, onclick: (event) => showMembers(event.currentTarget, channel) },
      icon("people"), String(channel.members.length)));
}

function showMembers(anchor, channel) {
  const people = channel.members.map((id) => store.person(id)).filter(Boolean);
  popover(anchor, el("div", { class: "menu people", tabindex: "-1", "aria-label": "Members" }, people.map((person) =>
    el("div", { class: "member-row" }, avatar(person), el("span", {}, el("strong", {}, person.real_name), el("small", {}, [role(person), person.title].filter(Boolean).join(" · ")))))));
}

function prompts(channel, own) {
  const inside = channel.members.includes(store.workspace.bot.id) && channel.writable;
  const chips = own.length ? own : store.workspace.prompts;
  if (!inside || !chips.length) return null;
  const mention = channel.kind === "im" ? "" : `@${store.workspace.bot.name} `;
  return el("div", { class: "prompts", role: "group", "aria-label": "Things to ask" }, el("small", {}, "Try"), chips.map((prompt) =>
    el("button", { type: "button", class: "prompt", title: prompt.message, onclick: () => sender(channel.id)(mention + prompt.message).catch((error) => toast(error.message)) }, prompt.title)));
}

// The app may suggest others once a conversation is open.
function drawPrompts(own) {
  const foot = places.conversation.querySelector(".foot");
  foot?.querySelector(".prompts")?.remove();
  foot?.prepend(...[prompts(store.channel(shown.channel), own)].filter(Boolean));
}

function closed(channel) {
  const join = () => store.act("join", { user: store.me, channel: channel.id }).catch((error) => toast(error.message));
  if (channel.archived) return el("p", { class: "closed" }, "This channel is archived. It can be read, but nobody can write here.");
  return el("p", { class: "closed" }, `You are reading ${called(channel, store)} without being in it. `, el("button", { type: "button", class: "button", onclick: join }, "Join channel"));
}

function welcome(channel) {
  const bot = store.workspace.bot.name;
  const here = channel.members.includes(store.workspace.bot.id);
  return el("div", { class: "nothing" }, el("strong", {}, channel.kind === "im" ? `This is the beginning of your conversation with ${channel.name}.` : `Nothing has been said in ${called(channel, store)} yet.`),
    el("p", {}, channel.kind === "im" ? "Ask it something." : here ? `Ask @${bot} a question here and everybody in the channel sees the answer.` : `@${bot} is not in this channel.`));
}

// writing

function sender(channel, thread_ts = null) {
  return async (text, file) => {
    const place = { user: store.me, channel };
    if (file) return store.act("upload", { ...place, ...file, text });
    const [command, argument = ""] = text.split(/\s+/, 2);
    if (command === "/leave") return store.act("leave", place);
    if (command === "/invite") return store.act("join", { user: argument, channel, inviter: store.me });
    if (text.startsWith("/") && !thread_ts) return store.act("command", { ...place, text });
    return store.act("type", { ...place, text, thread_ts });
  };
}

// The app answers in a channel only when it is mentioned; a question that it does not see should not wait for it.
function hint(message) {
  const { bot } = store.workspace;
  const channel = store.channel(message.channel);
  const unseen = channel.kind !== "im" && channel.members.includes(bot.id) && !message.text.includes(`<@${bot.id}>`);
  if (unseen && message.text.trim().endsWith("?")) toast(`Mention @${bot.name} if it should answer.`);
}

function edit(message) {
  const field = el("textarea", { rows: 4, "aria-label": "Your message" });
  field.value = message.text;
  const dialog = el("dialog", { class: "modal", "aria-label": "Edit message", onclose: () => dialog.remove() },
    el("form", { onsubmit: (event) => { event.preventDefault(); save(); } },
      el("header", {}, el("h2", {}, "Edit message")),
      el("div", { class: "modal-body block-input" }, field),
      el("footer", {}, el("button", { type: "button", class: "button", onclick: () => dialog.close() }, "Cancel"),
        el("button", { type: "submit", class: "button primary" }, "Save"))));
  const save = async () => {
    const text = field.value.trim();
    try {
      if (text && text !== message.text) await store.act("edit", { user: store.me, channel: message.channel, ts: message.ts, text });
      dialog.close();
    } catch (error) {
      toast(error.message);
    }
  };
  document.body.append(dialog);
  dialog.showModal();
}

// threads

async function openThread(root, highlight = null) {
  shown.thread = root;
  const channel = store.channel(shown.channel);
  const timeline = new Timeline(store, "Thread", (message) => message.channel === channel.id && (message.ts === root || message.thread_ts === root), hooks(true));
  shown.threadTimeline = timeline;
  const document_ = await store.read("thread", { channel: channel.id, ts: root });
  if (shown.threadTimeline !== timeline) return;
  shown.threadStatus = el("div", { class: "thread-status" });
  shown.threadComposer = channel.writable ? new Composer(store, "Reply in thread", sender(channel.id, root), drafts, placeOf(channel, root)) : null;
  places.thread.replaceChildren(
    el("header", { class: "top" }, el("button", { type: "button", class: "tool", "aria-label": "Close thread", onclick: () => closeThread(true) }, icon(innerWidth > 760 ? "close" : "back")),
      el("h2", {}, "Thread"), el("p", { class: "topic" }, document_.status.title || called(channel, store))),
    shown.threadTimeline.node, el("div", { class: "foot" }, shown.threadStatus, shown.threadComposer?.node || closed(channel)));
  places.thread.hidden = false;
  places.app.classList.add("thread-open");
  timeline.load(document_);
  drawStatus(document_.status);
  if (highlight) shown.threadTimeline.highlight(highlight);
  else shown.threadComposer?.field.focus({ preventScroll: true });
  remember();
}

function closeThread(refocus = false) {
  const root = shown.thread;
  shown.thread = null;
  shown.threadTimeline = null;
  places.thread.hidden = true;
  places.thread.replaceChildren();
  places.app.classList.remove("thread-open");
  if (shown.channel) remember();
  if (refocus && root) shown.timeline?.find(root)?.focus();
}

function drawStatus(status) {
  shown.threadStatus?.replaceChildren(...(status?.text ? [statusLine(status, store)] : []));
}

// live

store.addEventListener("message", ({ detail }) => {
  const { message } = detail;
  const opensOwnThread = !message.thread_ts && message.user === store.me && message.channel === shown.channel &&
    shown.tab === "messages" && (message.channel === store.workspace.dm || message.text.includes(`<@${store.workspace.bot.id}>`));
  const known = shown.timeline?.messages.some((each) => each.ts === message.ts);
  if (message.channel === shown.channel && shown.tab === "messages") places.conversation.querySelector(".nothing")?.remove();
  if (shown.tab === "messages") shown.timeline?.receive(detail);
  if (shown.thread) shown.threadTimeline?.receive(detail);
  const seen = message.channel === shown.channel && shown.tab === "messages";
  if (!seen && message.user !== store.me && store.channel(message.channel)) { store.unread.add(message.channel); drawSidebar(); }
  if (opensOwnThread && !known && innerWidth > 760) openThread(message.ts);
  if (!known && seen && !message.thread_ts && message.user === store.me) hint(message);
});
store.addEventListener("deleted", ({ detail }) => {
  if (detail.channel !== shown.channel) return;
  shown.timeline?.receive(detail);
  if (detail.ts === shown.thread) closeThread(); else shown.threadTimeline?.receive(detail);
});
store.addEventListener("status", ({ detail }) => {
  if (detail.channel !== shown.channel) return;
  shown.statuses.set(detail.thread_ts, detail);
  shown.timeline?.redraw(detail.thread_ts);
  if (detail.thread_ts === shown.thread) drawStatus(detail);
  if (detail.thread_ts === shown.thread && detail.title) places.thread.querySelector(".topic").textContent = detail.title;
  if (!detail.thread_ts && shown.tab === "messages") drawPrompts(detail.prompts);
});
function redrawHome() {
  const old = places.conversation.querySelector(".home");
  if (!old || isDrawn(old, store)) return;
  const place = old.scrollTop;
  old.replaceWith(renderHome(store));
  places.conversation.querySelector(".home").scrollTop = place;
}
store.addEventListener("views", () => {
  modal.update();
  if (shown.tab === "home" && shown.channel === store.workspace.dm) redrawHome();
});
store.addEventListener("workspace", async () => {
  const channel = store.channel(shown.channel);
  drawSidebar();
  if (!channel) { toast("You can no longer see that channel."); await become(store.me); return; }
  const old = places.conversation.querySelector("header.top");
  if (old) old.replaceWith(header(channel));
  if (Boolean(shown.composer) !== (channel.writable && shown.tab !== "home")) await openChannel(channel.id, { tab: shown.tab, quiet: true });
});
store.addEventListener("connection", async ({ detail }) => {
  document.getElementById("connection").hidden = detail.up;
  if (!detail.again) return;
  await store.reload();
  drawSidebar();
  modal.update();
  const thread = shown.thread;
  if (store.channel(shown.channel)) await openChannel(shown.channel, { tab: shown.tab, quiet: true });
  if (thread) await openThread(thread);
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || document.querySelector("dialog[open]")) return;
  if (places.app.classList.contains("menu-open")) places.app.classList.remove("menu-open");
  else if (shown.thread) closeThread(true);
});
places.app.addEventListener("click", (event) => { if (event.target === places.app) places.app.classList.remove("menu-open"); });

start().catch((error) => places.conversation.replaceChildren(el("p", { class: "nothing", role: "alert" }, `The local workspace does not answer: ${error.message}`)));
