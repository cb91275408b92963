// Pointing at a figure shows where it comes from, at a term what it means; by mouse, keyboard and touch.
(() => {
  "use strict";
  const { el, say, load, root } = window.Course;
  const KINDS = {
    measured: say("实测", "Measured"), emulated: say("模拟器运行", "Run on the emulator"),
    read: say("引自", "Read in"), computed: say("由其他数字算出", "Computed from other figures"),
  };
  let open = null;
  const tip = el("div", { class: "tip", role: "tooltip", id: "course-tip", hidden: true });
  const place = (target) => {
    const r = target.getBoundingClientRect(), width = Math.min(360, innerWidth - 16);
    tip.style.width = `${width}px`;
    tip.style.left = `${scrollX + Math.max(8, Math.min(r.left, innerWidth - width - 8))}px`;
    tip.style.top = `${scrollY + r.bottom + 6}px`;
    const height = tip.getBoundingClientRect().height;
    if (r.bottom + height + 12 > innerHeight && r.top > height + 12) tip.style.top = `${scrollY + r.top - height - 6}px`;
  };
  const row = (name, value) => (value ? el("div", { class: "tip-row" }, el("span", { text: `${name}${say("：", ": ")}` }), el("span", { text: value })) : null);
  const claim = async (key) => {
    const c = (await load("claims"))[key];
    if (!c) return null;
    return [
      el("strong", { text: `${c.shown}` }), el("div", { text: c.says }),
      row(KINDS[c.kind], c.from), row(say("设备", "Device"), c.device), row(say("日期", "Date"), c.date), row(say("命令", "Command"), c.command),
      el("a", { href: `${root}claims/index.html#claim-${key.replace(".", "-")}`, text: say("在账本里看", "In the ledger") }),
    ];
  };
  const term = async (anchor) => {
    const text = (await load("terms"))[anchor];
    return text ? [el("div", { text })] : null;
  };
  const show = async (target) => {
    open = target;
    let parts = null;
    try { parts = target.dataset.claim ? await claim(target.dataset.claim) : await term(target.dataset.term); } catch { return; }
    if (!parts || open !== target) return;
    tip.replaceChildren(...parts.filter(Boolean));
    tip.hidden = false;
    target.setAttribute("aria-describedby", tip.id);
    place(target);
  };
  let leaving = 0;
  const hide = () => { if (open) open.removeAttribute("aria-describedby"); open = null; tip.hidden = true; };
  const marks = document.querySelectorAll("main .claim[data-claim], main a.term");
  if (!marks.length) return;
  document.body.append(tip);
  for (const m of marks) {
    if (m.matches(".claim")) { m.tabIndex = 0; m.setAttribute("role", "button"); m.setAttribute("aria-haspopup", "true"); }
    m.addEventListener("pointerenter", (ev) => { if (ev.pointerType === "mouse") { clearTimeout(leaving); show(m); } });
    m.addEventListener("pointerleave", () => { leaving = setTimeout(hide, 250); });
    m.addEventListener("focus", () => show(m));
    m.addEventListener("blur", (ev) => { if (!tip.contains(ev.relatedTarget)) leaving = setTimeout(hide, 150); });
    m.addEventListener("click", (ev) => { if (m.matches(".claim")) { ev.preventDefault(); show(m); } });
    m.addEventListener("keydown", (ev) => { if (m.matches(".claim") && (ev.key === "Enter" || ev.key === " ")) { ev.preventDefault(); show(m).then(() => tip.querySelector("a")?.focus()); } });
  }
  tip.addEventListener("pointerenter", () => clearTimeout(leaving));
  tip.addEventListener("pointerleave", () => { leaving = setTimeout(hide, 200); });
  tip.addEventListener("focusin", () => clearTimeout(leaving));
  tip.addEventListener("focusout", (ev) => { if (!tip.contains(ev.relatedTarget)) hide(); });
  document.addEventListener("keydown", (ev) => { if (ev.key === "Escape" && open) { const t = open; hide(); t.focus(); hide(); } });
})();
