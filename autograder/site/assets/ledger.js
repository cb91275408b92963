// The ledger's filter: by words, by lesson, by where a figure comes from.
(() => {
  "use strict";
  const { el, say } = window.Course;
  const rows = [...document.querySelectorAll("tr[data-origin]")];
  const first = document.querySelector("main section.level2, main h2");
  if (!rows.length || !first) return;
  const section = (row) => row.closest("section.level2");
  const headings = [...new Set(rows.map(section))].filter(Boolean);
  const option = (value, text) => el("option", { value, text });
  const words = el("input", { type: "search", "aria-label": say("按文字筛选", "Filter by words"), placeholder: say("筛选", "Filter") });
  const lesson = el("select", { "aria-label": say("按课筛选", "Filter by lesson") }, option("", say("所有课", "all lessons")),
    ...headings.map((s) => option(s.id, s.querySelector("h2").firstChild.textContent.trim())));
  const origin = el("select", { "aria-label": say("按出处筛选", "Filter by origin") }, option("", say("所有出处", "all origins")),
    option("measured", say("实测", "measured")), option("emulated", say("模拟器", "emulator")), option("read", say("引用", "read")), option("computed", say("算出", "computed")));
  const count = el("span", { role: "status" });
  const apply = () => {
    const w = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    let n = 0;
    for (const r of rows) {
      const s = section(r), text = r.textContent.toLowerCase();
      const ok = w.every((x) => text.includes(x)) && (!lesson.value || (s && s.id === lesson.value)) && (!origin.value || r.dataset.origin === origin.value);
      r.hidden = !ok;
      n += ok;
    }
    for (const s of headings) s.hidden = ![...s.querySelectorAll("tr[data-origin]")].some((r) => !r.hidden);
    count.textContent = say(`${n} 个数字`, `${n} figures`);
  };
  for (const c of [words, lesson, origin]) c.addEventListener("input", apply);
  first.before(el("div", { class: "ledger-filter", role: "group", "aria-label": say("筛选", "Filter") }, words, lesson, origin, count));
  if (location.hash.startsWith("#lesson=")) lesson.value = decodeURIComponent(location.hash.slice(8));
  apply();
})();
