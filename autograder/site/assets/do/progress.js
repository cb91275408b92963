// What a reader has done, kept in this browser and nowhere else. The one place that knows how it is stored.
//
//   courseProgress.read(slug)          -> {exercise, boundary, answers, updated}
//       exercise, boundary: "none", "tried" or "ready"; answers: [explanation, q1, q2, q3], true where something is written;
//       updated: ISO time of the last change, null where there is none.
//   courseProgress.all()               -> {slug: the same} of every lesson that was begun
//   courseProgress.write(slug, patch)  merges into the state
//   courseProgress.draft(slug, lang), .saveDraft(slug, lang, draft): what was typed, by the page that lets one type
//   courseProgress.clear(slug)         forgets a lesson, drafts included
//   courseProgress.watch(f)            f(slug) after every change, of other tabs too; returns a function that ends it
//   courseProgress.kept                false where this browser keeps nothing (private windows, blocked storage)
(() => {
  "use strict";
  const PREFIX = "course:1:";
  const LEVELS = ["none", "tried", "ready"],
    SLOTS = 4;
  const memory = new Map(),
    watchers = new Set();
  let store = null;
  try {
    localStorage.setItem(PREFIX + "probe", "1");
    localStorage.removeItem(PREFIX + "probe");
    store = localStorage;
  } catch {
    /* blocked: what is done lasts as long as the page */
  }

  const get = (key) => {
    let text = null;
    try {
      text = store ? store.getItem(PREFIX + key) : null;
    } catch {
      /* blocked since */
    }
    text = text ?? memory.get(key) ?? null;
    try {
      return text === null ? null : JSON.parse(text);
    } catch {
      return null;
    } // written by something else
  };
  const set = (key, value) => {
    const text = JSON.stringify(value);
    memory.set(key, text);
    try {
      if (store) store.setItem(PREFIX + key, text);
      else return false;
    } catch {
      return false;
    } // full
    memory.delete(key);
    return true;
  };
  const drop = (key) => {
    memory.delete(key);
    try {
      if (store) store.removeItem(PREFIX + key);
    } catch {
      /* blocked */
    }
  };
  const keys = () => {
    const found = new Set(memory.keys());
    try {
      for (let i = 0; store && i < store.length; i++) {
        const key = store.key(i);
        if (key.startsWith(PREFIX)) found.add(key.slice(PREFIX.length));
      }
    } catch {
      /* blocked */
    }
    return found;
  };
  const tell = (slug) => watchers.forEach((f) => f(slug));
  const level = (x) => (LEVELS.includes(x) ? x : "none");

  const read = (slug) => {
    const s = get(`state:${slug}`) || {};
    const answers = Array.isArray(s.answers) ? s.answers : [];
    return {
      exercise: level(s.exercise),
      boundary: level(s.boundary),
      answers: Array.from({ length: SLOTS }, (_, i) => answers[i] === true),
      updated: typeof s.updated === "string" ? s.updated : null,
    };
  };
  window.courseProgress = {
    get kept() {
      return store !== null;
    },
    read,
    all: () =>
      Object.fromEntries([...keys()].filter((k) => k.startsWith("state:")).map((k) => [k.slice(6), read(k.slice(6))])),
    write(slug, patch) {
      const kept = set(`state:${slug}`, { ...read(slug), ...patch, updated: new Date().toISOString() });
      tell(slug);
      return kept;
    },
    draft: (slug, lang) => get(`draft:${slug}:${lang}`) || {},
    saveDraft: (slug, lang, draft) => set(`draft:${slug}:${lang}`, draft),
    clear(slug) {
      [...keys()].filter((k) => k === `state:${slug}` || k.startsWith(`draft:${slug}:`)).forEach(drop);
      tell(slug);
    },
    watch(f) {
      watchers.add(f);
      return () => watchers.delete(f);
    },
  };
  window.addEventListener("storage", (e) => {
    if (e.key === null) tell(null);
    else if (e.key.startsWith(`${PREFIX}state:`)) tell(e.key.slice(PREFIX.length + 6));
  });
})();
