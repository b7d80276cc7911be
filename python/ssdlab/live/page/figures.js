// What the page shows of a drive's counters, from the engine's own figures.

/** @import {Figures} from "./types.js" */

const PERCENTILES = ["p50", "p99", "p999"];

/** What was programmed for a part; a part without any may be absent. @param {Record<string, number>} units @param {string} part */
const of = (units, part) => units[part] ?? 0;
/** @param {any} raw the engine's figures @param {string[]} causes of programs @returns {Figures} */
export function shown(raw, causes) {
  const { ledger, capacity, since } = raw;
  const unit = capacity.counted_unit_bytes;
  const host = ledger.host_written_bytes;
  const programmed = causes.reduce((sum, part) => sum + of(ledger.programmed_units, part), 0) * unit;
  /** @param {(part: string) => number} value */
  const parts = (value) => Object.fromEntries(causes.map((part) => [part, value(part)]));
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
