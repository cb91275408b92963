// Copies and products of one block over time, a lane for each stage; used by lesson 6 and by the home page.
"use strict";
window.RingPicture = (label, width = 640) => {
  const { say, el, root } = Course, { canvas, svg, text } = Plot;
  const LEFT = width < 400 ? 76 : 92, LANE = 18, rowNames = [say("拷贝", "copies"), say("消费者 1", "consumer 1"), say("消费者 2", "consumer 2")];
  const { svg: s, holder } = canvas(width, 208, label);
  const name = (r) => (r[0] ? say(`消费者 ${r[0]} 在乘第 ${r[1]} 块（stage ${r[2]}）`, `consumer ${r[0]} multiplies block ${r[1]} (stage ${r[2]})`) : say(`第 ${r[1]} 块拷入 stage ${r[2]}`, `block ${r[1]} is copied into stage ${r[2]}`)) + (r[5] ? say("，冲突", ", in conflict") : "");
  return {
    holder, svg: s, name,
    /** rows up to time now, the rest pale. */
    draw(run, stages, now) {
      const span = width - LEFT - 10, end = Math.max(1, run.time), x = (t) => LEFT + (span * t) / end;
      s.replaceChildren();
      const tops = [10, 10 + stages * LANE + 14, 10 + stages * LANE + 14 + 34];
      rowNames.forEach((n, i) => s.append(text(LEFT - 8, tops[i] + (i ? 17 : (stages * LANE) / 2 + 4), n, { "text-anchor": "end" })));
      for (const r of run.rows) {
        const y = tops[r[0]] + (r[0] ? 0 : r[2] * LANE), h = r[0] ? 24 : LANE - 2, from = x(r[3]), to = Math.max(from + 3, x(r[4]));
        const done = r[4] <= now, begun = r[3] <= now;
        s.append(svg("rect", { x: from, y, width: to - from, height: h, rx: 2, class: `bar stage-${r[2]}${r[5] ? " red" : ""}${done ? "" : begun ? " running" : " later"}` }));
        if (to - from > 14) s.append(svg("text", { x: (from + to) / 2, y: y + h / 2 + 4.5, "text-anchor": "middle", class: `bar-name${begun ? "" : " later"}` }, document.createTextNode(r[1])));
      }
      s.append(svg("line", { x1: x(now), x2: x(now), y1: 4, y2: tops[2] + 30, class: "now-line" }));
      s.setAttribute("viewBox", `0 0 ${width} ${tops[2] + 34}`);
    },
    /** The checker's report, its files and lines as links to the sources. */
    report(message) {
      const parts = message.split(/(\b[a-z_]+\.cuh?:\d+)/);
      return el("p", { class: "race-report" }, el("strong", { text: say("检查器的报告（模拟器原文）：", "The checker's report: ") }),
        el("span", { lang: "en" }, ...parts.map((p) => {
          const m = p.match(/^([a-z_]+)\.(cuh?):(\d+)$/);
          return m ? el("a", { href: `${root}kernels/${m[1]}_${m[2]}.html#L${m[3]}`, text: p }) : document.createTextNode(p);
        })));
    },
  };
};
