// The fragment map: a thread's registers in the accumulator tile, and who else holds a part of a row.
"use strict";
Course.control("fragment", (box, d) => {
  const { say } = Course, { canvas, svg, text, slider, panel, receipt } = Plot;
  const CW = 34, CH = 14, LEFT = 58, TOP = 30, cols = d.columns, owner = new Map();
  d.map.forEach((regs, t) => regs.forEach((at, r) => owner.set(at, [t, r])));
  const { svg: s, holder } = canvas(LEFT + cols * CW + 10, TOP + 64 * CH + 10, say("64 行 16 列的累加器；数值在图下的文字里", "The 64 by 16 accumulator tile; its numbers are in the text below"));
  const cells = new Map();
  for (let c = 0; c < cols; c++) s.append(text(LEFT + (c + 0.5) * CW, TOP - 9, c, { "text-anchor": "middle" }));
  for (let row = 0; row < 64; row++) {
    if (row % 4 === 0) s.append(text(LEFT - 8, TOP + row * CH + 12, row, { "text-anchor": "end" }));
    for (let c = 0; c < cols; c++) {
      const at = row * cols + c, [t] = owner.get(at);
      const cell = svg("rect", { x: LEFT + c * CW, y: TOP + row * CH, width: CW - 1, height: CH - 1, class: `frag quad-${t % 4}${Math.floor(t / 4) % 2 ? " odd" : ""}` });
      cell.addEventListener("pointerenter", () => hover(at));
      cell.addEventListener("click", () => { const [tt, rr] = owner.get(at); thread.value = tt; reg.value = rr; draw(); });
      cells.set(at, cell);
      s.append(cell);
    }
  }
  for (const w of [1, 2, 3]) s.append(svg("line", { x1: LEFT, x2: LEFT + cols * CW, y1: TOP + 16 * w * CH - 0.5, y2: TOP + 16 * w * CH - 0.5, class: "line-main" }));
  const marks = svg("g", { "pointer-events": "none" });
  s.append(marks);
  const name = (at) => say(`(行 ${Math.floor(at / cols)}, 列 ${at % cols})`, `(row ${Math.floor(at / cols)}, column ${at % cols})`);
  const paint = (t, r) => {
    marks.replaceChildren();
    d.map[t].forEach((at, i) => {
      const x = LEFT + (at % cols) * CW, y = TOP + Math.floor(at / cols) * CH;
      marks.append(svg("rect", { x: x + 0.5, y: y + 0.5, width: CW - 2, height: CH - 2, class: i === r ? "frag-chosen" : "frag-mine" }), svg("text", { x: x + CW / 2, y: y + 11.5, "text-anchor": "middle", class: "frag-name" }, document.createTextNode(`r${i}`)));
    });
    const at = d.map[t][r], row = Math.floor(at / cols);
    const others = [...new Set(Array.from({ length: cols }, (_, c) => owner.get(row * cols + c)[0]))];
    out.say(say(`线程 ${t}，寄存器 ${r}：${name(at)}。同一行的线程：${others.join("、")}。`, `Thread ${t}, register ${r}: ${name(at)}. Threads that share this row: ${others.join(", ")}.`),
      say(`线程 ${t} 的全部寄存器：`, `All registers of thread ${t}: `) + d.map[t].map((x, i) => `r${i} ${name(x)}`).join("; ") + ".",
      say(`指向一格（或点它）就选中它的线程。${receipt(d.receipt)}。`, `Point at a cell to see its thread, or click to choose it. ${receipt(d.receipt)}.`));
  };
  const hover = (at) => { const [t, r] = owner.get(at); paint(t, r); };
  const draw = () => paint(thread.value, reg.value);
  s.addEventListener("pointerleave", () => draw());
  const thread = slider(say("线程", "Thread"), { min: 0, max: 127, value: 37 }, () => draw());
  const reg = slider(say("寄存器", "Register"), { min: 0, max: 7, value: 6 }, () => draw());
  const out = panel(box, say("fragment 图（N = 16）", "The fragment map (N = 16)"), [thread.node, reg.node], holder);
  draw();
});
