// What opens above the page: the session as a command line, the list of tours, the keys.

/** @import {Hello} from "./types.js" */
import { button, byId, make } from "./elements.js";

/** @param {string} title @param {(Node | string)[]} content */
export function openDialog(title, content) {
  byId("dialog-title", HTMLElement).textContent = title;
  byId("dialog-body", HTMLElement).replaceChildren(...content);
  const dialog = byId("dialog", HTMLDialogElement);
  if (!dialog.open) dialog.showModal();
}

export function closeDialog() {
  byId("dialog", HTMLDialogElement).close();
}

/** @param {{command: string, name: string, job_file: string}[]} sessions */
export function showShare(sessions) {
  const parts = sessions.flatMap(({ command, name, job_file: text }) => {
    const link = make("a", { download: name, href: URL.createObjectURL(new Blob([text], { type: "text/plain" })) }, [`save ${name}`]);
    return [
      make("pre", { class: "command", tabindex: "0" }, [command]),
      make("p", {}, ["with this job file (", link, "):"]),
      make("pre", { class: "job-file", tabindex: "0" }, [text]),
    ];
  });
  const says = "This reproduces the figures that the page shows now. The running stage was ended here; when you continue, the workload starts as a new stage.";
  openDialog("The session as a command line", [make("p", { class: "soft" }, [says]), ...parts]);
}

/** @param {Hello} hello @param {(name: string) => void} start */
export function showTours(hello, start) {
  const entries = hello.tours.map((tour) =>
    make("li", {}, [
      button(tour.title, () => {
        closeDialog();
        start(tour.name);
      }, { "data-tour": tour.name }),
      make("div", { class: "soft" }, [`${tour.source}; ${tour.steps.length} steps, about three minutes`]),
    ]),
  );
  openDialog("Guided tours", [make("ul", { class: "tour-list" }, entries)]);
}

/** @param {[string, string][]} keys */
export function showHelp(keys) {
  const rows = keys.map(([key, does]) => make("li", {}, [make("kbd", {}, [key]), ` ${does}`]));
  openDialog("Keys", [
    make("ul", {}, rows),
    make("p", { class: "soft" }, [
      "Each cell is an erase unit, which the drive erases as a whole. Point at a cell for its description, select it to see its units. ",
      "While the page is hidden the drives stand still.",
    ]),
  ]);
}
