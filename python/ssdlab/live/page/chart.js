// One chart over time on a canvas: lines, or stacked areas. Eight of them are drawn ten times a second next to the picture.
// The same chart through uPlot 1.6.32 takes 150 lines instead of 312, adds 51 kB (22 kB compressed) to the page, and draws
// more slowly: eight charts of two lines with 600 points take 4.4 to 6.4 ms instead of 2.4 to 2.8 ms, with 5,000 points 12
// to 15 ms instead of 11 to 12 ms (medians in headless Chromium).

import { themeColour } from "./palette.js";

/**
 * @typedef {object} Line
 * @property {string} name
 * @property {string} colour A CSS variable.
 * @property {boolean} [dashed]
 * @property {[number, number][]} points
 * @property {Set<number>} [starts] Points before which there was no value: no stroke leads to them.
 * @property {boolean} [isOver] It has no value now, as theory when what it is of has ended.
 * @property {boolean} [isMarked] Each point is a measurement of its own.
 * @property {[number, number, number][]} [band] From the least to the most at each place.
 */

/**
 * @typedef {object} Content
 * @property {Line[]} lines
 * @property {boolean} [isStacked] The lines are areas, each on the one before.
 * @property {boolean} [isLogarithmic]
 * @property {[number, number]} [range] Of the values; without it, that of the lines.
 * @property {(value: number | null) => string} say
 * @property {string} [missing] Why there is nothing to draw.
 */

const LEFT_PX = 46;
const RIGHT_PX = 6;
const TOP_PX = 6;
const BOTTOM_PX = 16;
const MARK_PX = 3;

/**
 * @typedef {object} Axis
 * @property {number} low
 * @property {number} high
 * @property {number[]} [ticks] Where values are said; without it, at round ones.
 * @property {(value: number) => string} say
 * @property {{at: number, name: string}[]} moments
 */

/** Round values from low to high, about so many. @param {number} low @param {number} high @param {number} wanted */
export function ticks(low, high, wanted) {
  const span = high - low || Math.abs(high) || 1;
  const rough = span / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((size) => size >= rough) ?? power;
  const found = [];
  for (let value = Math.ceil(low / step) * step; value <= high + step * 1e-9; value += step) found.push(value);
  return found;
}

/** Without zeros at the end: 2.50 -> 2.5. @param {string} text */
const short = (text) => text.replace(/(\.\d*?)0+(?!\d)/, "$1").replace(/\.(?!\d)/, "");

/** @param {number} low @param {number} high */
function powers(low, high) {
  const found = [];
  for (let power = Math.ceil(Math.log10(low)); power <= Math.log10(high) + 1e-9; power++) found.push(10 ** power);
  const step = Math.ceil(found.length / 4);
  return found.filter((_, index) => index % step === 0);
}

export class Chart {
  /** @param {HTMLElement} container @param {string} title @param {string} id @param {string} [along] */
  constructor(container, title, id, along = "over time") {
    this.title = title;
    this.along = along;
    this.element = document.createElement("div");
    this.element.className = "chart";
    this.element.id = `chart-${id}`;
    this.heading = document.createElement("h3");
    this.heading.textContent = title;
    this.canvas = document.createElement("canvas");
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", `${title} ${along}: nothing yet`);
    this.element.append(this.heading, this.canvas);
    container.append(this.element);
    /** @type {Content | null} */
    this.content = null;
    /** @type {number | null} */
    this.pointer = null;
    this.canvas.addEventListener("pointermove", (event) => this.point(event.offsetX));
    this.canvas.addEventListener("pointerleave", () => this.point(null));
    this.width = this.height = 0;
    // Asked at every drawing, the browser would lay the page out again for each chart.
    new ResizeObserver(([{ contentRect }]) => {
      [this.width, this.height] = [contentRect.width, contentRect.height];
      this.draw();
    }).observe(this.canvas);
    /** @type {{names: string, values: Text[]}} */
    this.key = { names: "", values: [] };
  }

  /** @param {Content} content @param {Axis} axis */
  show(content, axis) {
    this.content = content;
    this.axis = axis;
    this.draw();
  }

  /** @param {number | null} x */
  point(x) {
    this.pointer = x;
    this.draw();
  }

  draw() {
    const { content, axis, width, height } = this;
    if (!content || !axis || !width) return;
    const ratio = window.devicePixelRatio || 1;
    if (this.canvas.width !== Math.round(width * ratio)) this.canvas.width = Math.round(width * ratio);
    if (this.canvas.height !== Math.round(height * ratio)) this.canvas.height = Math.round(height * ratio);
    const context = this.canvas.getContext("2d");
    if (!context) return;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    context.font = `10.5px ${themeColour("--font")}`;
    const lines = content.lines.filter((line) => line.points.length);
    const at = this.pointed(width, axis);
    this.say(content, lines, at);
    if (!lines.length) {
      context.fillStyle = themeColour("--ink-soft");
      context.fillText(content.missing ?? "nothing yet", LEFT_PX, height / 2);
      return;
    }
    const stacked = content.isStacked ? stack(lines) : lines;
    const [low, high] = content.range ?? range(stacked, content);
    const x = (/** @type {number} */ value) =>
      LEFT_PX + ((value - axis.low) / (axis.high - axis.low || 1)) * (width - LEFT_PX - RIGHT_PX);
    const of = content.isLogarithmic ? Math.log10 : (/** @type {number} */ value) => value;
    const y = (/** @type {number} */ value) =>
      height - BOTTOM_PX - ((of(value) - of(low)) / (of(high) - of(low) || 1)) * (height - TOP_PX - BOTTOM_PX);
    this.drawAxes(context, width, height, x, y, content.isLogarithmic ? powers(low, high) : ticks(low, high, 3));
    context.save();
    context.beginPath();
    context.rect(LEFT_PX, 0, width - LEFT_PX, height - BOTTOM_PX + 1);
    context.clip();
    if (content.isStacked) drawAreas(context, stacked, x, y);
    else {
      for (const line of lines) drawBand(context, line, x, y);
      for (const line of lines) drawLine(context, line, x, y);
    }
    context.restore();
    if (at !== null) {
      context.strokeStyle = themeColour("--ink-soft");
      context.lineWidth = 1;
      context.beginPath();
      context.moveTo(x(at), TOP_PX);
      context.lineTo(x(at), height - BOTTOM_PX);
      context.stroke();
    }
  }

  /**
   * @param {CanvasRenderingContext2D} context @param {number} width @param {number} height
   * @param {(value: number) => number} x @param {(value: number) => number} y @param {number[]} values
   */
  drawAxes(context, width, height, x, y, values) {
    const { content, axis } = this;
    if (!content || !axis) return;
    context.lineWidth = 1;
    context.strokeStyle = themeColour("--grid");
    context.fillStyle = themeColour("--ink-soft");
    context.textBaseline = "middle";
    for (const value of values) {
      const place = Math.round(y(value)) + 0.5;
      context.beginPath();
      context.moveTo(LEFT_PX, place);
      context.lineTo(width - RIGHT_PX, place);
      context.stroke();
      context.textAlign = "right";
      context.fillText(short(content.say(value)), LEFT_PX - 5, place, LEFT_PX - 6);
    }
    context.textBaseline = "alphabetic";
    const along = axis.ticks ?? ticks(axis.low, axis.high, 4);
    along.forEach((value, index) => {
      context.textAlign = index === 0 && x(value) < LEFT_PX + 8 ? "left" : x(value) > width - 24 ? "right" : "center";
      context.fillText(short(axis.say(value)), x(value), height - 3);
    });
    context.strokeStyle = themeColour("--ink-soft");
    context.setLineDash([2, 3]);
    for (const moment of axis.moments) {
      context.beginPath();
      context.moveTo(x(moment.at), TOP_PX);
      context.lineTo(x(moment.at), height - BOTTOM_PX);
      context.stroke();
    }
    context.setLineDash([]);
  }

  /** Where the pointer is on the axis. @param {number} width @param {{low: number, high: number}} axis */
  pointed(width, axis) {
    if (this.pointer === null || this.pointer < LEFT_PX) return null;
    const share = (this.pointer - LEFT_PX) / (width - LEFT_PX - RIGHT_PX);
    return axis.low + Math.min(1, share) * (axis.high - axis.low);
  }

  /** The heading is the key, with the values at the pointer or the newest. @param {Content} content @param {Line[]} lines @param {number | null} at */
  say(content, lines, at) {
    const texts = lines.map((line) => `${line.name} ${content.say(line.isOver && at === null ? null : valueAt(line.points, at))}`);
    const names = lines.map(({ name, colour }) => `${name} ${colour}`).join();
    if (this.key.names !== names) this.layOutKey(names, lines);
    texts.forEach((text, index) => {
      const value = this.key.values[index];
      if (value.data !== text) value.data = text;
    });
    const said = texts.join(", ") || (content.missing ?? "nothing yet");
    this.canvas.setAttribute("aria-label", `${this.title} ${this.along}: ${said}`);
  }

  /** @param {string} names @param {Line[]} lines */
  layOutKey(names, lines) {
    const values = lines.map(() => document.createTextNode(""));
    const spans = lines.map((line, index) => {
      const mark = document.createElement("i");
      if (line.dashed) mark.className = "dashed";
      mark.style.setProperty("--colour", `var(${line.colour})`);
      const span = document.createElement("span");
      span.append(mark, values[index]);
      return span;
    });
    this.heading.replaceChildren(this.title, ...spans);
    this.key = { names, values };
  }
}

/** The value of the last point at or before a place; the newest without one. @param {[number, number][]} points @param {number | null} at */
function valueAt(points, at) {
  if (at === null) return points[points.length - 1][1];
  let low = 0;
  let high = points.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (points[middle][0] <= at) low = middle;
    else high = middle - 1;
  }
  return points[low][1];
}

/** @param {Line[]} lines @returns {Line[]} */
function stack(lines) {
  /** @type {Line[]} */
  const stacked = [];
  for (const line of lines) {
    const below = stacked[stacked.length - 1]?.points;
    stacked.push({ ...line, points: line.points.map(([x, value], index) => [x, value + (below?.[index]?.[1] ?? 0)]) });
  }
  return stacked;
}

/** @param {Line[]} lines @param {Content} content @returns {[number, number]} */
function range(lines, content) {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const { points } of lines)
    for (const [, value] of points) {
      if (content.isLogarithmic && value <= 0) continue;
      if (value < low) low = value;
      if (value > high) high = value;
    }
  if (!Number.isFinite(low)) return [0, 1];
  if (content.isLogarithmic) return [10 ** Math.floor(Math.log10(low)), 10 ** Math.ceil(Math.log10(high * 1.0001))];
  return [0, high > 0 ? high * 1.08 : 1];
}

/** @param {CanvasRenderingContext2D} context @param {Line} line @param {(value: number) => number} x @param {(value: number) => number} y */
function drawLine(context, line, x, y) {
  context.strokeStyle = themeColour(line.colour);
  context.lineWidth = line.dashed ? 1.3 : 1.7;
  context.setLineDash(line.dashed ? [5, 4] : []);
  context.beginPath();
  line.points.forEach(([along, value], index) => {
    if (line.starts?.has(index)) context.moveTo(x(along), y(value));
    else context.lineTo(x(along), y(value));
  });
  context.stroke();
  context.setLineDash([]);
  // A single point is no stroke.
  if (!line.isMarked && line.points.length > 1) return;
  context.fillStyle = context.strokeStyle;
  for (const [along, value] of line.points) {
    context.beginPath();
    context.arc(x(along), y(value), MARK_PX, 0, 2 * Math.PI);
    context.fill();
  }
}

/** @param {CanvasRenderingContext2D} context @param {Line} line @param {(value: number) => number} x @param {(value: number) => number} y */
function drawBand(context, line, x, y) {
  if (!line.band) return;
  context.fillStyle = themeColour(line.colour);
  context.globalAlpha = 0.18;
  context.beginPath();
  for (const [along, low] of line.band) context.lineTo(x(along), y(low));
  for (const [along, , high] of [...line.band].reverse()) context.lineTo(x(along), y(high));
  context.fill();
  context.globalAlpha = 1;
}

/** @param {CanvasRenderingContext2D} context @param {Line[]} lines @param {(value: number) => number} x @param {(value: number) => number} y */
function drawAreas(context, lines, x, y) {
  lines.forEach((line, index) => {
    const below = lines[index - 1]?.points;
    context.fillStyle = themeColour(line.colour);
    context.beginPath();
    for (const [along, value] of line.points) context.lineTo(x(along), y(value));
    for (let place = line.points.length - 1; place >= 0; place--)
      context.lineTo(x(line.points[place][0]), y(below?.[place]?.[1] ?? 0));
    context.fill();
  });
}
