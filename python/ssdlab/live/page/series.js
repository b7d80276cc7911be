// The rows of a drive's past, as the server keeps them (`samples.py`), and what charts read out of them.

/** @typedef {(number | null)[]} Row */

/** Of fewer requests, a rate says nothing; `samples.py` says why. */
export const REQUESTS_MIN = 500;

export class Series {
  /** @param {string[]} columns */
  constructor(columns) {
    /** @type {Record<string, number>} */
    this.place = Object.fromEntries(columns.map((name, index) => [name, index]));
    /** @type {Row[]} */
    this.rows = [];
    this.userBytes = 1;
  }

  /** @param {number} from @param {Row[]} rows */
  replace(from, rows) {
    this.rows.splice(from, this.rows.length, ...rows);
  }

  /** @param {Row} row @param {string} name */
  value(row, name) {
    return row[this.place[name]] ?? null;
  }

  /** The rows of enough requests; the last one may still grow. */
  get whole() {
    const last = this.rows.at(-1);
    return this.rows.length > 1 && last && (this.value(last, "requests") ?? REQUESTS_MIN) < REQUESTS_MIN ? this.rows.slice(0, -1) : this.rows;
  }

  /**
   * What the last rows say together: as many as have enough requests. Null where nothing was counted.
   * @param {string[]} parts the causes of programs
   */
  lately(parts) {
    let requests = 0;
    let seconds = 0;
    let written = 0;
    let programmed = 0;
    for (const row of [...this.rows].reverse()) {
      requests += this.value(row, "requests") ?? 0;
      seconds += this.value(row, "seconds") ?? 0;
      written += this.value(row, "written_bytes") ?? 0;
      programmed += this.programmed(row, parts);
      if (requests >= REQUESTS_MIN) break;
    }
    return { waf: written ? programmed / written : null, iops: seconds ? requests / seconds : null };
  }

  /** @param {Row} row @param {string} axis */
  along(row, axis) {
    if (axis === "seconds") return this.value(row, "simulated_seconds");
    const bytes = this.value(row, "host_written_bytes");
    return bytes === null ? null : bytes / this.userBytes;
  }

  /** What was programmed in the row's while, in bytes. @param {Row} row @param {string[]} parts */
  programmed(row, parts) {
    return parts.reduce((sum, part) => sum + (this.value(row, `programmed_${part}`) ?? 0), 0);
  }

  /** An amount a simulated second; null without a clock. @param {Row} row @param {number | null} amount */
  perSecond(row, amount) {
    const seconds = this.value(row, "seconds");
    return amount === null || !seconds ? null : amount / seconds;
  }

  /** An amount a byte that the host wrote. @param {Row} row @param {number} amount */
  perHostByte(row, amount) {
    const written = this.value(row, "written_bytes");
    return written ? amount / written : null;
  }
}
