// Block Kit's input elements: each becomes a control with a way to read its value.

import { el } from "./dom.js";

// Returns {node, read()}; read gives what views.state_values expects: text, an option's value, or a list of values.
export function input(element, store, id) {
  const base = { id, "data-action": element.action_id, placeholder: element.placeholder?.text };
  switch (element.type) {
    case "plain_text_input": return textInput(element, base);
    case "email_text_input": return typed("email", element, base);
    case "url_text_input": return typed("url", element, base);
    case "number_input": return typed("number", element, base);
    case "datepicker": return typed("date", { initial_value: element.initial_date }, base);
    case "timepicker": return typed("time", { initial_value: element.initial_time }, base);
    case "static_select": return select(element, base, options(element), element.initial_option?.value);
    case "users_select": return select(element, base, people(store), element.initial_user);
    case "channels_select": return select(element, base, channels(store), element.initial_channel);
    case "conversations_select": return select(element, base, channels(store), element.initial_conversation);
    case "radio_buttons": return choices(element, id, "radio", element.initial_option ? [element.initial_option] : []);
    case "checkboxes": return choices(element, id, "checkbox", element.initial_options || []);
    case "multi_static_select": return choices(element, id, "checkbox", element.initial_options || []);
    case "multi_users_select": return choices({ ...element, options: people(store) }, id, "checkbox", []);
    default: return { node: el("p", { class: "unsupported" }, `(${element.type} is not drawn here)`), read: () => null };
  }
}

export const INPUTS = new Set([
  "plain_text_input", "email_text_input", "url_text_input", "number_input", "datepicker", "timepicker", "static_select",
  "users_select", "channels_select", "conversations_select", "radio_buttons", "checkboxes", "multi_static_select",
  "multi_users_select",
]);

function textInput(element, base) {
  const attributes = { ...base, minlength: element.min_length, maxlength: element.max_length };
  const node = element.multiline ? el("textarea", { ...attributes, rows: 4 }) : el("input", { ...attributes, type: "text" });
  node.value = element.initial_value || "";
  return { node, read: () => node.value || null };
}

function typed(type, element, base) {
  const node = el("input", { ...base, type, step: type === "number" && element.is_decimal_allowed ? "any" : null });
  node.value = element.initial_value || "";
  return { node, read: () => node.value || null };
}

function select(element, base, list, initial) {
  const node = el("select", base, el("option", { value: "" }, element.placeholder?.text || "Choose…"),
    list.map((each) => el("option", { value: each.value }, each.text.text)));
  node.value = initial || "";
  return { node, read: () => node.value || null };
}

function choices(element, id, type, initial) {
  const chosen = new Set(initial.map((each) => each.value));
  const boxes = options(element).map((each, index) => {
    const box = el("input", { type, name: id, value: each.value, id: `${id}-${index}` });
    box.checked = chosen.has(each.value);
    return [box, el("label", { class: "choice", for: `${id}-${index}` }, box, el("span", {}, each.text.text,
      each.description ? el("small", {}, each.description.text) : null))];
  });
  const node = el("div", { class: "choices", role: type === "radio" ? "radiogroup" : "group", "data-action": element.action_id },
    boxes.map(([, label]) => label));
  const values = () => boxes.filter(([box]) => box.checked).map(([box]) => box.value);
  return { node, read: () => (type === "radio" ? values()[0] ?? null : values()) };
}

export function options(element) {
  return [...(element.options || []), ...(element.option_groups || []).flatMap((group) => group.options)];
}

function people(store) {
  return store.workspace.people.filter((person) => person.kind !== "deactivated")
    .map((person) => ({ value: person.id, text: { text: person.real_name } }));
}

function channels(store) {
  return store.workspace.channels.map((channel) => ({ value: channel.id, text: { text: `#${channel.name}` } }));
}
