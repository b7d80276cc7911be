// Says of each table how many of its columns do not fit, and marks the end at which it goes on; on a phone, cards fit.
"use strict";
(() => {
  const phone = window.matchMedia("(max-width: 34rem)");
  function look(scroll) {
    // Two columns of figures are easier to compare in a table that scrolls.
    const isWide = scroll.querySelector(".sentence") || scroll.querySelectorAll("thead th").length > 3;
    if (phone.matches && isWide && scroll.scrollWidth - scroll.clientWidth > 1) scroll.classList.add("many");
    // Beside the text there is room at both sides of a desktop's window.
    scroll.classList.remove("wide");
    if (scroll.scrollWidth - scroll.clientWidth > 1) scroll.classList.add("wide");
    const left = scroll.scrollWidth - scroll.clientWidth - scroll.scrollLeft;
    scroll.classList.toggle("more", left > 1);
    const end = scroll.getBoundingClientRect().right + 1;
    const heads = [...scroll.querySelectorAll("thead th")];
    const beyond = heads.filter((head) => head.getBoundingClientRect().right > end).length;
    let note = scroll.nextElementSibling;
    if (!note || !note.classList.contains("beyond")) {
      note = document.createElement("p");
      note.className = "beyond";
      scroll.after(note);
    }
    note.hidden = scroll.scrollWidth - scroll.clientWidth <= 1;
    note.textContent = beyond ? `${beyond} of ${heads.length} columns ${beyond === 1 ? 'is' : 'are'} to the right; scroll sideways` : `${heads.length} columns; scroll back for the first`;
  }
  const all = [...document.querySelectorAll(".scroll")];
  for (const scroll of all) {
    scroll.addEventListener("scroll", () => look(scroll), { passive: true });
    look(scroll);
  }
  window.addEventListener("resize", () => all.forEach(look));
})();
