// The page of a sweep that runs elsewhere: how far it is, and its pictures, which fill in.

/** @import {Sweep, SweepFigure} from "./types.js" */
/** @import {Content} from "./chart.js" */
import { Chart, ticks } from "./chart.js";
import { Connection } from "./connection.js";
import { byId, make } from "./elements.js";
import { count, plain, seconds, share, significant, waf } from "./words.js";

const VARIANTS = 8;

/** @type {Record<string, (value: number | null | undefined) => string>} */
const WORDS = { waf, count, plain };

/** @type {Sweep | null} */
let sweep = null;
/** By figure and panel. @type {Map<string, Chart>} */
const charts = new Map();
const notice = byId("notice", HTMLElement);

new Connection({
  sweep: show,
  lost(isLost) {
    if (isLost) say("The server does not respond. It ends with Ctrl-C in its terminal; this page reconnects when the server is back.");
    else notice.hidden = true;
  },
});

/** @param {string} text */
function say(text) {
  notice.textContent = text;
  notice.hidden = false;
  notice.classList.add("wrong");
}

/** @param {Sweep} next */
function show(next) {
  sweep = next;
  document.title = `${Math.floor((100 * next.kept) / next.total)} % of ${next.name}`;
  byId("name", HTMLElement).textContent = next.name;
  byId("what", HTMLElement).textContent = [next.description, `over ${next.axes.join(", ")}`, next.place].filter(Boolean).join(" \u00b7 ");
  const progress = byId("progress", HTMLProgressElement);
  [progress.value, progress.max] = [next.kept, next.total];
  byId("says", HTMLElement).textContent = inWords(next);
  const failed = byId("failed", HTMLElement);
  failed.hidden = next.failed === 0;
  failed.textContent = `${next.failed} drives became read-only before the end of their run; their measurements up to then are shown.`;
  const wrong = [next.unreachable, ...next.damaged].filter(Boolean);
  notice.hidden = wrong.length === 0;
  if (wrong.length) say(wrong.join("\n"));
  layOut(next);
  draw();
}

/** @param {Sweep} now */
function inWords(now) {
  const done = `${now.kept.toLocaleString("en")} of ${now.total.toLocaleString("en")} runs are stored`;
  if (now.kept === now.total) return `${done}: the sweep is complete`;
  const rate = now.runs_per_second;
  if (!rate) return `${done}; no run has ended since this page was opened`;
  const each = rate >= 1 ? `${significant(rate, 2)} runs per second` : `a run in ${seconds(1 / rate)}`;
  return `${done}; ${each}, ${seconds(now.seconds_left)} left`;
}

/** A chart for each panel of each figure, made once. @param {Sweep} next */
function layOut(next) {
  const container = byId("sweep-figures", HTMLElement);
  for (const figure of next.figures) {
    if (document.getElementById(`sweep-${figure.name}`)) continue;
    const group = make("section", { id: `sweep-${figure.name}`, "aria-label": figure.title }, [make("h2", {}, [figure.title])]);
    const panels = make("div", { class: "panels" });
    group.append(panels);
    container.append(group);
    for (const panel of figure.panels) {
      const id = `${figure.name}-${panel.name || "all"}`;
      const name = panel.name || figure.title;
      charts.set(`${figure.name} ${panel.name}`, new Chart(panels, name, id, `over ${next.x?.name}`));
    }
  }
}

function draw() {
  if (!sweep) return;
  for (const figure of sweep.figures)
    for (const panel of figure.panels) {
      const content = contentOf(figure, panel);
      charts.get(`${figure.name} ${panel.name}`)?.show(content, axisOf(sweep));
    }
}

/** @param {SweepFigure} figure @param {SweepFigure["panels"][number]} panel @returns {Content} */
function contentOf(figure, panel) {
  const values = figure.panels.flatMap(({ lines }) => lines.flatMap(({ points }) => points.map(([, , , high]) => high)));
  const lines = panel.lines.map(({ name, points }, index) => ({
    name,
    colour: `--variant-${index % VARIANTS}`,
    isMarked: true,
    points: points.map(([at, value]) => /** @type {[number, number]} */ ([at, value])),
    band: points.map(([at, , low, high]) => /** @type {[number, number, number]} */ ([at, low, high])),
  }));
  // All panels of a figure have one scale, so that they can be compared.
  return { lines, say: WORDS[figure.word], range: [0, 1.08 * Math.max(...values)], missing: "no run of these is kept yet" };
}

/** @param {Sweep} of */
function axisOf(of) {
  const { low, high, names, name } = of.x ?? { low: 0, high: 1, names: null, name: "" };
  const room = names ? 0.5 : (high - low) * 0.03;
  const say = (/** @type {number} */ value) => (names ? (names[value] ?? "") : name === "op" ? share(value) : plain(value));
  const at = names ? names.map((_, place) => place) : ticks(low, high, 5);
  return { low: low - room, high: high + room, ticks: at, say, moments: [] };
}

window.addEventListener("resize", draw);
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
