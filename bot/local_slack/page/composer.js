// The field one writes in: Enter sends, names and commands complete, files attach.

import { avatar, el, icon, toast } from "./dom.js";

// send(text, file) posts; drafts is a Map that outlives this field, place is its key there.
export class Composer {
  constructor(store, label, send, drafts, place) {
    this.store = store;
    this.send = send;
    this.keep = (text) => { if (text) drafts.set(place, text); else drafts.delete(place); };
    this.choice = -1;
    this.field = el("textarea", {
      rows: "1", "aria-label": label, placeholder: label, role: "combobox", "aria-expanded": "false", "aria-autocomplete": "list",
      "aria-controls": `list-${label.replace(/\W+/g, "-")}`,
      onkeydown: (event) => this.key(event), oninput: () => { this.changed(); this.complete(); }, onblur: () => setTimeout(() => this.hide(), 150),
    });
    this.list = el("ul", { class: "completions", role: "listbox", id: this.field.getAttribute("aria-controls"), "aria-label": "Suggestions", hidden: true });
    this.file = el("input", { type: "file", hidden: true, onchange: () => this.attach() });
    this.node = el("form", { class: "composer", onsubmit: (event) => { event.preventDefault(); this.submit(); } },
      this.list, this.file,
      el("button", { type: "button", class: "tool", "aria-label": "Attach a file", title: "Attach a file", onclick: () => this.file.click() }, icon("clip")),
      this.field,
      el("button", { type: "submit", class: "send", "aria-label": "Send", title: "Send (Enter)" }, icon("send")));
    this.field.value = drafts.get(place) || "";
  }

  fill(text) {
    this.field.value = text;
    this.changed();
  }

  changed() {
    this.keep(this.field.value);
    this.grow();
  }

  grow() {
    this.field.style.height = "auto";
    this.field.style.height = `${Math.min(this.field.scrollHeight, 200)}px`;
  }

  async submit() {
    const text = this.field.value.trim();
    if (!text) return;
    this.fill("");
    this.hide();
    try {
      await this.send(text);
    } catch (error) {
      if (!this.field.value) this.fill(text);
      toast(error.message);
    }
  }

  async attach() {
    const file = this.file.files[0];
    this.file.value = "";
    if (!file) return;
    const bytes = new Uint8Array(await file.arrayBuffer());
    let binary = "";
    for (let at = 0; at < bytes.length; at += 32768) binary += String.fromCharCode(...bytes.subarray(at, at + 32768));
    try {
      await this.send(this.field.value.trim(), { name: file.name, content: btoa(binary) });
      this.fill("");
    } catch (error) {
      toast(error.message);
    }
  }

  key(event) {
    const open = !this.list.hidden;
    if (open && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      event.preventDefault();
      this.mark(this.choice + (event.key === "ArrowDown" ? 1 : -1));
    } else if (open && this.choice >= 0 && (event.key === "Tab" || (event.key === "Enter" && !this.isWhole()))) {
      event.preventDefault();
      this.pick(this.matches[this.choice]);
    } else if (open && event.key === "Escape") {
      event.stopPropagation();
      this.hide();
    } else if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      this.submit();
    }
  }

  // The word before the cursor, when it begins with @ or #, or a command at the very start.
  complete() {
    const before = this.field.value.slice(0, this.field.selectionStart);
    const word = before.match(/(?:^|\s)([@#][\w.-]*)$/)?.[1] ?? before.match(/^\/\w*$/)?.[0];
    this.matches = word ? this.suggestions(word).slice(0, 8) : [];
    this.word = word;
    this.list.replaceChildren(...this.matches.map((match, index) => el("li", {
      role: "option", id: `${this.list.id}-${index}`, onpointerdown: (event) => { event.preventDefault(); this.pick(match); },
    }, match.picture, el("strong", {}, match.text), el("small", {}, match.note))));
    this.list.hidden = !this.matches.length;
    this.field.setAttribute("aria-expanded", String(!this.list.hidden));
    this.mark(Math.max(0, this.matches.findIndex((match) => match.text === word)));
  }

  // A command that ends with just what is suggested lacks nothing.
  isWhole() { return this.field.value.startsWith("/") && this.matches[this.choice].text === this.word; }

  suggestions(word) {
    const rest = word.slice(1).toLowerCase();
    const { people, channels, commands, bot } = this.store.workspace;
    if (word[0] === "/") {
      const own = [{ name: "/invite", description: "Bring somebody into this channel", hint: "@name" }, { name: "/leave", description: "Leave this channel", hint: "" }];
      return [...commands, ...own].filter((each) => each.name.startsWith(word))
        .map((each) => ({ text: each.name, note: [each.hint, each.description].filter(Boolean).join(" · "), picture: null }));
    }
    if (word[0] === "#") {
      return channels.filter((each) => each.kind !== "group_dm" && each.name.includes(rest)).map((each) => ({ text: `#${each.name}`, note: each.topic, picture: icon(each.kind === "public" ? "hash" : "lock") }));
    }
    const first = (person) => (person.id === bot.id ? 0 : 1);
    return people.filter((each) => each.kind !== "deactivated" && `${each.name} ${each.real_name}`.toLowerCase().includes(rest))
      .sort((a, b) => first(a) - first(b)).map((each) => ({ text: `@${each.name}`, note: each.real_name, picture: avatar(each, "small") }));
  }

  mark(index) {
    const count = this.matches?.length || 0;
    this.choice = count ? (index + count) % count : -1;
    [...this.list.children].forEach((item, at) => item.setAttribute("aria-selected", String(at === this.choice)));
    if (this.choice >= 0) this.field.setAttribute("aria-activedescendant", `${this.list.id}-${this.choice}`);
    else this.field.removeAttribute("aria-activedescendant");
  }

  pick(match) {
    const at = this.field.selectionStart;
    const start = at - this.word.length;
    this.field.setRangeText(`${match.text} `, start, at, "end");
    this.changed();
    this.hide();
    this.field.focus();
  }

  hide() {
    this.list.hidden = true;
    this.field.setAttribute("aria-expanded", "false");
  }
}
