// The home page's ring: three stages that fill and are read, as it is and with one wait taken out.
"use strict";
Course.control("home-ring", (box, d) => {
  const { say, el } = Course, { canvas, svg, text } = Plot;
  const STAGES = 3, SECONDS = 14, narrow = box.clientWidth < 480, W = narrow ? 316 : 560, X = narrow ? 66 : 178;
  const label = say("环形缓冲在运行：三个 stage 依次装入、读出；文字说明在下面", "The ring at work: three stages are filled and read in turn; the text below says it in words");
  const { svg: s, holder } = canvas(W, 190, label);
  const line = RingPicture(say("同一次运行的时间线", "The same run on a timeline"), W);
  let race = false, t = 0, last = 0, playing = !matchMedia("(prefers-reduced-motion: reduce)").matches, seen = false;
  const run = () => (race ? d.race : d.right);
  const stage = (k) => {
    const rows = run().rows.filter((r) => r[2] === k);
    const copy = rows.find((r) => !r[0] && r[3] <= t && t < r[4]), reads = rows.filter((r) => r[0] && r[3] <= t && t < r[4]);
    const landed = rows.filter((r) => !r[0] && r[4] <= t).length, read = rows.filter((r) => r[0] && r[4] <= t).length / 2;
    const bad = race && rows.some((r) => r[5] && r[3] <= t && t < r[4]) && copy && copy[5];
    return { copy, reads, full: landed > read, bad, filled: copy ? (t - copy[3]) / (copy[4] - copy[3]) : landed > read ? 1 : 0 };
  };
  const draw = () => {
    s.replaceChildren(text(4, 92, narrow ? "TMA" : say("生产者", "producer"), { class: "strong" }), text(4, 110, narrow ? "" : "TMA"), text(W - 4, 92, narrow ? "wgmma" : say("消费者", "consumers"), { class: "strong", "text-anchor": "end" }), text(W - 4, 110, narrow ? "" : "wgmma", { "text-anchor": "end" }));
    for (let k = 0; k < STAGES; k++) {
      const st = stage(k), x = X, y = 8 + 60 * k, w = narrow ? 170 : 190, h = 50;
      const word = st.bad ? say("被覆盖！", "overwritten!") : st.reads.length ? say("在读", "being read") : st.copy ? say("在装", "filling") : st.full ? say("满", "full") : say("空", "empty");
      s.append(svg("rect", { x, y, width: w, height: h, rx: 8, class: `ring-stage${st.bad ? " bad" : ""}` }), svg("rect", { x: x + 3, y: y + 3, width: Math.max(0, (w - 6) * st.filled), height: h - 6, rx: 6, class: `bar stage-${k}${st.bad ? " red" : ""}` }),
        svg("rect", { x: x + 8, y: y + 12, width: w - 16, height: 26, rx: 5, class: "ring-plate" }), text(x + w / 2, y + 30, `stage ${k}: ${word}`, { "text-anchor": "middle", class: "strong" }));
      const arrow = (x1, x2, on, block) => { s.append(svg("path", { d: `M${x1} ${y + 25}L${x2} ${y + 25}m-7 -5l7 5l-7 5`, class: `ring-arrow${on ? " on" : ""}${st.bad ? " bad" : ""}` })); if (on) s.append(text((x1 + x2) / 2, y + 19, block, { "text-anchor": "middle" })); };
      arrow(X - (narrow ? 26 : 92), X - 7, !!st.copy, st.copy ? narrow ? st.copy[1] : `k ${st.copy[1]}` : "");
      arrow(X + w + 7, X + w + (narrow ? 24 : 100), st.reads.length > 0, st.reads.length ? narrow ? st.reads[0][1] : `k ${st.reads[0][1]}` : "");
    }
    line.draw(run(), STAGES, t);
  };
  const tick = (now) => {
    if (!playing || !seen || document.hidden) { last = 0; return; }
    if (last) t = (t + ((now - last) / 1000) * (run().time / SECONDS)) % (run().time * 1.06);
    last = now;
    draw();
    requestAnimationFrame(tick);
  };
  const start = () => { last = 0; requestAnimationFrame(tick); };
  const told = el("div", { class: "control-text", role: "status" });
  const tell = () => told.replaceChildren(...(race
    ? [el("p", { text: say("去掉了释放之前对 wgmma 的等待：拷贝落进还在读的 stage（红色）。", "The wait for the wgmmas before the release is gone: copies land in stages that are still being read (red).") }), line.report(d.race.report)]
    : [el("p", { text: say("生产者等 EMPTY 才装，消费者等 FULL 才读：3 个 stage，8 个 k 块，没有冲突。模拟器的标称时钟，不是测量。", "The producer waits for EMPTY before it fills, the consumers for FULL before they read: 3 stages, 8 k-blocks, no conflict. The emulator's nominal clock, not a measurement.") })]));
  const flip = el("button", { type: "button", class: "control-button switch", role: "switch", "aria-checked": "false", text: say("去掉一个等待", "Take one wait out"), onclick: () => { race = !race; flip.setAttribute("aria-checked", String(race)); t = playing ? 0 : run().time * 0.45; tell(); draw(); } });
  const pause = el("button", { type: "button", class: "control-button", onclick: () => { playing = !playing; name(); start(); } });
  const name = () => { pause.textContent = playing ? say("❚❚ 暂停", "❚❚ Pause") : say("▶ 播放", "▶ Play"); };
  name();
  box.append(el("div", { class: "control-title", text: say("这门课的心脏：一个会动的环", "The heart of the course: a ring that moves") }), holder, line.holder, el("div", { class: "control-player" }, flip, pause), told);
  t = run().time * 0.45;
  tell();
  draw();
  if (window.IntersectionObserver) new IntersectionObserver((e) => { seen = e[0].isIntersecting; if (seen) start(); }).observe(box); else { seen = true; start(); }
  document.addEventListener("visibilitychange", start);
});
