// What the page steers: drives of the catalogue, a workload and the session that results. The part of `ssdlab.live` that
// needs no job files: those, reports and command lines are the installed program's.

/** @import {Choice, DriveStatus, Moment, Recovery, Workload} from "../../python/ssdlab/live/page/types.js" */
/** @import {Engine} from "./engine.js" */
import { filling, resolved, trimmingBehind, working } from "./jobs.js";
import { Session } from "./session.js";
import { powerLoss } from "./power_loss.js";
import { expected } from "./theory.js";

const DRIVES_MAX = 2;
const SERIES_POINTS_MAX = 2048;

/**
 * A drive at the scale at which it is quick to watch; `tools/browser_edition.py` makes it.
 * @typedef {object} CatalogueDrive
 * @property {string} name
 * @property {string} description
 * @property {string} cell
 * @property {string} scale
 * @property {number} full_physical_units
 * @property {number} physical_units
 * @property {number} erase_units
 * @property {number} units_per_erase_unit
 * @property {number} endurance_cycles
 * @property {any} specification
 * @property {import("./theory.js").Shape} theory
 */

/** @typedef {{version: string, seeds: string[][], drives: CatalogueDrive[], jobs: import("./jobs.js").JobFile[], controls: import("./jobs.js").ControlFiles, workload: Workload, rows: import("./history.js").RowTable, theory: import("./theory.js").Tables, policies: any, tours: any[], views: string[]}} Catalogue */

/**
 * `jobs` are those of the last stage, `refusal` is why theory has no line for them.
 * @typedef {{choice: Choice, known: CatalogueDrive, specification: any, jobs: any[], refusal: string | null}} Bench
 */

export class Workbench {
  /** @param {Engine} engine @param {Catalogue} catalogue @param {string} drive */
  constructor(engine, catalogue, drive) {
    this.engine = engine;
    this.catalogue = catalogue;
    /** @type {Workload} */
    this.workload = catalogue.workload;
    /** @type {import("./jobs.js").JobFile | null} */
    this.jobFile = null;
    this.partition = 100;
    /** @type {number | null} */
    this.requestsPerSecond = null;
    this.generation = -1;
    /** @type {{name: string, step: number} | null} */
    this.tour = null;
    this.powerCuts = 0;
    this.setDrives([{ name: drive, op: null, victim: null, placement: null }]);
  }

  /** New drives; those that there are stay when one of the new ones cannot be. @param {Partial<Choice>[]} choices */
  setDrives(choices) {
    if (choices.length < 1 || choices.length > DRIVES_MAX) throw new Error(`one drive or ${DRIVES_MAX} side by side; requested: ${choices.length}`);
    const benches = choices.map((choice) => this.#bench({ op: null, victim: null, placement: null, name: "", ...choice }));
    const wasRunning = this.session?.isRunning || this.recovery?.goes_on;
    const before = this.benches;
    try {
      this.#begin(benches);
    } catch (error) {
      if (before) this.#begin(before);
      throw error;
    }
    if (wasRunning) this.session?.run();
  }

  /** @param {Bench[]} benches */
  #begin(benches) {
    this.partition = 100;
    this.numbers = 0;
    this.jobs = 0;
    this.stage = 0;
    const specifications = benches.map((bench) => ({
      seed: 1,
      drive: bench.specification,
      timed: true,
      until: { kind: "job" },
      series_points_max: SERIES_POINTS_MAX,
      jobs: /** @type {object[]} */ ([]),
    }));
    const name = this.#name("work");
    benches.forEach((bench, index) => specifications[index].jobs.push(...this.#working(bench, name)));
    this.jobs = specifications[0].jobs.length;
    this.stage = Math.max(...benches[0].jobs.map((job) => job.stage));
    const session = new Session(this.engine, specifications);
    session.setSpeed(this.requestsPerSecond);
    this.session = session;
    this.benches = benches;
    this.generation += 1;
    /** @type {Moment[]} */
    this.moments = [];
    /** @type {Recovery | null} */
    this.recovery = null;
  }

  /** @param {Choice} choice @returns {Bench} */
  #bench(choice) {
    const known = this.catalogue.drives.find((drive) => drive.name === choice.name);
    if (!known) throw new Error(`no drive '${choice.name}' in the catalogue`);
    const specification = structuredClone(known.specification);
    const { ftl } = specification;
    if (choice.op !== null) ftl.user_bytes = userUnits(known, choice.op) * ftl.mapping_unit_bytes;
    if (choice.victim !== null) ftl.victim = { name: choice.victim };
    if (choice.placement !== null) ftl.placement = { name: choice.placement };
    return { choice, known, specification, jobs: [], refusal: null };
  }

  /** @returns {{session: Session, benches: Bench[], moments: Moment[]}} */
  get now() {
    return /** @type {any} */ (this);
  }

  reset() {
    this.setDrives(this.now.benches.map((bench) => bench.choice));
  }

  run() {
    this.recovery = null;
    this.now.session.run();
  }

  pause() {
    if (this.recovery) this.recovery.goes_on = false;
    this.now.session.isRunning = false;
  }

  /** @param {number} requests */
  step(requests) {
    this.pause();
    this.recovery = null;
    this.now.session.advance(requests);
  }

  /** @param {number | null} requestsPerSecond */
  setSpeed(requestsPerSecond) {
    this.requestsPerSecond = requestsPerSecond;
    this.now.session.setSpeed(requestsPerSecond);
  }

  /** @param {Partial<Workload>} workload */
  setWorkload(workload) {
    this.workload = { ...this.catalogue.workload, ...workload };
    this.jobFile = null;
    this.#goOnWith([]);
  }

  /** Ends what is running and starts a shipped job file. @param {string} name */
  startJob(name) {
    const file = this.catalogue.jobs.find((known) => known.name === name);
    if (!file) throw new Error(`'${name}' is not a job file of ssdlab`);
    this.jobFile = file;
    this.#goOnWith([]);
  }

  /** Where theory's line is. @param {number} drive @param {number | null} overProvisioning */
  expectation(drive, overProvisioning) {
    const { known, specification, jobs, refusal } = this.now.benches[drive];
    const live = jobs.find((job) => job.direction.includes("write"))?.size_bytes;
    return expected(this.catalogue.theory, known.theory, specification, refusal, live, overProvisioning);
  }

  /** The host uses the first percents, and trims what is behind when that becomes less. @param {number} percent */
  setPartition(percent) {
    const smaller = percent < this.partition;
    this.partition = percent;
    this.#goOnWith(smaller ? [(name) => trimmingBehind(this.catalogue.controls, name, percent)] : []);
  }

  fill() {
    this.#goOnWith([(name) => filling(this.catalogue.controls, name, this.partition)]);
  }

  /** @param {string} name */
  mark(name) {
    const outcomes = this.now.benches.map((_, drive) => this.engine.ask({ do: "outcome", drive }));
    this.now.moments.push({
      name: name || `moment ${this.now.moments.length + 1}`,
      host_written_bytes: outcomes.map((outcome) => outcome.ledger.host_written_bytes),
      simulated_seconds: outcomes.map((outcome) => outcome.timing.simulated_ns / 1e9),
    });
  }

  /** Stands still and tells what the drives would do to find their data again. */
  cutPower() {
    const goesOn = this.now.session.isRunning || Boolean(this.recovery?.goes_on);
    this.now.session.isRunning = false;
    this.powerCuts += 1;
    this.mark(`power cut ${this.powerCuts}`);
    const drives = this.now.benches.map((bench, drive) =>
      powerLoss(this.engine.ask({ do: "cut-power", drive }), this.cells(drive, "state"), this.cells(drive, "age"), bench.specification.nand),
    );
    this.recovery = { number: this.powerCuts, is_real: false, goes_on: goesOn, drives };
  }

  powerOn() {
    const goesOn = this.recovery?.goes_on;
    this.recovery = null;
    if (goesOn) this.now.session.run();
  }

  /** @param {number} drive @param {string} by */
  cells(drive, by) {
    return this.engine.bytes({ do: "cells", drive, by });
  }

  /** As `Status` of the page's types. */
  status() {
    const { session, benches } = this.now;
    return {
      watched: null,
      generation: this.generation,
      running: session.isRunning,
      finished: session.isFinished,
      failure: session.failure,
      requests_per_second: this.requestsPerSecond,
      workload: this.jobFile ? null : this.workload,
      job: this.jobFile && `${this.jobFile.name}.fio`,
      partition_percent: this.partition,
      timed: true,
      seed: 1,
      drives: benches.map((bench, index) => driveStatus(bench, labels(benches)[index], this.partition)),
      moments: this.now.moments,
      tour: this.tour,
      recovery: this.recovery,
    };
  }

  /**
   * Ends what is running, appends stages of one job each, then the workload.
   * @param {((name: string) => import("./jobs.js").JobFile)[]} stages
   */
  #goOnWith(stages) {
    const { session, benches } = this.now;
    const wasRunning = session.isRunning;
    session.endJobs();
    this.jobs = session.issued(0).length;
    /** @type {object[][]} */
    const jobs = benches.map(() => []);
    for (const stage of stages) {
      this.stage = (this.stage ?? 0) + 1;
      const file = stage(this.#name("stage"));
      benches.forEach((bench, drive) => jobs[drive].push(...this.#resolved(bench, file)));
      this.jobs += 1;
    }
    this.stage = (this.stage ?? 0) + 1;
    const name = this.#name("work");
    benches.forEach((bench, drive) => jobs[drive].push(...this.#working(bench, name)));
    this.stage = Math.max(...benches[0].jobs.map((job) => job.stage));
    session.append(jobs);
    if (wasRunning) session.run();
  }

  /** @param {Bench} bench @param {string} name */
  #working(bench, name) {
    const unit = bench.specification.ftl.mapping_unit_bytes;
    const file = this.jobFile ?? working(this.catalogue.controls, this.workload, name, this.partition, unit);
    const jobs = this.#resolved(bench, file);
    const last = Math.max(...jobs.map((job) => job.stage));
    bench.jobs = jobs.filter((job) => job.stage === last);
    bench.refusal = file.refusal;
    return jobs;
  }

  /** @param {Bench} bench @param {import("./jobs.js").JobFile} file */
  #resolved(bench, file) {
    return resolved(file, bench.specification.ftl.user_bytes, bench.known.scale, this.#place());
  }

  #place() {
    return { index: this.jobs ?? 0, stage: this.stage ?? 0, seeds: this.catalogue.seeds };
  }

  /** @param {string} kind */
  #name(kind) {
    this.numbers = (this.numbers ?? 0) + 1;
    return `${kind}-${this.numbers}`;
  }
}

/** What the host may use at an over-provisioning: exact, as `--op` sets it. @param {CatalogueDrive} drive @param {number} op */
export function userUnits(drive, op) {
  const [whole, fraction = ""] = String(op).split(".");
  const denominator = 10n ** BigInt(fraction.length);
  const full = BigInt(drive.full_physical_units);
  const fullUser = (full * denominator) / (denominator + BigInt(whole + fraction));
  return Number((BigInt(drive.physical_units) * fullUser) / full);
}

/** What tells drives apart, in few words. @param {Bench[]} benches */
function labels(benches) {
  const percent = (/** @type {Bench} */ bench) => `${(100 * overProvisioning(bench)).toPrecision(3).replace(/\.?0+$/, "")} %`;
  /** @type {((bench: Bench) => string)[]} */
  const words = [
    (bench) => bench.known.name,
    percent,
    (bench) => bench.specification.ftl.victim.name,
    (bench) => bench.specification.ftl.placement.name,
  ];
  for (const word of words) {
    const said = benches.map(word);
    if (new Set(said).size === said.length) return said;
  }
  return benches.map((bench, index) => `${bench.known.name} ${index + 1}`);
}

/** @param {Bench} bench */
function overProvisioning(bench) {
  const { ftl } = bench.specification;
  return (bench.known.physical_units * ftl.mapping_unit_bytes) / ftl.user_bytes - 1;
}

/** @param {Bench} bench @param {string} label @param {number} percent @returns {DriveStatus} */
function driveStatus(bench, label, percent) {
  const { known, choice } = bench;
  const { ftl } = bench.specification;
  const physical = known.physical_units * ftl.mapping_unit_bytes;
  return {
    label,
    choice,
    name: known.name,
    description: known.description,
    scale: known.scale,
    victim: ftl.victim.name,
    placement: ftl.placement.name,
    erase_units: known.erase_units,
    units_per_erase_unit: known.units_per_erase_unit,
    mapping_unit_bytes: ftl.mapping_unit_bytes,
    physical_bytes: physical,
    user_bytes: ftl.user_bytes,
    over_provisioning: overProvisioning(bench),
    used_over_provisioning: physical / Math.floor((ftl.user_bytes * percent) / 100) - 1,
    endurance_cycles: known.endurance_cycles,
  };
}
