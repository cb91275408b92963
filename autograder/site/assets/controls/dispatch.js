// The rule of dispatch against what was measured: a heat map by shape.
"use strict";
Course.control("dispatch", (box, d) => {
  const { say } = Course, { canvas, svg, text, slider, panel, table, round, receipt } = Plot;
  const ms = [...new Set(d.shapes.map((s) => s[0]))].sort((a, b) => a - b), ns = [...new Set(d.shapes.map((s) => s[1]))].sort((a, b) => a - b);
  const W = 96, H = 42, LEFT = 58, TOP = 34;
  const { svg: s, holder } = canvas(LEFT + ns.length * W + 8, TOP + ms.length * H + 8, say("每个形状最快的配置；选中形状的数值在下面的表里", "The fastest configuration of each shape; the chosen shape's numbers are in the table below"));
  const tiles = (c, m, n) => Math.ceil(m / c[0]) * Math.ceil(n / c[1]);
  const busiest = (c, m, n) => Math.ceil(tiles(c, m, n) / d.sms);
  const estimate = (c, m, n) => {
    let rate = Math.min(1, (c[0] * c[1]) / (c[0] + c[1]) / 64);
    if (inFlight.value) rate *= Math.min(1, (Math.min(c[3], busiest(c, m, n)) * c[2]) / inFlight.value);
    return (busiest(c, m, n) * c[0] * c[1]) / rate;
  };
  const ranked = (m, n) => Object.entries(d.configs).map(([name, c]) => ({ name, c, cost: estimate(c, m, n) })).sort((a, b) => a.cost - b.cost || b.c[0] * b.c[1] - a.c[0] * a.c[1] || (a.name < b.name ? -1 : 1));
  const draw = () => {
    s.replaceChildren();
    ns.forEach((n, i) => s.append(text(LEFT + (i + 0.5) * W, TOP - 8, `N ${n}`, { "text-anchor": "middle" })));
    ms.forEach((m, i) => s.append(text(LEFT - 6, TOP + (i + 0.6) * H, m, { "text-anchor": "end" })));
    s.append(text(4, TOP - 8, "M"));
    let near = d.shapes[0];
    const far = (x) => Math.abs(Math.log(x[0] / M.value)) + Math.abs(Math.log(x[1] / N.value));
    for (const shape of d.shapes) {
      const [m, n, times, best] = shape, pick = ranked(m, n)[0].name, loss = 100 * (times[pick] / times[best] - 1);
      const x = LEFT + ns.indexOf(n) * W, y = TOP + ms.indexOf(m) * H;
      const cell = svg("rect", { x, y, width: W - 2, height: H - 2, class: "heat", style: `--heat:${Math.min(1, loss / 60)}` });
      cell.addEventListener("click", () => { M.value = m; N.value = n; draw(); });
      s.append(cell, text(x + W / 2, y + (loss > 5 ? 17 : 25), best, { "text-anchor": "middle", "pointer-events": "none" }));
      if (loss > 5) s.append(text(x + W / 2, y + 34, `${pick} +${loss.toFixed(0)}%`, { "text-anchor": "middle", "pointer-events": "none", class: "bad" }));
      if (far(shape) < far(near)) near = shape;
    }
    s.append(svg("rect", { x: LEFT + ns.indexOf(near[1]) * W, y: TOP + ms.indexOf(near[0]) * H, width: W - 2, height: H - 2, class: "frag-chosen", "pointer-events": "none" }));
    const first = ranked(M.value, N.value), [m, n, times, best] = near, pick = ranked(m, n)[0].name;
    out.say(say(`${M.value}×${N.value}：规则选 ${first[0].name}。最近的实测形状 ${m}×${n}：规则选 ${pick}，${times[pick]} µs；最快 ${best}，${times[best]} µs；cuBLAS ${times.cublas} µs。`,
      `${M.value}×${N.value}: the rule takes ${first[0].name}. Nearest measured shape ${m}×${n}: it takes ${pick}, ${times[pick]} µs; fastest ${best}, ${times[best]} µs; cuBLAS ${times.cublas} µs.`),
      table([say("配置", "configuration"), "stages", "tiles", say("最忙的 SM", "busiest SM"), say("估计（最小为 1）", "estimate (least is 1)")], first.slice(0, 4).map((f) => [f.name, f.c[2], tiles(f.c, M.value, N.value), busiest(f.c, M.value, N.value), round(f.cost / first[0].cost, 3)])),
      say(`格子：实测最快的配置；小字：规则选了别的，多用 5 % 以上。${receipt(d.receipt)}。`, `Cells: the fastest configuration measured; small: the rule takes another one and loses more than 5 %. ${receipt(d.receipt)}.`));
  };
  const M = slider("M", { min: 128, max: 8192, step: 128, value: 2048 }, () => draw());
  const N = slider("N", { min: 128, max: 8192, step: 128, value: 1024 }, () => draw());
  const inFlight = slider("STAGES", { min: 0, max: 8, value: 0, show: (v) => (v ? String(v) : say("不计", "left out")) }, () => draw());
  const out = panel(box, say("派发规则与实测", "The rule of dispatch and what was measured"), [M.node, N.node, inFlight.node], holder);
  draw();
});
