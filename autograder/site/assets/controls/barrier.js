// An mbarrier's state, event by event, by seed and by the bytes that FULL expects.
"use strict";
Course.control("barrier", (box, d) => {
  const { say, el } = Course, { slider, choice, player, panel, table, svg, canvas, text } = Plot;
  const names = ["FULL[0]", "FULL[1]", "EMPTY[0]", "EMPTY[1]"];
  const { svg: s, holder } = canvas(640, 150, say("每个屏障的状态；同样的数在下面的表里", "The state of each barrier; the same numbers are in the table below"));
  const rows = el("div");
  const what = (e) => (e[4] < 0 ? say(`${-e[4]} 字节落地`, `${-e[4]} bytes land`) : e[4] > 0 ? say(`到达，声明 ${e[4]} 字节`, `arrives, expects ${e[4]} bytes`) : say("到达", "arrives"));
  const state = (x) => `pending ${x[0]}, tx ${x[1]}, phase ${x[2]}`;
  const run = () => d.runs[`${seed.value}/${expected.value}`];
  const draw = (i) => {
    const { events, end, rules } = run();
    const at = Object.fromEntries(names.map((n) => [n, null]));
    for (const e of events.slice(0, i + 1)) at[e[0]] = e;
    s.replaceChildren();
    names.forEach((n, k) => {
      const e = at[n], st = e ? e[6] : null, x = 8 + 158 * k, now = events[i] && events[i][0] === n;
      s.append(svg("rect", { x, y: 8, width: 150, height: 132, rx: 8, class: `state-card ${st ? `phase-${st[2]}` : ""} ${now ? "now" : ""}` }), text(x + 10, 30, n, { class: "strong" }));
      if (!st) { s.append(text(x + 10, 56, say("还没有事件", "no event yet"))); return; }
      s.append(text(x + 10, 56, `pending ${st[0]} / ${st[3]}`), text(x + 10, 78, `tx ${st[1]}`), text(x + 10, 100, `phase ${st[2]}`));
      if (now && e[7]) s.append(text(x + 10, 124, say("✔ 本阶段完成", "✔ phase completes"), { class: "good" }));
    });
    rows.replaceChildren(table(["#", say("屏障", "barrier"), say("谁", "who"), say("事件", "event"), say("之前", "before"), say("之后", "after")],
      events.map((e, j) => ({ attrs: j === i ? { class: "now", "aria-current": "step" } : j > i ? { class: "later" } : {}, cells: [j + 1, e[0], e[1], what(e), state(e[5]), state(e[6]) + (e[7] ? say(" ← 完成", " ← completes") : "")] }))));
    const e = events[i];
    out.say(e ? `${i + 1}. ${e[0]}: ${e[1]} ${what(e)}${e[2] ? ` (${d.file}:${e[2]})` : ""}; ${state(e[5])} → ${state(e[6])}${e[7] ? say("，本阶段完成，相位翻转", ", the phase completes and flips") : ""}.` : "",
      say(`这次运行的结局：${end}${rules.length ? `（${rules.join("、")}）` : ""}。`, `How this run ends: ${end}${rules.length ? ` (${rules.join(", ")})` : ""}.`));
  };
  const again = () => { play.stop(); play.go(0); };
  const seed = slider(say("种子 seed", "Seed"), { min: 0, max: d.seeds.length - 1, value: 7 }, again);
  const expected = choice(say("FULL 声明的字节 expected", "Bytes that FULL expects"), d.expected, 1024, again);
  const play = player(() => Math.max(1, run().events.length), draw);
  const out = panel(box, say("屏障状态，逐个事件（模拟器）", "Barrier state, event by event (emulator)"), [seed.node, expected.node, play.node], holder, rows);
  play.go(0);
});
