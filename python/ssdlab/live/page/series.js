// The rows of a drive's past, as the server keeps them (`samples.py`), and what charts read out of them.

/** @typedef {(number | null)[]} Row */

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
