// A warp's reads on the 32 banks: rows down, banks across, a colour for each wavefront. The places are those the copy engine chose.
"use strict";
Course.control("swizzle", (box, d) => {
  const { say } = Course, { canvas, svg, text, slider, choice, panel } = Plot;
  const CELL = 16, LEFT = 62, TOP = 26;
  const { svg: s, holder } = canvas(LEFT + 32 * CELL + 12, TOP + 32 * CELL + 24, say("32 行、32 个 bank 的格子；数目在图下的文字里", "A grid of 32 rows and 32 banks; the counts are in the text below"));
  const reads = (swizzle, read, column) => {
    const lanes = read === 4 ? 32 : 8, wide = read === 4 ? 1 : 4, place = d.place[swizzle], words = [];
    const c = column - (column % wide);
    let before = 0;
    for (let first = 0; first < 32; first += lanes) {
      const asked = Array(32).fill(0);
      for (let row = first; row < first + lanes; row++) {
        const start = place[32 * row + c] % 32;
        for (let bank = start; bank < start + wide; bank++) words.push([row, bank, before + asked[bank]++]);
      }
      before += Math.max(...asked);
    }
    return [words, before];
  };
  const draw = () => {
    const [words, total] = reads(swizzle.value, read.value, column.value);
    s.replaceChildren();
    for (let i = 0; i < 32; i += 4) s.append(text(LEFT + (i + 0.5) * CELL, TOP - 8, i, { "text-anchor": "middle" }), text(LEFT - 8, TOP + (i + 0.8) * CELL, i, { "text-anchor": "end" }));
    s.append(text(LEFT - 8, TOP - 8, "bank →", { "text-anchor": "end" }), text(4, TOP + 16 * CELL, say("行", "row")));
    s.append(svg("rect", { x: LEFT, y: TOP, width: 32 * CELL, height: 32 * CELL, class: "frame" }));
    for (const [row, bank, wave] of words) {
      const x = LEFT + bank * CELL, y = TOP + row * CELL;
      s.append(svg("rect", { x, y, width: CELL - 1, height: CELL - 1, fill: `hsl(${(wave * 360) / Math.max(4, total) + 210} 65% 42%)` }));
      if (total > 1) s.append(svg("text", { x: x + CELL / 2, y: y + 12, "text-anchor": "middle", class: "cell-number" }, document.createTextNode(wave)));
    }
    const busy = Math.max(...Array.from({ length: 32 }, (_, b) => words.filter((w) => w[1] === b).length));
    const used = new Set(words.map((w) => w[1])).size;
    out.say(say(`${total} 个 wavefront：读第 ${column.value} 列的 32 行，落在 ${used} 个 bank 上，最忙的 bank 要供 ${busy} 个字。`, `${total} wavefront${total > 1 ? "s" : ""}: 32 rows of column ${column.value} lie on ${used} bank${used > 1 ? "s" : ""}, the busiest of which serves ${busy} word${busy > 1 ? "s" : ""}.`),
      say("格子里的数是第几个 wavefront；字的位置取自拷贝引擎（模拟器）实际落下的 tile。", "The number in a cell is its wavefront; where words lie is taken from a tile as the copy engine (emulator) put it down."));
  };
  const swizzle = choice("SWIZZLE", ["0", "128"], "128", () => draw(), (v) => (v === "0" ? say("0（不用）", "0 (none)") : say("128 字节", "128 bytes")));
  const read = choice("READ", [4, 16], 4, () => draw(), (v) => say(`${v} 字节的读`, `${v}-byte reads`));
  const column = slider("COLUMN", { min: 0, max: 31, value: 8 }, () => draw());
  const out = panel(box, say("swizzle 与 bank", "Swizzle and banks"), [swizzle.node, read.node, column.node], holder);
  draw();
});
