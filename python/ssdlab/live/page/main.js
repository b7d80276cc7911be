// The page: one connection, and what comes in by it shown in the parts that each have a file.

/** @import {Figures, Hello, Picture, Status} from "./types.js" */
import { Charts } from "./charts.js";
import { showCloseUp } from "./close_up.js";
import { Connection } from "./connection.js";
import { Controls } from "./controls.js";
import { showHelp, showShare, showTours } from "./dialogs.js";
import { byId } from "./elements.js";
import { shown } from "./figures.js";
import { KEYS, listenToKeys } from "./keyboard.js";
import { cellInWords, showLegend } from "./legend.js";
import { DriveMap } from "./map.js";
import { Numbers } from "./numbers.js";
import { RecoveryView } from "./recovery.js";
import { showTour } from "./tour.js";
import { count, seconds, share, size, workloadInWords } from "./words.js";

const dark = window.matchMedia("(prefers-color-scheme: dark)");
const NOTICE_MS = 8000;
// Eight charts need not be new more often than eyes follow figures.
const CHARTS_MS = 120;

/** @type {Hello | null} */
let hello = null;
/** @type {Status | null} */
let status = null;
/** @type {Charts | null} */
let charts = null;
/** @type {DriveMap[]} */
let maps = [];
/** @type {string[]} */
let streams = [];
/** @type {{drive: number, index: number} | null} */
let closeUp = null;
let isChartDue = false;
const numbers = new Numbers();
const viewSelect = byId("view", HTMLSelectElement);
const notice = byId("notice", HTMLElement);
/** @type {number | undefined} */
let noticeTimer;

const connection = new Connection({
  hello(message) {
    if (hello && hello.version !== message.version) location.reload();
    hello = message;
    charts ??= new Charts(byId("charts", HTMLElement), message.columns, message.parts);
    controls.setHello(message);
    if (message.shared) lookOn();
    askForView();
  },
  status: showStatus,
  figures(drives, requestsPerSecond) {
    const parts = hello?.parts ?? [];
    showFigures(
      drives.map((raw) => shown(raw, parts)),
      requestsPerSecond,
    );
  },
  rows(drive, from, rows) {
    charts?.addRows(drive, from, rows);
  },
  picture: showPicture,
  rested(stoodStill) {
    say(`The drives stood still for ${seconds(stoodStill)}: no page was open.`);
  },
  lost(isLost) {
    document.body.classList.toggle("lost", isLost);
    if (isLost) say("The server does not respond. It ends with Ctrl-C in its terminal; this page reconnects when the server is back.", true);
    else hideNotice();
  },
});
const controls = new Controls((name, argumentsOf) => ask(name, argumentsOf), complain);
const recovery = new RecoveryView(() => ask("power-on").catch(complain));

/** @param {string} name @param {object} [argumentsOf] */
function ask(name, argumentsOf) {
  return connection.ask(name, argumentsOf);
}

/** @param {string} text @param {boolean} [isWrong] */
function say(text, isWrong = false) {
  notice.textContent = text;
  notice.hidden = false;
  notice.classList.toggle("wrong", isWrong);
  clearTimeout(noticeTimer);
  if (!isWrong) noticeTimer = setTimeout(hideNotice, NOTICE_MS);
}

function hideNotice() {
  notice.hidden = true;
}

/** @param {Error} error */
function complain(error) {
  say(error.message, true);
}

/** @param {Status} next */
function showStatus(next) {
  const isNew = !status || status.generation !== next.generation || status.drives.length !== next.drives.length;
  const failed = next.failure && next.failure !== status?.failure;
  const begunAgain = status && status.generation !== next.generation;
  status = next;
  byId("what", HTMLElement).textContent = inWords(next);
  document.body.dataset.running = String(next.running);
  if (isNew) {
    layOutMaps(next);
    numbers.layOut(next);
    hideCloseUp();
  }
  charts?.setStatus(next);
  recovery.show(next, maps);
  controls.show(next, isNew);
  if (hello) {
    const view = showTour(hello, next, goToStep);
    if (view) setView(view);
  }
  if (begunAgain) say(next.drives.length > 1 ? "Two new, empty drives: figures, charts and moments begin again." : "A new, empty drive: figures, charts and moments begin again.");
  if (failed && next.failure) say(next.failure, true);
}

/** @param {Status} next */
function inWords(next) {
  const drives = next.drives.map((drive) => {
    const scale = drive.scale === "1" ? "" : `, at a scale of ${drive.scale}`;
    const part = next.partition_percent < 100 ? `${size((drive.user_bytes * next.partition_percent) / 100)} of ` : "";
    return `${drive.name}: ${part}${size(drive.user_bytes)} in use, ${share(drive.used_over_provisioning)} over-provisioning, ${drive.erase_units.toLocaleString("en")} erase units${scale}`;
  });
  const workload = next.job ?? (next.workload && workloadInWords(next.workload));
  return [next.watched, drives.join(" \u00b7 "), workload, next.finished && !next.watched ? "all jobs are complete" : ""].filter(Boolean).join(" \u00b7 ");
}

/** @param {Status} next */
function layOutMaps(next) {
  const container = byId("pictures", HTMLElement);
  container.replaceChildren();
  container.classList.toggle("two", next.drives.length > 1);
  maps = next.drives.map((drive, index) => {
    const label = next.drives.length > 1 ? drive.label : drive.name;
    const map = new DriveMap(container, label, drive.description, {
      hover: (cell) => sayCell(index, cell),
      choose: (cell) => openCloseUp(index, cell),
      drawn: (number) => {
        pictures += index === 0 ? 1 : 0;
        connection.drawn(number);
      },
    });
    if (next.drives.length > 1 && window.innerWidth < 1700) map.heightMax = (window.innerHeight - 240) / 2;
    map.setView(viewSelect.value);
    return map;
  });
}

let pictures = 0;
setInterval(() => {
  // For those who measure: pictures drawn in the last second.
  document.documentElement.dataset.picturesPerSecond = String(pictures);
  pictures = 0;
}, 1000);

/** @param {Picture} picture */
function showPicture(picture) {
  const map = maps[picture.drive];
  if (!map || hello?.views[picture.view] !== viewSelect.value) {
    connection.drawn(picture.number);
    return;
  }
  map.show(picture);
  if (picture.drive === 0 && viewSelect.value === "stream") noteStreams(picture);
}

/** The names of streams are those of the erase units that are open in them. @param {Picture} picture */
function noteStreams(picture) {
  let isNew = false;
  for (const [index, name] of picture.marks.open) {
    const stream = picture.cells[index];
    isNew ||= streams[stream] !== name;
    streams[stream] = name;
  }
  if (isNew) showLegend("stream", streams);
}

/** @param {Figures[]} drives @param {number | null} requestsPerSecond */
function showFigures(drives, requestsPerSecond) {
  if (!status) return;
  numbers.show(drives, status, charts?.lately() ?? []);
  const rate = status.running ? `${count(requestsPerSecond)} requests per second on this machine` : status.finished ? "finished" : "paused";
  byId("rate", HTMLElement).textContent = rate;
  if (isChartDue) return;
  isChartDue = true;
  setTimeout(
    () =>
      requestAnimationFrame(() => {
        isChartDue = false;
        charts?.draw();
      }),
    CHARTS_MS,
  );
}

/** @param {number} drive @param {number | null} cell */
function sayCell(drive, cell) {
  const map = maps[drive];
  const picture = map?.picture;
  const last = cell === null || !picture ? 0 : Math.min(cell + map.group, picture.cells.length) - 1;
  const which = cell === last ? `Erase unit ${cell}` : `Erase units ${cell} to ${last}, the first`;
  const text = cell === null || !picture ? "" : `${which}: ${cellInWords(viewSelect.value, picture.cells[cell], picture.states[cell], streams)}`;
  byId("hover", HTMLElement).textContent = text;
}

/** @param {number} drive @param {number} index */
async function openCloseUp(drive, index) {
  closeUp = { drive, index };
  await refreshCloseUp();
  byId("close-up", HTMLElement).scrollIntoView({ block: "nearest" });
}

async function refreshCloseUp() {
  if (!closeUp || !status) return;
  const { drive, index } = closeUp;
  try {
    const unit = await ask("erase-unit", { drive, index });
    if (closeUp?.index === index) showCloseUp(index, unit, status.drives[drive], hideCloseUp);
  } catch (error) {
    if (error instanceof Error) complain(error);
    hideCloseUp();
  }
}
setInterval(() => {
  if (closeUp && status?.running) refreshCloseUp();
}, 500);

function hideCloseUp() {
  closeUp = null;
  byId("close-up", HTMLElement).hidden = true;
}

/** @param {string} view */
function setView(view) {
  viewSelect.value = view;
  for (const map of maps) map.setView(view);
  showLegend(view, streams);
  askForView();
}

function askForView() {
  ask("view", { by: viewSelect.value, frames: true }).catch(() => {});
}

/** @param {string | null} name @param {number} step */
function goToStep(name, step) {
  ask("tour", { name, step }).catch(complain);
}

async function shareSession() {
  try {
    showShare(await ask("share"));
  } catch (error) {
    if (error instanceof Error) complain(error);
  }
}

async function saveReport() {
  say("Writing the report\u2026");
  try {
    const { folder, page } = await ask("report");
    say(`The report is in ${folder}. `);
    const link = document.createElement("a");
    Object.assign(link, { href: page, target: "_blank", textContent: "Open it", rel: "noopener" });
    notice.append(link);
    clearTimeout(noticeTimer);
  } catch (error) {
    if (error instanceof Error) complain(error);
  }
}

/** The page of somebody else's session, which can be looked at. */
function lookOn() {
  document.body.classList.add("looking");
  for (const id of ["tours-open", "share", "report", "lecture"]) byId(id, HTMLElement).hidden = true;
}

/** Full screen, large figures, and slow at first: keys steer. Without full screen, as some browsers refuse it, the rest. */
async function toggleLecture() {
  const isOn = document.body.classList.toggle("lecture");
  const button = byId("lecture", HTMLButtonElement);
  button.setAttribute("aria-pressed", String(isOn));
  // Otherwise the next press of Space would press this button.
  button.blur();
  if (isOn) {
    await document.documentElement.requestFullscreen?.().catch(() => {});
    if (!status?.watched) controls.beginSlowly();
    say("Space runs and pauses, + and - change the speed, L ends the lecture.");
  } else if (document.fullscreenElement) {
    await document.exitFullscreen();
  }
  layOutAgain();
}

function openTours() {
  if (hello) showTours(hello, (name) => goToStep(name, 0));
}

viewSelect.addEventListener("change", () => setView(viewSelect.value));
byId("share", HTMLButtonElement).addEventListener("click", shareSession);
byId("report", HTMLButtonElement).addEventListener("click", saveReport);
byId("tours-open", HTMLButtonElement).addEventListener("click", openTours);
byId("lecture", HTMLButtonElement).addEventListener("click", toggleLecture);
document.addEventListener("fullscreenchange", () => {
  // Escape leaves the full screen by itself.
  if (!document.fullscreenElement && document.body.classList.contains("lecture")) toggleLecture();
});
byId("help-open", HTMLButtonElement).addEventListener("click", () => showHelp(KEYS));
const axis = byId("axis", HTMLSelectElement);
axis.addEventListener("change", () => {
  if (charts) charts.axis = axis.value;
  charts?.draw();
});

/** @type {Record<string, () => void>} */
const actions = {
  " ": () => controls.runOrPause(),
  ".": () => controls.give("step", { requests: 1 }),
  ",": () => controls.give("step", { requests: 1000 }),
  "-": () => controls.changeSpeed(-5),
  "+": () => controls.changeSpeed(5),
  m: () => controls.give("mark", {}),
  c: () => controls.compare(),
  r: () => controls.give("reset"),
  s: () => shareSession(),
  t: openTours,
  l: () => toggleLecture(),
  "?": () => showHelp(KEYS),
  Escape: hideCloseUp,
};
["valid", "erase_count", "age", "stream", "temperature"].forEach((view, index) => {
  actions[String(index + 1)] = () => setView(view);
});
listenToKeys(actions);

function layOutAgain() {
  for (const map of maps) {
    if (maps.length > 1) map.heightMax = window.innerWidth < 1700 ? (window.innerHeight - 240) / 2 : undefined;
    map.layOut();
  }
  charts?.draw();
}
/** @type {number | undefined} */
let resizeTimer;
window.addEventListener("resize", () => {
  clearTimeout(resizeTimer);
  resizeTimer = setTimeout(layOutAgain, 120);
});
dark.addEventListener("change", () => {
  setView(viewSelect.value);
  layOutAgain();
});

document.addEventListener("dragover", (event) => {
  event.preventDefault();
  document.body.classList.add("dropping");
});
document.addEventListener("dragleave", () => document.body.classList.remove("dropping"));
document.addEventListener("drop", async (event) => {
  event.preventDefault();
  document.body.classList.remove("dropping");
  const file = event.dataTransfer?.files[0];
  if (!file) return;
  try {
    await ask("dropped-job", { name: file.name, text: await file.text() });
    say(`${file.name} runs.`);
  } catch (error) {
    if (error instanceof Error) complain(error);
  }
});
showLegend(viewSelect.value, streams);
