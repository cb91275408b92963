// Error against K for each way to accumulate, measured.
"use strict";
Course.control("error", (box, d) => {
  const { say } = Course, { canvas, axes, slider, choice, panel, path, MARKS, table, receipt } = Plot;
  const names = Object.keys(d.series), ks = [...new Set(names.flatMap((n) => d.series[n].map((p) => p[0])))].sort((a, b) => a - b);
  const { svg: s, holder } = canvas(640, 320, say("误差随 K 的变化；数值在下面的表里", "Error against K; the numbers are in the table below"));
  const a = axes(s, { left: 70, width: 550, height: 240, x: { scale: "log", min: ks[0] * 0.9, max: ks.at(-1) * 1.1, ticks: ks.filter((_, i) => i % 2 === 0), name: "K" }, y: { scale: "log", min: 1e-8, max: 1, ticks: [1e-8, 1e-6, 1e-4, 1e-2, 1], show: (v) => v.toExponential(0), name: say("相对误差", "relative error") } });
  const draw = () => {
    a.marks.replaceChildren();
    const col = kind.value === "norm" ? 1 : 2;
    names.forEach((n, i) => {
      const points = d.series[n].filter((p) => p[col] !== null && p[col] > 1e-8);
      a.marks.append(path(points.map((p) => [a.x(p[0]), a.y(Math.min(1, p[col]))]), { class: `line-${(i % 6) + 1}${n === chosen.value ? " thick" : ""}` }));
      for (const p of points) a.marks.append(MARKS[["o", "s", "t"][i % 3]](a.x(p[0]), a.y(Math.min(1, p[col])), `mark-c${(i % 6) + 1}`));
    });
    a.marks.append(Plot.svg("line", { x1: a.x(K.value), x2: a.x(K.value), y1: 14, y2: 254, class: "now-line" }));
    const rows = names.map((n) => { const p = d.series[n].find((q) => q[0] === K.value); return { attrs: n === chosen.value ? { class: "now" } : {}, cells: [n, p ? (p[col] === null ? say("溢出", "overflow") : p[col].toExponential(1)) : "–"] }; });
    out.say(table([say("累加方式", "accumulation"), say(`K = ${K.value} 时的误差`, `error at K = ${K.value}`)], rows), receipt(d.receipt));
  };
  const K = slider("K", { values: ks, value: ks[Math.floor(ks.length / 2)] }, () => draw());
  const kind = choice(say("误差", "Error"), ["norm", "max"], "norm", () => draw(), (k) => (k === "norm" ? say("范数", "norm") : say("最大", "largest")));
  const chosen = choice(say("加粗", "Thick"), names, names[0], () => draw());
  const out = panel(box, say("误差与 K", "Error against K"), [K.node, kind.node, chosen.node], holder);
  draw();
});
