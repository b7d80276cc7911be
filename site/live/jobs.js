// The engine's jobs for a drive of any size, from job files that `tools/browser_edition.py` has read: those that are
// shipped, and those that the controls of the page stand for. What depends on the drive or on a control's number is
// computed here, as `ssdlab.simulator.workloads.jobs.resolve` does.

/** @import {Workload} from "../../python/ssdlab/live/page/types.js" */
import { exactly } from "./engine.js";

/**
 * @typedef {object} Follows what a job's sizes follow from; 0 is: not given
 * @property {number} offset_percent
 * @property {number} size_percent
 * @property {number} io_size_bytes
 * @property {number} number_ios
 * @property {number} loops
 * @property {boolean} visits_freely random addresses, without a map of those visited
 */

/** @typedef {{section: number, job: any, follows: Follows}} FileJob */
/** `refusal` says why theory has no line for its last stage. @typedef {{name: string, summary: string, refusal: string | null, jobs: FileJob[]}} JobFile */

/**
 * The controls as job files: `workloads` by kind, with reads, and skewed, each with a job that trims; `refusals` of these
 * for one mapping unit a request, and with trims.
 * @typedef {{workloads: Record<string, JobFile>, refusals: Record<string, string | null>, fill: JobFile, trim: JobFile}} ControlFiles
 */

/**
 * @typedef {object} Place where a job stands: jobs before it, its stage, the seeds of jobs by their place.
 * @property {number} index
 * @property {number} stage
 * @property {string[][]} seeds of each clone
 */

/**
 * A workload on the first percents of a drive; a host that trims has two jobs side by side.
 * @param {ControlFiles} files @param {Workload} workload @param {string} name @param {number} percent @param {number} unit of the drive's map
 * @returns {JobFile}
 */
export function working(files, workload, name, percent, unit) {
  const { kind, block_bytes, read_percent, skew, trim_percent, iodepth } = workload;
  const key = `${kind},${read_percent > 0},${skew > 0}`;
  const trimDepth = trim_percent ? Math.max(1, roundEven((iodepth * trim_percent) / 100)) : 0;
  const depths = trimDepth ? [Math.max(1, iodepth - trimDepth), trimDepth] : [iodepth];
  const block = [{ bytes: block_bytes, percent: 100 }];
  const chosen = (/** @type {any} */ job) => ({
    read_percent: job.direction === "read-write" ? read_percent : job.read_percent,
    // fio's zipf has no theta of exactly 1.
    distribution: job.distribution.name === "zipf" ? { ...job.distribution, theta: skew === 1 ? 1.01 : skew } : job.distribution,
    block_sizes: { read: block, write: block, trim: block },
    block_align_bytes: { read: block_bytes, write: block_bytes, trim: block_bytes },
  });
  const jobs = depths.map((depth, index) => {
    const { section, job, follows } = files.workloads[key].jobs[index];
    return { section, follows: { ...follows, size_percent: percent }, job: { ...job, ...chosen(job), name: index ? `${name}-trims` : name, iodepth: depth } };
  });
  const refusal = files.refusals[`${key},${block_bytes === unit},${trimDepth > 0}`];
  return { ...files.workloads[key], jobs, refusal: refusal && refusal.replace("'work", `'${name}`) };
}

/** Writes the partition once in sequence. @param {ControlFiles} files @param {string} name @param {number} percent @returns {JobFile} */
export const filling = (files, name, percent) => alone(files.fill, name, { size_percent: percent });

/** Trims what is behind the partition. @param {ControlFiles} files @param {string} name @param {number} percent @returns {JobFile} */
export const trimmingBehind = (files, name, percent) => alone(files.trim, name, { offset_percent: percent, size_percent: 100 - percent });

/** @param {JobFile} file @param {string} name @param {Partial<Follows>} more */
function alone(file, name, more) {
  const [{ section, job, follows }] = file.jobs;
  return { ...file, jobs: [{ section, job: { ...job, name }, follows: { ...follows, ...more } }] };
}

/** @param {JobFile} file @param {number} userBytes what the drive offers @param {string} scale such as "1/64" @param {Place} place */
export function resolved(file, userBytes, scale, place) {
  const [part, whole = 1] = scale.split("/").map(Number);
  const ranks = roundEven(whole / part);
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
      // A scaled range keeps the skew of the full one: the share of the hottest ranks falls on one block.
      distribution: job.distribution.name === "zipf" && ranks > 1 ? { ...job.distribution, ranks_per_block: ranks } : job.distribution,
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

/** As Python rounds: halves to the even number. @param {number} value */
function roundEven(value) {
  const below = Math.floor(value);
  if (value - below !== 0.5) return Math.round(value);
  return below % 2 ? below + 1 : below;
}
