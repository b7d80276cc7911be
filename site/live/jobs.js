// What the controls of the page ask of the host, as the engine's jobs: what `ssdlab.simulator.workloads.controls` says as job files.

/** @import {Workload} from "../../python/ssdlab/live/page/types.js" */
import { exactly } from "./engine.js";

/** So much that nobody waits for the end; the page ends it. */
const ENDLESS_BYTES = 2 ** 50;
const SEQUENTIAL_BYTES = 131072;
const DEPTH = 32;

/**
 * @typedef {object} Place where a job stands: jobs before it, its stage, the seeds of jobs by their place.
 * @property {number} index
 * @property {number} stage
 * @property {string[][]} seeds of each clone
 */

/**
 * The jobs of a workload on the first percents of a drive; a host that trims has two side by side.
 * @param {Workload} workload @param {string} name @param {number} percent @param {number} userBytes
 * @param {string} scale such as "1/64" @param {Place} place
 */
export function working(workload, name, percent, userBytes, scale, place) {
  const trimDepth = workload.trim_percent ? Math.max(1, roundEven((workload.iodepth * workload.trim_percent) / 100)) : 0;
  const sequential = workload.kind === "sequential";
  // fio's zipf has no theta of exactly 1.
  const theta = workload.skew === 1 ? 1.01 : workload.skew;
  const common = { size_bytes: part(userBytes, percent, workload.block_bytes), io_bytes: ENDLESS_BYTES, sequential };
  const transfers = job(name, workload.block_bytes, place, {
    ...common,
    direction: workload.read_percent ? "read-write" : "write",
    read_percent: workload.read_percent,
    random_map: false,
    distribution: ofFullSize(!sequential && theta ? { name: "zipf", theta, center: null } : { name: "random" }, scale),
    iodepth: trimDepth ? Math.max(1, workload.iodepth - trimDepth) : workload.iodepth,
  });
  if (!trimDepth) return [transfers];
  const trims = { ...common, sequential: false, direction: "trim", iodepth: trimDepth };
  return [transfers, job(`${name}-trims`, workload.block_bytes, { ...place, index: place.index + 1 }, trims)];
}

/** Writes the partition once in sequence. @param {string} name @param {number} percent @param {number} userBytes @param {Place} place */
export function filling(name, percent, userBytes, place) {
  const bytes = part(userBytes, percent, SEQUENTIAL_BYTES);
  return job(name, SEQUENTIAL_BYTES, place, { direction: "write", size_bytes: bytes, io_bytes: bytes });
}

/** Trims what is behind the partition. @param {string} name @param {number} percent @param {number} userBytes @param {Place} place */
export function trimmingBehind(name, percent, userBytes, place) {
  const offset = Math.ceil(Math.floor((userBytes * percent) / 100) / SEQUENTIAL_BYTES) * SEQUENTIAL_BYTES;
  const wanted = part(userBytes, 100 - percent, SEQUENTIAL_BYTES);
  const left = Math.floor((userBytes - offset) / SEQUENTIAL_BYTES) * SEQUENTIAL_BYTES;
  const bytes = Math.min(wanted, left);
  return job(name, SEQUENTIAL_BYTES, place, { direction: "trim", offset_bytes: offset, size_bytes: bytes, io_bytes: bytes });
}

/** @param {string} name @param {number} blockBytes @param {Place} place @param {object} more */
function job(name, blockBytes, place, more) {
  const block = [{ bytes: blockBytes, percent: 100 }];
  return {
    name,
    clone: 0,
    stage: place.stage,
    direction: "write",
    sequential: true,
    read_percent: 0,
    offset_bytes: 0,
    number_ios: null,
    loops: 1,
    block_sizes: { read: block, write: block, trim: block },
    block_align_bytes: { read: blockBytes, write: blockBytes, trim: blockBytes },
    distribution: { name: "random" },
    random_map: false,
    skip_bytes: null,
    runs: null,
    random_percent: null,
    files: null,
    iodepth: DEPTH,
    runtime_ns: null,
    time_based: false,
    seed: exactly(place.seeds[0][place.index % place.seeds[0].length]),
    ...more,
  };
}

/** "1/64" as its two numbers. @param {string} scale */
export function parts(scale) {
  const [part, whole = 1] = scale.split("/").map(Number);
  return { part, whole };
}

/**
 * A scaled range keeps the skew of the full one: the share of the hottest ranks falls on one block.
 * @param {any} distribution @param {string} scale
 */
export function ofFullSize(distribution, scale) {
  const { part, whole } = parts(scale);
  const ranks = roundEven(whole / part);
  return distribution.name === "zipf" && ranks > 1 ? { ...distribution, ranks_per_block: ranks } : distribution;
}

/** Whole blocks of a share of the drive. @param {number} bytes @param {number} percent @param {number} block */
function part(bytes, percent, block) {
  return Math.floor(Math.floor((bytes * percent) / 100) / block) * block;
}

/** As Python rounds: halves to the even number. @param {number} value */
export function roundEven(value) {
  const below = Math.floor(value);
  if (value - below !== 0.5) return Math.round(value);
  return below % 2 ? below + 1 : below;
}
