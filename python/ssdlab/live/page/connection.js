// The one socket to the server: commands go out and are answered, the server's messages come in. It reconnects by itself.

/** @import {Hello, Status, Figures, Picture, Sweep} from "./types.js" */
import { unpacked } from "./picture.js";
import { openSocket } from "./socket.js";

/**
 * What a page wants to hear of.
 * @typedef {object} Listener
 * @property {(hello: Hello) => void} [hello]
 * @property {(status: Status) => void} [status]
 * @property {(drives: object[], requestsPerSecond: number | null) => void} [figures]
 * @property {(drive: number, from: number, rows: (number | null)[][]) => void} [rows]
 * @property {(picture: Picture) => void} [picture]
 * @property {(sweep: Sweep) => void} [sweep]
 * @property {(seconds: number) => void} [rested]
 * @property {(isLost: boolean) => void} lost
 */

const RETRY_MS = 1000;

export class Connection {
  /** @param {Listener} listener */
  constructor(listener) {
    this.listener = listener;
    /** @type {Map<number, {resolve: (value: any) => void, reject: (reason: Error) => void}>} */
    this.waiting = new Map();
    this.nextId = 1;
    this.open();
  }

  open() {
    this.socket = openSocket();
    this.socket.binaryType = "arraybuffer";
    this.socket.onopen = () => this.listener.lost(false);
    this.socket.onmessage = (event) => this.hear(event.data);
    this.socket.onclose = () => {
      this.listener.lost(true);
      for (const { reject } of this.waiting.values()) reject(new Error("the server has ended"));
      this.waiting.clear();
      setTimeout(() => this.open(), RETRY_MS);
    };
  }

  /** @param {string | ArrayBuffer} data */
  hear(data) {
    if (typeof data !== "string") {
      this.listener.picture?.(unpacked(data));
      return;
    }
    const message = JSON.parse(data);
    if (message.type === "hello") this.listener.hello?.(message);
    else if (message.type === "status") this.listener.status?.(message);
    else if (message.type === "figures") this.listener.figures?.(message.drives, message.requests_per_second);
    else if (message.type === "rows") this.listener.rows?.(message.drive, message.from, message.rows);
    else if (message.type === "sweep") this.listener.sweep?.(message);
    else if (message.type === "rested") this.listener.rested?.(message.seconds);
    else if (message.type === "reply") this.answered(message);
  }

  /** @param {{id: number, ok: boolean, value?: any, message?: string}} reply */
  answered(reply) {
    const waiting = this.waiting.get(reply.id);
    this.waiting.delete(reply.id);
    if (!waiting) return;
    if (reply.ok) waiting.resolve(reply.value);
    else waiting.reject(new Error(reply.message));
  }

  /**
   * Has a command carried out. The promise fails with the server's words when it cannot be.
   * @param {string} name
   * @param {object} [argumentsOf]
   * @returns {Promise<any>}
   */
  ask(name, argumentsOf = {}) {
    const id = this.nextId++;
    return new Promise((resolve, reject) => {
      if (this.socket?.readyState !== WebSocket.OPEN) {
        reject(new Error("the server does not respond; it ends with Ctrl-C in its terminal"));
        return;
      }
      this.waiting.set(id, { resolve, reject });
      this.socket.send(JSON.stringify({ id, do: name, with: argumentsOf }));
    });
  }

  /** @param {number} number of the picture that has been drawn */
  drawn(number) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify({ drawn: number }));
  }
}
