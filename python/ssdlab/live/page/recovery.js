// A loss of power and what the drive does to find its data again, step by step: in words, and as a veil over the picture
// that lifts as the drive learns what it holds.

/** @import {PowerLoss, Recovery, Status} from "./types.js" */
/** @import {DriveMap} from "./map.js" */
import { button, byId, make } from "./elements.js";
import { count, duration } from "./words.js";

/** @typedef {"off" | "checkpoint" | "scan"} Phase */

// A recovery takes milliseconds or minutes of the drive's time; here all of them take as long as one can follow.
const OFF_MS = 1500;
const READING_MS = 5000;
const PHASE_MS_MIN = 1000;
const FRAME_MS = 33;

const VEIL = { off: 0.85, checkpoint: 0.6 };

/** What lies over a drive's picture at a moment. */
export class Veil {
  /** @param {PowerLoss} loss */
  constructor(loss) {
    this.inFull = loss.scanned_in_full;
    /** @type {Phase} */
    this.phase = "off";
    /** Of the phase. */
    this.done = 0;
  }

  /**
   * @param {CanvasRenderingContext2D} context @param {{cellPx: number, columns: number, rows: number, group: number}} map
   * @param {number} units erase units @param {string} colour of what is read in full
   */
  draw(context, map, units, colour) {
    const { cellPx, columns, rows, group } = map;
    const cells = Math.ceil(units / group);
    const learnt = this.phase === "scan" ? Math.floor(this.done * cells) : 0;
    const [wide, rowsLearnt] = [columns * cellPx, Math.floor(learnt / columns)];
    const dark = this.phase === "off" ? VEIL.off : this.phase === "scan" ? VEIL.checkpoint : VEIL.off + (VEIL.checkpoint - VEIL.off) * this.done;
    context.fillStyle = `rgb(0 0 0 / ${dark})`;
    const within = (learnt % columns) * cellPx;
    context.save();
    // What is behind the last cell is no erase unit.
    context.beginPath();
    context.rect(0, 0, wide, (rows - 1) * cellPx);
    context.rect(0, (rows - 1) * cellPx, (cells - (rows - 1) * columns) * cellPx, cellPx);
    context.clip();
    context.fillRect(within, rowsLearnt * cellPx, wide - within, cellPx);
    context.fillRect(0, (rowsLearnt + 1) * cellPx, wide, (rows - rowsLearnt - 1) * cellPx);
    context.restore();
    if (this.phase !== "scan") return;
    context.fillStyle = colour;
    context.globalAlpha = 0.55;
    for (const unit of this.inFull) {
      const index = Math.floor(unit / group);
      if (index >= learnt) break;
      context.fillRect((index % columns) * cellPx, Math.floor(index / columns) * cellPx, cellPx, cellPx);
    }
    context.globalAlpha = 1;
  }
}

/** What is said of each step. @type {Record<Phase, (loss: PowerLoss) => string>} */
const SAYS = {
  off: (loss) =>
    loss.power_loss_protection
      ? "Power is lost. No data is lost: the drive has power-loss protection."
      : loss.torn_units
        ? `Power is lost, and with it ${count(loss.torn_units)} units in memory, except those that the host had flushed.`
        : "Power is lost. Nothing was in memory.",
  checkpoint: (loss) =>
    loss.checkpoint_units
      ? `Power is back. The drive reads its last checkpoint of the map, which contains ${count(loss.checkpoint_units)} units: ${duration(loss.checkpoint_ns)}.`
      : "Power is back. The drive has no checkpoint of its map yet.",
  scan: (loss) =>
    `It scans ${count(loss.scanned_pages)} pages for data written since: every page of ${coloured(loss.scanned_in_full.length)}, and one of each other: ${duration(loss.scan_ns)}.`,
};

/** @param {number} many */
const coloured = (many) => (many === 1 ? "one erase unit, the coloured one" : `${count(many)} erase units, the coloured ones`);

const SIMULATED =
  "A session simulates no data, so its drive loses none: this is the cost of a power loss at this moment. The run then goes on as it was, and its figures do not hold the recovery. A drive that ssdlab mount or serve has open really goes through it; see it with --watch.";
const REAL = "The drive has really lost power. Unflushed data is lost.";

/** Plays one recovery after the other, each once. */
export class RecoveryView {
  /** @param {() => void} over called when one has been shown */
  constructor(over) {
    this.over = over;
    this.element = byId("recovery", HTMLElement);
    this.shown = 0;
    /** @type {number | undefined} */
    this.timer = undefined;
    /** @type {DriveMap[]} */
    this.maps = [];
  }

  /** @param {Status} status @param {DriveMap[]} maps */
  show(status, maps) {
    this.maps = maps;
    const recovery = status.recovery;
    if (!recovery) {
      this.lift();
    } else if (recovery.number !== this.shown) {
      this.shown = recovery.number;
      this.begin(recovery, status);
    }
  }

  /** @param {Recovery} recovery @param {Status} status */
  begin(recovery, status) {
    clearInterval(this.timer);
    recovery.drives.forEach((loss, drive) => {
      const map = this.maps[drive];
      if (map) map.veil = new Veil(loss);
    });
    const labels = status.drives.map((drive) => (status.drives.length > 1 ? `${drive.label}: ` : ""));
    /** @type {Phase[]} */
    const phases = ["off", "checkpoint", "scan"];
    const steps = phases.map((phase) => make("li", { "data-phase": phase }, recovery.drives.map((loss, drive) => make("div", {}, [labels[drive], SAYS[phase](loss)]))));
    const end = make("li", { "data-phase": "over" }, recovery.drives.map((loss, drive) => make("div", {}, [labels[drive], `${duration(loss.duration_ns)} after the power came back it answers again.`])));
    this.clock = make("p", { class: "clock" });
    this.element.replaceChildren(
      make("h2", {}, ["Loss of power"]),
      make("ol", {}, [...steps, end]),
      this.clock,
      make("p", { class: "soft" }, [recovery.is_real ? REAL : SIMULATED]),
      make("div", { class: "tour-foot" }, [button("Continue", () => this.end(), { class: "main", id: "power-on" })]),
    );
    this.element.hidden = false;
    this.element.scrollIntoView({ block: "nearest" });
    this.play(recovery.drives, phases);
  }

  /** @param {PowerLoss[]} losses @param {Phase[]} phases */
  play(losses, phases) {
    const slowest = losses.reduce((one, other) => (other.duration_ns > one.duration_ns ? other : one));
    const nanoseconds = { off: 0, checkpoint: slowest.checkpoint_ns, scan: slowest.scan_ns };
    const share = (/** @type {number} */ ns) => Math.max(PHASE_MS_MIN, (READING_MS * ns) / Math.max(1, slowest.duration_ns));
    const lasts = { off: OFF_MS, checkpoint: share(nanoseconds.checkpoint), scan: share(nanoseconds.scan) };
    const begun = performance.now();
    // Moving pictures are not for everyone: then each step is shown as it ends.
    const isStill = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    const frame = () => {
      let [left, before] = [performance.now() - begun, 0];
      for (const phase of phases) {
        if (left < lasts[phase]) {
          this.showStep(phase, isStill ? 1 : left / lasts[phase], before + nanoseconds[phase] * (left / lasts[phase]), slowest);
          return;
        }
        left -= lasts[phase];
        before += nanoseconds[phase];
      }
      this.end();
    };
    this.timer = setInterval(frame, FRAME_MS);
    frame();
  }

  /** @param {Phase} phase @param {number} done @param {number} atNs @param {PowerLoss} slowest */
  showStep(phase, done, atNs, slowest) {
    this.markStep(phase);
    if (this.clock) this.clock.textContent = phase === "off" ? "no power" : `${duration(atNs)} of ${duration(slowest.duration_ns)} of the drive's time`;
    for (const map of this.maps) {
      if (!map.veil) continue;
      [map.veil.phase, map.veil.done] = [phase, done];
      map.soon();
    }
  }

  /** @param {string} phase */
  markStep(phase) {
    if (this.element.dataset.phase === phase) return;
    this.element.dataset.phase = phase;
    let isDone = true;
    for (const step of this.element.querySelectorAll("li")) {
      const isNow = step.dataset.phase === phase;
      if (isNow) isDone = false;
      step.className = isNow ? "now" : isDone ? "done" : "";
      if (isNow) step.setAttribute("aria-current", "step");
      else step.removeAttribute("aria-current");
    }
  }

  /** The picture is free again, and the words stay until they are closed. */
  end() {
    this.lift();
    this.markStep("over");
    if (this.clock) this.clock.textContent = "";
    this.element.querySelector("#power-on")?.replaceWith(button("Close", () => this.close(), { id: "recovery-close" }));
    this.over();
  }

  lift() {
    clearInterval(this.timer);
    for (const map of this.maps) {
      if (map.veil) {
        map.veil = null;
        map.soon();
      }
    }
  }

  close() {
    this.element.hidden = true;
  }
}
