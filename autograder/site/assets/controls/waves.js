// Tiles over 132 SMs, wave by wave, beside the measured rate; the order in which tiles are taken can be changed.
"use strict";
Course.control("waves", (box, d) => {
  const { say } = Course, { canvas, svg, text, slider, choice, panel, axes, path, MARKS, round, receipt } = Plot;
  const configs = Object.keys(d.series).filter((c) => c !== "cublas"), ROWS = 1024;
  const { svg: g, holder: grid } = canvas(640, 230, say("tile 按 wave 着色；数目在图下的文字里", "Tiles coloured by wave; the counts are in the text below"));
  const { svg: s, holder: plot } = canvas(640, 270, say("吞吐量随 N 的锯齿；数值在图下的文字里", "The sawtooth of throughput over N; the numbers are in the text below"));
  const all = configs.flatMap((c) => d.series[c]), most = Math.max(...all.map((p) => p[2])) * 1.05, width = Math.max(...all.map((p) => p[0]));
  const a = axes(s, { width: 550, height: 190, x: { scale: "linear", min: 0, max: width, ticks: [0, 2048, 4096, 6144, 8192], name: "N" }, y: { scale: "linear", min: 0, max: most, ticks: [0, 200, 400, 600], name: "TFLOP/s" } });
  const draw = () => {
    const [tm, tn] = config.value.split("x").map(Number), point = d.series[config.value].find((p) => p[0] === N.value);
    const rows = Math.ceil(ROWS / tm), cols = Math.ceil(N.value / tn), tiles = rows * cols, per = d.sms;
    const waves = Math.ceil(tiles / per), last = tiles - (waves - 1) * per;
    const w = Math.min(40, 600 / cols), h = Math.min(24, 190 / rows);
    g.replaceChildren(text(8, 16, say(`${rows} × ${cols} 个 tile`, `${rows} × ${cols} tiles`)));
    for (let i = 0; i < tiles; i++) {
      const [r, c] = order.value === "m" ? [i % rows, Math.floor(i / rows)] : [Math.floor(i / cols), i % cols];
      const wave = Math.floor(i / per);
      g.append(svg("rect", { x: 8 + c * w, y: 26 + r * h, width: Math.max(1, w - 1), height: Math.max(1, h - 1), fill: `hsl(${(wave * 67 + 210) % 360} 55% 45%)`, class: wave === waves - 1 && last < per ? "last-wave" : null }));
      if (w >= 20 && h >= 13) g.append(svg("text", { x: 8 + c * w + w / 2, y: 26 + r * h + h / 2 + 4.5, "text-anchor": "middle", class: "cell-number" }, document.createTextNode(wave + 1)));
    }
    a.marks.replaceChildren();
    Object.entries(d.series).forEach(([n, points], i) => a.marks.append(path(points.map((p) => [a.x(p[0]), a.y(p[2])]), { class: `line-${i + 1}${n === config.value ? " thick" : ""}` })));
    a.marks.append(MARKS.star(a.x(N.value), a.y(point[2]), "mark-1"));
    out.say(say(`1024×${N.value}，tile ${config.value}：${tiles} 个 tile，${per} 个 SM，${waves} 个 wave，最后一个 wave 有 ${last} 个（${round((100 * last) / per)} %）；平均占用 ${round((100 * tiles) / (waves * per))} %。实测 ${point[2]} TFLOP/s。`,
      `1024×${N.value}, tile ${config.value}: ${tiles} tiles on ${per} SMs are ${waves} wave${waves > 1 ? "s" : ""}, the last with ${last} (${round((100 * last) / per)} %); on average ${round((100 * tiles) / (waves * per))} % of the SMs work. Measured ${point[2]} TFLOP/s.`),
      say(`颜色与数字是第几个 wave（每个 SM 一个 tile 时）；换次序只改哪些 tile 同时在算。${receipt(d.receipt)}。`, `Colours and numbers are waves, one tile an SM; the order only changes which tiles are worked on together. ${receipt(d.receipt)}.`));
  };
  const ns = [...new Set(configs.flatMap((c) => d.series[c].map((p) => p[0])))].sort((x, y) => x - y).filter((n) => configs.every((c) => d.series[c].some((p) => p[0] === n)));
  const N = slider("N", { values: ns, value: ns[Math.floor(ns.length / 2)] }, () => draw());
  const config = choice("tile", configs, configs[0], () => draw());
  const order = choice(say("次序", "Order"), ["m", "n"], "m", () => draw(), (o) => (o === "m" ? say("先沿 M", "along M first") : say("先沿 N", "along N first")));
  const out = panel(box, say("wave 与锯齿", "Waves and the sawtooth"), [N.node, config.node, order.node], grid, plot);
  draw();
});
