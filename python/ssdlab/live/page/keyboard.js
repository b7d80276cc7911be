// Keys that do what the controls do, wherever the focus is, but for where one types or chooses.

/** @type {[string, string][]} */
export const KEYS = [
  ["Space", "run or pause"],
  [".", "step by one request"],
  [",", "step by a thousand"],
  ["- and +", "slower and faster"],
  ["1 to 5", "colour by valid share, erase count, age, stream, temperature"],
  ["m", "mark this moment"],
  ["c", "compare two drives"],
  ["r", "reset"],
  ["s", "share as a command line"],
  ["t", "tours"],
  ["l", "lecture: full screen, large figures, slow at first"],
  ["arrows, Enter", "on the map: go from cell to cell, open one"],
  ["?", "this list"],
];

/** @param {Record<string, () => void>} actions by key */
export function listenToKeys(actions) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.target;
    const isTyping = target instanceof HTMLInputElement || target instanceof HTMLSelectElement;
    const isPressing = target instanceof HTMLButtonElement || target instanceof HTMLAnchorElement;
    if (isTyping || (isPressing && (event.key === " " || event.key === "Enter"))) return;
    if (document.querySelector("dialog[open]")) return;
    const act = actions[event.key];
    if (act) {
      event.preventDefault();
      act();
    }
  });
}
