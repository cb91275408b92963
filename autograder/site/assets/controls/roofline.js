// Roofline: move the roofs and the kernel's counts; your own machine's point among those measured.
"use strict";
Course.control("roofline", (box, d) => {
  const { say, el } = Course, { canvas, axes, slider, choice, panel, path, MARKS, round, receipt, text } = Plot;
  const { svg: s, holder } = canvas(640, 330, say("屋顶线图；数值在图下的文字里", "Roofline plot; its numbers are in the text below"));
  const a = axes(s, { width: 550, height: 250, x: { scale: "log", min: 0.1, max: 10000, ticks: [0.1, 1, 10, 100, 1000, 10000], name: "FLOP/byte" }, y: { scale: "log", min: 0.2, max: 2000, ticks: [1, 10, 100, 1000], name: "TFLOP/s" } });
  const shown = { fp32: say("FP32（CUDA core）", "FP32 (CUDA cores)"), bf16: say("BF16（tensor core）", "BF16 (tensor cores)") };
  const draw = () => {
    const P = peak.value, W = band.value, F = flop.value, B = bytes.value;
    const moving = B / W, math = F / P, longer = moving > math ? moving : math, most = F / longer, I = F / B, ridge = P / W;
    const m = a.marks;
    m.replaceChildren();
    const roof = [[0.1, Math.min(P, 0.1 * W)], [Math.max(0.1, Math.min(ridge, 10000)), Math.min(P, ridge * W)], [10000, Math.min(P, 10000 * W)]];
    m.append(path(roof.map(([x, y]) => [a.x(x), a.y(Math.max(0.2, Math.min(2000, y)))]), { class: "line-main" }));
    for (const [unit, , i, rate] of d.points) if (unit === kind.value) m.append(MARKS.o(a.x(i), a.y(rate), "mark-2"));
    const own = [parseFloat(mineI.value), parseFloat(mineR.value)];
    if (own[0] > 0.1 && own[0] < 10000 && own[1] > 0.2 && own[1] < 2000) m.append(MARKS.t(a.x(own[0]), a.y(own[1]), "mark-3"), text(a.x(own[0]) + 8, a.y(own[1]) + 4, say("你的", "yours")));
    if (I >= 0.1 && I <= 10000 && most >= 0.2) m.append(MARKS.star(a.x(I), a.y(Math.min(2000, most)), "mark-1"));
    out.say(
      say(`搬运 ${round(moving)} ms，运算 ${round(math)} ms，强度 ${round(I)} FLOP/byte，拐点 ${round(ridge)}：${moving > math ? "访存受限" : "计算受限"}，至多 ${round(most)} TFLOP/s。`,
        `Moving ${round(moving)} ms, arithmetic ${round(math)} ms, intensity ${round(I)} FLOP/byte, ridge ${round(ridge)}: ${moving > math ? "memory" : "compute"}-bound, at most ${round(most)} TFLOP/s.`),
      own[0] > 0 && own[1] > 0 ? say(`你的点在这个屋顶的 ${round((100 * own[1]) / Math.min(P, own[0] * W))} %。`, `Your point is at ${round((100 * own[1]) / Math.min(P, own[0] * W))} % of this roof.`) : "",
      say(`星号：这个 kernel 至多到哪里。圆点：H200 上的实测。${receipt(d.receipt)}。`, `Star: the most this kernel can reach. Dots: measured. ${receipt(d.receipt)}.`));
  };
  const kind = choice(say("屋顶", "Roof"), ["fp32", "bf16"], "fp32", (k) => { peak.value = Math.round(d.roofs[k]); draw(); }, (k) => shown[k]);
  const peak = slider(say("峰值", "Peak"), { min: 1, max: 1000, value: Math.round(d.roofs.fp32), show: (v) => `${v} TFLOP/s` }, () => draw());
  const band = slider(say("带宽", "Bandwidth"), { min: 0.1, max: 8, step: 0.01, value: d.bandwidth, show: (v) => `${v} TB/s` }, () => draw());
  const flop = slider(say("运算量", "Operations"), { min: 1, max: 1200, step: 0.2, value: 17.2, show: (v) => `${v} GFLOP` }, () => draw());
  const bytes = slider(say("字节数", "Bytes"), { min: 0.05, max: 4, step: 0.01, value: 1.07, show: (v) => `${v} GB` }, () => draw());
  const field = (name) => el("input", { type: "number", min: "0", step: "any", inputmode: "decimal", "aria-label": name, placeholder: name, oninput: () => draw() });
  const mineI = field(say("强度 FLOP/byte", "intensity FLOP/byte")), mineR = field("TFLOP/s");
  const own = el("fieldset", { class: "control-input" }, el("legend", { text: say("你的机器测得的点", "A point measured on your machine") }), mineI, mineR);
  const out = panel(box, say("屋顶线", "Roofline"), [kind.node, peak.node, band.node, flop.node, bytes.node, own], holder);
  draw();
});
