// One erase unit from near: every unit of it as a dot, and what it is.

/** @import {CloseUp, DriveStatus} from "./types.js" */
import { button, byId, make } from "./elements.js";
import { rampColour, themeColour } from "./palette.js";
import { significant } from "./words.js";

const WIDTH_PX = 560;
const HEIGHT_PX_MAX = 220;

/** @type {Record<string, string>} */
const MEANINGS = { v: "valid", s: "stale", ".": "erased", p: "parity or map" };

/** @param {string} kind */
function colour(kind) {
  /** @type {Record<string, () => string>} */
  const colours = {
    v: () => rampColour("valid", 1),
    s: () => rampColour("valid", 0),
    ".": () => themeColour("--grid"),
    p: () => themeColour("--part-4"),
  };
  return colours[kind]?.() ?? themeColour("--ink");
}

/** @param {string} units */
function drawn(units) {
  const canvas = document.createElement("canvas");
  const ratio = window.devicePixelRatio || 1;
  let cell = 12;
  const fits = () => Math.ceil(units.length / Math.floor(WIDTH_PX / cell)) * cell <= HEIGHT_PX_MAX;
  while (cell > 1 && !fits()) cell--;
  const columns = Math.floor(WIDTH_PX / cell);
  const rows = Math.ceil(units.length / columns);
  canvas.width = columns * cell * ratio;
  canvas.height = rows * cell * ratio;
  canvas.style.width = `${columns * cell}px`;
  const context = canvas.getContext("2d");
  if (!context) return canvas;
  context.scale(ratio, ratio);
  const gap = cell > 3 ? 1 : 0;
  for (let index = 0; index < units.length; index++) {
    context.fillStyle = colour(units[index]);
    context.fillRect((index % columns) * cell, Math.floor(index / columns) * cell, cell - gap, cell - gap);
  }
  const counts = Object.keys(MEANINGS).map((kind) => [kind, units.split(kind).length - 1]);
  const said = counts.filter(([, many]) => many).map(([kind, many]) => `${many} ${MEANINGS[kind]}`);
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `Units: ${said.join(", ")}`);
  return canvas;
}

/** @param {number} index @param {CloseUp} unit @param {DriveStatus} drive @param {() => void} close */
export function showCloseUp(index, unit, drive, close) {
  const facts = [
    unit.state,
    unit.stream && `stream ${unit.stream}`,
    `erased ${unit.erase_count.toLocaleString("en")} times of ${drive.endurance_cycles.toLocaleString("en")} rated`,
    unit.slc_mode_erase_count && `${unit.slc_mode_erase_count.toLocaleString("en")} more times in SLC mode`,
    `${unit.valid.toLocaleString("en")} of ${drive.units_per_erase_unit.toLocaleString("en")} units valid`,
    unit.age !== null && `filled ${significant(unit.age)} drive writes ago`,
  ].filter(Boolean);
  const keys = Object.entries(MEANINGS).filter(([kind]) => unit.units.includes(kind));
  const legend = keys.map(([kind, meaning]) => {
    const square = make("i");
    square.style.background = colour(kind);
    return make("span", { class: "chip soft" }, [square, meaning, "\u00a0"]);
  });
  const element = byId("close-up", HTMLElement);
  element.hidden = false;
  element.replaceChildren(
    make("div", { class: "close-head" }, [
      make("strong", {}, [`Erase unit ${index}${drive.label ? `, ${drive.label}` : ""}`]),
      button("Close", close, { "aria-label": "Close the view of the erase unit" }),
    ]),
    make("div", {}, [facts.join("; ")]),
    drawn(unit.units),
    make("div", {}, legend),
  );
}
