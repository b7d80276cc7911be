// What the page shows of a drive's counters, and the rows that its charts are made of: as `ssdlab.live.figures` and
// `ssdlab.live.samples` have them.

/** @import {Figures} from "../../python/ssdlab/live/page/types.js" */

export const PARTS = ["host", "gc", "wear_leveling", "metadata", "parity", "padding", "slc_fold", "journal"];
const PERCENTILES = ["p50", "p99", "p999"];
const MOMENTARY = [
  "simulated_seconds",
  "host_written_bytes",
  "waf",
  "theory",
  "free_erase_units",
  "effective_over_provisioning",
  "erase_count_min",
  "erase_count_mean",
  "erase_count_max",
];
const AMOUNTS = ["seconds", "requests", "reads", "writes", "read_bytes", "written_bytes", ...PARTS.map((part) => `programmed_${part}`)];
const LATENCIES = ["read", "write"].flatMap((way) => PERCENTILES.map((rank) => `${way}_latency_ns_${rank}`));
export const COLUMNS = [...MOMENTARY, ...AMOUNTS, ...LATENCIES];
const ROWS_MAX = 1200;

/** What was programmed for a part; a part without any may be absent. @param {Record<string, number>} units @param {string} part */
const of = (units, part) => units[part] ?? 0;
/** @param {Record<string, number>} units */
const total = (units) => PARTS.reduce((sum, part) => sum + of(units, part), 0);

/** From the engine's figures. @param {any} raw @returns {Figures} */
export function plain(raw) {
  const { ledger, capacity, since } = raw;
  const unit = capacity.counted_unit_bytes;
  const host = ledger.host_written_bytes;
  const programmed = total(ledger.programmed_units) * unit;
  /** @param {(part: string) => number} value */
  const parts = (value) => Object.fromEntries(PARTS.map((part) => [part, value(part)]));
  /** @param {any} latency */
  const ranks = (latency) => latency && Object.fromEntries(PERCENTILES.map((rank) => [rank, latency[`${rank}_ns`]]));
  return {
    simulated_seconds: raw.simulated_seconds,
    requests: raw.requests,
    host_written_bytes: host,
    host_read_bytes: ledger.host_read_bytes,
    host_trimmed_bytes: ledger.host_trimmed_bytes,
    nand_programmed_bytes: programmed,
    waf: host ? programmed / host : null,
    waf_parts: host ? parts((part) => (of(ledger.programmed_units, part) * unit) / host) : null,
    drive_writes: host / (capacity.user_units * capacity.mapping_unit_bytes),
    free_erase_units: raw.free_erase_units,
    effective_over_provisioning: capacity.effective_over_provisioning,
    erase_count: raw.erase_count,
    since: /** @type {any} */ ({
      seconds: since.simulated_seconds,
      requests: since.requests,
      iops: since.iops,
      reads: since.read_latency && since.read_latency.count,
      writes: since.write_latency && since.write_latency.count,
      read_bytes: since.ledger.host_read_bytes,
      written_bytes: since.ledger.host_written_bytes,
      programmed_bytes: parts((part) => of(since.ledger.programmed_units, part) * unit),
      waf: since.waf,
      die_utilization: since.die_utilization,
      read_latency_ns: ranks(since.read_latency),
      write_latency_ns: ranks(since.write_latency),
    }),
  };
}

/** @param {any} figures as `plain` gives them @param {number | null} theory @returns {(number | null)[]} */
export function rowOf(figures, theory) {
  const { since } = figures;
  return COLUMNS.map((name) => {
    if (name === "theory") return theory;
    if (name.startsWith("erase_count_")) return figures.erase_count[name.slice(12)];
    if (name.startsWith("programmed_")) return since.programmed_bytes[name.slice(11)];
    const latency = /^(read|write)_latency_ns_(.*)$/.exec(name);
    if (latency) return since[`${latency[1]}_latency_ns`]?.[latency[2]] ?? null;
    return (AMOUNTS.includes(name) ? since : figures)[name];
  });
}

/** The rows of one drive, oldest first, in bounded number: neighbours are joined when there are too many. */
export class History {
  constructor() {
    /** @type {(number | null)[][]} */
    this.rows = [];
    /** Grows whenever older rows change, so that they are all sent again. */
    this.epoch = 0;
    this.perRow = 1;
    this.inLast = 0;
  }

  /** @param {(number | null)[]} row */
  add(row) {
    if (this.inLast && this.inLast < this.perRow) {
      this.rows.push(joined(/** @type {(number | null)[]} */ (this.rows.pop()), row));
      this.inLast += 1;
      return;
    }
    this.rows.push(row);
    this.inLast = 1;
    if (this.rows.length <= ROWS_MAX) return;
    const pairs = Math.floor(this.rows.length / 2);
    const rest = this.rows.slice(2 * pairs);
    this.rows = [...Array(pairs).keys()].map((index) => joined(this.rows[2 * index], this.rows[2 * index + 1])).concat(rest);
    this.inLast = rest.length ? this.inLast : 2 * this.perRow;
    this.perRow *= 2;
    this.epoch += 1;
  }
}

/** Two rows as one. @param {(number | null)[]} first @param {(number | null)[]} second */
function joined(first, second) {
  return COLUMNS.map((name, index) => {
    const [before, after] = [first[index], second[index]];
    if (MOMENTARY.includes(name)) return after;
    if (AMOUNTS.includes(name)) return before === null || after === null ? null : before + after;
    const weightAt = COLUMNS.indexOf(name.startsWith("read") ? "reads" : "writes");
    const known = [
      [before, first[weightAt] ?? 0],
      [after, second[weightAt] ?? 0],
    ].filter(([value]) => value !== null);
    const weights = known.reduce((sum, [, weight]) => sum + Number(weight), 0);
    return weights ? known.reduce((sum, [value, weight]) => sum + Number(value) * Number(weight), 0) / weights : null;
  });
}
