// The figures as a table: what each drive has done, in words that a screen reader reads too.

/** @import {Figures, Lately, Status} from "./types.js" */
import { byId, make, swatch } from "./elements.js";
import { PART_NAMES, count, duration, fixed, share, significant, size, spare, waf } from "./words.js";

/** @typedef {{figures: Figures, lately: Lately | undefined, theory: import("./types.js").Expectation | undefined}} Shown */

/** @type {[string, string, (shown: Shown) => string, string?][]} */
const ROWS = [
  ["waf-now", "Write amplification, now", ({ lately }) => waf(lately?.waf), "big"],
  ["waf", "since the start", ({ figures }) => waf(figures.waf)],
  ["theory", "theory", ({ theory }) => waf(theory?.value)],
  ["drive-writes", "Drive writes", ({ figures }) => significant(figures.drive_writes)],
  ["host-written", "Host writes", ({ figures }) => size(figures.host_written_bytes)],
  ["nand-programmed", "Flash programs", ({ figures }) => size(figures.nand_programmed_bytes)],
  ["effective-op", "Effective over-provisioning", ({ figures }) => spare(figures.effective_over_provisioning)],
  ["free", "Free erase units", ({ figures }) => count(figures.free_erase_units)],
  ["iops", "Requests per simulated second", ({ lately }) => count(lately?.iops)],
  ["latency", "Write latency, 99\u00a0%", ({ figures }) => duration(figures.since.write_latency_ns?.p99)],
  ["utilization", "Die utilization", ({ figures }) => share(figures.since.die_utilization)],
  ["wear", "Erases, minimum to maximum", ({ figures }) => `${figures.erase_count.min} to ${figures.erase_count.max}`],
  ["requests", "Requests", ({ figures }) => fixed(figures.requests, 0)],
];

export class Numbers {
  constructor() {
    this.element = byId("numbers", HTMLElement);
    /** @type {HTMLElement[][]} */
    this.cells = [];
    this.drives = 0;
  }

  /** @param {Status} status */
  layOut(status) {
    const two = status.drives.length > 1;
    const head = two
      ? [make("thead", {}, [make("tr", {}, [make("th"), ...status.drives.map((drive, index) => make("th", { scope: "col" }, [swatch(`--variant-${index}`), drive.label]))])])]
      : [];
    this.cells = ROWS.map(([id]) => status.drives.map((_, drive) => make("td", { "data-figure": id, "data-drive": String(drive) })));
    const rows = ROWS.map(([, label, , kind], index) =>
      make("tr", kind ? { class: kind } : {}, [make("th", { scope: "row" }, [label]), ...this.cells[index]]),
    );
    this.element.replaceChildren(make("table", { "aria-label": "Figures of the drive" }, [...head, make("tbody", {}, rows)]));
    this.drives = status.drives.length;
  }

  /** @param {Figures[]} drives @param {Status} status @param {Lately[]} lately */
  show(drives, status, lately) {
    if (drives.length !== this.drives) return;
    drives.forEach((figures, drive) => {
      const theory = status.expectations[drive];
      ROWS.forEach(([id, , say], index) => {
        const cell = this.cells[index][drive];
        const text = say({ figures, theory, lately: lately[drive] });
        if (cell.textContent !== text) cell.textContent = text;
        if (id === "theory") cell.title = theory?.formula ?? theory?.reason ?? "";
        if (id === "waf") cell.title = partsOf(figures);
        cell.dataset.value = String(exact(id, figures) ?? "");
      });
    });
  }
}

/** What the counters say in full, for those who want every digit. @param {string} id @param {Figures} figures */
function exact(id, figures) {
  /** @type {Record<string, number | null>} */
  const values = {
    waf: figures.waf,
    "host-written": figures.host_written_bytes,
    "nand-programmed": figures.nand_programmed_bytes,
    requests: figures.requests,
    free: figures.free_erase_units,
    "effective-op": figures.effective_over_provisioning,
    "drive-writes": figures.drive_writes,
  };
  return values[id];
}

/** @param {Figures} figures */
function partsOf(figures) {
  const parts = Object.entries(figures.waf_parts ?? {}).filter(([, value]) => value > 0);
  return parts.map(([part, value]) => `${PART_NAMES[part]} ${waf(value)}`).join(", ");
}
