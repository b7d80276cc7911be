// Drives at work: advanced in slices of time, side by side with the same requests, as `ssdlab.live.session` does it.

/** @import {Engine} from "./engine.js" */

const FOREVER = 2 ** 52;
/** Between two looks at the clock. */
const HEAP_MS = 4;
const HEAP_REQUESTS_MAX = 2 ** 17;

/** @typedef {{requests: number, is_finished: boolean, job: number | null, read_only: string | null}} Standing */

export class Session {
  /** @param {Engine} engine @param {object[]} specifications */
  constructor(engine, specifications) {
    this.engine = engine;
    engine.ask({ do: "close" });
    specifications.forEach((specification, drive) => engine.ask({ do: "open", drive, specification }));
    /** @type {Standing[]} */
    this.standings = specifications.map(() => ({ requests: 0, is_finished: false, job: null, read_only: null }));
    this.isRunning = false;
    /** @type {number | null} */
    this.requestsPerSecond = null;
    this.heap = 1024;
    this.pacedFrom = { ms: 0, requests: 0 };
  }

  get isFinished() {
    return this.standings.every((standing) => standing.is_finished);
  }

  get failure() {
    return this.standings.find((standing) => standing.read_only)?.read_only ?? null;
  }

  get requests() {
    return Math.max(...this.standings.map((standing) => standing.requests));
  }

  run() {
    this.isRunning = !this.isFinished;
    this.paceFromNow();
  }

  /** @param {number | null} requestsPerSecond */
  setSpeed(requestsPerSecond) {
    this.requestsPerSecond = requestsPerSecond;
    this.paceFromNow();
  }

  paceFromNow() {
    this.pacedFrom = { ms: performance.now(), requests: this.requests };
  }

  /** Goes on for so long, at the speed that is set. @param {number} ms */
  slice(ms) {
    const until = performance.now() + ms;
    while (this.isRunning && performance.now() < until) {
      const due = this.#due();
      if (due === 0) return;
      const before = performance.now();
      this.advance(Math.min(due, this.heap));
      this.heap = performance.now() - before < HEAP_MS ? this.heap * 2 : this.heap / 2;
      this.heap = Math.min(HEAP_REQUESTS_MAX, Math.max(1, Math.round(this.heap)));
      if (this.isFinished) this.isRunning = false;
    }
  }

  /** The first drive that has something to do by so many requests, and the others as far. @param {number} requests */
  advance(requests) {
    const unfinished = this.standings.flatMap((standing, drive) => (standing.is_finished ? [] : [drive]));
    const [first, ...others] = unfinished.length ? unfinished : [0];
    this.#step(first, requests);
    const lead = this.standings[first];
    for (const drive of others) {
      const behind = lead.requests - this.standings[drive].requests;
      if (lead.is_finished && !lead.read_only) this.#step(drive, FOREVER);
      else if (behind > 0) this.#step(drive, behind);
    }
  }

  /** All jobs end after the requests that they have issued; those that have not begun are taken off. */
  endJobs() {
    this.isRunning = false;
    const counts = this.standings.map((_, drive) => this.issued(drive));
    // A job that holds itself back issues one more, and of a trim and its write both.
    const after = counts.length > 1 ? counts[0].map((_, job) => Math.max(...counts.map((each) => each[job])) + 2) : null;
    for (const drive of this.standings.keys()) {
      this.engine.ask({ do: "drop", drive });
      this.engine.ask({ do: "end", drive, after });
    }
    for (const drive of this.standings.keys()) this.#step(drive, FOREVER);
    this.paceFromNow();
  }

  /** For each drive the jobs that come after those there are. @param {object[][]} jobs */
  append(jobs) {
    jobs.forEach((ofDrive, drive) => {
      for (const job of ofDrive) this.engine.ask({ do: "append", drive, job });
      const standing = this.standings[drive];
      standing.is_finished = standing.is_finished && (!ofDrive.length || standing.read_only !== null);
    });
  }

  /** Requests that each job has issued. @param {number} drive @returns {number[]} */
  issued(drive) {
    return this.engine.ask({ do: "issued", drive });
  }

  /** @param {number} drive @param {number} requests */
  #step(drive, requests) {
    this.standings[drive] = this.engine.ask({ do: "advance", drive, requests });
  }

  /** Requests that may be issued now. */
  #due() {
    const speed = this.requestsPerSecond;
    if (speed === null) return FOREVER;
    const owed = ((performance.now() - this.pacedFrom.ms) * speed) / 1000;
    const issued = this.requests - this.pacedFrom.requests;
    // What could not be done in time is not made up for.
    if (owed - issued > Math.max(1, speed)) {
      this.paceFromNow();
      return 1;
    }
    return Math.max(0, Math.floor(owed) - issued);
  }
}
