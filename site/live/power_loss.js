// What a loss of power would cost a drive, step by step: the same figures as `ssdlab.live.recovery` computes.

/** @import {PowerLoss} from "../../python/ssdlab/live/page/types.js" */

const FREE = 0;
const OPEN = 1;
const RETIRED = 5;

/**
 * @param {any} loss the engine's figures
 * @param {Uint8Array} states the drive's cells just before
 * @param {Uint8Array} ages
 * @param {any} nand
 * @returns {PowerLoss}
 */
export function powerLoss(loss, states, ages, nand) {
  const dies = nand.channels * nand.dies_per_channel;
  const readUs = Array.isArray(nand.read_us) ? nand.read_us.reduce((/** @type {number} */ sum, /** @type {number} */ us) => sum + us, 0) / nand.read_us.length : nand.read_us;
  const scanNs = Math.min(loss.duration_ns, Math.round((loss.scanned_pages * readUs * 1000) / dies));
  const written = [...states.keys()].filter((unit) => states[unit] !== FREE && states[unit] !== RETIRED);
  // Those that were filled last, as their ages show, are scanned in full; of each other one page is read.
  written.sort((a, b) => Number(states[a] !== OPEN) - Number(states[b] !== OPEN) || ages[a] - ages[b]);
  const blocks = dies * nand.planes_per_die * nand.blocks_per_plane;
  const pages = Math.max(1, Math.floor((blocks * nand.pages_per_block) / states.length));
  const inFull = Math.round((loss.scanned_pages - states.length) / Math.max(1, pages - 1));
  return {
    power_loss_protection: loss.power_loss_protection,
    torn_units: loss.torn_units,
    checkpoint_units: loss.checkpoint_units,
    scanned_pages: loss.scanned_pages,
    duration_ns: loss.duration_ns,
    checkpoint_ns: loss.duration_ns - scanNs,
    scan_ns: scanNs,
    scanned_in_full: written.slice(0, Math.max(0, inFull)).sort((a, b) => a - b),
  };
}
