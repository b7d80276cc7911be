// Where the page finds its drives on the site: in a worker of this browser, which answers as the server of `ssdlab live`.

/** @import {Socket} from "./socket_contract.js" */

/** @returns {Socket} */
export function openSocket() {
  for (const id of ["share", "report", "drop-hint"]) document.getElementById(id)?.setAttribute("hidden", "");
  const worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
  /** @type {Socket} */
  const socket = {
    binaryType: "arraybuffer",
    readyState: WebSocket.CONNECTING,
    onopen: null,
    onmessage: null,
    onclose: null,
    send: (data) => worker.postMessage(data),
  };
  worker.onmessage = (event) => {
    if (socket.readyState === WebSocket.CONNECTING) {
      Object.assign(socket, { readyState: WebSocket.OPEN });
      socket.onopen?.call(/** @type {any} */ (socket), new Event("open"));
    }
    socket.onmessage?.call(/** @type {any} */ (socket), event);
  };
  worker.onerror = (event) => {
    worker.terminate();
    const text = `The engine has ended: ${event.message}. Reload the page to start again.`;
    document.getElementById("notice")?.replaceChildren(text);
    document.getElementById("notice")?.removeAttribute("hidden");
  };
  return socket;
}
