// The ring on a timeline: stages, defect, schedule and seed to choose; what overwrites a stage in use is red, with the report.
"use strict";
Course.control("ring", (box, d) => {
  const { say } = Course, { slider, choice, panel, player } = Plot;
  const bugs = { none: say("没有缺陷", "no defect"), no_empty_wait: say("不等 EMPTY", "no wait for EMPTY"), no_phase_bit: say("相位不翻转", "no flip of the phase"), empty_before_wgmma_wait: say("过早释放", "early release") };
  const policies = { timed: say("标称时钟", "nominal clock") };
  const picture = RingPicture(say("拷贝与乘法的时间线；同样的内容在图下的文字里", "Timeline of copies and multiplications; the text below says the same"));
  const run = () => d.runs[`${stages.value}/${bug.value}/${policy.value}/${seed.value}`];
  const steps = () => [...new Set(run().rows.flatMap((r) => [r[3], r[4]]))].sort((a, b) => a - b);
  const draw = (i) => {
    const r = run(), times = steps(), now = times.length ? times[i] : 0;
    picture.draw(r, stages.value, now);
    const running = r.rows.filter((x) => x[3] <= now && now < x[4]).map((x) => picture.name(x));
    out.say(r.rows.length ? say(`时刻 ${Math.round(now)}：${running.join("；") || "没有在进行的"}。`, `Time ${Math.round(now)}: ${running.join("; ") || "nothing runs"}.`) : say("第一份拷贝落地之前，这次运行就停了。", "The run stops before the first copy has landed."),
      say(`结局：${r.end}，共 ${Math.round(r.time)} ${policy.value === "timed" ? "标称周期（不是测量）" : "调度步"}。`, `End: ${r.end}, ${Math.round(r.time)} ${policy.value === "timed" ? "nominal cycles (not a measurement)" : "scheduler steps"}.`),
      r.report ? picture.report(r.report) : "");
  };
  const again = () => play.end();
  const stages = slider(say("stage 数", "Stages"), { values: d.stages, value: 3 }, again);
  const bug = choice(say("缺陷", "Defect"), d.bugs, "none", again, (b) => bugs[b] || b);
  const policy = choice(say("调度", "Schedule"), Object.keys(d.policies), "timed", () => { seed.options(d.policies[policy.value], seed.value); again(); }, (p) => policies[p] || p);
  const seed = choice(say("种子", "Seed"), d.policies.timed, 0, again);
  const play = player(() => Math.max(1, steps().length), draw, 350);
  const out = panel(box, say("环形缓冲的时间线（模拟器，8 个 k 块）", "The ring on a timeline (emulator, 8 k-blocks)"), [stages.node, bug.node, policy.node, seed.node, play.node], picture.holder);
  play.end();
});
