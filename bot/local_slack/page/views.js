// The app's own surfaces: modals and the Home tab.

import { el, icon, toast } from "./dom.js";
import { renderBlocks } from "./blocks.js";

export function renderHome(store) {
  const view = store.views.home;
  const home = view ? el("div", { class: "home" }, renderBlocks(view.blocks, context(store, view)))
    : el("div", { class: "home empty" }, el("p", {}, "Nothing on this Home tab yet."));
  home.view = written(view);
  return home;
}

// An app publishes the same view again and again; drawing it anew would take it from under a click.
export const isDrawn = (home, store) => home.view === written(store.views.home);
const written = (view) => JSON.stringify(view && [view.id, view.blocks]);

// One dialog element shows the top of the stack; it is drawn anew only when the view changed.
export class Modal {
  constructor(store) {
    this.store = store;
    this.dialog = null;
    this.shown = "";
  }

  update() {
    const stack = this.store.views.modals;
    const view = stack[stack.length - 1];
    const mark = view ? JSON.stringify([view.id, view.hash, view.errors]) : "";
    if (mark === this.shown) return;
    const entered = view && this.view?.id === view.id ? this.entered() : new Map();
    this.shown = mark;
    this.view = view;
    this.dialog?.remove();
    this.dialog = null;
    if (view) this.open(view, entered);
  }

  entered() { return new Map(this.fields.map(({ block, node }) => [block.block_id, node])); }

  open(view, entered) {
    this.fields = [];
    const errors = view.errors || {};
    const body = renderBlocks(view.blocks, { ...context(this.store, view), errors, fields: this.fields });
    this.keep(entered);
    const submit = view.submit ? el("button", { type: "submit", class: "button primary" }, view.submit.text) : null;
    const close = () => this.store.act("close_view", { user: this.store.me, view_id: view.id }).catch((error) => toast(error.message));
    this.dialog = el("dialog", { class: "modal", "aria-labelledby": "modal-title", oncancel: (event) => { event.preventDefault(); close(); } },
      el("form", { method: "dialog", novalidate: true, onsubmit: (event) => { event.preventDefault(); this.submit(view, submit); } },
        el("header", {}, el("h2", { id: "modal-title" }, view.title.text),
          el("button", { type: "button", class: "tool", "aria-label": "Close", onclick: close }, icon("close"))),
        el("div", { class: "modal-body" }, errors[""] ? el("p", { class: "field-error", role: "alert" }, errors[""]) : null, body),
        el("footer", {}, el("button", { type: "button", class: "button", onclick: close }, view.close?.text || "Cancel"), submit)));
    document.body.append(this.dialog);
    this.dialog.showModal();
    (this.dialog.querySelector("[aria-invalid]") || this.dialog.querySelector(".modal-body input, .modal-body textarea, .modal-body select"))?.focus();
  }

  // What was typed survives an answer with errors.
  keep(entered) {
    for (const { block, node } of this.fields) {
      const before = entered.get(block.block_id);
      if (!before) continue;
      if ("value" in before) node.value = before.value;
      const boxes = [...before.querySelectorAll("input")];
      [...node.querySelectorAll("input")].forEach((box, index) => { box.checked = boxes[index]?.checked; });
    }
  }

  async submit(view, button) {
    const values = {};
    for (const { block, read } of this.fields) {
      const value = read();
      if (value !== null) values[block.element.action_id] = value;
    }
    if (button) button.disabled = true;
    try {
      await this.store.act("submit", { user: this.store.me, values, view_id: view.id });
    } catch (error) {
      toast(error.message);
    }
    setTimeout(() => { if (button) button.disabled = false; }, 1500);
  }
}

function context(store, view) {
  return {
    store, pressed: new Map(), prefix: view.id,
    act: (block, element, value) => store.act("click_view", {
      user: store.me, view_id: view.id, action_id: element.action_id, block_id: block.block_id, value,
    }).catch((error) => toast(error.message)),
  };
}
