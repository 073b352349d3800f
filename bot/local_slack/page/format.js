// Slack's mrkdwn and Markdown, as nodes. Links lead to http, https and mailto only.

import { el } from "./dom.js";
import { emoji, knows } from "./emoji.js";

const SAFE = /^(https?:\/\/|mailto:)/i;

// names: {me, person(id), channel(id), follow(url)}
export function link(url, label, names) {
  if (!SAFE.test(url)) return document.createTextNode(label === url ? url : `${label} (${url})`);
  const own = url.startsWith(`${location.origin}/archives/`);
  const attributes = own && names.follow
    ? { href: url, onclick: (event) => { event.preventDefault(); names.follow(url); } }
    : { href: address(url, names), target: "_blank", rel: "noopener noreferrer", title: url };
  return el("a", attributes, label);
}

// What this server shows depends on who is looking, so links to it say so.
export function address(url, names) {
  if (!url.startsWith(`${location.origin}/`)) return url;
  const opened = new URL(url);
  opened.searchParams.set("as", names.me);
  return opened.href;
}

export function mrkdwn(text, names) {
  const parts = text.split(/```\n?([\s\S]*?)```/);
  return parts.map((part, index) => (index % 2 ? el("pre", {}, unescape(part)) : lines(part, names))).flat();
}

function lines(text, names) {
  const nodes = [];
  let quote = [];
  const flush = () => {
    if (quote.length) nodes.push(el("blockquote", {}, withBreaks(quote.map((line) => inline(line, names)))));
    quote = [];
  };
  let plain = [];
  const flushPlain = () => {
    if (plain.length) nodes.push(el("div", { class: "text" }, withBreaks(plain.map((line) => inline(line, names)))));
    plain = [];
  };
  for (const line of text.replace(/^\n|\n$/g, "").split("\n")) {
    const quoted = line.match(/^(?:&gt;|>)\s?(.*)$/);
    if (quoted) { flushPlain(); quote.push(quoted[1]); } else { flush(); plain.push(line); }
  }
  flushPlain();
  flush();
  return nodes.filter((node) => node.textContent || node.querySelector("br"));
}

function withBreaks(rows) {
  return rows.flatMap((row, index) => (index ? [el("br"), ...row] : row));
}

const TOKENS = /<([^<>\s][^<>]*)>|`([^`\n]+)`|(?<![\w*])\*(?!\s)([^*\n]+?)(?<!\s)\*(?![\w*])|(?<!\w)_(?!\s)([^_\n]+?)(?<!\s)_(?!\w)|(?<![\w~])~(?!\s)([^~\n]+?)(?<!\s)~(?!\w)|:([a-z0-9_+-]+):/;

function inline(text, names) {
  const nodes = [];
  let rest = text;
  for (let match = rest.match(TOKENS); match; match = rest.match(TOKENS)) {
    if (match.index) nodes.push(unescape(rest.slice(0, match.index)));
    nodes.push(token(match, names));
    rest = rest.slice(match.index + match[0].length);
  }
  if (rest) nodes.push(unescape(rest));
  return nodes;
}

function token([whole, reference, code, bold, italic, struck, name], names) {
  if (reference !== undefined) return refer(reference, names);
  if (code !== undefined) return el("code", {}, unescape(code));
  if (bold !== undefined) return el("strong", {}, inline(bold, names));
  if (italic !== undefined) return el("em", {}, inline(italic, names));
  if (struck !== undefined) return el("s", {}, inline(struck, names));
  return knows(name) ? el("span", { role: "img", "aria-label": name }, emoji(name)) : whole;
}

function refer(reference, names) {
  const [target, label] = reference.split("|");
  if (target.startsWith("@")) {
    const person = names.person(target.slice(1));
    return el("span", { class: `mention${names.me === target.slice(1) ? " me" : ""}` }, `@${person ? person.name : label || target.slice(1)}`);
  }
  if (target.startsWith("#")) {
    const channel = names.channel(target.slice(1));
    return el("span", { class: "mention" }, channel ? `#${channel.name}` : label ? `#${label}` : "a private channel");
  }
  if (target.startsWith("!date")) return unescape(label || target);
  if (target.startsWith("!")) return el("span", { class: "mention" }, `@${label || target.slice(1)}`);
  return link(unescape(target), unescape(label || target), names);
}

function unescape(text) {
  return text.replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&amp;/g, "&");
}

// Markdown, as in Slack's markdown block.
export function markdown(text, names) {
  const nodes = [];
  const rows = text.split("\n");
  while (rows.length) nodes.push(...block(rows, names));
  return nodes;
}

const BLOCK = /^\s*(#{1,6}\s|>|```|~~~|[-*+]\s|\d+[.)]\s)/;
const AUTO = { dir: "auto" };

function indent(line) {
  return line.match(/^ */)[0].length;
}

function dedented(lines, by) {
  return lines.map((line) => line.slice(Math.min(indent(line), by)));
}

function block(rows, names) {
  const row = rows[0];
  if (!row.trim()) { rows.shift(); return []; }
  const fence = row.match(/^\s*(`{3,}|~{3,})/);
  if (fence) {
    rows.shift();
    const code = take(rows, (line) => !line.trim().startsWith(fence[1]));
    rows.shift();
    return [el("pre", {}, dedented(code, indent(row)).join("\n"))];
  }
  const heading = row.match(/^(#{1,6})\s+(.*)$/);
  if (heading) { rows.shift(); return [el(`h${Math.min(6, heading[1].length + 2)}`, AUTO, spans(heading[2], names))]; }
  if (/^\s*([-*_])(\s*\1){2,}\s*$/.test(row)) { rows.shift(); return [el("hr")]; }
  if (/^\s*>/.test(row)) {
    const quoted = take(rows, (line) => /^\s*>/.test(line)).map((line) => line.replace(/^\s*>\s?/, ""));
    return [el("blockquote", {}, markdown(quoted.join("\n"), names))];
  }
  if (row.includes("|") && /^[\s|:-]+$/.test(rows[1] || "") && (rows[1] || "").includes("-")) return [table(rows, names)];
  if (/^\s*([-*+]|\d+[.)])\s+/.test(row)) return [list(rows, names)];
  const paragraph = take(rows, (line) => line.trim() && !BLOCK.test(line), true);
  return [el("p", AUTO, withBreaks(paragraph.map((line) => spans(line, names))))];
}

function take(rows, wanted, first = false) {
  const taken = first ? [rows.shift()] : [];
  while (rows.length && wanted(rows[0])) taken.push(rows.shift());
  return taken;
}

function list(rows, names) {
  const ordered = rows[0].match(/^\s*(\d+)[.)]\s/);
  const depth = indent(rows[0]);
  const items = el(ordered ? "ol" : "ul", { ...AUTO, start: ordered && ordered[1] !== "1" ? ordered[1] : null });
  while (rows.length) {
    const item = rows[0].match(/^( *)([-*+]|\d+[.)])\s+(.*)$/);
    if (!item || item[1].length < depth || /\d/.test(item[2]) !== Boolean(ordered)) break;
    rows.shift();
    const body = take(rows, (line) => !line.trim() || indent(line) >= item[1].length + 2);
    items.append(el("li", {}, inside(item[3], dedented(body, item[1].length + item[2].length + 1), names)));
  }
  return items;
}

function inside(first, body, names) {
  const lines = [first, ...take(body, (line) => line.trim() && !BLOCK.test(line))];
  return [...spans(lines.map((line) => line.trim()).join(" "), names), ...markdown(body.join("\n"), names)];
}

function table(rows, names) {
  const cells = (row) => row.trim().replace(/^\||\|$/g, "").split(/(?<!\\)\|/).map((cell) => cell.trim());
  const head = cells(rows.shift());
  rows.shift();
  const body = take(rows, (line) => line.includes("|")).map(cells);
  return el("div", { class: "table", tabindex: "0", role: "region", "aria-label": "Table" }, el("table", {},
    el("thead", {}, el("tr", {}, head.map((cell) => el("th", { scope: "col" }, spans(cell, names))))),
    el("tbody", {}, body.map((row) => el("tr", {}, row.map((cell) => el("td", {}, spans(cell, names))))))));
}

const SPANS = /\\([\\`*_{}[\]()#+\-.!|~<>])|(`+)(?!`)(.+?)(?<!`)\2(?!`)|\[((?:[^[\]]|\[[^[\]]*\])*)\]\(([^()\s]*(?:\([^()\s]*\)[^()\s]*)*)\)|(?:\*\*|__)(?=\S)(.+?)(?<=\S)(?:\*\*|__)|(?<![\w*])\*(?=\S)([^*]+?)(?<=\S)\*|(?<!\w)_(?=\S)([^_]+?)(?<=\S)_(?!\w)|~~(.+?)~~|<([@#!][^<>\s]+|https?:\/\/[^<>\s]+)>|(https?:\/\/[^\s<>)]+[^\s<>).,;:!?])|:([a-z0-9_+-]+):/;

function spans(text, names) {
  const nodes = [];
  let rest = text;
  for (let match = rest.match(SPANS); match; match = rest.match(SPANS)) {
    if (match.index) nodes.push(unescape(rest.slice(0, match.index)));
    nodes.push(span(match, names));
    rest = rest.slice(match.index + match[0].length);
  }
  if (rest) nodes.push(unescape(rest));
  return nodes;
}

function span([whole, escaped, ticks, code, label, url, bold, italic, italic2, struck, reference, bare, name], names) {
  if (escaped !== undefined) return escaped;
  if (code !== undefined) return el("code", {}, ticks.length > 1 ? code.replace(/^ (.*) $/, "$1") : code);
  if (url !== undefined) return link(url, unescape(label || url).replace(/\\([[\]_*`~])/g, "$1"), names);
  if (bold !== undefined) return el("strong", {}, spans(bold, names));
  if (italic !== undefined || italic2 !== undefined) return el("em", {}, spans(italic ?? italic2, names));
  if (struck !== undefined) return el("s", {}, spans(struck, names));
  if (reference !== undefined) return refer(reference, names);
  if (bare !== undefined) return link(bare, bare, names);
  return knows(name) ? el("span", { role: "img", "aria-label": name }, emoji(name)) : whole;
}
