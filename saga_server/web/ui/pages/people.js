// People and places: the graph at a turn, a list of the same beside it, and all about one of them.
import { html, useMemo, useState } from "../lib/dom.js";
import { path, useRead } from "../lib/api.js";
import { useWords } from "../lib/i18n.js";
import { useLive } from "../lib/live.js";
import { keep, place, to } from "../lib/router.js";
import { brief, Text } from "../lib/text.js";
import { Few, Part, Read, TurnLink } from "../parts/common.js";
import { Correct, Said } from "../parts/correcting.js";
import { condition, factName, inShort } from "../parts/events.js";
import { Graph } from "../parts/graph.js";
import now from "../words/now.js";
import words from "../words/people.js";

const KINDS = { Character: "character", Location: "location", Item: "item", Event: "event" };
const TIES = { RELATES_TO: "relates", LOCATED_AT: "where", OWNS: "owns", ADJACENT: "ways", INVOLVED_IN: "part" };
const FIRST = { kinds: ["Character", "Location"], ties: ["RELATES_TO", "LOCATED_AT"] };
const FEW = 14; // Names of a kind up to which they are listed at once.
const LIST = 300; // Names that the list shows before one searches.

export function Page({ session, params }) {
  const turn = params.at ?? null;
  const graph = useRead(path`api/sessions/${session}/graph`, { turn });
  const entities = useRead(path`api/sessions/${session}/entities`);
  const summary = useRead(path`api/sessions/${session}`);
  const n = useWords(now);
  const [said, say] = useState(null);
  const reload = () => Promise.all([graph.reload(), entities.reload(), summary.reload()]);
  useLive(session, reload);
  const changed = (made) => {
    say({ text: n("saved"), change: made.change });
    reload();
  };
  const depth = summary.data?.depth ?? 0;
  const all = entities.data?.entities ?? [];
  const then = turn !== null && graph.data?.nodes.filter((each) => each.label in KINDS) // who was known at a turn is in its graph
    .map(({ id, label, properties: { name, status, aliases = [], is_player: player } }) => ({ id, kind: KINDS[label], name, status, aliases, player }));
  return html`<${Said} said=${said} say=${say} session=${session} reload=${reload} />
    <${Slider} at=${turn === null ? depth : Number(turn)} depth=${depth} />
    <div class="split people">
      <div>${params.who
        ? (entities.data || entities.error) && html`<${One} key=${params.who} session=${session} id=${params.who} turn=${turn} all=${all} former=${entities.data?.former ?? {}} changed=${changed} />`
        : html`<${Read} from=${turn ? graph : entities}>${entities.data && html`<${List} all=${then || all} />`}<//>`}</div>
      <${Read} from=${graph} beside=${params.who ? [] : [turn ? graph : entities]}>${graph.data && html`<${Drawn} found=${graph.data} who=${params.who} />`}<//>
    </div>`;
}

/** The address of one of them, or of all, at the turn that is looked at. */
const address = (who) => to("people", { who, at: place.get().params.at });

function Slider({ at, depth }) {
  const t = useWords(words);
  const [moving, move] = useState(null);
  const shown = Math.min(moving ?? at, depth);
  const leave = (event) => {
    move(null);
    keep({ at: Number(event.target.value) >= depth ? null : event.target.value });
  };
  const step = (by) => keep({ at: shown + by >= depth ? null : String(shown + by) });
  return html`<div class="slider" data-item="slider">
    <button type="button" data-action="earlier" disabled=${shown <= 0} aria-label=${t("earlier")} onClick=${() => step(-1)}>←</button>
    <label>${t("slider", { n: shown, all: depth })}
      <input type="range" min="0" max=${depth} value=${shown} data-action="time" onInput=${(event) => move(Number(event.target.value))} onChange=${leave} /></label>
    <button type="button" data-action="later" disabled=${shown >= depth} aria-label=${t("later")} onClick=${() => step(1)}>→</button></div>`;
}

// -- the graph -----------------------------------------------------------------------------------------------------

function Drawn({ found, who }) {
  const t = useWords(words);
  const [kinds, chooseKinds] = useState(FIRST.kinds);
  const [ties, chooseTies] = useState(FIRST.ties);
  const [least, put] = useState(0);
  const [left, leave] = useState(0);
  const drawn = useMemo(() => {
    const nodes = found.nodes.filter((each) => kinds.includes(each.label));
    const ids = new Set(nodes.map((each) => each.id));
    const edges = found.edges.filter((each) => ties.includes(each.type) && ids.has(each.source) && ids.has(each.target)
      && (each.type !== "RELATES_TO" || Math.abs(each.properties.strength ?? 0) >= least));
    return {
      nodes: nodes.map((each) => ({ id: each.id, label: each.label, name: brief(each.properties.name ?? each.id, 28), player: Boolean(each.properties.is_player), dead: each.properties.status === "dead" })),
      edges: edges.map((each) => ({ source: each.source, target: each.target, type: each.type, strength: each.properties.strength ?? 0, name: brief(each.properties.rel_type ?? "", 24) })),
    };
  }, [found, kinds, ties, least]);
  const strongest = Math.max(1, ...found.edges.map((each) => Math.abs(each.properties.strength ?? 0)));
  const box = (all, chosen, choose, name) => html`<fieldset><legend class="unseen">${name}</legend>${Object.entries(all).map(([value, word]) => html`<label class="check" key=${value}>
    <input type="checkbox" data-action="filter" data-name=${value} checked=${chosen.includes(value)} onChange=${() => choose(chosen.includes(value) ? chosen.filter((one) => one !== value) : [...chosen, value])} />${t(word)}</label>`)}</fieldset>`;
  return html`<${Part} name="graph-part" title=${t("graph")}>
    ${box(KINDS, kinds, chooseKinds, t("nodes"))}${box(TIES, ties, chooseTies, t("ties"))}
    <label>${t("least", { n: least })}<input type="range" min="0" max=${strongest} value=${least} data-action="strength" onInput=${(event) => put(Number(event.target.value))} /></label>
    ${drawn.edges.length === 0 ? html`<p class="none" data-item="graph" data-drawn="none">${t("nothing")}</p>`
      : html`<${Graph} ...${drawn} chosen=${who} left=${leave} open=${(id) => { location.hash = address(id); }} label=${t("canvas", { n: drawn.nodes.length, ties: drawn.edges.length })} />`}
    ${left > 0 && html`<p class="hint">${t("tooMany", { n: left })}</p>`}
  <//>`;
}

// -- the list ------------------------------------------------------------------------------------------------------

function List({ all }) {
  const t = useWords(words);
  const [wanted, want] = useState("");
  const fitting = all.filter((each) => [each.name, ...each.aliases].some((name) => name.toLowerCase().includes(wanted.toLowerCase())));
  return html`<${Part} name="list" title=${t("list")}>
    <label>${t("search")}<input type="search" data-action="search" value=${wanted} onInput=${(event) => want(event.target.value)} /></label>
    ${fitting.length === 0 && html`<p class="none">${t("none")}</p>`}
    ${Object.values(KINDS).map((kind) => {
      const rows = fitting.filter((each) => each.kind === kind).slice(0, LIST);
      return rows.length > 0 && html`<details key=${kind} open=${rows.length <= FEW || kind === "character" || wanted !== ""} data-item="kind" data-name=${kind}><summary><strong>${t(kind)}</strong> <span class="tag">${rows.length}</span></summary>
        <ul class="turns">${rows.map((each) => html`<li key=${each.id}><a href=${address(each.id)} data-item="entity" data-name=${each.id}>
          <${Text} value=${each.name} most=${120} />${each.player && html` <span class="tag">${t("you")}</span>`}${each.status === "dead" && html` <span class="tag bad">${t("dead")}</span>`}</a></li>`)}</ul></details>`;
    })}
  <//>`;
}

// -- one of them ---------------------------------------------------------------------------------------------------

function One({ session, id, turn, all, former, changed }) {
  const t = useWords(words);
  const one = useRead(path`api/sessions/${session}/entities/${id}`, { turn });
  const [editing, edit] = useState(null);
  useLive(session, one.reload);
  const found = one.data;
  const done = (made) => {
    edit(null);
    if (!made) return;
    changed(made);
    if (editing === "forget") location.hash = address(null);
    else one.reload();
  };
  const forms = found && corrections(t, found, all);
  return html`<${Read} from=${one}>${found && html`<${Part} name="one" title=${brief(found.name, 80)} aside=${html`<a href=${address(null)} data-action="back">${t("back")}</a>`}>
    <p><span class="tag">${t(found.kind)}</span>${found.player && html` <span class="tag">${t("you")}</span>`}${found.present && html` <span class="tag good">${t("here")}</span>`}
      ${found.facts.status === "dead" && html` <span class="tag bad">${t("dead")}</span>`}</p>
    <div class="actions">${Object.keys(forms).map((name) => html`<button type="button" key=${name} data-action=${name} aria-expanded=${editing === name} onClick=${() => edit(editing === name ? null : name)}>${t(name)}</button>`)}</div>
    ${editing && html`${forms[editing].help && html`<p class="hint">${forms[editing].help}</p>`}<${Correct} key=${editing} session=${session} turn=${turn ? found.turn_id : null} ...${forms[editing]} done=${done} />`}
    ${found.aliases.length > 0 && html`<h3>${t("names")}</h3><p data-item="aliases">${found.aliases.map((each, at) => html`${at > 0 && ", "}<${Text} key=${each} value=${each} most=${120} />`)}</p>`}
    <${Facts} facts=${found.facts} />
    ${found.place && html`<h3>${t("place")}</h3><p><${Link} id=${found.place.id} name=${found.place.name} /> <span class="hint">${t("since", { n: found.place.since })}</span></p>`}
    <${Names} title=${t("things")} rows=${found.things} /><${Names} title=${t("owners")} rows=${found.owners} /><${Names} title=${t("present")} rows=${found.here} />
    ${found.relations.length > 0 && html`<h3>${t("relations")}</h3><ul class="lines">${found.relations.map((each, at) => html`<li key=${at} class="line"><span class="says">
      <${Link} id=${each.from_id} name=${each.from} /> → <${Link} id=${each.to_id} name=${each.to} />: <${Text} value=${each.type} most=${120} /> ${each.strength > 0 ? "+" : ""}${each.strength}</span></li>`)}</ul>`}
    ${found.knowledge.length > 0 && html`<h3>${t("knowledge")}</h3><ul>${found.knowledge.map((each, at) => html`<li key=${at}><${Text} value=${each.text} /></li>`)}</ul>`}
    ${found.kind === "character" && !found.player && html`<${Knows} key=${found.id} session=${session} id=${found.id} turn=${turn} />`}
    <h3>${t("history")}</h3>
    ${found.history.length === 0 && html`<p class="none">${t("noHistory")}</p>`}
    <${Few} rows=${eventful(found.history)} most=${8} row=${(each) => html`<li key=${each.turn_id} class="line"><span class="says"><${Text} value=${inShort(each.events, [...all, found], former)} /></span><${TurnLink} turn=${each.turn} id=${each.turn_id} /></li>`} />
  <//>`}<//>`;
}

/** The latest remarks and events of the story: since when somebody knows of each and from whom, or that she does not. */
function Knows({ session, id, turn }) {
  const t = useWords(words);
  const known = useRead(path`api/sessions/${session}/knowledge`, { who: id, turn });
  useLive(session, known.reload);
  return html`<${Read} from=${known}>${known.data?.facts.length > 0 && html`<div data-item="knows"><h3>${t("knows")}</h3>
    <${Few} rows=${[...known.data.facts].reverse()} most=${8} row=${(each, at) => html`<li key=${at} class="line" data-knows=${each.knows}><span class="says"><${Text} value=${each.text} /></span>
      <small>${!each.knows ? t("knowsNot") : each.by ? t("knowsFrom", { n: each.since, who: brief(each.by, 40) }) : t("knowsSince", { n: each.since })}</small></li>`} /></div>`}<//>`;
}

/** A history without the turns in which somebody was merely still here. Latest first, as it came. */
function eventful(history) {
  let here = false;
  const rows = [];
  for (const each of [...history].reverse()) {
    const events = each.events.filter(({ t: kind }) => {
      if (kind === "met" && here) return false;
      here = kind === "met" || (here && kind !== "separated");
      return true;
    });
    if (events.length) rows.unshift({ ...each, events });
  }
  return rows;
}

function Link({ id, name }) {
  return html`<a href=${address(id)}><${Text} value=${name} most=${80} /></a>`;
}

function Names({ title, rows }) {
  return rows.length > 0 && html`<h3>${title}</h3><p>${rows.slice(0, 60).map((each, at) => html`${at > 0 && ", "}<${Link} key=${each.id} ...${each} />${each.quantity > 1 && ` × ${each.quantity}`}`)}</p>`;
}

const INNER = ["is_player", "status_since", "max_hp"]; // What SAGA counts with, or shows with another.

function Facts({ facts }) {
  const t = useWords(words);
  const n = useWords(now);
  const shown = { ...facts, hp: facts.max_hp ? `${facts.hp} / ${facts.max_hp}` : facts.hp, status: facts.status && condition(facts.status, n) };
  const rows = Object.entries(shown).filter(([name, value]) => !INNER.includes(name) && value !== undefined && value !== null);
  return rows.length > 0 && html`<h3>${t("facts")}</h3><dl class="rows" data-item="facts">${rows.map(([name, value]) => html`<div key=${name}><dt>${brief(factName(name, t), 40)}</dt>
    <dd><${Text} value=${Array.isArray(value) ? value.join(", ") : value} /></dd></div>`)}</dl>`;
}

function corrections(t, found, all) {
  const others = all.filter((each) => each.kind === found.kind && each.id !== found.id);
  return {
    rename: { fields: [{ name: "name", label: t("newName"), value: found.name }], make: ({ name }) => ({ kind: "rename", who: found.id, name }) },
    ...(found.kind === "character" && !found.player ? { move: { fields: [{ name: "place", label: t("newPlace"), value: found.place?.name ?? "" }], make: ({ place }) => ({ kind: "move", who: found.id, place }) },
      ...(found.facts.status === "dead" ? {} : { die: { fields: [], make: () => ({ kind: "status", who: found.id, status: "dead" }) } }) } : {}),
    ...(others.length && !found.player ? { merge: { help: t("mergeHelp"), says: ({ into }) => t("mergeSays", { one: brief(found.name, 60), into: brief(others.find((each) => each.id === into).name, 60) }), fields: [{ name: "into", label: t("into"), options: others.map((each) => ({ value: each.id, label: brief(each.name, 60) })) }], make: ({ into }) => ({ kind: "merge", one: found.id, into }) } } : {}),
    ...(found.aliases.length ? { split: { help: t("splitHelp"), says: ({ name }) => t("splitSays", { name: brief(name, 60) }), fields: [{ name: "name", label: t("splitName"), options: found.aliases.map((each) => ({ value: each, label: brief(each, 60) })) }], make: ({ name }) => ({ kind: "split", of: found.id, name }) } } : {}),
    ...(found.player ? {} : { forget: { help: t("forgetHelp"), fields: [], make: () => ({ kind: "forget", who: found.id }) } }),
  };
}
