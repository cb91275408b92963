"use strict";
// The page of `course review`. What students wrote is only ever text (textContent). One request at a time, in the order of the keys.

const token = new URLSearchParams(location.search).get("token");
const $ = (id) => document.getElementById(id);
let state, lang, w;
let at = { group: 0, item: 0 };
let armed = ""; // "l" or "m": the next number ticks a link or a misconception
let showNames = false;
let detailsOpen = matchMedia("(min-width: 60.01rem)").matches;
const ticks = new Map(); // item -> what a person ticked: {links, misconceptions, false}
const given = new Map(); // group -> the item decided last in it
const seen = new Map(); // item -> {top, bottom}: which ends of its text were on the screen
const paces = []; // seconds an answer, of the last decisions
let last = performance.now();
let queue = Promise.resolve();

function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "onclick") node.addEventListener("click", value);
    else if (name.startsWith("aria-")) node.setAttribute(name, String(value));
    else if (value !== null && value !== false && value !== undefined) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((c) => c !== null && c !== undefined && c !== ""));
  return node;
}

const say = (text, values = {}) => text.replace(/\{(\w+)\}/g, (_, name) => String(values[name]));
const letter = (n) => String.fromCharCode(65 + n); // a group has 24 at most
const percent = (p) => Math.round(100 * p);

async function ask(path, body) {
  const headers = { "X-Review-Token": token };
  let answer;
  try {
    answer = await fetch(path, body === undefined ? { headers } : { method: "POST", headers: { ...headers, "Content-Type": "application/json" }, body: JSON.stringify(body) });
  } catch {
    throw new Error((w || WORDS.en).m_server);
  }
  const data = await answer.json();
  if (!answer.ok) throw new Error(data.error);
  return data;
}

// -- what is where ---------------------------------------------------------------------------------------------------------------

const group = () => state.groups[at.group];
const current = () => group().items[at.item];
const item = (id) => state.items[id];
const slotOf = (id) => state.slots[state.groupOf[id].slot];
const isOpen = (id) => item(id).decision === null;
const wasSeen = (id) => Boolean(seen.get(id)?.top && seen.get(id)?.bottom);

function ticked(id) {
  const mine = ticks.get(id) || {}, it = item(id), base = it.decision || it;
  return { links: mine.links || base.links, misconceptions: mine.misconceptions || base.misconceptions, false: mine.false ?? base.false };
}

function pointsOf(id) {
  const slot = slotOf(id), links = ticked(id).links;
  if (links.length >= slot.full && slot.required.every((x) => links.includes(x))) return slot.points;
  return links.length >= slot.some ? Math.floor(slot.points / 2) : 0;
}

// -- drawing -----------------------------------------------------------------------------------------------------------------------

function draw(focus = true) {
  document.documentElement.lang = lang === "zh" ? "zh-CN" : "en";
  w = WORDS[lang];
  document.title = `${w.title} · ${state.title[lang]}`;
  $("title").textContent = `${w.title} · ${state.title[lang]}`;
  $("language").textContent = w.language;
  $("names").textContent = w.names;
  $("names").setAttribute("aria-pressed", showNames);
  $("help").setAttribute("aria-label", w.help);
  drawNotes();
  drawProgress();
  if (!state.groups.length) {
    $("main").replaceChildren(make("p", { class: "empty card" }, w.m_empty));
    $("give").replaceChildren();
    return;
  }
  drawAsk();
  drawGroup();
  drawGive();
  if (focus) goTo();
  look();
}

function drawNotes() {
  const all = [...state.notes, state.kept_back].filter(Boolean);
  $("notes").replaceChildren(...all.map((n) => make("p", {}, n)));
}

function drawProgress() {
  const ids = Object.keys(state.items), done = ids.filter((i) => !isOpen(i)).length;
  $("bar").max = Math.max(1, ids.length);
  $("bar").value = done;
  $("bar").setAttribute("aria-label", say(w.progress, { done, all: ids.length }));
  $("done").textContent = say(w.progress, { done, all: ids.length });
  const sorted = [...paces].sort((a, b) => a - b), pace = sorted.length ? sorted[sorted.length >> 1] : 8;
  const minutes = Math.round(((ids.length - done) * pace) / 60);
  $("left").textContent = done === ids.length ? w.alldone : minutes < 1 ? w.almost : say(w.left, { minutes });
}

function chain(text) {
  return text.split(" -> ").join(" → ");
}

function tick(id, kind, n, entry, on, mark) {
  const doubted = state.items[id].doubts.some((d) => d.id === entry.id);
  const tags = kind === "link" && entry.kind !== "mechanism" ? [make("span", { class: "tag" }, w.kind[entry.kind]), " "] : entry.veto ? [make("span", { class: "tag no" }, w.veto), " "] : [];
  return make(
    "button",
    { class: `tick ${kind === "link" ? "" : "wrong"} ${doubted ? "unsure" : ""}`, type: "button", role: "checkbox", "aria-checked": on, "data-id": entry.id, onclick: () => act(() => toggle(kind, entry.id)) },
    make("span", { class: "n", "aria-hidden": "true" }, n),
    make("span", { class: "box", "aria-hidden": "true" }, on ? (kind === "link" ? "✓" : "✗") : "–"),
    make("span", {}, ...tags, chain(entry[lang])),
    make("span", { class: "how num" }, mark ? `${percent(mark.present)}%` : ""),
  );
}

function drawAsk() {
  const id = current(), slot = slotOf(id), it = item(id), mine = ticked(id);
  const links = slot.links.map((x, n) => tick(id, "link", n + 1, x, mine.links.includes(x.id), it.marks[x.id]));
  const wrong = slot.misconceptions.map((x, n) => tick(id, "misconception", n + 1, x, mine.misconceptions.includes(x.id), it.marks[x.id]));
  const more = tick(id, "false", "f", { id: "wrong", zh: WORDS.zh.false, en: WORDS.en.false }, mine.false, it.marks.wrong);
  const details = make(
    "details",
    { open: detailsOpen },
    make("summary", { class: "small" }, say(w.ticks, { points: pointsOf(id), of: slot.points })),
    make("h3", { id: "h-links" }, w.links, " ", make("kbd", {}, "l")),
    make("div", { role: "group", "aria-labelledby": "h-links", class: armed === "l" ? "arming" : "" }, ...links),
    make("h3", { id: "h-wrong" }, w.wrong, " ", make("kbd", {}, "m")),
    make("div", { role: "group", "aria-labelledby": "h-wrong", class: armed === "m" ? "arming" : "" }, ...wrong),
    more,
    make("p", { class: "small soft" }, ...w.legend.flatMap(([kind, text]) => [make("mark", { class: kind }, text), " "])),
  );
  details.addEventListener("toggle", () => (detailsOpen = details.open));
  $("ask").replaceChildren(make("h3", {}, `${w.slot[group().slot]} · ${w.question}`), make("p", {}, slot.question[lang]), details);
}

function numbers(slot, ids) {
  const n = (list, x, lead) => (list.findIndex((e) => e.id === x) >= 0 ? [lead + (list.findIndex((e) => e.id === x) + 1)] : []);
  return ids.flatMap((x) => [...n(slot.links, x, ""), ...n(slot.misconceptions, x, "m"), ...(x === "wrong" ? ["f"] : [])]).join(",");
}

function doubtText(d) {
  if (d.kind === "wrong") return say(w.doubt_wrong, { p: percent(d.present) });
  if (d.kind === "misconception") return say(w.doubt_misconception, { p: percent(d.present) });
  return d.contradicted >= 0.15 ? say(w.doubt_denied, { p: percent(d.contradicted) }) : say(w.doubt_link, { p: percent(d.present) });
}

function drawCard(id, n) {
  const it = item(id), slot = slotOf(id), here = n === at.item, entries = [...slot.links, ...slot.misconceptions];
  const pieces = it.pieces.map((p) => (p.kind ? make("mark", { class: p.kind }, p.text, make("sup", { "aria-hidden": "true" }, numbers(slot, p.ids))) : p.text));
  const doubts = it.doubts.map((d) => {
    const entry = entries.find((e) => e.id === d.id);
    return make("li", {}, doubtText(d), entry ? ` ${numbers(slot, [d.id])}: ${chain(entry[lang])}` : "", ...(d.quote ? [" ", make("q", {}, d.quote)] : []));
  });
  const why = it.doubts.length ? [] : it.why[lang].map((text) => make("li", {}, text));
  const old = it.old && isOpen(id) ? make("span", { class: "tag warn" }, say(it.old.why === "rubric" ? w.old_rubric : w.old_handed, it.old)) : "";
  return make(
    "article",
    { class: `card ${isOpen(id) ? "" : "decided"}`, id: `card-${n}`, tabindex: "-1", "aria-current": here, "aria-label": `${letter(n)}, ${n + 1} / ${group().items.length}`, onclick: () => here || act(() => move(n, false)) },
    make(
      "div",
      { class: "row small" },
      make("strong", {}, letter(n)),
      make("span", { class: "soft" }, showNames ? it.students.join(", ") : it.students.length > 1 ? say(w.students, { n: it.students.length }) : w.one),
      isOpen(id) ? make("span", { class: "tag" }, say(w.suggested, { points: it.suggested })) : make("span", { class: "tag ok" }, say(w.given, it.decision)),
      old,
      it.shared ? "" : make("span", { class: "tag warn" }, w.alone),
    ),
    make("p", { class: "answer" }, ...pieces),
    here && (doubts.length || why.length) ? make("div", {}, make("ul", { class: "doubts", "aria-label": doubts.length ? w.doubt : w.stored }, ...doubts, ...why)) : "",
  );
}

function drawGroup() {
  const g = group(), slot = state.slots[g.slot];
  const says = slot.links.filter((x) => g.links.includes(x.id)).map((x) => make("li", {}, `${numbers(slot, [x.id])}: ${chain(x[lang])}`));
  const wrong = slot.misconceptions.filter((x) => g.misconceptions.includes(x.id)).map((x) => make("li", {}, make("span", { class: "tag no" }, w.wrong), ` ${x[lang]}`));
  const head = make(
    "div",
    { class: "head" },
    make("div", { class: "row" }, make("h2", {}, `${w.slot[g.slot]} · ${say(w.group, { n: at.group + 1, of: state.groups.length })}`), make("span", { class: "tag" }, g.items.length === 1 ? w.answer1 : say(w.answers, { n: g.items.length })), make("span", { class: "tag num", id: "seen" }), g.false ? make("span", { class: "tag no" }, w.false_group) : ""),
    make("p", { class: "soft small" }, g.mixed ? w.mixed : says.length ? `${w.says}:` : w.nothing),
    says.length || wrong.length ? make("ul", { class: "says" }, ...says, ...wrong) : "",
  );
  $("group").replaceChildren(head, ...g.items.map(drawCard));
}

function drawGive() {
  const id = current(), slot = slotOf(id), source = given.get(group().id), rest = group().items.filter(isOpen);
  const button = (key, text, what, more = {}) => make("button", { type: "button", onclick: () => act(what), ...more }, text, " ", make("kbd", { "aria-hidden": "true" }, key));
  const points = Array.from({ length: slot.points + 1 }, (_, n) => button(String(n), say(w.points, { n }), () => decide(n), { class: `point ${pointsOf(id) === n ? "suggested" : ""}`, "data-points": n }));
  const whole = source && rest.length ? say(w.give, { points: item(source).decision.points }) : w.give_none;
  $("give").setAttribute("aria-label", w.points.replace("{n}", ""));
  $("give").replaceChildren(
    ...points,
    button("a", whole, giveGroup, { class: "group", disabled: !source || !rest.length, id: "give-group" }),
    button("u", w.undo, undo, { id: "undo" }),
    make("span", { class: "spring wide" }),
    button("k", w.previous, () => move(at.item - 1), { class: "wide" }),
    button("j", w.next, () => move(at.item + 1), { class: "wide" }),
    button("←", w.previous_group, () => toGroup(at.group - 1)),
    button("→", w.next_group, () => toGroup(at.group + 1)),
  );
}

function tell(text, bad = false) {
  $("said").textContent = text;
  $("said").className = bad ? "bad" : "";
}

// -- looking and moving ------------------------------------------------------------------------------------------------------------

/** Notes which answers of the group are, or were, on the screen from their first line to their last. */
function look() {
  if (document.visibilityState !== "visible" || !state.groups.length) return;
  const top = $("top").getBoundingClientRect().bottom - 1, bottom = $("foot").getBoundingClientRect().top + 1;
  group().items.forEach((id, n) => {
    const box = $(`card-${n}`)?.getBoundingClientRect();
    if (!box) return;
    const inside = (y) => y >= top && y <= bottom, mine = seen.get(id) || { top: false, bottom: false };
    seen.set(id, { top: mine.top || inside(box.top), bottom: mine.bottom || inside(box.bottom) });
  });
  $("seen").textContent = say(w.seen, { seen: group().items.filter(wasSeen).length, of: group().items.length });
}

function goTo() {
  const card = $(`card-${at.item}`);
  card.focus({ preventScroll: true });
  if (at.item === 0) scrollTo(0, 0);
  card.scrollIntoView({ block: "nearest" });
}

function move(n, focus = true) {
  if (n < 0) return toGroup(at.group - 1, true);
  if (n >= group().items.length) return toGroup(at.group + 1);
  at.item = n;
  draw(focus);
}

function toGroup(n, atEnd = false) {
  if (n < 0 || n >= state.groups.length) return;
  at.group = n;
  const first = group().items.findIndex(isOpen);
  at.item = atEnd ? group().items.length - 1 : Math.max(0, first);
  scrollTo(0, 0);
  draw();
}

/** The next answer that waits: in this group after the current one, before it, then in the groups that follow, then in those before. */
function onward() {
  const items = group().items;
  const order = [...items.slice(at.item + 1), ...items.slice(0, at.item)];
  const next = order.find(isOpen);
  if (next !== undefined) return move(items.indexOf(next));
  const groups = [...state.groups.keys()];
  const found = [...groups.slice(at.group + 1), ...groups.slice(0, at.group)].find((n) => state.groups[n].items.some(isOpen));
  if (found !== undefined) return toGroup(found);
  draw();
  tell(w.m_finished);
}

function further(back) {
  const room = $("foot").getBoundingClientRect().top - $("top").getBoundingClientRect().bottom;
  const before = scrollY;
  scrollBy(0, (back ? -1 : 1) * Math.max(80, room - 60));
  look();
  if (scrollY === before && !back && group().items.every((i) => !isOpen(i))) onward();
}

// -- deciding ------------------------------------------------------------------------------------------------------------------------

function took(answer) {
  for (const [id, decision] of Object.entries(answer.decided)) {
    item(id).decision = decision;
    ticks.delete(id);
  }
  state.kept_back = answer.kept_back;
}

function pace(count) {
  const now = performance.now(), seconds = Math.min(60, (now - last) / 1000 / Math.max(1, count));
  last = now;
  paces.push(...Array(Math.min(30, count)).fill(seconds));
  paces.splice(0, Math.max(0, paces.length - 30));
}

async function decide(points) {
  const id = current(), slot = slotOf(id), mine = ticks.get(id) || {};
  if (points > slot.points) return tell(say(w.m_range, { of: slot.points }), true);
  took(await ask("/api/decide", { items: [id], points, links: mine.links || null, misconceptions: mine.misconceptions || null, false: mine.false ?? null, group: null }));
  if (mine.links || mine.misconceptions) given.set(`${group().id}/ticked`, mine);
  else given.delete(`${group().id}/ticked`);
  given.set(group().id, id);
  pace(1);
  tell(say(w.m_decided, { points }));
  onward();
}

async function giveGroup() {
  const g = group(), source = given.get(g.id), rest = g.items.filter(isOpen);
  if (!source || isOpen(source)) return tell(w.m_first, true);
  if (!rest.length) return onward();
  look();
  const unseen = rest.filter((id) => !wasSeen(id));
  if (unseen.length) {
    move(g.items.indexOf(unseen[0]));
    return tell(say(w.m_unseen, { n: unseen.length }), true);
  }
  const points = item(source).decision.points, mine = (!g.mixed && given.get(`${g.id}/ticked`)) || {}; // of different links, each keeps its own
  took(await ask("/api/decide", { items: rest, points, links: mine.links || null, misconceptions: mine.misconceptions || null, false: mine.false ?? null, group: g.id }));
  pace(rest.length);
  tell(say(w.m_group, { points, n: rest.length }));
  onward();
}

async function undo() {
  const answer = await ask("/api/undo", {});
  took(answer);
  const ids = Object.keys(answer.decided);
  for (const [key, id] of [...given]) if (typeof id === "string" && isOpen(id)) given.delete(key);
  if (!ids.length && !answer.undone) return tell(w.m_nothing, true);
  if (ids.length) {
    at.group = state.groups.findIndex((g) => g.items.includes(ids[0]));
    at.item = group().items.indexOf(group().items.find((i) => ids.includes(i)));
  }
  draw();
  tell(say(w.m_undone, { n: ids.length }));
}

function toggle(kind, name) {
  const id = current(), mine = ticked(id), own = { ...(ticks.get(id) || {}) };
  const flip = (list) => (list.includes(name) ? list.filter((x) => x !== name) : [...list, name]);
  if (kind === "link") own.links = flip(mine.links);
  else if (kind === "misconception") own.misconceptions = flip(mine.misconceptions);
  else own.false = !mine.false;
  ticks.set(id, own);
  armed = "";
  draw(false);
  tell(say(w.ticks, { points: pointsOf(id), of: slotOf(id).points }));
}

// -- keys ------------------------------------------------------------------------------------------------------------------------------

function arm(kind) {
  armed = armed === kind ? "" : kind;
  detailsOpen = true;
  draw(false);
  tell(armed ? w[`m_number_${armed}`] : "");
}

function number(n) {
  if (!armed) return decide(n);
  const kind = armed === "l" ? "link" : "misconception", list = armed === "l" ? slotOf(current()).links : slotOf(current()).misconceptions;
  if (n < 1 || n > list.length) return arm(armed);
  return toggle(kind, list[n - 1].id);
}

function help() {
  const rows = w.keys.map(([key, text]) => make("tr", {}, make("th", { scope: "row" }, key), make("td", {}, text)));
  $("keys").replaceChildren(make("h2", {}, w.help), make("table", {}, ...rows), make("button", { type: "button", autofocus: true, onclick: () => $("keys").close() }, w.close));
  $("keys").setAttribute("aria-label", w.help);
  $("keys").showModal();
}

function switchLanguage() {
  lang = lang === "zh" ? "en" : "zh";
  draw(false);
  tell("");
}

const KEYS = {
  j: () => move(at.item + 1), k: () => move(at.item - 1), ArrowDown: () => move(at.item + 1), ArrowUp: () => move(at.item - 1),
  ArrowRight: () => toGroup(at.group + 1), ArrowLeft: () => toGroup(at.group - 1), a: giveGroup, u: undo, l: () => arm("l"), m: () => arm("m"),
  f: () => toggle("false", "wrong"), z: switchLanguage, "?": help, Enter: () => decide(pointsOf(current())),
  n: () => { showNames = !showNames; draw(false); },
  Escape: () => { armed = ""; draw(false); tell(""); },
};

/** Runs what a key or a button asks for after all before it. */
function act(what) {
  queue = queue.then(what).catch((e) => tell(say(w.m_lost, { why: e.message }), true));
  return queue;
}

addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.altKey || e.metaKey || !state || $("keys").open) return;
  const onButton = e.target instanceof HTMLButtonElement || e.target.tagName === "SUMMARY";
  if (onButton && (e.key === "Enter" || e.key === " ")) return;
  const key = e.key.length === 1 ? e.key.toLowerCase() : e.key;
  if (e.shiftKey && state.groups.length && /^[a-z]$/.test(key)) {
    e.preventDefault();
    return act(() => key.charCodeAt(0) - 97 < group().items.length && move(key.charCodeAt(0) - 97));
  }
  const what = !state.groups.length ? { "?": help, z: switchLanguage }[key] : /^[0-9]$/.test(key) ? () => number(Number(key)) : key === " " ? () => further(e.shiftKey) : KEYS[key];
  if (!what) return;
  e.preventDefault();
  act(what);
});
addEventListener("scroll", () => state && look(), { passive: true });
addEventListener("resize", () => state && look());
$("help").addEventListener("click", () => act(help));
$("language").addEventListener("click", () => act(switchLanguage));
$("names").addEventListener("click", () => act(KEYS.n));

async function start() {
  state = await ask("/api/state");
  lang = state.lang;
  w = WORDS[lang];
  state.groupOf = {};
  for (const g of state.groups) for (const id of g.items) state.groupOf[id] = g;
  const first = state.groups.findIndex((g) => g.items.some(isOpen));
  if (first >= 0) at = { group: first, item: state.groups[first].items.findIndex(isOpen) };
  draw();
  if (state.groups.length && first < 0) tell(w.m_finished);
  last = performance.now();
}

start().catch((e) => tell(e.message, true));
