// Colours of cells: one ramp from blue to yellow, even in lightness, that all kinds of colour sight can order; and streams.

const VALID_POWER = 2.5;
export const FREE = 0;
export const RETIRED = 5;

// Between these, in OKLab (Ottosson 2020), every step is as large as the next. Blue and yellow differ for everyone.
// The ends stand out from a white and from a dark background, so that a colour means the same on both.
const DEEP = [0.36, -0.01, -0.13];
const MIDDLE = [0.61, -0.05, 0.01];
const BRIGHT = [0.86, -0.03, 0.16];

/**
 * @param {number[]} lab
 * @returns {[number, number, number]} sRGB, 0 to 255
 */
function rgb([lightness, a, b]) {
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const linear = [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
  const encoded = linear.map((value) => {
    const clipped = Math.min(1, Math.max(0, value));
    return Math.round(255 * (clipped <= 0.0031308 ? 12.92 * clipped : 1.055 * clipped ** (1 / 2.4) - 0.055));
  });
  return [encoded[0], encoded[1], encoded[2]];
}

/** More is brighter. @param {number} share 0 to 1 */
function ramp(share) {
  const [from, to, part] = share < 0.5 ? [DEEP, MIDDLE, share * 2] : [MIDDLE, BRIGHT, share * 2 - 1];
  return rgb(from.map((value, index) => value + (to[index] - value) * part));
}

/** A colour as a pixel of an image: on every machine of today its bytes lie as red, green, blue, opacity. @param {number[]} colour */
const pixel = ([red, green, blue]) => ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;

/** Asking for the style of an element thousands of times a second costs more than drawing. @type {Map<string, string>} */
const known = new Map();
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => known.clear());

/** @param {string} name of a CSS variable with a colour as #rrggbb */
export function themeColour(name) {
  let colour = known.get(name);
  if (!colour) {
    colour = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    if (colour) known.set(name, colour);
  }
  return colour;
}

/** @param {string} hex */
function parsed(hex) {
  const value = Number.parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

/**
 * Pixels for the 256 values of a cell.
 * @param {string} view
 */
export function pixels(view) {
  const result = new Uint32Array(256);
  for (let value = 0; value < 256; value++) {
    if (view === "stream") result[value] = pixel(parsed(streamColour(value)));
    else result[value] = pixel(ramp(along(view, value / 255)));
  }
  return result;
}

/** Where on the ramp a share stands: most erase units are nearly full, which is where differences count. @param {string} view @param {number} share */
const along = (view, share) => (view === "valid" ? share ** VALID_POWER : share);

/** Pixels of what holds nothing. */
export function emptyPixels() {
  return { free: pixel(parsed(themeColour("--grid"))), retired: pixel(parsed(themeColour("--ink"))) };
}

/** @param {number} stream */
export function streamColour(stream) {
  return themeColour(`--variant-${stream % 8}`);
}

/** @param {string} view @param {number} share 0 to 1 */
export function rampColour(view, share) {
  return `rgb(${ramp(along(view, share)).join(" ")})`;
}
