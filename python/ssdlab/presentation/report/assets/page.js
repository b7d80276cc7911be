// Draws the pictures of a page in the reader's colour scheme and at the width there is, and lets the keys switch entries off in all of them.
"use strict";
(() => {
  const pictures = JSON.parse(document.getElementById("pictures").textContent);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  // What the reader has switched off, by the charts' parameter: it outlives a redraw and holds for every picture that has the parameter.
  const hidden = {};
  const views = new Map();

  // Vega-Lite cannot fit pictures of several parts to their container, so each part gets the width that its axis leaves.
  function sized(specification, width) {
    const result = structuredClone(specification);
    const parts = result.vconcat || (result.spec ? [result.spec] : [result]);
    const axis = result.usermeta && result.usermeta.verticalAxis === false ? 0 : pictures.axisExtent;
    for (const part of parts) part.width = width - axis;
    for (const parameter of result.params || []) if (hidden[parameter.name]) parameter.value = hidden[parameter.name];
    return result;
  }

  async function draw(element) {
    const name = element.dataset.figure;
    const config = pictures.config[dark.matches ? "dark" : "light"];
    const width = Math.max(240, element.clientWidth - 6);
    element.dataset.drawnWidth = element.clientWidth;
    const result = await vegaEmbed(element, sized(pictures.figures[name], width), {
      config,
      renderer: "svg",
      actions: false,
      // Errors only: a row that a key has emptied would otherwise be warned of each time.
      logLevel: 1,
      tooltip: { theme: "ssdlab" },
    });
    if (views.has(name)) views.get(name).finalize();
    views.set(name, result.view);
    element.dataset.drawn = "true";
  }

  function drawAll() {
    for (const element of document.querySelectorAll(".picture")) draw(element).catch((error) => console.error("Error:", error));
  }

  function setHidden(parameter, value, isHidden) {
    const others = (hidden[parameter] || []).filter((other) => other !== value);
    hidden[parameter] = isHidden ? [...others, value] : others;
    for (const group of document.querySelectorAll(`.key[data-parameter="${parameter}"]`))
      for (const button of group.querySelectorAll("button"))
        if (button.dataset.value === value) button.setAttribute("aria-pressed", String(!isHidden));
    for (const [name, view] of views)
      if ((pictures.figures[name].params || []).some((other) => other.name === parameter))
        view.signal(parameter, hidden[parameter]).runAsync();
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest(".key button");
    if (button) setHidden(button.parentElement.dataset.parameter, button.dataset.value, button.getAttribute("aria-pressed") === "true");
  });

  dark.addEventListener("change", drawAll);
  let waiting;
  window.addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      for (const element of document.querySelectorAll(".picture"))
        if (element.dataset.drawnWidth !== String(element.clientWidth)) draw(element).catch((error) => console.error("Error:", error));
    }, 150);
  });
  drawAll();
})();
