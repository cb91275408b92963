// The course's own page behaviour: one namespace, folds, pictures that enlarge, scroll cues. Plain scripts, so that a page works from a file too.
(() => {
  "use strict";
  const $$ = (sel, root = document) => Array.from(root.querySelectorAll(sel));
  const zh = document.documentElement.lang.startsWith("zh");
  const root = (document.querySelector('meta[name="course-root"]') || { content: "./" }).content;
  const controls = {};
  const waiting = {};

  const Course = (window.Course = {
    zh, root, data: {},
    /** One of two wordings, by the page's language. */
    say: (chinese, english) => (zh ? chinese : english),
    /** An element with attributes and children. */
    el(name, attrs = {}, ...children) {
      const node = document.createElement(name);
      for (const [k, v] of Object.entries(attrs)) {
        if (k === "text") node.textContent = v;
        else if (k.startsWith("on")) node.addEventListener(k.slice(2), v);
        else if (v !== null && v !== false) node.setAttribute(k, v === true ? "" : v);
      }
      node.append(...children.filter((c) => c !== null));
      return node;
    },
    /** Course.data[name], loaded once by a script tag: unlike fetch that works from file:// too. */
    load(name) {
      waiting[name] ??= new Promise((resolve, reject) => {
        if (Course.data[name]) return resolve(Course.data[name]);
        const s = document.createElement("script");
        s.src = `${root}site_data/${name}.js`;
        s.onload = () => resolve(Course.data[name]);
        s.onerror = () => reject(new Error(`${s.src} is not there`));
        document.head.append(s);
      });
      return waiting[name];
    },
    /** A control is a function (box, data) that fills the box; its data stand in the page beside it. */
    control(name, build) { controls[name] = build; },
  });

  document.addEventListener("DOMContentLoaded", () => {
    for (const box of $$(".course-control[data-control]")) {
      const build = controls[box.dataset.control];
      if (!build) continue;
      const data = box.querySelector('script[type="application/json"]');
      box.querySelector(".control-waiting")?.remove();
      build(box, data ? JSON.parse(data.textContent) : {});
      box.dataset.ready = "yes";
    }
  });

  // ---- folds: what Bootstrap's collapse does, by click and by keyboard
  if (!window.bootstrap) {
    const toggle = (opener) => {
      const target = document.querySelector(opener.dataset.bsTarget || opener.getAttribute("href"));
      if (!target) return;
      const open = target.classList.toggle("show");
      $$(`[data-bs-target="${opener.dataset.bsTarget}"]`).forEach((o) => {
        o.setAttribute("aria-expanded", String(open));
        o.classList.toggle("collapsed", !open);
      });
    };
    document.addEventListener("click", (ev) => {
      const opener = ev.target.closest('[data-bs-toggle="collapse"]');
      if (opener) { ev.preventDefault(); toggle(opener); }
    });
    for (const o of $$('[data-bs-toggle="collapse"]:not(button)')) {
      o.setAttribute("role", "button");
      if (!o.hasAttribute("href")) o.tabIndex = 0;
      o.addEventListener("keydown", (ev) => {
        if (ev.key === "Enter" || ev.key === " ") { ev.preventDefault(); toggle(o); }
      });
    }
  }

  // ---- the phone's 'on this page' closes when one goes where it points
  for (const d of $$(".toc-phone")) d.addEventListener("click", (ev) => { if (ev.target.closest("a")) d.open = false; });

  // ---- what scrolls sideways can be reached by the keyboard, and shows that there is more
  const scrollers = $$(".picture-scroll, main pre, main table, .katex-display, .control-scroll");
  const cue = (s) => {
    const more = s.scrollWidth > s.clientWidth;
    if (more) { s.tabIndex = 0; if (!s.hasAttribute("role")) { s.setAttribute("role", "group"); s.setAttribute("aria-label", Course.say("可左右滚动", "scrolls sideways")); } }
    else if (s.tabIndex === 0) { s.removeAttribute("tabindex"); }
    s.classList.toggle("has-more", more && s.scrollLeft + s.clientWidth < s.scrollWidth - 4);
  };
  Course.cue = cue;
  const watch = window.ResizeObserver ? new ResizeObserver((list) => list.forEach((e) => cue(e.target))) : null;
  for (const s of scrollers) {
    s.addEventListener("scroll", () => cue(s), { passive: true });
    if (watch) watch.observe(s); else cue(s);
  }
  window.addEventListener("load", () => scrollers.forEach(cue));

  // ---- a tap enlarges a picture
  const enlarge = (picture) => {
    const shown = $$("img, svg.diagram", picture).find((n) => n.getBoundingClientRect().width > 0);
    if (!shown) return;
    const copy = shown.cloneNode(true);
    const [w, h] = shown.tagName === "IMG" ? [shown.naturalWidth, shown.naturalHeight] : [shown.viewBox.baseVal.width, shown.viewBox.baseVal.height];
    const least = Math.max(parseFloat(shown.style.minWidth) || 0, 320) * 1.25;
    copy.style.cssText = `width:${Math.round(Math.max(least, Math.min(innerWidth * 0.94, (innerHeight * 0.84 * w) / h)))}px;max-width:none;height:auto`;
    const close = Course.el("button", { type: "button", class: "zoom-close", "aria-label": Course.say("关闭", "Close"), text: "✕" });
    const dialog = Course.el("dialog", { class: "zoom", "aria-label": Course.say("放大的图", "Enlarged picture") },
      close, Course.el("div", { class: "zoom-scroll", tabindex: "0", role: "group", "aria-label": Course.say("可滚动", "scrolls") }, copy));
    close.addEventListener("click", () => dialog.close());
    dialog.addEventListener("click", (ev) => { if (ev.target === dialog) dialog.close(); });
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
  };
  for (const f of $$(".diagram-figure")) {
    const label = Course.say("放大", "Enlarge");
    f.append(Course.el("button", { type: "button", class: "picture-zoom", "aria-label": label, title: label, text: "⤢" }));
  }
  document.addEventListener("click", (ev) => {
    const picture = ev.target.closest(".picture");
    if (picture && ev.target.closest(".picture-zoom, img, svg.diagram") && !ev.target.closest("a")) enlarge(picture);
  });
})();
