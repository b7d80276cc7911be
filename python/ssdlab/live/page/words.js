// How numbers are said: few digits, always a unit. The same habits as the reports' `wording.py`.

/** @import {Workload} from "./types.js" */

export const NO_VALUE = "\u2014";
const NARROW = "\u00a0";

/** By decimals: making one takes longer than a hundred uses. @type {Map<number, Intl.NumberFormat>} */
const formats = new Map();

/** @param {number} value @param {number} decimals */
export function fixed(value, decimals) {
  let format = formats.get(decimals);
  if (!format) {
    format = new Intl.NumberFormat("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
    formats.set(decimals, format);
  }
  return format.format(value);
}

/** @param {number} value @param {number} [digits] */
export function significant(value, digits = 3) {
  if (value === 0) return "0";
  const magnitude = Math.floor(Math.log10(Math.abs(Number(value.toPrecision(digits)))));
  const decimals = Math.min(12, Math.max(0, digits - 1 - magnitude));
  return fixed(value, decimals);
}

/** @param {number | null | undefined} fraction */
export function share(fraction) {
  if (fraction === null || fraction === undefined) return NO_VALUE;
  const text = significant(fraction * 100);
  return `${text.includes(".") ? text.replace(/\.?0+$/, "") : text}${NARROW}%`;
}

/** From this over-provisioning on, garbage collection has next to nothing to do: a drive is nearly empty. */
export const SPARE_MAX = 1;

/** Over-provisioning, which has no upper end: it is a ratio to the data, of which an empty drive has none. @param {number | null | undefined} fraction */
export function spare(fraction) {
  return fraction !== null && fraction !== undefined && fraction >= SPARE_MAX ? `\u2265\u00a0${share(SPARE_MAX)}` : share(fraction);
}

/** @param {number} value @param {[number, string][]} units @param {number} [digits] */
function scaled(value, units, digits = 3) {
  for (const [factor, unit] of units)
    if (Math.abs(value) >= 0.9995 * factor) return `${significant(value / factor, digits)}${NARROW}${unit}`;
  const [factor, unit] = units[units.length - 1];
  return `${significant(value / factor, digits)}${NARROW}${unit}`;
}

/** @param {number} bytes */
export function size(bytes) {
  return scaled(bytes, [[1e15, "PB"], [1e12, "TB"], [1e9, "GB"], [1e6, "MB"], [1e3, "kB"], [1, "B"]]);
}

/** @param {number | null | undefined} bytesPerSecond */
export function rate(bytesPerSecond) {
  return bytesPerSecond === null || bytesPerSecond === undefined ? NO_VALUE : `${size(bytesPerSecond)}/s`;
}

/** @param {number | null | undefined} nanoseconds */
export function duration(nanoseconds) {
  if (nanoseconds === null || nanoseconds === undefined) return NO_VALUE;
  return scaled(nanoseconds, [[1e9, "s"], [1e6, "ms"], [1e3, "\u00b5s"], [1, "ns"]]);
}

/** Time that people wait. @param {number | null | undefined} value */
export function seconds(value) {
  if (value === null || value === undefined) return NO_VALUE;
  if (value < 100) return `${significant(value, 2)}${NARROW}s`;
  if (value < 6000) return `${Math.round(value / 60)}${NARROW}min`;
  return scaled(value, [[86400, "days"], [3600, "h"]], 2);
}

/** @param {number | null | undefined} value */
export function count(value) {
  if (value === null || value === undefined) return NO_VALUE;
  return Math.abs(value) < 1e5 ? fixed(value, 0) : scaled(value, [[1e9, "G"], [1e6, "M"], [1e3, "k"]]);
}

/** @param {number | null | undefined} value */
export function waf(value) {
  if (value === null || value === undefined) return NO_VALUE;
  return value < 100 ? value.toFixed(2) : significant(value);
}

/** @param {number | null | undefined} value */
export function plain(value) {
  return value === null || value === undefined ? NO_VALUE : significant(value);
}

/** The names of the parts of write amplification, as in the reports. @type {Record<string, string>} */
export const PART_NAMES = {
  host: "host",
  gc: "garbage collection",
  wear_leveling: "wear levelling",
  metadata: "metadata",
  parity: "parity",
  padding: "padding",
  slc_fold: "SLC fold",
};

/** What the controls ask of the host. @param {Workload} workload */
export function workloadInWords(workload) {
  const { kind, block_bytes: block, read_percent: reads, skew, trim_percent: trims, iodepth } = workload;
  const mix = reads ? `${kind} requests, ${reads}${NARROW}% of them reads,` : `${kind} writes`;
  const addresses = kind === "random" ? [skew ? `zipf ${skew.toFixed(1)}` : "uniform"] : [];
  const deletions = trims ? [`${trims}${NARROW}% trims`] : [];
  return [`${mix} of ${block / 1024}${NARROW}KiB`, ...addresses, ...deletions, `queue depth ${iodepth}`].join(", ");
}
