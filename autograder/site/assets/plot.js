// What every moving control is made of: SVG, axes, labelled inputs, a player, and a text that says what the picture shows.
(() => {
  "use strict";
  const { el, say } = window.Course;
  const NS = "http://www.w3.org/2000/svg";

  const svg = (name, attrs = {}, ...children) => {
    const node = document.createElementNS(NS, name);
    for (const [k, v] of Object.entries(attrs)) if (v !== null && v !== undefined) node.setAttribute(k, v);
    node.append(...children);
    return node;
  };
  /** What may be wider than its place: scrolled, by the keyboard too. */
  const scroller = (inside) => {
    const node = el("div", { class: "control-scroll" }, inside);
    if (window.ResizeObserver) new ResizeObserver(() => Course.cue(node)).observe(node);
    node.addEventListener("scroll", () => Course.cue(node), { passive: true });
    return node;
  };
  /** A picture of a fixed size in its own pixels; never narrower than least, so that its text stays readable. */
  const canvas = (width, height, label) => {
    const s = svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "control-svg", role: "img", "aria-label": label, style: `min-width:${Math.round((width * 12) / 13)}px;max-width:${width * 1.25}px` });
    return { svg: s, holder: scroller(s) };
  };
  const text = (x, y, words, attrs = {}) => { const t = svg("text", { x, y, ...attrs }); t.textContent = words; return t; };
  let ids = 0;
  const labelled = (name, input, out) => {
    input.id = `control-${++ids}`;
    return el("div", { class: "control-input" }, el("label", { for: input.id, text: name }), input, out || null);
  };

  /** A slider; f(value) after each move. values: the positions, or {min, max, step}. show: the value in words, for eyes and ears. */
  const slider = (name, { values, min, max, step = 1, value, show = String }, f) => {
    const input = el("input", { type: "range", min: values ? 0 : min, max: values ? values.length - 1 : max, step: values ? 1 : step });
    input.value = values ? values.indexOf(value) : value;
    const out = el("output");
    const now = () => (values ? values[+input.value] : +input.value);
    const tell = () => { out.textContent = show(now()); input.setAttribute("aria-valuetext", show(now())); };
    input.addEventListener("input", () => { tell(); f(now()); });
    tell();
    return { node: labelled(name, input, out), get value() { return now(); }, set value(v) { input.value = values ? values.indexOf(v) : v; tell(); } };
  };
  const choice = (name, options, value, f, show = String) => {
    const input = el("select", {}, ...options.map((o) => el("option", { value: String(o), text: show(o) })));
    input.value = String(value);
    const now = () => options[input.selectedIndex];
    input.addEventListener("input", () => f(now()));
    return {
      node: labelled(name, input), get value() { return now(); }, set value(v) { input.value = String(v); },
      options(list, keep) { options = list; input.replaceChildren(...list.map((o) => el("option", { value: String(o), text: show(o) }))); input.value = String(list.includes(keep) ? keep : list[0]); },
    };
  };
  const button = (name, f, attrs = {}) => el("button", { type: "button", class: "control-button", text: name, onclick: f, ...attrs });

  /** Play, one step on, one step back, from the start. at(i) draws step i of count(). Motion only when asked for. */
  const player = (count, at, pace = 700) => {
    let i = 0, timer = 0;
    const place = el("output", { class: "player-place" });
    const go = (n) => { i = Math.max(0, Math.min(count() - 1, n)); place.textContent = `${i + 1} / ${count()}`; at(i); };
    const stop = () => { clearInterval(timer); timer = 0; play.textContent = say("▶ 播放", "▶ Play"); play.setAttribute("aria-pressed", "false"); };
    const play = button(say("▶ 播放", "▶ Play"), () => {
      if (timer) return stop();
      if (i >= count() - 1) go(0);
      play.textContent = say("❚❚ 暂停", "❚❚ Pause"); play.setAttribute("aria-pressed", "true");
      timer = setInterval(() => { if (i >= count() - 1) stop(); else go(i + 1); }, pace);
    }, { "aria-pressed": "false" });
    const node = el("div", { class: "control-player", role: "group", "aria-label": say("播放", "Playback") }, play,
      button(say("← 上一步", "← Back"), () => { stop(); go(i - 1); }), button(say("下一步 →", "Step →"), () => { stop(); go(i + 1); }),
      button(say("↺ 从头", "↺ Start"), () => { stop(); go(0); }), place);
    return { node, go, stop, get step() { return i; }, end() { stop(); go(count() - 1); } };
  };

  /** A control's box: title, inputs, picture, text. */
  const panel = (box, title, inputs, ...rest) => {
    const said = el("div", { class: "control-text", role: "status" });
    box.append(el("div", { class: "control-title", text: title }), el("div", { class: "control-inputs" }, ...inputs), ...rest, said);
    return { say: (...lines) => said.replaceChildren(...lines.filter(Boolean).map((l) => (typeof l === "string" ? el("p", { text: l }) : l))) };
  };

  /** Axes in a rectangle. scale: "log" or "linear". Gives x(), y() and a group for the marks. */
  const axes = (s, { left = 62, top = 14, width, height, x, y }) => {
    const to = (a, from, size, flip) => (v) => {
      const t = a.scale === "log" ? (Math.log(v) - Math.log(a.min)) / (Math.log(a.max) - Math.log(a.min)) : (v - a.min) / (a.max - a.min);
      return flip ? from + size * (1 - t) : from + size * t;
    };
    const px = to(x, left, width), py = to(y, top, height, true);
    const g = svg("g", { class: "axes" });
    for (const v of x.ticks) g.append(svg("line", { x1: px(v), x2: px(v), y1: top, y2: top + height, class: "grid" }), text(px(v), top + height + 18, x.show ? x.show(v) : v, { "text-anchor": "middle" }));
    for (const v of y.ticks) g.append(svg("line", { x1: left, x2: left + width, y1: py(v), y2: py(v), class: "grid" }), text(left - 7, py(v) + 4, y.show ? y.show(v) : v, { "text-anchor": "end" }));
    g.append(text(left + width / 2, top + height + 38, x.name, { "text-anchor": "middle" }), text(left, top - 3, y.name, { "text-anchor": "start" }));
    const marks = svg("g");
    s.append(g, marks);
    return { x: px, y: py, marks };
  };
  const MARKS = { o: (x, y, c) => svg("circle", { cx: x, cy: y, r: 4, class: c }), s: (x, y, c) => svg("rect", { x: x - 4, y: y - 4, width: 8, height: 8, class: c }),
    t: (x, y, c) => svg("path", { d: `M${x} ${y - 5}l5 9h-10z`, class: c }), star: (x, y, c) => svg("path", { class: c, d: Array.from({ length: 10 }, (_, i) => { const r = i % 2 ? 4 : 10, a = (Math.PI * i) / 5 - Math.PI / 2; return `${i ? "L" : "M"}${(x + r * Math.cos(a)).toFixed(1)} ${(y + r * Math.sin(a)).toFixed(1)}`; }).join("") + "z" }) };
  const path = (points, attrs) => svg("path", { d: points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join(""), fill: "none", ...attrs });
  const round = (v, digits = 3) => (v === 0 ? "0" : String(+v.toPrecision(digits)));
  const table = (head, rows, caption) => scroller(el("table", { class: "control-table" }, caption ? el("caption", { text: caption }) : null,
    el("thead", {}, el("tr", {}, ...head.map((h) => el("th", { scope: "col", text: h })))),
    el("tbody", {}, ...rows.map((r) => el("tr", r.attrs || {}, ...(r.cells || r).map((c) => el("td", { text: String(c) })))))));
  const receipt = (r) => (r ? say(`数据：${r.device}，${r.date}，${r.files.join("、")}`, `Data: ${r.device}, ${r.date}, ${r.files.join(", ")}`) : "");

  window.Plot = { svg, canvas, text, slider, choice, button, player, panel, axes, MARKS, path, round, table, receipt };
})();
