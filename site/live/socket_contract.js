// What the page needs of a socket, as a type for the checker. Nothing here runs.

/** @typedef {Pick<WebSocket, "binaryType" | "readyState" | "onopen" | "onmessage" | "onclose" | "send">} Socket */

export {};
