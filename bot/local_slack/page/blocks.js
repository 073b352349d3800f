// Block Kit blocks as elements. `context` = {store, act(block, element, value), pressed: Map, prefix, errors, fields}.

import { el } from "./dom.js";
import { emoji, knows } from "./emoji.js";
import { address, link, markdown, mrkdwn } from "./format.js";
import { input, INPUTS, options } from "./inputs.js";

export function renderBlocks(blocks, context) {
  return blocks.map((block, index) => el("div", { class: `block block-${block.type}` }, render(block, context, index)));
}

function render(block, context, index) {
  const names = context.store.names;
  switch (block.type) {
    case "section": return section(block, context);
    case "markdown": return markdown(block.text, names);
    case "header": return el("h3", {}, plain(block.text));
    case "divider": return el("hr");
    case "context": return block.elements.map((element) => contextElement(element, context));
    case "actions": case "context_actions": return block.elements.map((each) => interactive(block, each, context));
    case "image": return image(block, context);
    case "input": return field(block, context, index);
    case "table": case "data_table": return table(block, names);
    case "rich_text": return block.elements.flatMap((element) => rich(element, names));
    case "task_card": return task({ title: block.title, status: block.status, sources: block.sources }, names);
    case "plan": return [el("strong", {}, block.title), (block.tasks || []).map((each) => task(each, names))];
    case "alert": return el("p", { class: `alert ${block.level || ""}` }, text(block.text, names));
    case "file": case "video": case "call": return el("p", {}, block.title?.text || `(${block.type})`);
    default: return el("p", { class: "unsupported" }, `(a ${block.type} block, which is not drawn here)`);
  }
}

export function text(object, names) {
  if (!object) return [];
  return object.type === "mrkdwn" ? mrkdwn(object.text, names) : [plain(object)];
}

function plain(object) {
  const shown = typeof object === "string" ? object : object?.text || "";
  return shown.replace(/:([a-z0-9_+-]+):/g, (whole, name) => (knows(name) ? emoji(name) : whole));
}

function section(block, context) {
  const names = context.store.names;
  const body = el("div", { class: "section-body" }, text(block.text, names),
    block.fields ? el("div", { class: "fields" }, block.fields.map((each) => el("div", {}, text(each, names)))) : null);
  return [body, block.accessory ? el("div", { class: "accessory" }, interactive(block, block.accessory, context)) : null];
}

function contextElement(element, context) {
  if (element.type === "image") return picture(element, context);
  return el("span", {}, text(element, context.store.names));
}

function interactive(block, element, context) {
  switch (element.type) {
    case "image": return picture(element, context);
    case "button": return button(block, element, context);
    case "icon_button": return el("button", { class: "button quiet", onclick: () => context.act(block, element) }, plain(element.text));
    case "feedback_buttons": return feedback(block, element, context);
    case "overflow": case "static_select": return chooser(block, element, context);
    default: return INPUTS.has(element.type) ? acting(block, element, context) : null;
  }
}

function button(block, element, context) {
  const act = async (event) => {
    if (element.confirm && !window.confirm(`${plain(element.confirm.title)}\n\n${plain(element.confirm.text)}`)) return;
    event.currentTarget.disabled = true;
    const node = event.currentTarget;
    await context.act(block, element);
    setTimeout(() => { node.disabled = false; }, 1200);
  };
  const label = { class: `button ${element.style || ""}`, "aria-label": element.accessibility_label, "data-action": element.action_id };
  if (element.url && /^https?:\/\//i.test(element.url)) {
    return el("a", { ...label, href: address(element.url, context.store.names), target: "_blank", rel: "noopener noreferrer", onclick: () => context.act(block, element) }, plain(element.text));
  }
  return el("button", { ...label, type: "button", onclick: act }, plain(element.text));
}

function feedback(block, element, context) {
  const key = `${context.prefix}/${element.action_id}`;
  const make = (side, sign) => {
    const given = element[`${side}_button`];
    const node = el("button", {
      type: "button", class: "button quiet feedback", "data-feedback": side, title: plain(given.text),
      "aria-label": given.accessibility_label || plain(given.text), "aria-pressed": String(context.pressed.get(key) === side),
      onclick: () => {
        context.pressed.set(key, side);
        for (const each of node.parentNode.children) each.setAttribute("aria-pressed", String(each === node));
        context.act(block, element, side);
      },
    }, el("span", { "aria-hidden": "true" }, sign), el("small", { "aria-hidden": "true" }, plain(given.text)));
    return node;
  };
  return el("span", { class: "feedback-pair", role: "group", "aria-label": "Was this helpful?" }, make("positive", "👍"), make("negative", "👎"));
}

function chooser(block, element, context) {
  const label = element.placeholder?.text || (element.type === "overflow" ? "More…" : "Choose…");
  const node = el("select", { class: "chooser", "aria-label": label, "data-action": element.action_id },
    el("option", { value: "" }, label), options(element).map((each) => el("option", { value: each.value }, plain(each.text))));
  node.value = element.initial_option?.value || "";
  node.addEventListener("change", () => {
    if (node.value) context.act(block, element, node.value);
    if (element.type === "overflow") node.value = "";
  });
  return node;
}

function acting(block, element, context) {
  const { node, read } = input(element, context.store, `${context.prefix}-${element.action_id}`);
  node.addEventListener("change", () => context.act(block, element, read()));
  return node;
}

function field(block, context, index) {
  const id = `${context.prefix}-${index}`;
  const { node, read } = input(block.element, context.store, id);
  const error = context.errors?.[block.block_id];
  context.fields?.push({ block, read, node });
  node.setAttribute("aria-describedby", `${id}-hint`);
  if (error) node.setAttribute("aria-invalid", "true");
  return [
    el("label", { class: "field-label", for: id }, plain(block.label), block.optional ? el("small", {}, " (optional)") : null),
    node,
    el("p", { class: error ? "field-error" : "hint", id: `${id}-hint`, role: error ? "alert" : null }, error || plain(block.hint)),
  ];
}

function image(block, context) {
  return el("figure", {}, block.title ? el("figcaption", {}, plain(block.title)) : null, picture(block, context));
}

// Pictures come from this workspace only; others are a link, so that the page asks no other host for anything.
function picture(element, context) {
  const source = element.slack_file?.id ? context.store.file(element.slack_file.id) : element.image_url || "";
  const own = source.startsWith("/") || source.startsWith(`${location.origin}/`) || source.startsWith("data:image/");
  if (own) return el("img", { src: source, alt: element.alt_text || "", loading: "lazy" });
  return el("span", { class: "outside-image" }, "🖼 ", link(source, element.alt_text || "Picture", context.store.names));
}

function table(block, names) {
  const cell = (each, head) => el(head ? "th" : "td", head ? { scope: "col" } : {}, cellContent(each, names));
  const [head, ...body] = block.rows;
  return el("div", { class: "table", tabindex: "0", role: "region", "aria-label": "Table" }, el("table", {},
    el("thead", {}, el("tr", {}, head.map((each) => cell(each, true)))),
    el("tbody", {}, body.map((row) => el("tr", {}, row.map((each) => cell(each, false)))))));
}

function cellContent(cell, names) {
  if (cell.type === "rich_text") return cell.elements.flatMap((element) => rich(element, names));
  return String(cell.text ?? cell.value ?? "");
}

function rich(element, names) {
  const parts = (element.elements || []).map((each) => richPart(each, names));
  switch (element.type) {
    case "rich_text_list": return el(element.style === "ordered" ? "ol" : "ul", {}, parts.map((each) => el("li", {}, each)));
    case "rich_text_quote": return el("blockquote", {}, parts);
    case "rich_text_preformatted": return el("pre", {}, parts);
    default: return el("div", { class: "text" }, parts);
  }
}

function richPart(part, names) {
  if (part.type?.startsWith("rich_text_")) return rich(part, names);
  if (part.type === "link") return link(part.url, part.text || part.url, names);
  if (part.type === "emoji") return emoji(part.name);
  if (part.type === "user") return mrkdwn(`<@${part.user_id}>`, names)[0];
  if (part.type === "channel") return mrkdwn(`<#${part.channel_id}>`, names)[0];
  let node = document.createTextNode(part.text || "");
  const tags = { code: "code", strike: "s", italic: "em", bold: "strong" };
  for (const [style, tag] of Object.entries(tags)) if (part.style?.[style]) node = el(tag, {}, node);
  return node;
}

const STATUS = { pending: "○", in_progress: "◐", complete: "✓", error: "✕" };

export function task(chunk, names) {
  return el("div", { class: `task ${chunk.status}` },
    el("span", { class: "task-sign", "aria-hidden": "true" }, STATUS[chunk.status] || "○"),
    el("span", {}, chunk.title, chunk.details ? el("small", {}, ` ${plain(chunk.details)}`) : null, chunk.output ? el("small", {}, ` ${plain(chunk.output)}`) : null,
      (chunk.sources || []).map((source) => [" ", link(source.url, source.text || source.url, names)])));
}
