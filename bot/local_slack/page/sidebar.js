// Channels, the conversation with the bot, and who one is.

import { avatar, el, icon } from "./dom.js";
import { popover } from "./message.js";

export const KINDS = {
  member: "Member", guest: "Guest", single_channel_guest: "Guest, one channel", external: "From another company",
  bot: "App", deactivated: "Deactivated",
};

// actions: {open(channel), become(person)}
export function renderSidebar(store, current, actions) {
  const { channels, team, dm, bot } = store.workspace;
  const inside = channels.filter((channel) => channel.members.includes(store.me) && !channel.archived);
  const outside = channels.filter((channel) => !channel.members.includes(store.me) || channel.archived);
  return [
    el("header", { class: "team" }, el("span", { class: "team-name" }, team.name)),
    whoAmI(store, actions),
    el("div", { class: "lists" },
      group("Channels", inside.map((channel) => entry(channel, store, current, actions))),
      outside.length ? group("Also readable", outside.map((channel) => entry(channel, store, current, actions))) : null,
      dm ? group("Direct messages", [entry({ id: dm, name: store.person(bot.id).real_name, kind: "im", person: store.person(bot.id) }, store, current, actions)]) : null),
  ];
}

function group(title, entries) {
  return el("section", {}, el("h2", {}, title), el("ul", {}, entries.map((each) => el("li", {}, each))));
}

function entry(channel, store, current, actions) {
  const unread = store.unread.has(channel.id);
  return el("button", {
    type: "button", class: `channel${unread ? " unread" : ""}`, "data-channel": channel.id,
    "aria-current": channel.id === current ? "page" : null, onclick: () => actions.open(channel.id),
  }, sign(channel), el("span", { class: "channel-name" }, nameOf(channel, store)),
  channel.shared ? el("span", { class: "shared", title: "Shared with another company" }, icon("share"), el("span", { class: "hidden" }, "shared")) : null,
  unread ? el("span", { class: "dot" }, el("span", { class: "hidden" }, "unread")) : null);
}

export function sign(channel) {
  if (channel.kind === "im") return channel.person ? avatar(channel.person, "small") : icon("bot");
  if (channel.archived) return icon("archive");
  return icon({ public: "hash", private: "lock", group_dm: "people" }[channel.kind]);
}

function whoAmI(store, actions) {
  const me = store.person(store.me);
  return el("button", {
    type: "button", class: "who", "aria-haspopup": "menu", "aria-expanded": "false", "aria-label": `You are ${me.real_name}, ${role(me)}. Switch person`,
    onclick: (event) => choosePerson(event.currentTarget, store, actions),
  }, avatar(me), el("span", { class: "who-text" }, el("small", {}, "You are"), el("strong", {}, me.real_name), el("small", {}, describe(me))), icon("down"));
}

export function role(person) { return person.admin ? "Administrator" : KINDS[person.kind]; }

// A group's conversation is called by the names of who is in it.
export function nameOf(channel, store) {
  if (channel.kind !== "group_dm") return channel.name;
  const others = channel.members.filter((id) => id !== store.me).map((id) => store.person(id)).filter((person) => person && person.kind !== "bot");
  return others.map((person) => person.real_name).join(", ") || channel.name;
}

export function called(channel, store) { return `${["im", "group_dm"].includes(channel.kind) ? "" : "#"}${nameOf(channel, store)}`; }

function describe(person) {
  return [role(person), person.title].filter(Boolean).join(" · ");
}

function choosePerson(anchor, store, actions) {
  const people = store.workspace.people.filter((person) => !["bot", "deactivated"].includes(person.kind));
  const close = popover(anchor, el("div", { class: "menu people", role: "menu", "aria-label": "Be somebody else" },
    el("p", { class: "menu-note" }, "See the workspace as…"),
    people.map((person) => el("button", {
      type: "button", role: "menuitemradio", "aria-checked": String(person.id === store.me), "data-person": person.id,
      onclick: () => { close(); actions.become(person.id); },
    }, avatar(person), el("span", {}, el("strong", {}, person.real_name), el("small", {}, describe(person)))))));
}
