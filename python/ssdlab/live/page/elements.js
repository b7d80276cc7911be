// Finding and making elements, checked: an element that the page's HTML lacks is an error at the start, not later.

/**
 * The element with an id.
 * @template {HTMLElement} T
 * @param {string} id
 * @param {new () => T} kind
 * @returns {T}
 */
export function byId(id, kind) {
  const element = document.getElementById(id);
  if (!(element instanceof kind)) throw new Error(`the page has no ${kind.name} #${id}`);
  return element;
}

/**
 * A new element with attributes and children; texts become text, never HTML.
 * @param {string} name
 * @param {Record<string, string>} [attributes]
 * @param {(Node | string)[]} [children]
 */
export function make(name, attributes = {}, children = []) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/** @param {string} label @param {() => void} act @param {Record<string, string>} [attributes] */
export function button(label, act, attributes = {}) {
  const element = make("button", { type: "button", ...attributes }, [label]);
  element.addEventListener("click", act);
  return element;
}

/** A small square in the colour of a CSS variable. @param {string} variable */
export function swatch(variable) {
  const element = make("span", { class: "swatch" });
  element.style.setProperty("--colour", `var(${variable})`);
  return element;
}
