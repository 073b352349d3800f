// A list of messages that stays at its end while one reads along, and changes one message at a time.

import { dayOf, el } from "./dom.js";
import { renderMessage } from "./message.js";

const TOGETHER_S = 300;

export class Timeline {
  // wanted(message) says whether a message belongs here; hooks go to renderMessage.
  constructor(store, label, wanted, hooks) {
    this.store = store;
    this.wanted = wanted;
    this.hooks = hooks;
    this.messages = [];
    this.revision = -1;
    this.early = [];
    this.rows = el("div", { class: "rows" });
    this.node = el("div", { class: "timeline", role: "log", "aria-label": label, "aria-live": "polite", tabindex: "0" }, this.rows);
    this.following = true;
    this.node.addEventListener("scroll", () => { this.following = this.atEnd(); }, { passive: true });
    new ResizeObserver(() => { if (this.following) this.toEnd(); }).observe(this.rows);
    this.node.addEventListener("keydown", (event) => this.move(event));
  }

  // A document loaded at `revision`; frames that came before it was there are taken afterwards, older ones never.
  load({ messages, revision }) {
    this.revision = revision;
    this.show(messages);
    for (const frame of this.early.splice(0)) this.receive(frame);
  }

  receive(frame) {
    if (this.revision < 0) { this.early.push(frame); return; }
    if (frame.revision <= this.revision) return;
    if (frame.type === "deleted") this.drop(frame.ts);
    else this.take(frame.message);
  }

  show(messages) {
    this.messages = messages;
    this.rows.replaceChildren(...messages.flatMap((message, index) => this.draw(message, messages[index - 1])));
    this.toEnd();
  }

  draw(message, before) {
    const newDay = !before || dayOf(before.ts) !== dayOf(message.ts);
    const joined = !newDay && before.user === message.user && !message.private && !before.private && !before.subtype &&
      !message.subtype && Number(message.ts) - Number(before.ts) < TOGETHER_S;
    const row = renderMessage(message, this.store, this.hooks, { joined });
    return newDay && !this.hooks.inThread ? [el("h2", { class: "day" }, el("span", {}, dayOf(message.ts))), row] : [row];
  }

  take(message) {
    if (!this.wanted(message)) return;
    const index = this.messages.findIndex((each) => each.ts === message.ts);
    if (index >= 0) {
      this.messages[index] = message;
      this.replace(message, this.messages[index - 1]);
    } else {
      const place = this.messages.findIndex((each) => Number(each.ts) > Number(message.ts));
      if (place >= 0) {
        this.messages.splice(place, 0, message);
        this.show(this.messages);
      } else {
        this.messages.push(message);
        this.rows.append(...this.draw(message, this.messages[this.messages.length - 2]));
      }
    }
    if (this.following || message.user === this.store.me) this.toEnd();
  }

  // Focus stays on the message or the same control in it when a message is drawn anew.
  replace(message, before) {
    const old = this.find(message.ts);
    const buttons = [...old.querySelectorAll("button, a, select")];
    const focused = buttons.indexOf(document.activeElement);
    const rows = this.draw(message, before);
    const row = rows[rows.length - 1];
    const itself = old === document.activeElement;
    old.replaceWith(row);
    if (itself) row.focus();
    if (focused >= 0) [...row.querySelectorAll("button, a, select")][focused]?.focus();
  }

  redraw(ts) {
    const index = this.messages.findIndex((each) => each.ts === ts);
    if (index >= 0) this.replace(this.messages[index], this.messages[index - 1]);
  }

  drop(ts) {
    const left = this.messages.filter((each) => each.ts !== ts);
    if (left.length !== this.messages.length) this.show(left);
  }

  find(ts) { return this.node.querySelector(`[data-ts="${CSS.escape(ts)}"]`); }

  highlight(ts) {
    const row = this.find(ts);
    if (!row) return;
    this.following = false;
    row.classList.add("highlight");
    row.scrollIntoView({ block: "center" });
    row.focus();
  }

  atEnd() { return this.node.scrollHeight - this.node.scrollTop - this.node.clientHeight < 80; }

  toEnd() {
    this.following = true;
    this.node.scrollTop = this.node.scrollHeight;
  }

  // Up and down walk through the messages.
  move(event) {
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!step || event.target.closest("input, textarea, select, .toolbar")) return;
    const rows = [...this.node.querySelectorAll(".message")];
    const now = rows.indexOf(document.activeElement.closest(".message"));
    const next = rows[now < 0 ? rows.length - 1 : Math.max(0, Math.min(rows.length - 1, now + step))];
    if (next) { event.preventDefault(); next.focus(); }
  }
}
