// The engine in this browser: requests as JSON into the module's memory, answers out of it (`crates/web`).

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Seeds have 64 bits, more than a number of JavaScript holds; in requests they are texts with this mark. */
const EXACT = /"#(\d+)"/g;

/** @param {string} digits */
export const exactly = (digits) => `#${digits}`;

export class Engine {
  /** @param {WebAssembly.Instance} instance */
  constructor(instance) {
    /** @type {any} */
    this.exports = instance.exports;
  }

  /** @param {BufferSource} module */
  static async of(module) {
    const { instance } = await WebAssembly.instantiate(module, {});
    return new Engine(instance);
  }

  /** Bytes that the module holds; it gives none back. */
  get memoryBytes() {
    return this.exports.memory.buffer.byteLength;
  }

  /** The answer as it is. @param {object} request @returns {Uint8Array} */
  bytes(request) {
    const text = encoder.encode(JSON.stringify(request).replace(EXACT, "$1"));
    const room = this.exports.room(text.length);
    new Uint8Array(this.exports.memory.buffer, room, text.length).set(text);
    let length;
    try {
      length = this.exports.answer();
    } catch (trap) {
      throw new Error(this.#refusal(this.exports.length()) ?? String(trap));
    }
    return new Uint8Array(this.exports.memory.buffer, this.exports.address(), length).slice();
  }

  /** Its text. An Error where the engine refuses it. @param {object} request */
  text(request) {
    const text = decoder.decode(this.bytes(request));
    if (text.startsWith('{"error":')) throw new Error(JSON.parse(text).error);
    return text;
  }

  /** @param {object} request @returns {any} */
  ask(request) {
    return JSON.parse(this.text(request));
  }

  /** @param {number} length */
  #refusal(length) {
    const text = decoder.decode(new Uint8Array(this.exports.memory.buffer, this.exports.address(), length));
    return text.startsWith('{"error":') ? JSON.parse(text).error : null;
  }
}
