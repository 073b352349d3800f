// Elements built from data. Text only ever becomes text nodes, so nothing a person wrote can turn into markup.

export function el(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "class") node.className = value;
    else if (name === "dataset") Object.assign(node.dataset, value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

const PATHS = {
  hash: "M6 2 4.5 14M11.5 2 10 14M2.5 5.5h11M2 10.5h11",
  lock: "M4 7h8v6.5H4zM5.5 7V5a2.5 2.5 0 0 1 5 0v2",
  people: "M5.5 8a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zm-4 5.5c0-2.5 1.8-4 4-4s4 1.5 4 4M11 8.2a2.2 2.2 0 1 0-.8-4.2m1 5.7c1.9 0 3.3 1.4 3.3 3.8",
  share: "M2 8h8m-3-3 3 3-3 3M10 3h4v10h-4",
  menu: "M2 4h12M2 8h12M2 12h12",
  close: "M3.5 3.5l9 9m0-9l-9 9",
  smile: "M8 14.2A6.2 6.2 0 1 0 8 1.8a6.2 6.2 0 0 0 0 12.4zM5.3 9.6c.6 1.3 1.6 2 2.7 2s2.100-.7 2.700-2M5.900 6v.6M10.100 6v.6",
  reply: "M2 3h12v8.500H7.500L4.500 14v-2.500H2z",
  more: "M3.500 8h.01M8 8h.01M12.500 8h.01",
  send: "M2 8 14 2.500 10.500 14 7.500 9z",
  clip: "M12.500 7.500 8 12a3 3 0 0 1-4.300-4.300l5-5a2 2 0 0 1 2.900 2.900L6.800 10.300a.9.9 0 0 1-1.300-1.300l4-4",
  eye: "M1.500 8S4 3.800 8 3.800 14.500 8 14.500 8 12 12.200 8 12.200 1.500 8 1.500 8zM8 10a2 2 0 1 0 0-4 2 2 0 0 0 0 4z",
  back: "M10 3 5 8l5 5",
  down: "M3.500 6 8 10.500 12.500 6",
  home: "M2.500 8 8 3l5.500 5M4 7v6.500h8V7",
  archive: "M2 3h12v3H2zM3 6v7.500h10V6M6.500 8.500h3",
  bot: "M3 6h10v7H3zM8 6V3M6 9v.8M10 9v.8",
};

export function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("class", `icon icon-${name}`);
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", PATHS[name]);
  svg.append(path);
  return svg;
}

export function avatar(person, size = "") {
  const words = (person.real_name || person.name).split(/\s+/);
  const initials = words.length > 1 ? words[0][0] + words[words.length - 1][0] : words[0].slice(0, 2);
  const face = person.kind === "bot" ? icon("bot") : initials.toUpperCase();
  return el("span", { class: `avatar hue-${hue(person.id)} ${size} ${person.kind}`, "aria-hidden": "true" }, face);
}

function hue(id) {
  let sum = 0;
  for (const character of id) sum = (sum * 31 + character.codePointAt(0)) % 997;
  return sum % 10;
}

export function timeOf(ts) {
  return new Date(Number(ts) * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
}

// As short as the gutter beside a message is narrow: without "AM".
export function shortTimeOf(ts) {
  const parts = new Intl.DateTimeFormat([], { hour: "numeric", minute: "2-digit" }).formatToParts(new Date(Number(ts) * 1000));
  return parts.filter((part) => part.type !== "dayPeriod").map((part) => part.value).join("").trim();
}

export function dayOf(ts) {
  const day = new Date(Number(ts) * 1000);
  const today = new Date();
  const days = Math.round((new Date(today.toDateString()) - new Date(day.toDateString())) / 86400000);
  if (days === 0) return "Today";
  if (days === 1) return "Yesterday";
  return day.toLocaleDateString([], { weekday: "long", day: "numeric", month: "long" });
}

export function toast(text) {
  const place = document.getElementById("toast");
  place.textContent = text;
  // Shown anew, it is above a dialog that was opened in the meantime.
  place.hidePopover();
  place.showPopover();
  clearTimeout(place.timer);
  place.timer = setTimeout(() => place.hidePopover(), 6000);
}
