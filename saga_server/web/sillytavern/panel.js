// SAGA's panel beside a chat: what the narrator believes, what the last turn changed, corrections, why, and warnings.
// It speaks to SAGA's own API. A frontend gives it a host: its settings, where the chat is, and what makes requests.
// `saga risuai` joins this file with others to one.
import { wordsIn } from "./words.js";

export const t = (name, values = {}) => wordsIn(host.language())[name].replace(/\{(\w+)\}/g, (_, key) => values[key]);

let host;

class Refused extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

export async function ask(method, path, { query = {}, body, tag } = {}) {
  const url = new URL(path, `${host.address()}/`);
  for (const [name, value] of Object.entries(query)) if (value) url.searchParams.set(name, value);
  const given = { Accept: "application/json" };
  if (host.settings().key) given.Authorization = `Bearer ${host.settings().key}`;
  if (body) given["Content-Type"] = "application/json";
  if (tag) given["If-Match"] = tag;
  let response;
  try {
    response = await host.send(url.href, { method, headers: given, body: body && JSON.stringify(body) });
  } catch {
    throw new Refused(t("unreachable", { address: host.address(), origin: host.origin }), 0);
  }
  const found = await response.json();
  if (!response.ok) throw new Refused(found.error?.message ?? response.statusText, response.status);
  return { ...found, tag: response.headers.get("ETag") };
}

export const part = encodeURIComponent;
/** A name as a header, a mark and a path can hold it. */
export const short = (value) => [...String(value ?? "")].map((each) => (each < " " || "[]{}/\\".includes(each) ? " " : each)).slice(0, 190).join("").trim();

export function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value);
  }
  made.append(...children.filter((each) => each !== null && each !== undefined && each !== false));
  return made;
}

/** Whether a line is a value of what the story counts: its kind is `tracker:` and the name. */
const counted = (line) => line.kind.startsWith("tracker:");

/** A line in words. */
function said(line) {
  const who = line.subject ?? "";
  switch (line.kind) {
    case "hp": return `${who}: ${t("hp")} ${line.number}${line.top === null ? "" : ` / ${line.top}`}`;
    case "item": return `${who}: ${line.text} × ${line.number}`;
    case "mood": return `${who}: ${line.text || t("unknown")}`;
    case "place": return `${t("place")}: ${line.text || t("unknown")}`;
    case "elsewhere": return `${who}: ${line.text || t("unknown")}`;
    case "relation": return `${who} → ${line.other}: ${line.text} (${line.number})`;
    case "status":
    case "condition": return `${who}: ${line.text}`;
    default: return line.text;
  }
}

/** The correction that takes a change back; null where there is none. */
function takingBack({ was, is }) {
  const line = is ?? was;
  const who = line.subject_id;
  switch (line.kind) {
    case "hp": return was && { kind: "hp", who, hp: was.number };
    case "mood": return was?.text ? { kind: "mood", who, mood: was.text } : null;
    case "place": return was?.text ? { kind: "move", who, place: was.text } : null;
    case "item": {
      const more = (was?.number ?? 0) - (is?.number ?? 0);
      return { kind: more > 0 ? "give" : "take", who, item: line.other_id ?? line.text, quantity: Math.abs(more) };
    }
    case "present": return { kind: is ? "parted" : "met", who };
    case "relation": return was ? { kind: "relation", from: who, to: line.other_id, type: was.text, strength: was.number } : { kind: "unrelate", from: who, to: line.other_id, type: is.text };
    case "condition":
    case "status": return is && !was ? { kind: "status", who, status: "alive" } : { kind: "status", who, status: was.text };
    case "note": return is ? { kind: "unnote", remark: is.text } : { kind: "note", text: was.text };
    case "event": return is && !was ? { kind: "close", event: who } : null;
    default: return null;
  }
}

/** The correction that takes a line away; null where there is none. */
function leaving(line) {
  const who = line.subject_id;
  switch (line.kind) {
    case "present": return { kind: "parted", who };
    case "item": return { kind: "take", who, item: line.other_id ?? line.text, quantity: line.number };
    case "condition":
    case "status": return { kind: "status", who, status: "alive" };
    case "note": return { kind: "unnote", remark: line.text };
    case "event": return { kind: "close", event: who };
    default: return null;
  }
}

const FORMS = {
  note: ["text"], move: ["place"], met: ["who"], parted: ["who"], give: ["item", "quantity"], take: ["item", "quantity"],
  mood: ["who", "mood"], hp: ["who", "hp"], dead: ["who"], merge: ["one", "into"], rename: ["who", "name"],
};
const PEOPLE = new Set(["who", "one", "into"]);
const NUMBERS = new Set(["quantity", "hp"]);

let entities = [];
let named = new Map(); // names by id, also of those that were joined to others
let drawing = 0;
/** The place that is drawn. A form that somebody is filling in stays while the story goes on. */
let here = null;

function box(name) {
  return document.querySelector(`#saga_panel [data-saga=${name}]`);
}

function fail(error) {
  box("error").textContent = (error?.message ?? "").replace(/^[\w, ]+: |; GET \S+ lists them$/g, ""); // fields and addresses are for programs
}

async function correct(at, wanted) {
  const body = Object.fromEntries(Object.entries(wanted).map(([name, value]) => [name, String(value)]));
  try {
    const { tag } = await ask("GET", `api/sessions/${part(at.session)}/changes`);
    // A correction of the newest reply also holds for others in its place; SAGA finds out where it belongs. What is
    // added holds from before that reply.
    const { head } = await ask("GET", `api/sessions/${part(at.session)}`);
    const { turn } = at;
    await ask("POST", `api/sessions/${part(at.session)}/changes`, { query: { kept: 1 }, body: turn && turn !== head ? { ...body, turn } : body, tag });
    await draw();
  } catch (error) {
    fail(error);
  }
}

async function undo(at, change) {
  try {
    const { tag } = await ask("GET", `api/sessions/${part(at.session)}/changes`);
    await ask("DELETE", `api/sessions/${part(at.session)}/changes/${part(change)}`, { tag });
    await draw();
  } catch (error) {
    fail(error);
  }
}

function row(text, attributes, ...buttons) {
  return el("div", { class: "saga-row", ...attributes }, el("span", {}, text), el("span", {}, ...buttons));
}

function button(word, what, about) {
  return el("button", { type: "button", class: "menu_button interactable", "data-saga-action": word, "aria-label": `${t(word)}: ${about}`, onclick: what }, t(word));
}

const GROUPS = [["place", "hp", "mood", "condition"], ["item"], ["present", "elsewhere"], ["status"], ["relation"], ["event"], ["happening", "note"]];

function now(at, lines) {
  const rows = [...GROUPS.flatMap((kinds) => lines.filter((each) => kinds.includes(each.kind))), ...lines.filter(counted)]
    .filter((each) => each.kind !== "mood" || each.text).map((line) => {
      const off = leaving(line);
      const about = line.kind === "present" ? `${t("here")}: ${line.text}` : said(line);
      return row(about, { "data-saga-line": line.kind },
        line.change && button("undo", () => undo(at, line.change), about),
        off && !line.change && button("gone", () => correct(at, off), about));
    });
  return rows.length ? rows : [el("p", { class: "saga-none" }, t("nothing"))];
}

/** What a correction says: what it names and states, without the ids behind it. */
function inWords(events) {
  const values = events.flatMap((each) => Object.entries(each).filter(([name]) => name !== "t").map(([, value]) => value));
  const said = values.filter((each) => ["string", "number"].includes(typeof each)).map((each) => named.get(each) ?? String(each));
  return [...new Set(said)].join(" · ");
}

function changed(at, turn, changes) {
  const rows = turn.effect.map((each) => {
    const about = [each.was && said(each.was), each.is ? said(each.is) : t("noMore")].filter(Boolean).join(" → ");
    const back = takingBack(each);
    return row(about, { "data-saga-changed": (each.is ?? each.was).kind }, back && button("undo", () => correct(at, back), about));
  });
  const made = changes.filter((each) => each.by === "edit" && !each.undone && !each.waiting).slice(-8).reverse().map((each) => {
    const about = inWords(each.events);
    return row(about, { "data-saga-change": each.id }, button("undo", () => undo(at, each.id), about));
  });
  return [
    ...(rows.length ? rows : [el("p", { class: "saga-none" }, t("nothing"))]),
    ...(made.length ? [el("h4", {}, t("corrections")), ...made] : []),
  ];
}

function correcting() {
  const fields = el("span", { style: "display: contents" });
  const kind = el("select", { class: "text_pole", name: "kind", "aria-label": t("correct"), onchange: () => fill() },
    ...Object.keys(FORMS).map((each) => el("option", { value: each }, t(`k_${each}`))));
  const fill = () => fields.replaceChildren(...FORMS[kind.value].map((name) => (PEOPLE.has(name)
    ? el("select", { class: "text_pole", name, required: "", "aria-label": t(`f_${name}`) }, el("option", { value: "" }, t(`f_${name}`)), ...entities.filter((each) => each.kind === "character").map((each) => el("option", { value: each.id }, each.name)),
    )
    : el("input", { class: "text_pole", name, required: "", placeholder: t(`f_${name}`), "aria-label": t(`f_${name}`), type: NUMBERS.has(name) ? "number" : "text", min: NUMBERS.has(name) ? 0 : null, value: name === "quantity" ? 1 : null, autocomplete: "off" }))));
  fill();
  // RisuAI's frame may not submit forms. The button also hears the Enter key.
  const save = (event) => {
    event.preventDefault();
    if (!form.reportValidity()) return;
    const entered = Object.fromEntries(new FormData(form));
    form.removeAttribute("data-touched");
    correct(here, entered.kind === "dead" ? { ...entered, kind: "status", status: "dead" } : entered);
  };
  const form = el("form", { "data-saga": "correct", oninput: () => form.setAttribute("data-touched", "") }, kind, fields, el("button", { class: "menu_button interactable", onclick: save }, t("save")));
  return form;
}

function why(found) {
  return [...found.pieces.map((each) => el("pre", { "data-saga-piece": each.source }, each.text)),
    ...(found.pieces.length ? [] : [el("p", { class: "saga-none" }, t("nothing"))])];
}

/** Draw the panel anew. Of several that run at once only the last is shown. */
export async function draw(options) {
  const own = ++drawing;
  if (!host.settings().on || !box("body")) return;
  try {
    const at = await host.place(options);
    if (own !== drawing) return;
    box("body").hidden = at === null;
    box("none").hidden = at !== null;
    if (here?.session !== at?.session) box("form").replaceChildren();
    here = at;
    if (at === null) return fail(null);
    const base = `api/sessions/${part(at.session)}`;
    const [lines, known, changes, session] = await Promise.all([
      ask("GET", `${base}/lines`, { query: { turn: at.turn } }), ask("GET", `${base}/entities`), ask("GET", `${base}/changes`), ask("GET", base),
    ]);
    const head = at.turn ?? session.head;
    const [turn, told] = await Promise.all([ask("GET", `${base}/turns/${part(head)}`), lines.turn ? ask("GET", `${base}/context`, { query: { turn: head } }) : { pieces: [] }]);
    if (own !== drawing) return;
    entities = known.entities;
    named = new Map([...Object.entries(known.former), ...entities.map((each) => [each.id, each.name])]);
    box("turn").textContent = t("turn", { n: lines.turn });
    box("now").replaceChildren(...now(at, lines.lines));
    box("changed").replaceChildren(...changed(at, turn, changes.changes));
    if (!box("form").querySelector("[data-touched]")) box("form").replaceChildren(correcting());
    box("why").replaceChildren(...why(told));
    const warnings = [...at.notices, ...turn.problems];
    box("warnings").replaceChildren(...(warnings.length ? warnings.map((each) => el("p", { class: "saga-bad" }, each)) : [el("p", { class: "saga-none" }, t("nothing"))]));
    box("pages").href = `${host.address()}/ui/#/now?session=${part(at.session)}`;
    box("panel-turn").dataset.turn = lines.turn_id;
    fail(null);
  } catch (error) {
    if (own === drawing) fail(error);
  }
}

/** The panel below its head, for the place that a frontend has for it. */
export function body(own) {
  host = own;
  const entry = (name, type, label) => el("label", {}, label, el("input", {
    class: type === "checkbox" ? "" : "text_pole", type, name: `saga_${name}`, placeholder: name === "address" ? host.address() : null, autocomplete: "off",
    checked: type === "checkbox" && host.settings()[name] ? "" : null, value: type === "checkbox" ? null : host.settings()[name],
    onchange: async (event) => {
      await host.set(name, type === "checkbox" ? event.target.checked : event.target.value.trim());
      box("all").hidden = !host.settings().on;
      await draw();
    },
  }));
  const details = (name, open) => el("details", { open: open ? "" : null }, el("summary", {}, el("b", {}, t(name))), el("div", { "data-saga": name }));
  return el("div", {},
    entry("on", "checkbox", t("on")),
    el("p", { class: "saga-bad", role: "status", "data-saga": "error" }),
    el("div", { "data-saga": "all", hidden: host.settings().on ? null : "" },
      el("p", { class: "saga-none", "data-saga": "none" }, t("none")),
      el("div", { "data-saga": "body", hidden: "" },
        el("p", { class: "saga-hint", "data-saga": "panel-turn" }, el("span", { "data-saga": "turn" }), " · ", el("a", { "data-saga": "pages", target: "_blank", rel: "noopener" }, t("pages"))),
        details("now", true), details("changed", true),
        el("details", { open: "" }, el("summary", {}, el("b", {}, t("correct"))), el("div", { "data-saga": "form" })),
        details("why"), details("warnings")),
      el("details", {}, el("summary", {}, el("b", {}, t("settings"))), entry("address", "url", t("address")), entry("key", "password", t("key")))));
}
