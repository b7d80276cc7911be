// Theory's write amplification for what runs in the browser: uniform writes, from tables that the installed program's
// closed forms made (`tools/browser_edition.py`), as is what they say of other workloads. As
// `ssdlab.theory.expectation`, which has formulas for skewed writes too.

/** @import {Expectation} from "../../python/ssdlab/live/page/types.js" */

/** @typedef {{min: number, max: number, curves: Record<string, Record<string, (number | null)[]>>, formulas: Record<string, string>}} Tables */
/** @typedef {{data_units: number, parity_factor: number, open_blocks: number}} Shape what a drive means for the formulas */

/**
 * @param {Tables} tables @param {Shape} shape @param {any} specification the drive's
 * @param {string | null} refusal why the last stage has no line @param {number} liveBytes what it writes
 * @param {number | null} overProvisioning what garbage collection really has over what is live
 * @returns {Expectation}
 */
export function expected(tables, shape, specification, refusal, liveBytes, overProvisioning) {
  const none = (/** @type {string} */ reason) => ({ value: null, formula: null, reason });
  const { ftl } = specification;
  if (overProvisioning === null || !(overProvisioning > 0)) return none("no spare area is left for garbage collection");
  if (ftl.wear_leveling.name === "static") return none("static wear levelling moves data that no closed form counts");
  if (refusal !== null) return none(refusal);
  if (!["single", "host-gc-split"].includes(ftl.placement.name)) return none(`no closed form for placement '${ftl.placement.name}' under uniform writes`);
  const curves = tables.curves[ftl.victim.name];
  const curve = curves?.[String(shape.data_units)] ?? curves?.["0"];
  if (!curve) return none(`no closed form for victim policy '${ftl.victim.name}'; fifo, greedy, d-choices and random have one`);
  const overLive = (shape.open_blocks * shape.data_units * ftl.mapping_unit_bytes) / liveBytes;
  let value = at(tables, curve, overProvisioning);
  // What garbage collection really has of open erase units depends on the value itself.
  for (let round = 0; round < 3; round++) value = value && at(tables, curve, overProvisioning + 0.5 * (1 - 1 / value) * overLive);
  if (!value) return none("the closed form has no value at so small a spare area");
  return { value: value * shape.parity_factor, formula: tables.formulas[ftl.victim.name], reason: null };
}

/** @param {Tables} tables @param {(number | null)[]} curve @param {number} overProvisioning */
function at(tables, curve, overProvisioning) {
  const last = curve.length - 1;
  const place = (last * Math.log(overProvisioning / tables.min)) / Math.log(tables.max / tables.min);
  if (place < 0) return null;
  const below = Math.min(last - 1, Math.floor(place));
  const [low, high] = [curve[below], curve[below + 1]];
  if (low === null || high === null) return null;
  const part = Math.min(1, place - below);
  return Math.exp(Math.log(low) * (1 - part) + Math.log(high) * part);
}
