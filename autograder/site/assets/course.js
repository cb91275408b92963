// Mermaid in the reader's colours, and the language switch that stays on the same page.
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

  // ---- language switch: the same page in the other language, at the same heading where there is one
  const here = location.pathname.match(/^(.*)\/(zh|en)\/(.*)$/);
  if (here) {
    const other = here[2] === "zh" ? "en" : "zh";
    document.querySelectorAll('.navbar a[rel="alternate"]').forEach((a) => {
      a.href = `${here[1]}/${other}/${here[3] || "index.html"}`;
      a.hreflang = other;
      a.lang = other;
    });
  }
})();
