// The box of a guided tour: its text, what to look at, and the way to the next step.

/** @import {Hello, Status} from "./types.js" */
import { button, byId, make } from "./elements.js";

/**
 * @param {Hello} hello
 * @param {Status} status
 * @param {(name: string | null, step: number) => void} go
 * @returns {string | null} how the picture is coloured in this step
 */
export function showTour(hello, status, go) {
  const element = byId("tour", HTMLElement);
  const tour = hello.tours.find((known) => known.name === status.tour?.name);
  if (!tour || !status.tour) {
    element.hidden = true;
    element.dataset.shown = "";
    return null;
  }
  const place = `${tour.name} ${status.tour.step}`;
  if (element.dataset.shown === place) return null;
  element.dataset.shown = place;
  const index = status.tour.step;
  const step = tour.steps[index];
  const isLast = index === tour.steps.length - 1;
  const next = isLast ? button("End the tour", () => go(null, 0), { class: "main" }) : button("Next", () => go(tour.name, index + 1), { class: "main", id: "tour-next" });
  element.replaceChildren(
    make("h2", {}, [step.title]),
    make("p", {}, [step.text]),
    make("p", { class: "look" }, [step.look]),
    make("div", { class: "tour-foot" }, [
      make("span", { class: "soft" }, [`${tour.title}, step ${index + 1} of ${tour.steps.length}`]),
      ...(index > 0 ? [button("Back to the first step", () => go(tour.name, 0))] : []),
      ...(isLast ? [] : [button("Leave", () => go(null, 0))]),
      next,
    ]),
  );
  element.hidden = false;
  return step.view;
}
