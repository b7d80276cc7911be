// Reads a picture as the server packs it: `picture.py` has the form.

/** @import {Picture} from "./types.js" */

const FORM = 2;
const HEADER_BYTES = 16;

/**
 * @param {ArrayBuffer} buffer
 * @returns {Picture}
 */
export function unpacked(buffer) {
  const header = new DataView(buffer);
  if (header.getUint8(0) !== FORM) throw new Error("the server sends pictures in another format; reload the page");
  const marksBytes = header.getUint32(8, true);
  const cellCount = header.getUint32(12, true);
  const cellsAt = HEADER_BYTES + marksBytes;
  return {
    drive: header.getUint8(1),
    view: header.getUint8(2),
    number: header.getUint32(4, true),
    marks: JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, HEADER_BYTES, marksBytes))),
    cells: new Uint8Array(buffer, cellsAt, cellCount),
    states: new Uint8Array(buffer, cellsAt + cellCount, cellCount),
  };
}
