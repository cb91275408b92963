// Little's law against 96 measured points.
"use strict";
Course.control("little", (box, d) => {
  const { say } = Course, { canvas, axes, slider, panel, path, MARKS, round, receipt } = Plot;
  const uniq = (i) => [...new Set(d.points.map((p) => p[i]))].sort((a, b) => a - b);
  const { svg: s, holder } = canvas(640, 320, say("在途字节与带宽；数值在图下的文字里", "Bytes in flight and bandwidth; its numbers are in the text below"));
  const least = 128, most = 262144;
  const a = axes(s, { width: 550, height: 240, x: { scale: "log", min: least, max: most, ticks: [128, 512, 2048, 8192, 32768, 131072], name: say("每个 SM 的在途字节", "bytes in flight per SM") }, y: { scale: "linear", min: 0, max: 110, ticks: [0, 25, 50, 75, 100], name: say("设备拷贝的 %", "% of the device copy") } });
  const percent = (rate) => (100 * rate) / d.copy;
  const draw = () => {
    const m = a.marks;
    m.replaceChildren();
    const needed = ((d.copy / 2) * 1e12 * lat.value * 1e-9) / d.sms;  // bytes in the pipe of one SM, reads only
    const law = (b) => Math.min(100, (100 * b) / needed);
    const xs = Array.from({ length: 60 }, (_, i) => least * (most / least) ** (i / 59));
    m.append(path(xs.map((x) => [a.x(x), a.y(law(x))]), { class: "line-main dotted" }));
    for (const p of d.points) m.append(MARKS.o(a.x(p[3]), a.y(percent(p[4])), "mark-soft"));
    const mine = d.points.find((p) => p[0] === width.value && p[1] === loads.value && p[2] === warps.value);
    m.append(MARKS.star(a.x(mine[3]), a.y(percent(mine[4])), "mark-1"));
    const took = ((mine[3] * d.sms) / ((mine[4] / 2) * 1e12)) * 1e9;
    out.say(
      say(`${mine[0]} 字节 × ${mine[1]} 次加载 × ${mine[2]} 个 warp：每个 SM 在途 ${mine[3]} 字节。`, `${mine[0]} B × ${mine[1]} loads × ${mine[2]} warps: ${mine[3]} bytes in flight per SM.`),
      say(`Little 定律（${lat.value} ns）说 ${round(law(mine[3]))} %，实测 ${round(percent(mine[4]))} %；实测意味着一轮 ${Math.round(took)} ns。`, `Little's law (${lat.value} ns) says ${round(law(mine[3]))} %, measured ${round(percent(mine[4]))} %; measured, one round takes ${Math.round(took)} ns.`),
      say(`虚线：定律。灰点：96 次实测。红星：选中的一次。${receipt(d.receipt)}。`, `Dotted: the law. Grey: 96 measurements. Star: the chosen one. ${receipt(d.receipt)}.`));
  };
  const width = slider(say("字宽", "Width"), { values: uniq(0), value: 16, show: (v) => `${v} B` }, () => draw());
  const loads = slider(say("加载数", "Loads"), { values: uniq(1), value: 1 }, () => draw());
  const warps = slider(say("warp 数", "Warps"), { values: uniq(2), value: 8 }, () => draw());
  const lat = slider(say("延迟", "Latency"), { min: 200, max: 2400, step: 20, value: 340, show: (v) => `${v} ns` }, () => draw());
  const out = panel(box, say("Little 定律", "Little's law"), [width.node, loads.node, warps.node, lat.node], holder);
  draw();
});
