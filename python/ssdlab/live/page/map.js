// A drive as a picture: a cell an erase unit on one canvas, and on another above it what is open, cleaned and moved.

/** @import {Picture, Marks} from "./types.js" */
import { FREE, RETIRED, emptyPixels, pixels, themeColour } from "./palette.js";

const FLASH_MS = 600;
const MOVE_MS = 350;
const FADE_MS = 40;
// At full speed thousands are cleaned a second: the latest stand for all, or the marks would hide the picture.
const MOVES_PER_PICTURE_MAX = 3;
const FLASHES_PER_PICTURE_MAX = 4;
// Smaller cells have no room for a line between them.
const CELL_WITH_GAP_PX = 5;
// On a phone or an upright tablet, cells for fingers: 40 x 40 at most, each for several erase units side by side.
const NARROW_PX = 899;
const NARROW_CELLS_MAX = 40 * 40;

export class DriveMap {
  /**
   * @param {HTMLElement} container
   * @param {string} label
   * @param {string} description What kind of drive it is, and what stands behind its name.
   * @param {{hover: (index: number | null) => void, choose: (index: number) => void, drawn: (number: number) => void}} listener
   */
  constructor(container, label, description, listener) {
    this.listener = listener;
    this.figure = document.createElement("figure");
    this.figure.className = "picture";
    this.caption = document.createElement("figcaption");
    this.stack = document.createElement("div");
    this.stack.className = "stack";
    this.canvas = document.createElement("canvas");
    this.overlay = document.createElement("canvas");
    this.overlay.tabIndex = 0;
    this.overlay.setAttribute("role", "application");
    this.overlay.setAttribute("aria-roledescription", "map of erase units");
    this.overlay.setAttribute("aria-describedby", "hover");
    this.stack.append(this.canvas, this.overlay);
    this.figure.append(this.caption, this.stack);
    container.append(this.figure);
    this.small = document.createElement("canvas");
    this.columns = this.rows = 1;
    this.cellPx = 1;
    /** Erase units in a cell. */
    this.group = 1;
    /** @type {Picture | null} */
    this.picture = null;
    /** @type {Marks["open"]} */
    this.open = [];
    /** @type {{at: number, index: number}[]} */
    this.flashes = [];
    /** @type {{at: number, from: number, to: number}[]} */
    this.moves = [];
    /** @type {number | null} */
    this.cursor = null;
    /** What a drive without power does not know. @type {import("./recovery.js").Veil | null} */
    this.veil = null;
    this.isWaiting = false;
    /** @type {number | undefined} */
    this.fading = undefined;
    this.isFresh = false;
    /** @type {number | undefined} */
    this.heightMax = undefined;
    this.caption.textContent = `${label}: ${description}`;
    this.overlay.setAttribute("aria-label", `Erase units of ${label}; arrow keys move, Enter opens one`);
    this.setView("valid");
    this.listenToPointer();
    this.listenToKeys();
  }

  /** @param {string} view */
  setView(view) {
    this.view = view;
    this.pixels = pixels(view);
    this.empty = emptyPixels();
    this.soon();
  }

  /** @param {Picture} picture */
  show(picture) {
    const isResized = picture.cells.length !== this.picture?.cells.length;
    this.picture = picture;
    this.open = picture.marks.open;
    const now = performance.now();
    for (const index of picture.marks.victims.slice(-FLASHES_PER_PICTURE_MAX)) this.flashes.push({ at: now, index });
    for (const [from, to] of picture.marks.moves.slice(-MOVES_PER_PICTURE_MAX)) this.moves.push({ at: now, from, to });
    if (isResized) this.layOut();
    this.isFresh = true;
    this.soon();
  }

  /** Fits the cells to the room there is, in whole device pixels. */
  layOut() {
    const units = this.picture?.cells.length ?? 1;
    this.group = window.innerWidth <= NARROW_PX ? Math.ceil(units / NARROW_CELLS_MAX) : 1;
    const count = Math.ceil(units / this.group);
    const width = this.stack.clientWidth;
    const heightMax = Math.max(240, Math.min(width * 1.1, this.heightMax ?? window.innerHeight - 210));
    const ratio = window.devicePixelRatio || 1;
    const [wide, high] = [Math.max(1, Math.floor(width * ratio)), Math.floor(heightMax * ratio)];
    let cell = Math.max(1, Math.floor(Math.sqrt((wide * high) / count)));
    while (cell > 1 && Math.ceil(count / Math.floor(wide / cell)) * cell > high) cell--;
    this.cellPx = cell;
    this.columns = Math.max(1, Math.min(count, Math.floor(wide / cell)));
    this.rows = Math.ceil(count / this.columns);
    for (const canvas of [this.canvas, this.overlay]) {
      canvas.width = this.columns * cell;
      canvas.height = this.rows * cell;
      canvas.style.width = `${canvas.width / ratio}px`;
      canvas.style.height = `${canvas.height / ratio}px`;
    }
    this.small.width = this.columns;
    this.small.height = this.rows;
    this.image = new ImageData(this.columns, this.rows);
    this.words = new Uint32Array(this.image.data.buffer);
    this.isFresh = true;
    this.soon();
  }

  soon() {
    if (this.isWaiting) return;
    this.isWaiting = true;
    requestAnimationFrame((now) => {
      this.isWaiting = false;
      this.draw(now);
    });
  }

  /** @param {number} now */
  draw(now) {
    if (!this.picture || !this.image) return;
    if (this.isFresh) {
      this.isFresh = false;
      this.drawCells();
      // For those who wait for a picture.
      this.canvas.dataset.drawn = String(this.picture.number);
      this.listener.drawn(this.picture.number);
    }
    this.drawMarks(now);
    // While pictures come, what fades is drawn with them; by itself it need not be smoother than they are.
    clearTimeout(this.fading);
    if (this.flashes.length || this.moves.length) this.fading = setTimeout(() => this.soon(), FADE_MS);
  }

  drawCells() {
    const context = this.canvas.getContext("2d", { alpha: false });
    const small = this.small.getContext("2d");
    if (!context || !small || !this.picture || !this.words || !this.image) return;
    const { cells, states } = this.picture;
    const { words, pixels: colours, group } = this;
    const { free, retired } = this.empty ?? emptyPixels();
    const count = Math.ceil(cells.length / group);
    for (let index = 0; index < count; index++) {
      const [value, state] = group === 1 ? [cells[index], states[index]] : this.together(cells, states, index);
      words[index] = state === FREE ? free : state === RETIRED ? retired : colours ? colours[value] : 0;
    }
    small.putImageData(this.image, 0, 0);
    context.fillStyle = themeColour("--background");
    context.imageSmoothingEnabled = false;
    context.drawImage(this.small, 0, 0, this.canvas.width, this.canvas.height);
    if (this.cellPx >= CELL_WITH_GAP_PX) {
      for (let column = 1; column <= this.columns; column++)
        context.fillRect(column * this.cellPx - 1, 0, 1, this.canvas.height);
      for (let row = 1; row <= this.rows; row++) context.fillRect(0, row * this.cellPx - 1, this.canvas.width, 1);
    }
    // What is behind the last cell is no erase unit.
    const behind = count - (this.rows - 1) * this.columns;
    context.fillRect(behind * this.cellPx, (this.rows - 1) * this.cellPx, this.canvas.width, this.cellPx);
  }

  /**
   * The value and the state that stand for the erase units of a cell: the mean of those that hold data, and of streams,
   * which have no mean, the first.
   * @param {Uint8Array} cells @param {Uint8Array} states @param {number} index
   */
  together(cells, states, index) {
    let [sum, holding, state] = [0, 0, states[index * this.group]];
    for (let unit = index * this.group; unit < Math.min(cells.length, (index + 1) * this.group); unit++) {
      if (states[unit] === FREE || states[unit] === RETIRED) continue;
      if (holding === 0 || this.view !== "stream") sum += cells[unit];
      if (holding === 0) state = states[unit];
      holding++;
    }
    return [this.view === "stream" ? sum : Math.round(sum / Math.max(1, holding)), state];
  }

  /** @param {number} now */
  drawMarks(now) {
    const context = this.overlay.getContext("2d");
    if (!context) return;
    context.clearRect(0, 0, this.overlay.width, this.overlay.height);
    const cell = this.cellPx;
    const line = Math.max(1, Math.min(3, Math.floor(cell / 4)));
    const edge = Math.max(0, 3 - Math.floor(cell / 3));
    this.flashes = this.flashes.filter(({ at }) => now - at < FLASH_MS);
    this.moves = this.moves.filter(({ at }) => now - at < MOVE_MS);
    context.lineWidth = line;
    context.strokeStyle = themeColour("--part-1");
    context.fillStyle = context.strokeStyle;
    for (const { at, index } of this.flashes) {
      context.globalAlpha = 1 - (now - at) / FLASH_MS;
      this.box(context, index, edge, line);
    }
    context.lineWidth = Math.max(1, line * 0.75);
    for (const { at, from, to } of this.moves) {
      context.globalAlpha = 0.8 * (1 - (now - at) / MOVE_MS);
      this.arrow(context, from, to);
    }
    context.globalAlpha = 1;
    if (this.veil && this.picture) this.veil.draw(context, this, this.picture.cells.length, themeColour("--part-1"));
    context.lineWidth = line;
    context.strokeStyle = themeColour("--accent");
    for (const [index] of this.veil ? [] : this.open) this.box(context, index, edge, line);
    if (this.cursor !== null) {
      context.strokeStyle = themeColour("--ink");
      context.lineWidth = Math.max(2, line);
      this.box(context, this.cursor, Math.max(edge, 2), context.lineWidth);
    }
  }

  /** @param {CanvasRenderingContext2D} context @param {number} index @param {number} edge @param {number} line */
  box(context, index, edge, line) {
    const [x, y] = this.corner(index);
    const size = this.cellPx + 2 * edge - line;
    context.strokeRect(x - edge + line / 2, y - edge + line / 2, size, size);
  }

  /** @param {CanvasRenderingContext2D} context @param {number} from @param {number} to */
  arrow(context, from, to) {
    const half = this.cellPx / 2;
    const [x1, y1] = this.corner(from).map((value) => value + half);
    const [x2, y2] = this.corner(to).map((value) => value + half);
    const length = Math.hypot(x2 - x1, y2 - y1) || 1;
    const [along, across] = [(x2 - x1) / length, (y2 - y1) / length];
    const head = Math.max(5, half);
    context.beginPath();
    context.moveTo(x1, y1);
    context.lineTo(x2, y2);
    context.moveTo(x2 - head * (along + 0.6 * across), y2 - head * (across - 0.6 * along));
    context.lineTo(x2, y2);
    context.lineTo(x2 - head * (along - 0.6 * across), y2 - head * (across + 0.6 * along));
    context.stroke();
  }

  /** @param {number} unit an erase unit */
  corner(unit) {
    const index = Math.floor(unit / this.group);
    return [(index % this.columns) * this.cellPx, Math.floor(index / this.columns) * this.cellPx];
  }

  /** @param {PointerEvent | MouseEvent} event */
  indexAt(event) {
    const bounds = this.overlay.getBoundingClientRect();
    const column = Math.floor(((event.clientX - bounds.left) / bounds.width) * this.columns);
    const row = Math.floor(((event.clientY - bounds.top) / bounds.height) * this.rows);
    const index = (row * this.columns + column) * this.group;
    const count = this.picture?.cells.length ?? 0;
    return column >= 0 && column < this.columns && index >= 0 && index < count ? index : null;
  }

  listenToPointer() {
    this.overlay.addEventListener("pointermove", (event) => this.listener.hover(this.indexAt(event)));
    this.overlay.addEventListener("pointerleave", () => this.listener.hover(null));
    this.overlay.addEventListener("click", (event) => {
      const index = this.indexAt(event);
      if (index !== null) this.choose(index);
    });
  }

  listenToKeys() {
    /** @type {Record<string, () => number>} */
    const steps = {
      ArrowLeft: () => -this.group,
      ArrowRight: () => this.group,
      ArrowUp: () => -this.columns * this.group,
      ArrowDown: () => this.columns * this.group,
    };
    this.overlay.addEventListener("keydown", (event) => {
      const count = this.picture?.cells.length ?? 0;
      const step = steps[event.key];
      if (step && count) {
        const next = this.cursor === null ? 0 : this.cursor + step();
        if (next >= 0 && next < count) this.cursor = next;
        this.listener.hover(this.cursor);
        this.soon();
        event.preventDefault();
      } else if (event.key === "Enter" && this.cursor !== null) {
        this.choose(this.cursor);
      }
    });
  }

  /** @param {number} index */
  choose(index) {
    this.cursor = index;
    this.soon();
    this.listener.choose(index);
  }
}
