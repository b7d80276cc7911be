// Where the page finds its drives: at the server that it came from.

/**
 * What the page needs of a socket; `WebSocket` has it.
 * @typedef {Pick<WebSocket, "binaryType" | "readyState" | "onopen" | "onmessage" | "onclose" | "send">} Socket
 */

/** @returns {Socket} */
export function openSocket() {
  const address = new URL("socket", location.href);
  address.protocol = "ws:";
  return new WebSocket(address);
}
