// The shipped job files as the engine's jobs, for a drive of any size: `tools/browser_edition.py` reads the files, and
// what depends on the drive is computed here, as `ssdlab.simulator.workloads.jobs.resolve` does.

import { exactly } from "./engine.js";
import { ofFullSize, parts, roundEven } from "./jobs.js";

/**
 * @typedef {object} Follows what a job's sizes follow from; 0 is: not given
 * @property {number} offset_percent
 * @property {number} size_percent
 * @property {number} io_size_bytes
 * @property {number} number_ios
 * @property {number} loops
 * @property {boolean} visits_freely random addresses, without a map of those visited
 */

/** @typedef {{name: string, summary: string, sections: number, jobs: {section: number, job: any, follows: Follows}[]}} JobFile */

/**
 * @param {JobFile} file @param {number} userBytes what the drive offers @param {string} scale such as "1/64"
 * @param {import("./jobs.js").Place} place
 */
export function resolved(file, userBytes, scale, place) {
  const { part, whole } = parts(scale);
  const scaled = (/** @type {number} */ amount) => Math.max(1, roundEven((amount * part) / whole));
  return file.jobs.map(({ section, job, follows }) => {
    const lengths = transferred(job);
    const [step, single] = [Math.min(...lengths), new Set(lengths).size === 1];
    const offset = Math.ceil(Math.floor((userBytes * follows.offset_percent) / 100) / step) * step;
    const room = userBytes - offset;
    const down = (/** @type {number} */ bytes) => Math.floor(bytes / step) * step;
    const wanted = follows.size_percent ? down(Math.min(Math.floor((userBytes * follows.size_percent) / 100), room)) : room;
    // In sequence fio goes on to the first block boundary at or after the end, if the device reaches so far.
    const isCut = job.sequential && single && down(wanted) < wanted && wanted <= room - step;
    const size = down(wanted) + (isCut ? step : 0);
    const pass = follows.visits_freely ? wanted : size;
    const limit = follows.io_size_bytes ? scaled(follows.io_size_bytes) : pass;
    const total = Math.max(follows.loops * Math.min(pass, limit), limit);
    return {
      ...job,
      stage: place.stage + job.stage,
      offset_bytes: offset,
      size_bytes: size,
      distribution: ofFullSize(job.distribution, scale),
      io_bytes: Math.ceil(total / (single ? step : 1)) * (single ? step : 1),
      number_ios: follows.number_ios ? scaled(follows.number_ios) * follows.loops : null,
      seed: exactly(place.seeds[job.clone][(place.index + section) % place.seeds[job.clone].length]),
    };
  });
}

/** The lengths of a job's requests. @param {any} job @returns {number[]} */
function transferred(job) {
  const ways = { read: ["read"], write: ["write"], trim: ["trim"], "read-write": ["read", "write"] };
  const names = ways[/** @type {keyof typeof ways} */ (job.direction)];
  return names.flatMap((name) => job.block_sizes[name].map((/** @type {any} */ entry) => entry.bytes));
}
