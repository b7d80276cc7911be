// Drives at work in this browser, for one page: carries out its commands and tells it what `ssdlab live` would.
//
// One thread does all of it, so that it works in slices: requests, then what the page said meanwhile.

import { Engine } from "./engine.js";
import { History } from "./history.js";
import { Workbench } from "./workbench.js";

const DRIVE = "generic-tlc-480";
const SLICE_MS = 12;
const PICTURE_MS = 28;
const FIGURES_MS = 100;
const IDLE_MS = 25;
const PICTURE_FORM = 2;
const HEADER_BYTES = 16;
const ONLY_INSTALLED = "needs ssdlab on your own machine: pip install 'ssdlab[live]', then ssdlab live";

/** @param {object} message */
const tell = (message) => postMessage(JSON.stringify(message));

class Pulse {
  /** @param {Workbench} bench @param {string[]} views */
  constructor(bench, views) {
    this.bench = bench;
    this.views = views;
    this.view = { by: "valid", frames: true };
    this.generation = -1;
    /** @type {History[]} */
    this.histories = [];
    /** @type {{epoch: number, count: number}[]} */
    this.sent = [];
    this.status = "";
    this.awaited = new Set();
    this.number = 0;
    this.pictureAt = 0;
    this.figuresAt = 0;
    this.requestsBefore = 0;
    /** @type {import("../../python/ssdlab/live/page/types.js").Expectation[]} */
    this.expectations = [];
  }

  beat() {
    const now = performance.now();
    if (now - this.figuresAt >= FIGURES_MS) this.#tellFigures(now);
    if (now - this.pictureAt >= PICTURE_MS && this.view.frames && this.awaited.size <= this.bench.now.benches.length) {
      this.pictureAt = now;
      for (const drive of this.bench.now.benches.keys()) this.#sendPicture(drive);
    }
  }

  tellStatus() {
    const status = JSON.stringify({ type: "status", ...this.bench.status(), expectations: this.expectations });
    if (status === this.status) return;
    this.status = status;
    postMessage(status);
  }

  /** @param {number} now */
  #tellFigures(now) {
    const { benches } = this.bench.now;
    if (this.generation !== this.bench.generation) {
      this.generation = this.bench.generation;
      this.histories = benches.map(() => new History(this.bench.catalogue.rows));
      this.sent = benches.map(() => ({ epoch: -1, count: 0 }));
      this.awaited.clear();
      this.requestsBefore = 0;
      this.figuresAt = 0;
    }
    const drives = benches.map((_, drive) => this.bench.engine.ask({ do: "figures", drive }));
    this.expectations = drives.map((figures, drive) => this.bench.expectation(drive, figures.capacity.effective_over_provisioning));
    this.tellStatus();
    drives.forEach((figures, drive) => {
      const history = this.histories[drive];
      if (figures.since.requests || !history.rows.length) history.add(figures, this.expectations[drive].value);
      this.#sendRows(drive, history);
    });
    const requests = drives.reduce((sum, figures) => sum + figures.requests, 0);
    const seconds = (now - this.figuresAt) / 1000;
    const rate = this.figuresAt ? (requests - this.requestsBefore) / seconds : null;
    this.requestsBefore = requests;
    this.figuresAt = now;
    tell({ type: "figures", requests_per_second: rate, drives });
  }

  /** What the page lacks; the last row that it has may have grown since. @param {number} drive @param {History} history */
  #sendRows(drive, history) {
    const { epoch, count } = this.sent[drive];
    const from = epoch === history.epoch ? Math.max(0, count - 1) : 0;
    this.sent[drive] = { epoch: history.epoch, count: history.rows.length };
    tell({ type: "rows", drive, from, rows: history.rows.slice(from) });
  }

  /** As `page/picture.js` reads it. @param {number} drive */
  #sendPicture(drive) {
    const marks = new TextEncoder().encode(JSON.stringify(this.bench.engine.ask({ do: "marks", drive })));
    const cells = this.bench.cells(drive, this.view.by);
    const states = this.bench.cells(drive, "state");
    const message = new Uint8Array(HEADER_BYTES + marks.length + cells.length + states.length);
    const header = new DataView(message.buffer);
    this.number += 1;
    header.setUint8(0, PICTURE_FORM);
    header.setUint8(1, drive);
    header.setUint8(2, this.views.indexOf(this.view.by));
    header.setUint32(4, this.number, true);
    header.setUint32(8, marks.length, true);
    header.setUint32(12, cells.length, true);
    message.set(marks, HEADER_BYTES);
    message.set(cells, HEADER_BYTES + marks.length);
    message.set(states, HEADER_BYTES + marks.length + cells.length);
    this.awaited.add(this.number);
    postMessage(message.buffer, { transfer: [message.buffer] });
  }
}

/** What a command does; its value is the answer. @param {Workbench} bench @param {Pulse} pulse @param {string} name @param {any} said */
function carryOut(bench, pulse, name, said) {
  const { session } = bench.now;
  if (name === "run") {
    if (session.isFinished) throw new Error("the drive has completed all its jobs; select a workload, or reset");
    bench.run();
  } else if (name === "pause") bench.pause();
  else if (name === "step") bench.step(said.requests ?? 1);
  else if (name === "speed") bench.setSpeed(said.requests_per_second === "fastest" ? null : said.requests_per_second);
  else if (name === "reset") bench.reset();
  else if (name === "workload") bench.setWorkload(said.workload);
  else if (name === "shipped-job") bench.startJob(said.name);
  else if (name === "partition") bench.setPartition(said.percent);
  else if (name === "fill") bench.fill();
  else if (name === "drives") bench.setDrives(said.drives);
  else if (name === "mark") bench.mark(said.name ?? "");
  else if (name === "cut-power") bench.cutPower();
  else if (name === "power-on") bench.powerOn();
  else if (name === "erase-unit") return bench.engine.ask({ do: "erase-unit", drive: said.drive ?? 0, index: said.index });
  else if (name === "view") pulse.view = { by: "valid", frames: true, ...said };
  else if (name === "tour") goTo(bench, pulse, said.name, said.step ?? 0);
  else throw new Error(`${name} ${ONLY_INSTALLED}`);
  return null;
}

/** @param {Workbench} bench @param {Pulse} pulse @param {string | null} name @param {number} step */
function goTo(bench, pulse, name, step) {
  bench.tour = null;
  if (name === null) return;
  const tour = bench.catalogue.tours.find((known) => known.name === name);
  if (!tour?.steps[step]) throw new Error(`tour ${name} has no step ${step + 1}`);
  bench.tour = { name, step };
  for (const [action, said] of tour.steps[step].do) carryOut(bench, pulse, action, said);
}

async function begin() {
  const [catalogue, module] = await Promise.all([
    fetch(new URL("catalogue.json", import.meta.url)).then((answer) => answer.json()),
    fetch(new URL("engine.wasm", import.meta.url)).then((answer) => answer.arrayBuffer()),
  ]);
  const engine = await Engine.of(module);
  const bench = new Workbench(engine, catalogue, DRIVE);
  const pulse = new Pulse(bench, catalogue.views);
  const { drives, policies, views, version, tours, parts, rows } = catalogue;
  const jobs = bench.catalogue.jobs.map(({ name, summary }) => ({ name, summary }));
  tell({ type: "hello", version, columns: Object.keys(rows.columns), parts, views, drives, policies, jobs, tours });
  pulse.tellStatus();
  return { bench, pulse };
}

const beginning = begin();
self.onmessage = async (event) => {
  const { bench, pulse } = await beginning;
  const { id, do: name, with: said, drawn } = JSON.parse(event.data);
  if (drawn !== undefined) {
    pulse.awaited.delete(drawn);
    return;
  }
  /** @type {object} */
  let reply;
  try {
    reply = { ok: true, value: carryOut(bench, pulse, name, said ?? {}) };
  } catch (error) {
    reply = { ok: false, message: error instanceof Error ? error.message : String(error) };
  }
  pulse.tellStatus();
  tell({ type: "reply", id, ...reply });
};

/** Between two slices what the page said is heard: a message to oneself comes after those that wait. */
const turn = new MessageChannel();
beginning.then(({ bench, pulse }) => {
  turn.port1.onmessage = () => {
    const { session } = bench.now;
    const before = session.requests;
    session.slice(SLICE_MS);
    pulse.beat();
    if (session.requests > before) turn.port2.postMessage(null);
    else setTimeout(() => turn.port2.postMessage(null), IDLE_MS);
  };
  bench.run();
  turn.port2.postMessage(null);
});
