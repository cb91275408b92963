// Doing the lesson in its page: the exercise, the own case, hints, answers, and the notebook to hand in.
(() => {
  "use strict";
  const lesson = window.courseDo,
    words = window.courseWords,
    progress = window.courseProgress;
  if (!lesson || !words || !window.coursePython) return;
  const up = new URL("../../", document.currentScript.src); // the root of this language, with its slash
  const site = new URL("../../", up);
  const { slug, lang } = lesson;
  const other = lang === "zh" ? "en" : "zh";
  const FILE = `${slug}.ipynb`;
  const SIGN = { ok: "✔", bad: "✘", todo: "○", note: "·" };

  const say = (key, values = {}) =>
    words[key].replace(/\{(\w+)\}/g, (whole, name) => (name in values ? values[name] : whole));
  const el = (tag, attributes = {}, ...children) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
      else if (value === true) made.setAttribute(name, "");
      else if (value !== false && value !== null) made.setAttribute(name, value);
    }
    made.append(...children.filter((c) => c !== null));
    return made;
  };
  const button = (text, onclick, kind = "") =>
    el("button", { type: "button", class: `do-button ${kind}`, onclick }, text);
  // a sentence with `code`; what follows its first line is a listing
  const rich = (text) => {
    const [first, ...rest] = text.split("\n");
    const parts = first.split(/`([^`]+)`/).map((piece, i) => (i % 2 ? el("code", {}, piece) : piece));
    return el("span", {}, ...parts, rest.length ? el("pre", {}, rest.join("\n")) : null);
  };
  const items = (list) =>
    el(
      "ul",
      { class: "do-items" },
      ...list.map(([status, text]) =>
        el(
          "li",
          { class: `do-${status}` },
          el("span", { class: "do-sign", role: "img", "aria-label": words[status] }, SIGN[status]),
          rich(text),
        ),
      ),
    );
  const plain = (title, list, foot) =>
    [title, ...list.map(([status, text]) => `  ${SIGN[status]} ${text.replace(/\n/g, "\n    ")}`), ...foot].join("\n");
  const isOpen = (list) =>
    list.filter(([status, , code]) => status === "bad" || status === "todo" || code === "unsure").length;

  // ---- what was written, kept in this browser
  const empty = () => ({ cells: {}, answers: {}, hints: 0, checked: {} });
  let draft = { ...empty(), ...progress.draft(slug, lang) };
  if (!Object.keys(draft.cells).length) {
    // begun in the other language: its lines fit here too
    const theirs = progress.draft(slug, other);
    for (const [part, middle] of Object.entries(theirs.middles || {})) {
      const cell = lesson.cells[part];
      if (cell && typeof middle === "string") draft.cells[part] = cell.before + middle + cell.after;
    }
  }
  const text = (part) => draft.cells[part] ?? lesson.cells[part].source;
  const answer = (slot) => draft.answers[slot] ?? "";
  const middle = (part) => {
    const { before, after } = lesson.cells[part],
      now = text(part);
    const intact = now.startsWith(before) && now.endsWith(after) && now.length >= before.length + after.length;
    return intact ? now.slice(before.length, now.length - after.length) : null;
  };
  const begun = () =>
    Object.keys(lesson.cells).some((p) => text(p) !== lesson.cells[p].source) ||
    lesson.slots.some((s) => answer(s).trim());
  // what a check said counts as long as what it looked at stands there
  const report = (part) => {
    const c = draft.checked[part];
    return c && c.exercise === text("exercise") && (part === "exercise" || c.case === text("case")) ? c : null;
  };
  const level = (part) => {
    const said = report(part);
    if (said) return isOpen(said.items) ? "tried" : "ready";
    return text(part) !== lesson.cells[part].source || draft.checked[part] ? "tried" : "none";
  };
  let timer = 0;
  const save = () => {
    clearTimeout(timer);
    timer = 0;
    draft.middles = Object.fromEntries(Object.keys(lesson.cells).map((p) => [p, middle(p)]));
    const kept = progress.saveDraft(slug, lang, draft);
    progress.write(slug, {
      exercise: level("exercise"),
      boundary: level("case"),
      answers: lesson.slots.map((s) => answer(s).trim() !== ""),
    });
    keeping.textContent = words[kept ? "kept" : "not_kept"];
    keeping.classList.toggle("do-warn", !kept);
    summary();
  };
  const soon = () => {
    clearTimeout(timer);
    timer = setTimeout(save, 300);
  };
  window.addEventListener("pagehide", () => {
    if (timer) save();
  });

  // ---- a cell that is edited and checked
  const boxes = {};
  const cellBox = (part, role, label, checkWord) => {
    const host = document.querySelector(`.role-${role}`)?.closest(".course-cell");
    if (!host) return null;
    const head = host.querySelector(".cell-role").closest("p") || host.querySelector(".cell-role");
    for (const child of [...host.children]) if (child !== head) child.hidden = true;
    const area = el("textarea", {
      class: "do-code",
      "aria-label": words[label],
      "aria-describedby": `do-keys-${part}`,
    });
    const said = el("div", { class: "do-said", role: "status", "aria-live": "polite" });
    const box = { area, said };
    box.refresh = () => {
      area.value = text(part);
      box.fit();
      if (box.warn) box.warn.hidden = middle(part) !== null;
    };
    box.warn = part === "exercise" ? el("p", { class: "do-warn", hidden: true }, words.outside) : null;
    const changed = () => {
      draft.cells[part] = area.value;
      if (box.warn) box.warn.hidden = middle(part) !== null;
      said.classList.toggle("do-old", !report(part));
      soon();
    };
    box.fit = window.courseEditor(area, () => check(part));
    area.addEventListener("input", changed);
    const restore = button(words.restore, () => {
      const old = area.value;
      if (old === lesson.cells[part].source) return;
      area.value = lesson.cells[part].source;
      box.fit();
      changed();
      said.replaceChildren(
        el(
          "p",
          {},
          words.restored,
          " ",
          button(
            words.undo,
            () => {
              area.value = old;
              box.fit();
              changed();
              said.replaceChildren();
            },
            "do-small",
          ),
        ),
      );
    });
    box.run = button(words[checkWord], () => check(part), "do-main");
    host.append(
      el(
        "div",
        { class: "do" },
        area,
        el("p", { class: "do-keys do-keys-help", id: `do-keys-${part}` }, words.keys),
        el("div", { class: "do-bar" }, box.run, restore),
        ...(box.warn ? [box.warn] : []),
        said,
      ),
    );
    box.refresh();
    const before = report(part);
    if (before) tell(part, before, box);
    boxes[part] = box;
    return host;
  };

  const tell = (part, { items: list, printed, version }, box = boxes[part]) => {
    const open = isOpen(list);
    const foot = [];
    if (open) foot.push(say("open_items", { n: open }));
    else if (part === "exercise") foot.push(words.all_right);
    box.said.classList.remove("do-old");
    box.said.replaceChildren(
      items(list),
      printed && printed.length
        ? el("div", {}, el("p", { class: "do-keys" }, words.printed), el("pre", {}, printed.join("\n")))
        : "",
      ...foot.map((t) => el("p", { class: "do-foot" }, t)),
      version ? el("p", { class: "do-keys" }, say("where", { version })) : "",
    );
  };

  const cannot = (why) =>
    el(
      "p",
      { class: "do-warn" },
      say("cannot", { why: words[why] }),
      " ",
      ...(lesson.bundle ? [el("a", { href: new URL(lesson.bundle, site) }, words.bundle), " · "] : []),
      el("a", { href: new URL(FILE, location.href), download: FILE }, FILE),
    );

  async function check(part) {
    const box = boxes[part];
    if (box.run.disabled) return;
    save();
    box.run.disabled = true;
    const looked = { exercise: text("exercise"), case: text("case") };
    const request = { cell: looked.exercise, case: part === "case" ? looked.case : null, plan: lesson.plan, words };
    const state = (what) => box.said.replaceChildren(el("p", {}, say(what, { size: words.size })));
    let got;
    try {
      got = await window.coursePython.run(request, state);
    } catch (e) {
      got = { died: String(e.message || e) };
    }
    box.run.disabled = false;
    if (got.cannot) {
      box.said.replaceChildren(cannot(got.cannot));
      return;
    }
    let list = part === "case" ? got.case : got.items;
    if (got.slow) list = [["bad", say("too_slow", { seconds: got.slow }), "visible"]];
    else if (got.died !== undefined) list = [["bad", say("run_died", { reason: got.died }), "visible"]];
    else if (!list) list = got.items; // what the exercise lacks stops the case too
    const found = { ...looked, items: list, printed: got.printed || [], version: got.version || "" };
    draft.checked[part] = found;
    tell(part, found);
    if (part === "case" && got.case) {
      // the exercise was tried as well
      draft.checked.exercise = { ...found, items: got.items };
      tell("exercise", draft.checked.exercise);
    }
    save();
    keepPages();
  }

  // ---- hints, one by one
  const hintBox = () => {
    const list = el("div", { class: "do-hints", "aria-live": "polite" });
    const bar = el("div", { class: "do-bar" });
    const unpack = async (packed) => {
      const raw = Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
      return new Response(new Blob([raw]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
    };
    const name = (n) => words[`hint_${n}`];
    const show = async (n) => {
      const hint = lesson.hints[n - 1];
      list.append(
        el(
          "div",
          { class: "do-hint" },
          el("strong", {}, say("hint_title", { level: n, name: name(n) })),
          el("p", {}, rich(n === 4 ? await unpack(hint) : hint)),
        ),
      );
    };
    const more = () => {
      const n = draft.hints + 1;
      bar.replaceChildren();
      if (n > lesson.hints.length) return;
      const open = async () => {
        draft.hints = n;
        save();
        await show(n);
        more();
      };
      bar.append(
        button(
          say("hint_button", { level: n, name: name(n) }),
          n < lesson.hints.length
            ? open
            : () => {
                const yes = button(words.hint_yes, open),
                  no = button(words.hint_no, more);
                bar.replaceChildren(el("span", {}, words.hint_ask), yes, no);
                no.focus();
              },
        ),
      );
    };
    (async () => {
      for (let n = 1; n <= draft.hints; n++) await show(n);
      more();
    })();
    return el("section", { class: "do do-hintbox", "aria-label": words.hints }, list, bar);
  };

  // ---- answers
  const count = (t) => {
    const norm = t.normalize("NFKC");
    return (
      (norm.match(/[\u3400-\u9fff\uf900-\ufaff]/g) || []).length +
      (norm.match(/[A-Za-z0-9_]+(?:[.'-][A-Za-z0-9_]+)*/g) || []).length
    );
  };
  const answerItem = (slot) => {
    const n = count(answer(slot)),
      name = words[`slot_${slot}`];
    const points = lesson.points[slot];
    if (!n)
      return [
        "todo",
        say("answer_empty", {
          slot: name,
          points: lang === "zh" ? points : `${points} point${points === 1 ? "" : "s"}`,
        }),
      ];
    return n < lesson.few_words
      ? ["todo", say("answer_short", { slot: name, count: n })]
      : ["ok", say("answer_written", { slot: name, count: n })];
  };
  const slotOf = (slot) => document.querySelector(`.answer-slot[id="${slot}"]`); // a heading Q1 may have the same id
  const answerBox = (slot) => {
    const host = slotOf(slot);
    if (!host) return;
    const area = el("textarea", {
      class: "do-answer",
      rows: 5,
      "aria-label": say("label_answer", { slot: words[`slot_${slot}`] }),
      placeholder: words.placeholder,
    });
    const counted = el("p", { class: "do-keys" });
    const fit = () => {
      area.style.height = "auto";
      area.style.height = `${Math.max(area.scrollHeight + 4, 120)}px`;
    };
    const refresh = () => {
      area.value = answer(slot);
      counted.textContent = answerItem(slot)[1];
      fit();
    };
    area.addEventListener("input", () => {
      draft.answers[slot] = area.value;
      counted.textContent = answerItem(slot)[1];
      fit();
      soon();
    });
    host.replaceChildren(area, counted);
    host.classList.add("do-slot");
    boxes[slot] = { refresh };
    refresh();
  };

  // ---- handing in
  const keeping = el("p", { class: "do-keys" });
  const standing = el("div", {});
  const said = el("div", { class: "do-said", role: "status", "aria-live": "polite" });
  const summary = () => {
    const colon = lang === "zh" ? "：" : ": ";
    const cells = [
      ["exercise", "label_exercise", "ok"],
      ["case", "label_case", "note"],
    ].map(([part, label, ready]) => {
      const at = level(part);
      return [
        at === "ready" ? ready : "todo",
        words[label] + colon + words[at === "ready" ? `ready_${part}` : `progress_${at}`],
      ];
    });
    standing.replaceChildren(
      items([...cells, ...lesson.slots.map(answerItem)]),
      el(
        "p",
        { class: "do-keys" },
        say("foot_unseen", {
          total: Object.values(lesson.points).reduce((a, b) => a + b),
          pass_mark: lesson.pass_mark,
        }),
      ),
    );
  };
  const released = () =>
    new Promise((done, failed) => {
      if (window.courseNotebook) {
        done(window.courseNotebook);
        return;
      }
      const tag = el("script", { src: new URL("do-notebook.js", location.href) });
      tag.onload = () => (window.courseNotebook ? done(window.courseNotebook) : failed());
      tag.onerror = () => {
        tag.remove();
        failed();
      };
      document.head.append(tag);
    });
  const reportText = (part, title) => {
    const r = report(part);
    return r && r.version ? plain(words[title], r.items, [say("where", { version: r.version })]) : null;
  };
  const download = async () => {
    save();
    let notebook;
    try {
      notebook = await released();
    } catch {
      said.replaceChildren(el("p", { class: "do-warn" }, words.no_notebook_data));
      return;
    }
    const made = window.courseFile.write(notebook, {
      exercise: text("exercise"),
      case: text("case"),
      answers: Object.fromEntries(lesson.slots.map((s) => [s, answer(s)])),
      reports: { normal: reportText("exercise", "title_normal"), boundary: reportText("case", "title_boundary") },
    });
    const url = URL.createObjectURL(
      new Blob([JSON.stringify(made, null, 1) + "\n"], { type: "application/x-ipynb+json" }),
    );
    const link = el("a", { href: url, download: FILE, hidden: true });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(url), 60000);
    said.replaceChildren(el("p", {}, say("downloaded", { file: FILE })));
  };
  const refreshAll = () => {
    for (const box of Object.values(boxes)) box.refresh();
    for (const p of ["exercise", "case"]) if (boxes[p]) boxes[p].said.replaceChildren();
    save();
  };
  const withUndo = (message, old) =>
    said.replaceChildren(
      el(
        "p",
        {},
        message,
        " ",
        button(
          words.undo,
          () => {
            draft = old;
            refreshAll();
            said.replaceChildren();
          },
          "do-small",
        ),
      ),
    );
  const upload = async (file) => {
    const told = (key, values = {}) =>
      said.replaceChildren(el("p", { class: "do-warn" }, say(key, { file: file.name, ...values })));
    let found;
    try {
      found = window.courseFile.read(JSON.parse((await file.text()).replace(/^\uFEFF/, "")));
    } catch {
      found = null;
    }
    if (!found) {
      told("read_no_notebook");
      return;
    }
    if (found.lesson && found.lesson !== slug) {
      told("read_other_lesson", { lesson: found.lesson });
      return;
    }
    const cells = Object.fromEntries(
      ["exercise", "case"].filter((p) => found[p] !== undefined).map((p) => [p, found[p].replace(/\r\n/g, "\n")]),
    );
    const answers = Object.fromEntries(
      Object.entries(found.answers).map(([s, t]) => [
        s,
        t.trim() === lesson.placeholder || /^\*[（(].*[）)]\*$/.test(t.trim()) ? "" : t,
      ]),
    );
    if (!Object.keys(cells).length && !Object.keys(answers).length) {
      told("read_nothing");
      return;
    }
    if (found.lang === other) {
      const theirs = { ...empty(), ...progress.draft(slug, other) };
      progress.saveDraft(slug, other, {
        ...theirs,
        cells: { ...theirs.cells, ...cells },
        answers: { ...theirs.answers, ...answers },
      });
      const [before, after] = say("read_other_lang", { file: file.name }).split("{link}");
      said.replaceChildren(
        el("p", {}, before, el("a", { href: new URL(`${other}/${slug}/index.html`, site) }, words.other_page), after),
      );
      return;
    }
    const old = structuredClone(draft);
    draft.cells = { ...draft.cells, ...cells };
    draft.answers = { ...draft.answers, ...answers };
    refreshAll();
    withUndo(say("read_in", { file: file.name }), old);
  };
  const handIn = () => {
    const file = el("input", {
      type: "file",
      accept: ".ipynb,application/json",
      class: "visually-hidden",
      id: "do-file",
      onchange: () => {
        if (file.files[0]) upload(file.files[0]);
        file.value = "";
      },
    });
    const forget = button(words.forget, () => {
      if (!begun()) return;
      const old = draft;
      draft = { ...empty(), hints: old.hints };
      refreshAll();
      withUndo(words.forgot, old);
    });
    return el(
      "section",
      { class: "do do-handin", "aria-labelledby": "do-hand-in" },
      el("h3", { id: "do-hand-in", class: "anchored" }, words.hand_in),
      el("p", {}, words.hand_in_text),
      standing,
      el(
        "div",
        { class: "do-bar" },
        button(words.download, download, "do-main"),
        el("label", { class: "do-button", for: "do-file" }, file, words.upload),
        forget,
      ),
      said,
      keeping,
    );
  };

  // ---- without a connection: the pages seen and what Python needs are kept by a worker of the site
  const keepPages = async () => {
    if (!("serviceWorker" in navigator) || location.protocol === "file:" || !window.isSecureContext) return;
    try {
      await navigator.serviceWorker.register(new URL("sw.js", up), { scope: up.pathname });
      const { active } = await navigator.serviceWorker.ready;
      const runtime = [
        "site_assets/do/program.js",
        "site_assets/do/worker.js",
        "site_vendor/micropython/micropython.mjs",
        "site_vendor/micropython/micropython.wasm",
      ].map((f) => new URL(f, up).href);
      const seen = performance
        .getEntriesByType("resource")
        .map((r) => r.name)
        .filter((n) => n.startsWith(up.href));
      navigator.serviceWorker.addEventListener(
        "message",
        () => {
          document.documentElement.dataset.kept = "yes";
        },
        { once: true },
      );
      active.postMessage({
        keep: [
          ...new Set([location.href.split("#")[0], new URL("do-notebook.js", location.href).href, ...seen, ...runtime]),
        ],
      });
    } catch (e) {
      console.info("Pages are not kept for use without a connection:", e.message);
    }
  };

  const exercise = cellBox("exercise", "exercise", "label_exercise", "check");
  cellBox("case", "boundary", "label_case", "check_case");
  if (exercise) exercise.after(hintBox());
  lesson.slots.forEach(answerBox);
  (slotOf(lesson.slots.at(-1)) || document.querySelector("main")).after(handIn());
  keeping.textContent = words[progress.kept ? "kept" : "not_kept"];
  keeping.classList.toggle("do-warn", !progress.kept);
  summary();
})();
