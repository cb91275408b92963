// What a reader has done so far, on cards and lesson heads. do/progress.js keeps it; without that script nothing is shown.
(() => {
  "use strict";
  const progress = window.courseProgress, { say, el } = window.Course;
  if (!progress) return;
  const marks = [...document.querySelectorAll(".lesson-progress[data-lesson]")];
  const words = { none: "○", tried: "◐", ready: "●" };
  const told = { none: say("未开始", "not begun"), tried: say("试过", "tried"), ready: say("完成", "done") };
  const show = () => {
    for (const m of marks) {
      const p = progress.read(m.dataset.lesson);
      m.hidden = !p.updated;
      if (!p.updated) continue;
      const answers = p.answers.filter(Boolean).length;
      const text = say(`练习${told[p.exercise]}，边界输入${told[p.boundary]}，文字 ${answers} / ${p.answers.length}`, `exercise ${told[p.exercise]}, boundary case ${told[p.boundary]}, answers ${answers} of ${p.answers.length}`);
      m.title = text;
      m.replaceChildren(el("span", { "aria-hidden": "true", text: `${words[p.exercise]}${words[p.boundary]} ${answers}/${p.answers.length}` }), el("span", { class: "visually-hidden", text }));
    }
  };
  progress.watch(show);
  show();
})();
