// Theory's write amplification for what runs in the browser: uniform writes, from tables that the installed program's
// closed forms made (`tools/browser_edition.py`). As `ssdlab.theory.expectation`, which has formulas for skewed writes too.

/** @import {Expectation} from "../../python/ssdlab/live/page/types.js" */

const ELSEWHERE = "closed forms of skewed writes are shown by ssdlab live on your own machine";

/** @typedef {{min: number, max: number, curves: Record<string, Record<string, (number | null)[]>>, formulas: Record<string, string>}} Tables */
/** @typedef {{data_units: number, parity_factor: number, open_blocks: number}} Shape what a drive means for the formulas */

/**
 * @param {Tables} tables @param {Shape} shape @param {any} specification the drive's @param {any[]} jobs those of the last stage
 * @param {number | null} overProvisioning what garbage collection really has over what is live
 * @returns {Expectation}
 */
export function expected(tables, shape, specification, jobs, overProvisioning) {
  const none = (/** @type {string} */ reason) => ({ value: null, formula: null, reason });
  const { ftl } = specification;
  if (overProvisioning === null || !(overProvisioning > 0)) return none("no spare area is left for garbage collection");
  if (ftl.wear_leveling.name === "static") return none("static wear levelling moves data that no closed form counts");
  const written = uniform(jobs, ftl.mapping_unit_bytes);
  if (typeof written === "string") return none(written);
  if (!["single", "host-gc-split"].includes(ftl.placement.name)) return none(`no closed form for placement '${ftl.placement.name}' under uniform writes`);
  const curves = tables.curves[ftl.victim.name];
  const curve = curves?.[String(shape.data_units)] ?? curves?.["0"];
  if (!curve) return none(`no closed form for victim policy '${ftl.victim.name}'; fifo, greedy, d-choices and random have one`);
  const overLive = (shape.open_blocks * shape.data_units * ftl.mapping_unit_bytes) / written.size_bytes;
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

/**
 * The addresses of uniform writes of single units, or why there are none. @param {any[]} jobs @param {number} unit
 * @returns {{offset_bytes: number, size_bytes: number} | string}
 */
function uniform(jobs, unit) {
  const writers = jobs.filter((job) => job.direction === "write" || (job.direction === "read-write" && job.read_percent < 100));
  const trimmers = jobs.filter((job) => job.direction === "trim");
  if (!writers.length) return "the last stage writes nothing";
  for (const [direction, which] of /** @type {[string, any[]][]} */ ([["write", writers], ["trim", trimmers]])) {
    for (const job of which) {
      const refused = dependent(job, direction, unit);
      if (refused) return refused;
    }
  }
  const [{ offset_bytes, size_bytes }] = writers;
  for (const { distribution } of writers) {
    if (distribution.name === "zoned") return ELSEWHERE;
    if (distribution.name !== "random") return `no closed form for distribution '${distribution.name}'`;
  }
  const isElsewhere = (/** @type {any} */ job) => job.offset_bytes !== offset_bytes || job.size_bytes !== size_bytes;
  if (writers.some(isElsewhere)) return ELSEWHERE;
  if (trimmers.some((job) => job.distribution.name !== "random")) return "trims are not uniform";
  if (trimmers.some(isElsewhere)) return "trims and writes have different addresses";
  return { offset_bytes, size_bytes };
}

/** Why requests are not independent single units. @param {any} job @param {string} direction @param {number} unit */
function dependent(job, direction, unit) {
  const name = `'${job.name}'`;
  if (job.sequential) return `job ${name} is sequential`;
  if (job.random_map) return `job ${name} visits every block once per pass (set norandommap for independent addresses)`;
  for (const form of ["runs", "random_percent", "files", "skip_bytes"])
    if (job[form] !== null && job[form] !== undefined) return `requests of job ${name} depend on each other or on their address (${form})`;
  const sizes = job.block_sizes[direction].filter((/** @type {any} */ entry) => entry.percent > 0).map((/** @type {any} */ entry) => entry.bytes);
  if (new Set(sizes).size > 1) return `job ${name} mixes request sizes`;
  if (sizes[0] !== unit) return `requests of job ${name} are not one mapping unit of ${unit} B`;
  if (job.offset_bytes % unit || job.size_bytes % unit || job.block_align_bytes[direction] !== unit) return `requests of job ${name} are not aligned to the mapping unit of ${unit} B`;
  return null;
}
