// Mermaid in the reader's colours.
(() => {
  "use strict";
  const dark = () => document.documentElement.classList.contains("quarto-dark") || document.body.classList.contains("quarto-dark");

  // ---- diagrams: drawn again when the colour scheme changes, so their source is kept
  const diagrams = [...document.querySelectorAll("pre.mermaid")];
  diagrams.forEach((d) => { d.dataset.source = d.textContent; });
  let drawn = null, busy = Promise.resolve();
  const draw = async () => {
    if (!window.mermaid || !diagrams.length || drawn === dark()) return;
    drawn = dark();
    const font = getComputedStyle(document.body).fontFamily;
    window.mermaid.initialize({ startOnLoad: false, securityLevel: "strict", theme: drawn ? "dark" : "neutral", fontFamily: font });
    for (const [i, d] of diagrams.entries()) {
      try {
        const { svg } = await window.mermaid.render(`diagram-${i}-${drawn ? "dark" : "light"}`, d.dataset.source);
        d.innerHTML = svg;
        d.dataset.drawn = drawn ? "dark" : "light";
      } catch (e) {
        d.dataset.failed = String(e);  // the source stays readable
      }
    }
  };
  const redraw = () => { busy = busy.then(draw); };
  new MutationObserver(redraw).observe(document.documentElement, { attributes: true, attributeFilter: ["class"] });
  new MutationObserver(redraw).observe(document.body, { attributes: true, attributeFilter: ["class"] });
  window.addEventListener("load", redraw);
})();
