// What the colours of the picture mean, for each way of colouring.

import { byId, make } from "./elements.js";
import { rampColour, streamColour } from "./palette.js";

const RAMP_STEPS = 24;

/** Shares worth a square of their own, where the scale is not even. @type {Record<string, number[]>} */
const STEPS = { valid: [0, 0.5, 0.75, 0.9, 1] };

/** The ends of each ramp, as the engine scales the bytes (`picture.rs`). @type {Record<string, [string, string]>} */
const ENDS = {
  valid: ["all stale", "all valid"],
  erase_count: ["least worn", "most worn"],
  age: ["just filled", "filled many drive writes ago"],
  temperature: ["never overwritten", "overwritten all the time"],
};

/** @param {string} colour @param {string} label */
function chip(colour, label) {
  const square = make("i");
  square.style.background = colour;
  return make("span", { class: "chip" }, [square, label]);
}

/** @param {string} view @param {string[]} streams in the order of their numbers */
export function showLegend(view, streams) {
  const marks = [chip("var(--grid)", "free"), outlined("--accent", "open"), outlined("--part-1", "garbage-collected")];
  const legend = byId("legend", HTMLElement);
  if (view === "stream") {
    const known = streams.map((name, index) => chip(streamColour(index), name || `stream ${index}`));
    legend.replaceChildren(...known, ...marks);
    return;
  }
  const [low, high] = ENDS[view];
  const steps = STEPS[view] ?? [];
  const scale = steps.length
    ? steps.map((share) => chip(rampColour(view, share), `${Math.round(share * 100)}\u00a0%`))
    : [low, ramp(view), high];
  legend.replaceChildren(...(steps.length ? ["valid"] : []), ...scale, ...marks);
  legend.setAttribute("aria-label", `Colours from ${low} to ${high}`);
}

/** @param {string} view */
function ramp(view) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [RAMP_STEPS * 4, 10];
  const context = canvas.getContext("2d");
  for (let step = 0; context && step < RAMP_STEPS; step++) {
    context.fillStyle = rampColour(view, step / (RAMP_STEPS - 1));
    context.fillRect(step * 4, 0, 4, 10);
  }
  return canvas;
}

/** @param {string} variable @param {string} label */
function outlined(variable, label) {
  const element = chip("transparent", label);
  const square = element.querySelector("i");
  if (square) square.style.border = `2px solid var(${variable})`;
  return element;
}

/** One cell in words. @param {string} view @param {number} value @param {number} state @param {string[]} streams */
export function cellInWords(view, value, state, streams) {
  const states = ["free", "open", "", "victim", "full in SLC mode", "retired"];
  if (state === 0 || state === 5) return states[state];
  /** @type {Record<string, () => string>} */
  const says = {
    valid: () => `${Math.round((value / 255) * 100)}\u00a0% valid`,
    erase_count: () => `${Math.round((value / 255) * 100)}\u00a0% between the least and the most worn`,
    age: () => (value === 0 ? "not filled yet" : `filled ${(value / Math.max(1, 255 - value)).toFixed(1)} drive writes ago`),
    stream: () => `stream ${streams[value] ?? value}`,
    temperature: () => `overwritten at ${(value / Math.max(1, 255 - value)).toFixed(1)} times the mean rate`,
  };
  return [says[view](), states[state]].filter(Boolean).join(", ");
}
