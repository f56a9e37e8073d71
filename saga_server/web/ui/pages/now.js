// Now: what the narrator believes at the head, or at a turn. Each line is edited in place, says where it comes from, and
// is undone if a person or a curator said it.
import { html, useRef, useState } from "../lib/dom.js";
import { path, useRead } from "../lib/api.js";
import { useWords } from "../lib/i18n.js";
import { useLive } from "../lib/live.js";
import { to } from "../lib/router.js";
import { brief, Text } from "../lib/text.js";
import { Backfill } from "../parts/backfill.js";
import { Few, Part, Read, TurnLink } from "../parts/common.js";
import { By, Correct, Said, spoken, Undo, when } from "../parts/correcting.js";
import { Picture } from "../parts/portrait.js";
import { Sentence } from "../parts/sentence.js";
import { SessionName } from "../parts/session_name.js";
import words from "../words/now.js";

export function Page({ session, params }) {
  const t = useWords(words);
  const turn = params.turn ?? null;
  const lines = useRead(path`api/sessions/${session}/lines`, { turn });
  const state = useRead(path`api/sessions/${session}/state`, { turn });
  const [said, say] = useState(null);
  const offered = useRef(false); // It stays in sight when it has read the last turn.
  const reload = () => Promise.all([lines.reload(), state.reload()]);
  useLive(session, reload);
  const changed = (text, change) => {
    say({ text, change });
    reload();
  };
  return html`<${Read} from=${lines}>${lines.data && html`
    <${SessionName} session=${session} />
    ${state.data && html`<${Profile} session=${session} turn=${turn} profile=${state.data.profile} changed=${changed} />`}
    <p class="hint" data-item="head" data-turn=${lines.data.turn_id}>${t("head", { n: lines.data.turn })}</p>
    ${turn && html`<p class="notice warn">${t("past", { n: lines.data.turn })} <a href=${to("now", { turn: null })}>${t("toHead")}</a></p>`}
    ${(lines.data.unread > 0 || offered.current) && (offered.current = true) && html`<${Backfill} key=${`read ${turn}`} session=${session} turn=${turn} unread=${lines.data.unread} done=${reload} />`}
    <${Said} said=${said} say=${say} session=${session} reload=${reload} />
    <${Board} session=${session} turn=${turn} known=${lines.data} counts=${state.data?.trackers ?? []} observed=${state.data?.observed ?? []} problems=${state.data?.problems ?? []} habits=${state.data?.habits ?? []} modules=${state.data?.modules ?? []} profile=${state.data?.profile} living=${alive(state.data)} changed=${changed} />
  `}<//>`;
}

const KINDS = ["number", "money", "counter", "text", "choice", "flag", "list", "clock", "meter", "threads"];
const PROFILES = ["adventure", "romance", "mystery", "plain"];

/** What sort of story it is, which decides what is counted and told: chosen here. */
function Profile({ session, turn, profile, changed }) {
  const t = useWords(words);
  const [editing, open] = useState(false);
  const options = PROFILES.map((each) => ({ value: each, label: t(`profile_${each}`) }));
  const done = (made) => {
    open(false);
    if (made) changed(t("saved"), made.change);
  };
  return html`<div class="line" data-item="profile"><span class="says">${t("profile")}: <strong>${PROFILES.includes(profile) ? t(`profile_${profile}`) : profile}</strong></span>
      <span class="from"><button type="button" class="quiet" data-action="profile" aria-expanded=${editing} aria-label=${`${t("edit")}: ${t("profile")}`} onClick=${() => open(!editing)}>${t("edit")}</button></span></div>
    ${editing && html`<${Correct} session=${session} turn=${turn} fields=${[{ name: "profile", label: t("profile"), value: profile, options }]} make=${(found) => ({ kind: "profile", profile: found.profile })} done=${done} />`}`;
}

function Board({ session, turn, known, counts, observed, problems, habits, modules, profile, living, changed }) {
  const t = useWords(words);
  const of = (kind, test = () => true) => known.lines.filter((each) => each.kind === kind && test(each));
  const mine = known.lines.find((each) => each.kind === "place")?.subject_id;
  const people = [known.player, ...living];
  const about = { session, turn, changed, people };
  const own = (each) => each.subject_id === mine;
  const yours = (each) => each.subject_id === mine || each.other_id === mine;
  const here = of("present");
  const clocked = counts.some((each) => each.kind === "clock");
  const happened = of("happening");
  const withTheirs = (people) => people.flatMap((each) => [each, ...["hp", "mood", "condition", "item"].flatMap((kind) => of(kind, (one) => one.subject_id === each.subject_id))]);
  const counted = known.lines.filter((each) => each.kind.startsWith("tracker:")).map((each, at) => ({ ...each, count: counts[at] && each.text.endsWith(counts[at].text) ? counts[at] : null }));
  const bonds = !["romance", "plain"].includes(profile), carried = profile !== "plain";  // see UNASKED of profiles.py
  const again = observed.filter((each) => each.times > 1).map((each) => ({ ...each, kind: "observed", subject_id: each.key, other_id: "", text: `${each.key}: ${each.value}`, by: "block" }));
  return html`<div class="columns">
    <${Group} ...${about} name="you" title=${`${t("you")}: ${brief(known.player, 40)}`} lines=${[...of("place"), ...of("hp", own), ...(carried ? of("mood", own) : []), ...of("condition", own)]} add=${{ label: t("addCondition"), ...forms(t, people).condition }} />
    ${(carried || of("item", own).length > 0) && html`<${Group} ...${about} name="things" title=${t("things")} none=${t("noThings")} help=${habits.filter((each) => each !== "player_listed").map((each) => t(each)).join(" ")} lines=${of("item", own)} add=${{ label: t("addItem"), ...forms(t, people).item }} />`}
    <${Group} ...${about} name="here" title=${t("here")} none=${t("nobody")} help=${habits.includes("player_listed") && t("player_listed")} add=${{ label: t("addPerson"), ...forms(t, people).person }}
      lines=${withTheirs(here)} few=${24} rest=${withTheirs(of("elsewhere"))} others=${t("elsewhere", { n: of("elsewhere").length })} folded />
    ${(bonds || of("relation").length > 0) && html`<${Group} ...${about} name="relations" title=${t("relations")} none=${t("noRelations")} lines=${of("relation", yours)} rest=${of("relation", (each) => !yours(each))} others=${t("others", { n: of("relation", (each) => !yours(each)).length })}
      add=${{ label: t("addRelation"), ...forms(t, people).relation }} />`}
    <${Group} ...${about} name="counted" title=${t("counted")} none=${t("noneCounted")} lines=${counted} add=${{ label: t("addCounted"), ...forms(t, people).counted }} />
    ${modules.map((each) => html`<${Part} key=${each.name} name="module" title=${{ map: t("map"), rpg: t("rpg") }[each.name] ?? each.name}>
      <ul>${each.lines.map((line, at) => html`<li key=${at} class="line"><span class="says"><${Text} value=${line} /></span></li>`)}</ul>
      <${Picture} name="drawn" from=${path`api/sessions/${session}/${`${each.name}.svg`}`} turn=${turn} version=${each.picture && known.turn_id} alt=${each.name} /><//>`)}
    ${again.length > 0 && html`<${Group} ...${about} name="observed" title=${t("observed")} help=${t("observedHelp")} lines=${again} />`}
    <${Group} ...${about} name="dead" title=${t("dead")} none=${t("noDead")} lines=${of("status")} add=${{ label: t("addDead"), ...forms(t, people).dead }} />
    <${Group} ...${about} name="events" title=${t("events")} none=${t("noEvents")} lines=${of("event")} now=${known.turn} clocked=${clocked} add=${{ label: t("addEvent"), saved: "savedEvent", ...forms(t, people, known.turn, clocked).event }} />
    ${happened.length > 0 && html`<${Group} ...${about} name="happened" title=${t("happened")} lines=${happened.reverse()} few=${8} />`}
    <${Group} ...${about} name="notes" title=${t("notes")} none=${t("noNotes")} lines=${of("note").reverse()} few=${6} add=${{ label: t("addNote"), ...forms(t, people).note }} />
    ${problems.length > 0 && html`<${Part} name="problems" title=${t("problems")}><p class="hint">${t("problemsHelp")}</p>
      <${Few} rows=${[...problems].reverse()} most=${6} row=${(each, at) => html`<li key=${at} class="line"><span class="says"><${Sentence} value=${each.text} /></span><${TurnLink} turn=${each.turn} id=${each.turn_id} /></li>`} /><//>`}
  </div>`;
}

/** Lines below a heading. `rest` are more of them below `others`, shut if `folded` or if there are lines before them. */
function Group({ name, title, none, help, lines, rest = [], others, folded = false, few = 12, add, ...about }) {
  const t = useWords(words);
  const [adding, open] = useState(false);
  const done = (made) => {
    open(false);
    if (made) about.changed(t(add.saved ?? "saved"), made.change);
  };
  const button = add && html`<button type="button" class="quiet" data-action="add" aria-expanded=${adding} onClick=${() => open(!adding)}>+ ${add.label}</button>`;
  const row = (each) => html`<${Line} key=${`${each.kind} ${each.subject_id} ${each.other_id} ${each.kind === "relation" ? each.text : ""}`} line=${each} ...${about} />`;
  return html`<${Part} name=${name} title=${title} aside=${button}>
    ${adding && html`<${Correct} session=${about.session} turn=${about.turn} fields=${add.fields} make=${add.make} done=${done} />`}
    ${help && lines.length > 0 && html`<p class="hint">${help}</p>`}
    ${lines.length + (folded ? 0 : rest.length) === 0 && none && html`<p class="none">${none}</p>`}
    <${Few} rows=${lines} most=${few} row=${row} />
    ${rest.length > 0 && html`<details data-item="others" open=${lines.length === 0 && !folded}><summary>${others}</summary><${Few} rows=${rest} row=${row} /></details>`}
  <//>`;
}

function Line({ line, session, turn, now, people, clocked, changed }) {
  const t = useWords(words);
  const [editing, open] = useState(null);
  const form = editing && { edit: edits(line, t, now, people, clocked), off: offs(line, t) }[editing];
  const done = (made, wanted) => {
    open(null);
    if (made) changed(t(wanted.outcome === "cancelled" ? "savedUntold" : "saved"), made.change);
  };
  const about = spoken(line, t);
  const off = offs(line, t);
  return html`<li data-item="line" data-kind=${line.kind} data-subject=${line.subject_id} data-other=${line.other_id}>
    <div class="line">
      <span class="says"><${Says} line=${line} /></span>
      <span class="from">${line.by !== "block" && line.by !== "none" && html`<${By} line=${line} />`}<${TurnLink} turn=${line.turn} id=${line.turn_id} />
        ${edits(line, t, now, people, clocked) && html`<button type="button" class="quiet" data-action="edit" aria-expanded=${editing === "edit"} aria-label=${`${t("edit")}: ${about}`} onClick=${() => open(editing ? null : "edit")}>${t("edit")}</button>`}
        ${off && html`<button type="button" class="quiet" data-action="off" aria-expanded=${editing === "off"} aria-label=${`${t(off.label)}: ${about}`} onClick=${() => open(editing ? null : "off")}>${t(off.label)}</button>`}
        ${line.change && html`<${Undo} session=${session} change=${line.change} about=${about} done=${() => changed(t("undone"))} />`}
      </span>
    </div>
    ${form && html`<${Correct} key=${editing} session=${session} turn=${turn} fields=${form.fields} make=${form.make} done=${done} known />`}
  </li>`;
}

function Says({ line }) {
  const t = useWords(words);
  switch (line.kind) {
    case "hp":
      return html`<span>${t("hp")} <strong data-item="value">${line.number}${line.top === null ? "" : ` / ${line.top}`}</strong></span>
        ${line.top > 0 && html`<${Bar} share=${line.number / line.top} bad=${line.number / line.top < 0.25} />`}`;
    case "condition": return html`${t("condition")}: <${Text} value=${line.text} />`;
    case "item": return html`<${Text} value=${line.text} />${line.number !== 1 && html` <strong data-item="value">× ${line.number}</strong>`}`;
    case "mood": return html`${t("mood")}: ${line.text ? html`<${Text} value=${line.text} />` : html`<span class="none">${t("noMood")}</span>`}`;
    case "place": return html`${t("place")}: <strong>${line.text ? html`<${Text} value=${line.text} />` : t("nowhere")}</strong>`;
    case "present": return html`<strong><${Text} value=${line.text} /></strong>`;
    case "elsewhere": return html`<strong><${Text} value=${line.subject} /></strong> · <${Text} value=${line.text || t("nowhere")} />`;
    case "relation": return html`<${Text} value=${line.subject} /> → <${Text} value=${line.other} />: <strong><${Text} value=${line.text} /></strong> ${line.number > 0 ? "+" : ""}${line.number}
      <${Tug} strength=${line.number} />`;
    case "status": return html`<${Text} value=${line.subject} />`;
    case "event": return html`<${Text} value=${line.text} />${when(line.scheduled, t).map((each) => html`<small key=${each}>${each}</small>`)}`;
    default: return html`<${Text} value=${line.text} />${line.count && html`<${Counted} number=${line.number} count=${line.count} />`}`;
  }
}

/** The bar of a number between its limits, and the values before it, the latest first. */
function Counted({ number, count: { kind, least, most, earlier } }) {
  const before = kind === "clock" ? [] : earlier.map((each) => kind === "money" ? each.text : each.value).filter((each) => typeof each !== "boolean" && each !== null).reverse();
  return html`${number !== null && least !== null && most !== null && (least < 0
    ? html`<${Tug} strength=${number} share=${Math.abs(number / (number < 0 ? least : most))} />`
    : html`<${Bar} share=${(number - least) / (most - least)} />`)}
    ${before.length > 0 && html`<small data-item="earlier">← <bdi>${before.slice(0, 6).map((each) => brief(String(each), 40)).join(" ← ")}</bdi></small>`}`;
}

function Bar({ share, bad }) {
  return html`<div class="bar" aria-hidden="true"><span class=${bad ? "bad" : ""} style=${{ left: 0, width: `${Math.max(0, Math.min(1, share)) * 100}%` }} /></div>`;
}

/** A bar from the middle: to the right what draws together, to the left what sets apart. The scale is the
    same in every story and at every turn. Without limits a strength of ten fills half of its side, and none all of it. */
function Tug({ strength, share = Math.abs(strength) / (Math.abs(strength) + 10) }) {
  const half = share * 50;
  return html`<div class="bar middle" aria-hidden="true"><span class=${strength < 0 ? "bad" : ""} style=${{ left: `${strength < 0 ? 50 - half : 50}%`, width: `${half}%` }} /></div>`;
}

// -- forms: which correction says what -----------------------------------------------------------------------------

function edits(line, t, now, people, clocked) {
  const who = line.subject_id;
  if (line.kind.startsWith("tracker:")) {
    const { kind, text } = line.count ?? {};
    const number = kind === "clock" ? null : line.number;
    const shown = number === null || kind === "money" ? text : number; // a bare number would not say of which coins
    return {
      fields: [{ name: "value", label: t(number !== null ? "value" : kind === "clock" ? "valueTime" : "valueText"), value: number < 0 ? `=${shown}` : shown }],
      make: ({ value }) => given({ kind: "tracker", tracker: line.kind.slice("tracker:".length), value, who, place: who, to: line.other_id }),
    };
  }
  switch (line.kind) {
    case "place":
    case "elsewhere": return { fields: [{ name: "place", label: t("place"), value: line.text }], make: ({ place }) => ({ kind: "move", who, place }) };
    case "condition": return { fields: [{ name: "status", label: t("condition"), value: line.text }], make: ({ status }) => ({ kind: "status", who, status }) };
    case "hp": return {
      fields: [
        { name: "hp", label: t("hp"), value: line.number, kind: "number", min: 0 },
        { name: "max_hp", label: t("most"), value: line.top ?? "", kind: "number", min: 1, free: true },
      ],
      make: ({ hp, max_hp }) => ({ kind: "hp", who, hp, ...(max_hp && Number(max_hp) !== line.top ? { max_hp } : {}) }),
    };
    case "mood": return { // Without one, none is told.
      fields: [{ name: "mood", label: t("mood"), value: line.text, free: Boolean(line.text) }],
      make: ({ mood }) => (mood.trim() ? { kind: "mood", who, mood } : { kind: "attribute", who, attribute: "mood" }),
    };
    case "item": return {
      fields: [
        { name: "quantity", label: t("quantity"), value: line.number, kind: "number", min: 0 },
        { name: "to", label: t("givenTo"), suggest: people.filter((name) => name !== line.subject), free: true },
      ],
      make: ({ quantity, to }) => {
        if (to) return { kind: "give", who: to, from: who, item: line.other_id, quantity };
        const more = Number(quantity) - line.number;
        return { kind: more < 0 ? "take" : "give", who, item: line.other_id, quantity: String(Math.abs(more)) };
      },
    };
    case "relation": return {
      fields: [
        { name: "type", label: t("type"), value: line.text },
        { name: "strength", label: t("strength"), value: line.number, kind: "number" },
      ],
      make: ({ type, strength }) => ({ kind: "relation", from: line.subject_id, to: line.other_id, type, strength }),
    };
    case "note": return { fields: [{ name: "text", label: t("text"), kind: "long", value: line.text }], make: ({ text }) => ({ kind: "unnote", remark: line.text, text }) };
    case "event": {
      const { name, when, thread } = line.scheduled;
      const timed = clocked || Boolean(when);
      return {
        fields: conditions(t, line.scheduled, now, timed).filter((each) => !thread || ["text", "when"].includes(each.name)),
        // A time that stays as it is is not sent: its words would be read anew from now on.
        make: (found) => ({ kind: "event", name, ...given({ ...found, when: (found.when ?? when ?? "") === (when ?? "") ? "" : found.when || "-" }) }),
      };
    }
    default: return null;
  }
}

/**
 * The fields of what an event waits for, of a time only where the story has a clock (`clocked`). A turn that is over by
 * now cannot be given again: without one it is due. Of a plan, promise or quest it is only the time.
 */
function conditions(t, event, now, clocked) {
  const ahead = (turn) => (turn > now ? turn : "");
  return [
    { name: "text", label: t("whatHappens"), value: event.text ?? "", free: true },
    { name: "due", label: t("dueAt"), value: ahead(event.due), kind: "number", min: now + 1, free: true },
    { name: "expires", label: t("expiresAt"), value: ahead(event.expires), kind: "number", min: now + 1, free: true },
    ...(clocked ? [{ name: "when", label: t("dueWhen"), value: event.when ?? "", free: true }] : []),
    { name: "place", label: t("atPlace"), value: event.place ?? "", free: true },
    { name: "who", label: t("withWhom"), value: event.who ?? "", free: true },
  ];
}

function given(fields) {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value));
}

/** What takes a line away altogether. */
function offs(line, t) {
  if (line.kind.startsWith("tracker:")) return { label: "uncount", fields: [], make: () => ({ kind: "undeclare", tracker: line.kind.slice("tracker:".length) }) };
  switch (line.kind) {
    case "item": return { label: "lost", fields: [], make: () => ({ kind: "take", who: line.subject_id, item: line.other_id, quantity: String(line.number) }) };
    case "condition": {
      const options = line.text.split("; ");
      return {
        label: "over",
        fields: options.length > 1 ? [{ name: "status", label: t("condition"), options }] : [],
        make: ({ status }) => ({ kind: "status", who: line.subject_id, status: status ? `-${status}` : "alive" }),
      };
    }
    case "present": return { label: "leave", fields: [], make: () => ({ kind: "parted", who: line.subject_id }) };
    case "status": return { label: "alive", fields: [], make: () => ({ kind: "status", who: line.subject_id, status: "alive" }) };
    case "relation": return { label: "closeEvent", fields: [], make: () => ({ kind: "unrelate", from: line.subject_id, to: line.other_id, type: line.text }) };
    case "note": return { label: "untrue", fields: [], make: () => ({ kind: "unnote", remark: line.text }) };
    case "observed": return { label: "countIt", fields: [], make: () => ({ kind: "declare", declaration: `${line.key} | kind=${/^[+-]?\d+$/.test(line.value) ? `number | start=${line.value}` : "text"}` }) };
    case "elsewhere": return { label: "isHere", fields: [], make: () => ({ kind: "met", who: line.subject_id }) };
    case "happening": return { label: "untrue", fields: [], make: () => ({ kind: "forget", who: line.subject_id }) };
    case "event": return {
      label: "closeEvent",
      fields: [{ name: "outcome", label: t("outcome"), value: "happened", options: ["happened", "cancelled"].map((each) => ({ value: each, label: t(`outcome_${each}`) })) }],
      make: ({ outcome }) => ({ kind: "close", event: line.subject_id, outcome }),
    };
    default: return null;
  }
}

/** Who was met and lives. */
function alive(state) {
  const dead = new Set(state?.dead ?? []);
  return [...new Set([...(state?.npcs_present ?? []), ...(state?.npcs_met ?? [])])].filter((name) => !dead.has(name));
}

/** What can be added, by or for whom: `people` are the player and all who live. */
function forms(t, people, now, clocked) {
  const [player, ...living] = people;
  const whose = { name: "who", label: t("from"), value: player, suggest: people };
  const chosen = (name, label, options) => ({ name, label, value: options[0], options: options.map((value) => ({ value, label: t(`${name}_${value}`) })) });
  return {
    item: {
      fields: [{ name: "item", label: t("name") }, { name: "quantity", label: t("quantity"), value: 1, kind: "number", min: 1 }, whose],
      make: (found) => ({ kind: "give", ...found }),
    },
    condition: { fields: [{ name: "status", label: t("condition") }, whose], make: ({ status, who }) => ({ kind: "status", who, status: `+${status}` }) },
    person: { fields: [{ name: "who", label: t("name"), suggest: living }], make: ({ who }) => ({ kind: "met", who }) },
    relation: {
      fields: [
        { ...whose, name: "from" },
        { name: "to", label: t("to"), suggest: people },
        { name: "type", label: t("type") },
        { name: "strength", label: t("strength"), value: 0, kind: "number" },
      ],
      make: (found) => ({ kind: "relation", ...found }),
    },
    counted: {
      fields: [
        { name: "name", label: t("name") },
        chosen("kind", t("kind"), KINDS),
        chosen("for", t("whose"), ["player", "character", "pair", "place", "world"]),
        { name: "range", label: t("range"), free: true },
        { name: "steps", label: t("steps"), free: true },
        { name: "start", label: t("start"), free: true },
      ],
      // A meter is always for a pair, a clock and threads for the world, and only numbers have limits.
      make: ({ name, kind, range, steps, start, ...more }) => ({
        kind: "declare",
        declaration: Object.entries({
          kind,
          ...(["meter", "clock", "threads"].includes(kind) ? {} : more),
          range: ["number", "meter"].includes(kind) ? range : "",
          steps: ["money", "choice"].includes(kind) ? steps : "",
          start: kind === "threads" ? "" : start,
        })
          .reduce((line, [field, value]) => (value ? `${line} | ${field}=${value}` : line), name),
      }),
    },
    dead: { fields: [{ name: "who", label: t("name"), suggest: living }], make: ({ who }) => ({ kind: "status", who, status: "dead" }) },
    event: { fields: [{ name: "name", label: t("name") }, ...conditions(t, {}, now, clocked)], make: (found) => ({ kind: "event", ...given(found) }) },
    note: { fields: [{ name: "text", label: t("text"), kind: "long" }], make: ({ text }) => ({ kind: "note", text }) },
  };
}
