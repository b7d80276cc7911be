// The rows that the page's charts are made of, as `ssdlab.live.samples` keeps them; what they are comes from there.

/**
 * Where each column's value is in the engine's figures, and how two are joined: the later one (moment), their sum (amount;
 * programs are units), or their mean, weighted by the column of this name.
 * @typedef {{columns: Record<string, {path: string[], kind: string}>, rows_max: number, requests_min: number}} RowTable
 */

/** The rows of one drive, oldest first, in bounded number: neighbours are joined when there are too many. */
export class History {
  /** @param {RowTable} table */
  constructor(table) {
    this.table = table;
    /** @type {(number | null)[][]} */
    this.rows = [];
    /** Grows whenever older rows change, so that they are all sent again. */
    this.epoch = 0;
    this.perRow = 1;
    this.inLast = 0;
  }

  /** @param {any} figures the engine's @param {number | null} theory */
  add(figures, theory) {
    const row = rowOf(this.table, figures, theory);
    const requests = this.rows.at(-1)?.[Object.keys(this.table.columns).indexOf("requests")] ?? 0;
    if (this.rows.length && requests < this.table.requests_min) {
      this.rows.push(joined(this.table, /** @type {(number | null)[]} */ (this.rows.pop()), row));
      return;
    }
    if (this.inLast && this.inLast < this.perRow) {
      this.rows.push(joined(this.table, /** @type {(number | null)[]} */ (this.rows.pop()), row));
      this.inLast += 1;
      return;
    }
    this.rows.push(row);
    this.inLast = 1;
    if (this.rows.length <= this.table.rows_max) return;
    const pairs = Math.floor(this.rows.length / 2);
    const rest = this.rows.slice(2 * pairs);
    this.rows = [...Array(pairs).keys()].map((index) => joined(this.table, this.rows[2 * index], this.rows[2 * index + 1])).concat(rest);
    this.inLast = rest.length ? this.inLast : 2 * this.perRow;
    this.perRow *= 2;
    this.epoch += 1;
  }
}

/** @param {RowTable} table @param {any} figures @param {number | null} theory @returns {(number | null)[]} */
function rowOf(table, figures, theory) {
  const unit = figures.capacity.counted_unit_bytes;
  return Object.values(table.columns).map(({ path, kind }) => {
    const value = path.reduce((/** @type {any} */ inner, name) => inner?.[name] ?? null, { ...figures, theory });
    return kind === "programs" ? (value ?? 0) * unit : value;
  });
}

/** Two rows as one. @param {RowTable} table @param {(number | null)[]} first @param {(number | null)[]} second */
function joined(table, first, second) {
  const names = Object.keys(table.columns);
  return Object.values(table.columns).map(({ kind }, index) => {
    const [before, after] = [first[index], second[index]];
    if (kind === "moment") return after;
    if (kind === "amount" || kind === "programs") return before === null || after === null ? null : before + after;
    const weightAt = names.indexOf(kind);
    const known = [
      [before, first[weightAt] ?? 0],
      [after, second[weightAt] ?? 0],
    ].filter(([value]) => value !== null);
    const weights = known.reduce((sum, [, weight]) => sum + Number(weight), 0);
    return weights ? known.reduce((sum, [value, weight]) => sum + Number(value) * Number(weight), 0) / weights : null;
  });
}
