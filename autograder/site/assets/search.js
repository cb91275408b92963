// Search: every word must occur; Chinese by substring. Glossary first, then titles and headings, then text, questions last.
(() => {
  "use strict";
  const box = document.querySelector(".course-search");
  if (!box) return;
  const input = box.querySelector("input"), list = box.querySelector(".search-hits");
  const { el, say, load, root } = window.Course;
  const LIMIT = 20, AROUND = 60, SHOWN = 190;
  let active = -1, entries = null, last = "";

  const lower = (rows) => rows.map((r) => ({ kind: r[0], href: r[1], title: r[2], heading: r[3], text: r[4], t: r[2].toLowerCase(), h: r[3].toLowerCase(), x: r[4].toLowerCase() }));
  const starts = (text, word) => text.split(/[\s,，、（(]+/).some((w) => w === word);
  // the lower the better; -1: no hit
  const rank = (e, words) => {
    if (!words.every((w) => e.t.includes(w) || e.h.includes(w) || e.x.includes(w))) return -1;
    const named = words.every((w) => e.t.includes(w));
    if (e.kind === 0) return named ? (words.every((w) => starts(e.t, w)) ? 0 : 1) : 6;
    const headed = e.heading && words.every((w) => e.h.includes(w));
    if (e.kind === 3) return 9;
    if (e.kind === 1 && named) return 2;
    if (headed) return 3;
    if (words.some((w) => e.h.includes(w) || (e.kind === 1 && e.t.includes(w)))) return 4;
    return 5;
  };
  const count = (text, word) => text.split(word).length - 1;
  const find = (query) => {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    return entries
      .map((e, i) => ({ e, i, rank: rank(e, words), uses: words.reduce((n, w) => n + count(e.x, w), 0) }))
      .filter((h) => h.rank >= 0)
      .sort((a, b) => a.rank - b.rank || b.uses - a.uses || a.i - b.i)
      .slice(0, LIMIT).map((h) => h.e);
  };
  const snippet = (e, words) => {
    const at = Math.max(0, Math.min(...words.map((w) => e.x.indexOf(w)).filter((i) => i >= 0), e.text.length) - AROUND);
    const from = at >= e.text.length - AROUND ? 0 : at;
    const piece = e.text.slice(from, from + SHOWN), low = piece.toLowerCase();
    const out = el("div", { class: "hit-text" });
    if (from) out.append("…");
    for (let i = 0; i < piece.length;) {
      const w = words.find((x) => low.startsWith(x, i));
      if (w) { out.append(el("mark", { text: piece.slice(i, i + w.length) })); i += w.length; }
      else { let j = i + 1; while (j < piece.length && !words.some((x) => low.startsWith(x, j))) j++; out.append(piece.slice(i, j)); i = j; }
    }
    if (from + SHOWN < e.text.length) out.append("…");
    return out;
  };
  const hide = () => { list.hidden = true; input.setAttribute("aria-expanded", "false"); active = -1; input.removeAttribute("aria-activedescendant"); };
  const show = async () => {
    const query = input.value.trim();
    last = query;
    if (!query || (query.length < 2 && query.charCodeAt(0) < 256)) return hide();
    try { entries ??= lower(await load("search")); } catch { entries = []; }
    if (last !== query) return;
    const words = query.toLowerCase().split(/\s+/);
    const kinds = [say("术语", "Term"), say("页面", "Page"), "", say("问题", "Question")];
    const hits = find(query);
    list.replaceChildren(...hits.map((e, i) => el("a", { class: "search-result", role: "option", id: `hit-${i}`, href: root + e.href, tabindex: "-1" },
      el("div", { class: "hit-title" }, e.heading || e.title, kinds[e.kind] ? el("span", { class: "hit-kind", text: kinds[e.kind] }) : null),
      e.heading ? el("div", { class: "hit-page", text: e.title }) : null, snippet(e, words))));
    if (!hits.length) list.append(el("div", { class: "hit-none", text: say("没有结果", "Nothing found") }));
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
    active = -1;
  };
  let timer = 0;
  input.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(show, 80); });
  input.addEventListener("focus", () => { load("search").catch(() => {}); if (input.value.trim()) show(); });
  input.addEventListener("keydown", (ev) => {
    const items = [...list.querySelectorAll(".search-result")];
    if (ev.key === "Escape") { hide(); return; }
    if (!items.length || list.hidden) return;
    if (ev.key === "ArrowDown" || ev.key === "ArrowUp") {
      ev.preventDefault();
      active = (active + (ev.key === "ArrowDown" ? 1 : -1) + items.length) % items.length;
      items.forEach((it, i) => { it.classList.toggle("active", i === active); it.setAttribute("aria-selected", String(i === active)); });
      input.setAttribute("aria-activedescendant", items[active].id);
      items[active].scrollIntoView({ block: "nearest" });
    } else if (ev.key === "Enter") { ev.preventDefault(); (items[active] || items[0]).click(); }
  });
  document.addEventListener("click", (ev) => { if (!box.contains(ev.target)) hide(); });
  document.addEventListener("keydown", (ev) => {
    const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName) || document.activeElement.isContentEditable;
    if ((ev.key === "/" && !typing && !ev.ctrlKey && !ev.metaKey && !ev.altKey) || ((ev.ctrlKey || ev.metaKey) && ev.key === "k")) { ev.preventDefault(); input.focus(); }
  });
})();
