// Which charts there are, and what each draws out of the series of one drive or two.

/** @import {Status} from "./types.js" */
/** @import {Content, Line} from "./chart.js" */
/** @import {Row} from "./series.js" */
import { Chart } from "./chart.js";
import { Series } from "./series.js";
import { PART_NAMES, SPARE_MAX, count, duration, plain, rate, spare, waf } from "./words.js";

const WITHOUT_CLOCK = "without a clock (--untimed) nothing takes time";

export class Charts {
  /** @param {HTMLElement} container @param {string[]} columns @param {string[]} parts */
  constructor(container, columns, parts) {
    this.columns = columns;
    this.parts = parts;
    this.axis = "drive_writes";
    /** @type {Series[]} */
    this.series = [];
    /** @type {Status | null} */
    this.status = null;
    /** @type {[Chart, () => Content][]} */
    this.charts = [
      [new Chart(container, "Write amplification", "waf"), () => this.waf()],
      [new Chart(container, "Programmed bytes per host byte, by cause", "parts"), () => this.causes()],
      [new Chart(container, "Requests per second", "iops"), () => this.iops()],
      [new Chart(container, "Write rate", "rate"), () => this.rates()],
      [new Chart(container, "Latency", "latency"), () => this.latency()],
      [new Chart(container, "Free erase units", "free"), () => this.momentary("free_erase_units", count)],
      [new Chart(container, "Effective over-provisioning", "op"), () => this.momentary("effective_over_provisioning", spare, SPARE_MAX)],
      [new Chart(container, "Erase count", "wear"), () => this.wear()],
    ];
  }

  /** @param {Status} status */
  setStatus(status) {
    this.status = status;
    while (this.series.length < status.drives.length) this.series.push(new Series(this.columns));
    this.series.length = status.drives.length;
    status.drives.forEach((drive, index) => {
      this.series[index].userBytes = drive.user_bytes;
    });
  }

  /** @param {number} drive @param {number} from @param {Row[]} rows */
  addRows(drive, from, rows) {
    while (this.series.length <= drive) this.series.push(new Series(this.columns));
    this.series[drive].replace(from, rows);
  }

  draw() {
    if (!this.status) return;
    const axis = this.axisNow();
    for (const [chart, content] of this.charts) chart.show(content(), axis);
  }

  axisNow() {
    let low = Number.POSITIVE_INFINITY;
    let high = Number.NEGATIVE_INFINITY;
    for (const series of this.series)
      for (const row of series.whole) {
        const at = series.along(row, this.axis);
        if (at !== null && at < low) low = at;
        if (at !== null && at > high) high = at;
      }
    if (!Number.isFinite(low)) [low, high] = [0, 1];
    const isSeconds = this.axis === "seconds";
    const moments = (this.status?.moments ?? []).map((moment) => ({
      name: moment.name,
      at: isSeconds ? (moment.simulated_seconds[0] ?? 0) : moment.host_written_bytes[0] / (this.series[0]?.userBytes ?? 1),
    }));
    const say = (/** @type {number} */ value) => (isSeconds ? `${plain(value)}\u00a0s` : plain(value));
    return { low: Math.min(low, 0), high: Math.max(high, low + 1e-9), say, moments };
  }

  /**
   * A line of what each row gives. A dashed one, of theory, is broken where there is none; a measured one goes on over
   * whiles without such requests.
   * @param {number} drive @param {string} name @param {string} colour @param {(row: Row, series: Series) => number | null} value
   * @param {boolean} [dashed]
   * @returns {Line}
   */
  line(drive, name, colour, value, dashed = false) {
    const series = this.series[drive];
    /** @type {[number, number][]} */
    const points = [];
    const starts = new Set();
    let isOver = false;
    for (const row of series.whole) {
      const at = series.along(row, this.axis);
      const worth = value(row, series);
      if (dashed && isOver && worth !== null) starts.add(points.length);
      isOver = worth === null;
      if (at !== null && worth !== null) points.push([at, worth]);
    }
    return { name, colour, dashed, points, starts, isOver };
  }

  /** For one drive or for each of two: `of` gives the lines of a drive, named by it where there are two. @param {(drive: number, name: (what: string) => string, colour: (index: number) => string) => Line[]} of */
  lines(of) {
    const labels = this.status?.drives.map((drive) => drive.label) ?? [];
    const two = labels.length > 1;
    return labels.flatMap((label, drive) =>
      this.series[drive]
        ? of(
            drive,
            (what) => (two ? `${label}${what && ` ${what}`}` : what),
            (index) => `--variant-${two ? drive : index}`,
          )
        : [],
    );
  }

  get isPair() {
    return (this.status?.drives.length ?? 1) > 1;
  }

  /** What the last requests of each drive say together. @returns {import("./types.js").Lately[]} */
  lately() {
    return this.series.map((series) => series.lately(this.parts));
  }

  /** @returns {Content} */
  waf() {
    const inWindow = (/** @type {Row} */ row, /** @type {Series} */ series) =>
      series.perHostByte(row, series.programmed(row, this.parts));
    const lines = this.lines((drive, name, colour) => {
      const theory = this.line(drive, name("theory"), this.isPair ? colour(0) : "--ink-soft", (row, series) => series.value(row, "theory"), true);
      const now = this.line(drive, name(this.isPair ? "" : "now"), colour(0), inWindow);
      const since = this.line(drive, "since the start", colour(1), (row, series) => series.value(row, "waf"));
      return this.isPair ? [now, theory] : [now, since, theory];
    });
    return { lines, say: waf, missing: "nothing has been written yet" };
  }

  /** Of the first drive alone: areas of two would hide each other. @returns {Content} */
  causes() {
    const present = this.parts.filter((part) =>
      this.series[0]?.rows.some((row) => this.series[0].value(row, `programmed_${part}`)),
    );
    const lines = present.map((part) =>
      this.line(0, PART_NAMES[part], `--part-${this.parts.indexOf(part)}`, (row, series) =>
        series.perHostByte(row, series.value(row, `programmed_${part}`) ?? 0),
      ),
    );
    return { lines, isStacked: true, say: waf, missing: "nothing has been written yet" };
  }

  /** @returns {Content} */
  iops() {
    const lines = this.lines((drive, name, colour) => [
      this.line(drive, name(""), colour(0), (row, series) => series.perSecond(row, series.value(row, "requests"))),
    ]);
    return { lines, say: count, missing: this.whyNot() };
  }

  /** @returns {Content} */
  rates() {
    const lines = this.lines((drive, name, colour) => [
      this.line(drive, name("flash"), this.isPair ? colour(0) : "--part-1", (row, series) =>
        series.perSecond(row, series.programmed(row, this.parts)),
      ),
      this.line(drive, name("host"), colour(0), (row, series) => series.perSecond(row, series.value(row, "written_bytes")), this.isPair),
    ]);
    return { lines, say: rate, missing: this.whyNot() };
  }

  /** Of writes; of reads where nothing is written. @returns {Content} */
  latency() {
    const writes = this.series.some((series) => series.rows.some((row) => series.value(row, "write_latency_ns_p50") !== null));
    const way = writes ? "write" : "read";
    const ranks = this.isPair ? [["p99", "99\u00a0%"]] : [["p50", "median"], ["p99", "99\u00a0%"], ["p999", "99.9\u00a0%"]];
    const lines = this.lines((drive, name, colour) =>
      ranks.map(([rank, words], index) =>
        this.line(drive, name(`${words}`), colour(index), (row, series) => series.value(row, `${way}_latency_ns_${rank}`)),
      ),
    );
    return { lines, isLogarithmic: true, say: duration, missing: this.whyNot() };
  }

  /** A value of each row; all from `most` on are drawn as that. @param {string} column @param {(value: number | null | undefined) => string} say @param {number} [most] @returns {Content} */
  momentary(column, say, most = Number.POSITIVE_INFINITY) {
    const lines = this.lines((drive, name, colour) => [
      this.line(drive, name(""), colour(0), (row, series) => {
        const value = series.value(row, column);
        return value === null ? null : Math.min(value, most);
      }),
    ]);
    return { lines, say };
  }

  /** @returns {Content} */
  wear() {
    const names = this.isPair ? ["max"] : ["max", "mean", "min"];
    const lines = this.lines((drive, name, colour) =>
      names.map((which, index) =>
        this.line(drive, name(which), colour(index), (row, series) => series.value(row, `erase_count_${which}`)),
      ),
    );
    return { lines, say: (value) => (Number.isInteger(value) ? count(value) : plain(value)) };
  }

  whyNot() {
    return this.status?.timed === false ? WITHOUT_CLOCK : undefined;
  }
}
