// The controls: what each shows of the session's state, and which command it gives when the user changes it.

/** @import {Choice, Hello, Status, Workload} from "./types.js" */
import { byId, make } from "./elements.js";
import { count, share, size } from "./words.js";

/** @typedef {(name: string, argumentsOf?: object) => Promise<any>} Ask */

const FASTEST = 70;
const LECTURE_REQUESTS_PER_SECOND = 20;
// While a slider is dragged the drive is not changed at every pixel.
const SETTLED_MS = 250;
const HELD_MS = 2 * SETTLED_MS + 500;

/** Slider to requests a second: ten steps for each power of ten; the last is maximum. @param {number} place */
const speedOf = (place) => (place >= FASTEST ? null : Math.round(10 ** (place / 10)));

/** @param {number | null} speed */
const placeOf = (speed) => (speed === null ? FASTEST : Math.min(FASTEST - 1, Math.round(10 * Math.log10(speed))));

/** Marks under each slider: a place along it, and what it says there. @type {Record<string, [number, string][]>} */
const TICKS = {
  speed: [[0, "1/s"], [20, "100"], [40, "10 k"], [60, "1 M"], [70, "max"]],
  partition: [[30, "30 %"], [50, "50"], [75, "75"], [100, "100 %"]],
  reads: [[0, "0 %"], [25, "25"], [50, "50"], [75, "75"], [95, "95 %"]],
  skew: [[0, "uniform"], [0.5, "0.5"], [1, "1"], [1.5, "1.5"]],
  trims: [[5, "5 %"], [25, "25"], [50, "50 %"]],
  depth: [[0, "1"], [2, "4"], [4, "16"], [6, "64"], [8, "256"]],
};

export class Controls {
  /** @param {Ask} ask @param {(error: Error) => void} complain */
  constructor(ask, complain) {
    this.ask = ask;
    this.complain = complain;
    /** @type {Hello | null} */
    this.hello = null;
    /** @type {Status | null} */
    this.status = null;
    /** @type {number | undefined} */
    this.showTimer = undefined;
    this.held = Number.NEGATIVE_INFINITY;
    this.shownDrives = "";
    this.listen();
  }

  /** @param {string} name @param {object} [argumentsOf] */
  give(name, argumentsOf) {
    return this.ask(name, argumentsOf).catch((error) => {
      this.complain(error);
      // What the control shows is not so; the state says what is.
      if (this.status) this.show(this.status, true);
    });
  }

  listen() {
    for (const [id, ticks] of Object.entries(TICKS)) layOutTicks(byId(id, HTMLInputElement), ticks);
    byId("run", HTMLButtonElement).addEventListener("click", () => this.runOrPause());
    byId("step", HTMLButtonElement).addEventListener("click", () => this.give("step", { requests: 1 }));
    byId("reset", HTMLButtonElement).addEventListener("click", () => this.give("reset"));
    byId("fill", HTMLButtonElement).addEventListener("click", () => this.give("fill"));
    byId("compare", HTMLButtonElement).addEventListener("click", () => this.compare());
    byId("cut-power", HTMLButtonElement).addEventListener("click", () => this.give("cut-power"));
    byId("mark", HTMLButtonElement).addEventListener("click", () => this.give("mark", {}));
    this.onSlide("speed", (value) => this.give("speed", { requests_per_second: speedOf(value) }));
    this.onSlide("partition", (value) => this.give("partition", { percent: value }));
    for (const id of ["reads", "skew", "trims", "depth"]) this.onSlide(id, () => this.giveWorkload());
    for (const id of ["kind", "block"]) byId(id, HTMLSelectElement).addEventListener("change", () => this.giveWorkload());
    byId("trim", HTMLInputElement).addEventListener("change", () => {
      this.sayValues();
      this.giveWorkload();
    });
    const job = byId("job", HTMLSelectElement);
    job.addEventListener("change", () => {
      if (job.value) this.give("shipped-job", { name: job.value });
      else this.giveWorkload();
    });
  }

  /** A slider says its value at once and acts when it rests. @param {string} id @param {(value: number) => void} act */
  onSlide(id, act) {
    const input = byId(id, HTMLInputElement);
    /** @type {number | undefined} */
    let timer;
    input.addEventListener("input", () => {
      this.sayValues();
      this.held = performance.now();
      clearTimeout(timer);
      const value = input.valueAsNumber;
      timer = setTimeout(() => act(value), SETTLED_MS);
    });
  }

  /** Slow enough to follow single requests, and at work. */
  beginSlowly() {
    return this.give("speed", { requests_per_second: LECTURE_REQUESTS_PER_SECOND }).then(() => {
      if (this.status && !this.status.running && !this.status.finished) return this.give("run");
    });
  }

  runOrPause() {
    return this.give(this.status?.running ? "pause" : "run");
  }

  /** @param {number} by steps of the slider */
  changeSpeed(by) {
    const place = Math.min(FASTEST, Math.max(0, byId("speed", HTMLInputElement).valueAsNumber + by));
    return this.give("speed", { requests_per_second: speedOf(place) });
  }

  giveWorkload() {
    /** @type {Workload} */
    const workload = {
      kind: byId("kind", HTMLSelectElement).value === "sequential" ? "sequential" : "random",
      block_bytes: Number(byId("block", HTMLSelectElement).value),
      read_percent: byId("reads", HTMLInputElement).valueAsNumber,
      skew: byId("skew", HTMLInputElement).valueAsNumber,
      trim_percent: byId("trim", HTMLInputElement).checked ? byId("trims", HTMLInputElement).valueAsNumber : 0,
      iodepth: 2 ** byId("depth", HTMLInputElement).valueAsNumber,
    };
    return this.give("workload", { workload });
  }

  compare() {
    const choices = this.status?.drives.map((drive) => drive.choice) ?? [];
    // The second begins as the first with twice the spare area, which is what most come for.
    const first = this.status?.drives[0];
    const op = first ? Math.round(200 * first.over_provisioning) / 100 : 0.28;
    const drives = choices.length > 1 ? choices.slice(0, 1) : [...choices, { ...choices[0], op }];
    return this.give("drives", { drives });
  }

  /** @param {Hello} hello */
  setHello(hello) {
    this.hello = hello;
    const jobs = hello.jobs.map((job) => make("option", { value: job.name, title: job.summary }, [job.name]));
    byId("job", HTMLSelectElement).replaceChildren(make("option", { value: "" }, ["none: use the controls above"]), ...jobs);
  }

  /** @param {Status} status @param {boolean} [isForced] */
  show(status, isForced = false) {
    this.status = status;
    const run = byId("run", HTMLButtonElement);
    run.textContent = status.running ? "Pause" : "Run";
    run.disabled = status.finished && !status.running;
    byId("step", HTMLButtonElement).disabled = status.finished;
    if (isForced) this.showValues(status);
    else this.showValuesUnheld();
    byId("compare", HTMLButtonElement).setAttribute("aria-pressed", String(status.drives.length > 1));
    this.showDrives(status);
    const moments = status.moments.map((moment) =>
      make("li", {}, [`${moment.name}: ${moment.host_written_bytes.map(size).join(" and ")} written`]),
    );
    byId("moments", HTMLElement).replaceChildren(...moments);
    if (status.watched) this.showWatched();
  }

  /** Programs steer a drive that is served; the page looks on, marks moments and can take the power away. */
  showWatched() {
    for (const id of ["steering", "tours-open", "share", "report"]) byId(id, HTMLElement).hidden = true;
  }

  /** A slider that is being dragged stays where the user has it. */
  showValuesUnheld() {
    clearTimeout(this.showTimer);
    const held = HELD_MS - (performance.now() - this.held);
    if (held > 0) this.showTimer = setTimeout(() => this.showValuesUnheld(), held);
    else if (this.status) this.showValues(this.status);
  }

  /** @param {Status} status */
  showValues(status) {
    byId("speed", HTMLInputElement).valueAsNumber = placeOf(status.requests_per_second);
    byId("partition", HTMLInputElement).valueAsNumber = status.partition_percent;
    const workload = status.workload;
    if (workload) {
      byId("kind", HTMLSelectElement).value = workload.kind;
      byId("block", HTMLSelectElement).value = String(workload.block_bytes);
      byId("reads", HTMLInputElement).valueAsNumber = workload.read_percent;
      byId("skew", HTMLInputElement).valueAsNumber = workload.skew;
      byId("trim", HTMLInputElement).checked = workload.trim_percent > 0;
      if (workload.trim_percent) byId("trims", HTMLInputElement).valueAsNumber = workload.trim_percent;
      byId("depth", HTMLInputElement).valueAsNumber = Math.round(Math.log2(workload.iodepth));
    }
    const shipped = this.hello?.jobs.some((job) => `${job.name}.fio` === status.job);
    byId("job", HTMLSelectElement).value = shipped && status.job ? status.job.replace(/\.fio$/, "") : "";
    this.sayValues();
  }

  sayValues() {
    const value = (/** @type {string} */ id) => byId(id, HTMLInputElement).valueAsNumber;
    const say = (/** @type {string} */ id, /** @type {string} */ text) => {
      byId(id, HTMLElement).textContent = text;
    };
    const speed = speedOf(value("speed"));
    say("speed-value", speed === null ? "maximum" : `${count(speed)} requests/s`);
    byId("speed", HTMLInputElement).setAttribute("aria-valuetext", byId("speed-value", HTMLElement).textContent ?? "");
    say("partition-value", `${value("partition")}\u00a0%`);
    const drive = this.status?.drives[0];
    if (drive) {
      const used = (drive.user_bytes * value("partition")) / 100;
      say("partition-says", `${share(drive.physical_bytes / used - 1)} over-provisioning: ${size(used)} used of ${size(drive.physical_bytes)} of flash`);
    }
    say("reads-value", `${value("reads")}\u00a0%`);
    say("skew-value", value("skew") === 0 ? "uniform" : value("skew").toFixed(1));
    say("trims-value", `${value("trims")}\u00a0% of requests`);
    say("depth-value", String(2 ** value("depth")));
    byId("trims-row", HTMLElement).hidden = !byId("trim", HTMLInputElement).checked;
  }

  /** @param {Status} status */
  showDrives(status) {
    const hello = this.hello;
    const shown = JSON.stringify(status.drives.map((drive) => [drive.choice, drive.victim, drive.placement]));
    if (!hello || this.shownDrives === shown) return;
    this.shownDrives = shown;
    const boxes = status.drives.map((drive, index) => {
      const change = (/** @type {Partial<Choice>} */ changes) => {
        const drives = status.drives.map((other, place) => (place === index ? { ...other.choice, ...changes } : other.choice));
        return this.give("drives", { drives });
      };
      const names = hello.drives.map((known) => known.name);
      if (!names.includes(drive.choice.name)) names.unshift(drive.choice.name);
      const policies = (/** @type {string} */ kind) => (hello.policies[kind] ?? []).map((policy) => policy.name);
      const spare = [null, 0.07, 0.14, 0.28, 0.5, 1];
      if (!spare.includes(drive.choice.op)) spare.push(drive.choice.op);
      return make("div", { class: "drive", role: "group", "aria-label": `Drive ${index + 1}` }, [
        select("Drive", `drive-name-${index}`, names.map((name) => [name, name]), drive.choice.name, (name) => change({ name, op: null, victim: null, placement: null })),
        select("Spare area", `drive-op-${index}`, spare.map((op) => [op === null ? "" : String(op), op === null ? `default, ${share(drive.over_provisioning)}` : share(op)]), drive.choice.op === null ? "" : String(drive.choice.op), (op) => change({ op: op === "" ? null : Number(op) })),
        select("Victim", `drive-victim-${index}`, policies("victim").map((name) => [name, name]), drive.victim, (victim) => change({ victim })),
        select("Placement", `drive-placement-${index}`, policies("placement").map((name) => [name, name]), drive.placement, (placement) => change({ placement })),
      ]);
    });
    byId("drives", HTMLElement).replaceChildren(...boxes);
  }
}

/**
 * @param {string} label @param {string} id @param {[string, string][]} options @param {string} chosen
 * @param {(value: string) => void} act
 */
function select(label, id, options, chosen, act) {
  const element = make("select", { id }, options.map(([value, text]) => make("option", { value }, [text])));
  if (element instanceof HTMLSelectElement) {
    element.value = chosen;
    element.addEventListener("change", () => act(element.value));
  }
  return make("label", { class: "row" }, [make("span", {}, [label]), element]);
}

/** A slider's value is said by itself; the marks are for eyes. @param {HTMLInputElement} input @param {[number, string][]} ticks */
function layOutTicks(input, ticks) {
  const [min, max] = [Number(input.min), Number(input.max)];
  const marks = ticks.map(([place, text]) => {
    const mark = make("i", {}, [text]);
    mark.style.setProperty("--at", String((place - min) / (max - min)));
    return mark;
  });
  input.after(make("span", { class: "ticks", "aria-hidden": "true" }, marks));
}
