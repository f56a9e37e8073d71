// Memories: what was learned and from where, what people and curators changed, what the rules noticed, the story told short.
import { html, useState } from "../lib/dom.js";
import { path, read, useRead, write } from "../lib/api.js";
import { language, useWords } from "../lib/i18n.js";
import { useLive } from "../lib/live.js";
import { brief, Text } from "../lib/text.js";
import { Failed, Part, Read, TurnLink, useRun } from "../parts/common.js";
import { Correct, Said, Undo } from "../parts/correcting.js";
import { introduced } from "../parts/events.js";
import { Proposer, Standing, summed, Waiting } from "../parts/proposals.js";
import { Sentence } from "../parts/sentence.js";
import now from "../words/now.js";
import people from "../words/people.js";
import words from "../words/memories.js";

const NONE = { entities: [], former: {} };
const MOST = 40; // Rows of a list before one asks for more.

export function Page({ session }) {
  const t = useWords(words);
  const [query, ask] = useState("");
  const memories = useRead(path`api/sessions/${session}/memories`, { query });
  const changes = useRead(path`api/sessions/${session}/changes`);
  const entities = useRead(path`api/sessions/${session}/entities`);
  const curation = useRead(path`api/sessions/${session}/curation`);
  const standing = useRead(path`api/sessions/${session}/standing`);
  const n = useWords(now);
  const [said, say] = useState(null);
  const reload = () => Promise.all([memories.reload(), changes.reload(), entities.reload(), curation.reload(), standing.reload()]);
  useLive(session, reload);
  const changed = (text = n("saved"), change = null) => {
    say({ text, change });
    reload();
  };
  const named = entities.data || entities.error; // No change is shown with ids that names are still read for.
  const { entities: known, former } = entities.data ?? NONE;
  const names = { entities: known, former: { ...introduced(changes.data?.changes ?? []), ...former } };
  return html`<${Said} said=${said} say=${say} session=${session} reload=${reload} />
    <${Waiting} session=${session} rows=${named ? (changes.data?.changes ?? []).filter((each) => each.waiting) : []} names=${names} changed=${changed} />
    <${Standing} session=${session} rules=${standing.data?.rules ?? []} changed=${changed} /><${Failed} error=${standing.error && !changes.error ? standing.error : null} again=${standing.reload} />
    <${Read} from=${memories}>${memories.data && html`<${Learned} session=${session} found=${memories.data} query=${query} ask=${ask} changed=${changed} />`}<//>
    <div class="columns">
      <${Read} from=${changes} beside=${[memories]}>${changes.data && named && html`<${Changes} session=${session} rows=${changes.data.changes.filter((each) => !each.waiting)} names=${names} changed=${changed} />`}<//>
      <${Read} from=${curation} beside=${[memories, changes]}>${curation.data && html`<${Findings} session=${session} rows=${curation.data.findings} names=${names} changed=${changed} />
        <${Story} session=${session} rows=${curation.data.story} changed=${changed} /><${Added} lore=${curation.data.lore} /><${Reviews} rows=${curation.data.reviews} changes=${changes.data?.changes ?? []} names=${names} />`}<//>
    </div>`;
}

function Learned({ session, found, query, ask, changed }) {
  const t = useWords(words);
  const [adding, open] = useState(false);
  const fields = [{ name: "text", label: t("text"), kind: "long" }];
  const done = (made) => {
    open(false);
    if (made) changed(undefined, made.change);
  };
  const search = (event) => {
    event.preventDefault();
    ask(new FormData(event.target).get("query"));
  };
  return html`<${Part} name="learned" title=${t("learned")} aside=${html`<button type="button" class="quiet" data-action="add" aria-expanded=${adding} onClick=${() => open(!adding)}>+ ${t("add")}</button>`}>
    ${adding && html`<${Correct} session=${session} fields=${fields} make=${({ text }) => ({ kind: "remember", text })} done=${done} />`}
    ${(found.memories.length > 8 || query) && html`<form class="actions" onSubmit=${search}><label>${t("search")}<input type="search" name="query" defaultValue=${query} /></label><button data-action="search">${t("look")}</button></form>`}
    ${found.memories.length === 0 && html`<p class="none" data-item="nothing">${t("learns")}</p><p class="hint">${t("off")}</p>`}
    <ul class="lines">${found.memories.slice(0, 200).map((each) => html`<${Memory} key=${each.id} session=${session} here=${found.session} record=${each} changed=${changed} />`)}</ul>
  <//>`;
}

function Memory({ session, here, record, changed }) {
  const t = useWords(words);
  const [editing, edit] = useState(null);
  const own = record.session === here;
  const done = (made) => {
    edit(null);
    if (made) changed(undefined, made.change);
  };
  const forms = {
    edit: { fields: [{ name: "text", label: t("text"), kind: "long", value: record.text }], make: ({ text }) => ({ kind: "remember", record: record.id, text }) },
    remove: { fields: [], make: () => ({ kind: "unremember", record: record.id }) },
  };
  const button = (name) => html`<button type="button" class="quiet" data-action=${name} aria-expanded=${editing === name} aria-label=${`${t(name)}: ${brief(record.text)}`} onClick=${() => edit(editing === name ? null : name)}>${t(name)}</button>`;
  return html`<li data-item="memory" data-name=${record.id}><div class="line"><span class="says"><${Text} value=${record.text} /></span>
      <span class="from">${own && html`${button("edit")}${button("remove")}`}</span></div>
    <p class="hint"><span class=${`tag ${record.told ? "good" : ""}`}>${record.told ? t("told") : t("untold")}</span> ${record.strategy ? t("strategy", { name: record.strategy }) : t("byHand")} · <code>${brief(record.namespace, 80)}</code>
      ${record.version > 1 && ` · ${t("version", { n: record.version })}`}${record.expires && ` · ${t("expires", { date: new Date(record.expires * 1000).toLocaleDateString(language.get()) })}`}
      ${own && record.turns.length > 0 && html` · ${t("proof")}: ${record.turns.slice(0, 8).map((each) => html` <${TurnLink} key=${each.turn_id} turn=${each.turn} id=${each.turn_id} />`)}`}
      ${!own && ` · ${t("elsewhere")}`}</p>
    ${editing && html`<${Correct} key=${editing} session=${session} ...${forms[editing]} done=${done} />`}</li>`;
}

function Changes({ session, rows, names, changed }) {
  const t = useWords(words);
  const n = useWords(now);
  const [most, show] = useState(MOST);
  const latest = [...rows].reverse();
  return html`<${Part} name="changes" title=${t("changes")}>
    ${rows.length === 0 && html`<p class="none">${t("noChanges")}</p>`}
    <ul class="lines">${latest.slice(0, most).map((each) => html`<li key=${each.id} class="line long" data-item="change" data-name=${each.id} data-undone=${Boolean(each.undone)}>
      <span class="says">${each.undone ? html`<del><${Text} value=${summed(each, names)} most=${160} /></del> <span class="tag">${t("undone")}</span>` : html`<${Text} value=${summed(each, names)} most=${160} />`}
        <${Proposer} by=${each.by} /></span>
      <span class="from"><${TurnLink} turn=${each.turn} id=${each.turn_id} />
        <${Undo} session=${session} change=${each.undone ?? each.id} word=${each.undone ? t("redo") : null} about=${brief(summed(each, names))} done=${() => changed(each.undone ? undefined : n("undone"))} /></span></li>`)}</ul>
    ${latest.length > most && html`<button type="button" data-action="more" onClick=${() => show(most + MOST)}>${t("more")}</button>`}
  <//>`;
}

function Findings({ session, rows, names, changed }) {
  const t = useWords(words);
  const p = useWords(people);
  const [run, running, error] = useRun();
  const [joining, join] = useState(null); // The question whose two are about to be made one.
  const decide = (finding, verdict) => run(async () => {
    const where = path`api/sessions/${session}/changes`;
    const { tag } = await read(where);
    const made = await write("POST", where, { kind: "settle", finding: finding.key, verdict }, { condition: tag });
    changed(undefined, made.change);
  });
  const done = (made) => {
    join(null);
    if (made) changed(undefined, made.change);
  };
  const merge = ({ key, into }) => ({ kind: "merge", one: key.split(":").find((each, at) => at && each !== into), into }); // The key has their ids.
  const named = (id) => brief(names.entities.find((each) => each.id === id)?.name ?? id, 60);
  const says = ({ one, into }) => p("mergeSays", { one: named(one), into: named(into) });
  return html`<${Part} name="findings" title=${t("findings")}>
    ${rows.length === 0 && html`<p class="none">${t("noFindings")}</p>`}
    <${Failed} error=${error} />
    <ul class="lines">${rows.map((each) => html`<li key=${each.key} data-item="finding"><p><${Text} value=${each.text} /></p>
      ${each.verdict ? html`<span class="tag good">${t("verdict", { name: t(`decided_${each.verdict}`) })}</span>`
        : html`<div class="actions">${(each.rule === "one_person" ? [each.into && "one", "two"].filter(Boolean) : ["error", "deliberate"]).map((verdict) => html`<button type="button" key=${verdict} data-action=${`settle-${verdict}`} disabled=${running} aria-expanded=${verdict === "one" ? joining === each.key : null} onClick=${() => (verdict === "one" ? join(joining === each.key ? null : each.key) : decide(each, verdict))}>${t(`settle_${verdict}`)}</button>`)}</div>`}
      ${joining === each.key && each.into && html`<${Correct} key=${each.key} session=${session} fields=${[]} make=${() => merge(each)} says=${says} done=${done} />`}</li>`)}</ul>
  <//>`;
}

const STYLES = ["terse", "rich", "quotes"];

/** The story by scenes and chapters. What a person writes of some turns stays, and takes the place of what was told of them. */
function Story({ session, rows, changed }) {
  const t = useWords(words);
  const [editing, edit] = useState(null);
  const [draft, put] = useState("");
  const [run, running, error] = useRun();
  const open = (first) => {
    put("");
    edit(first);
  };
  const done = (made) => {
    open(null);
    if (made) changed(undefined, made.change);
  };
  const anew = ({ first, last }, style) => run(async () => put((await write("POST", path`api/sessions/${session}/chapters`, undefined, { query: { first, last, style } })).text));
  const fields = ({ first, last, text }) => [
    { name: "first", label: t("first"), kind: "number", min: 1, value: first }, { name: "last", label: t("last"), kind: "number", min: 1, value: last },
    { name: "text", label: t("text"), kind: "long", value: text },
  ];
  const make = ({ first, last, text }) => ({ kind: "chapter", first, last, text });
  return html`<${Part} name="story" title=${t("story")}>${rows.length === 0 && html`<p class="none">${t("noStory")}</p>`}
    <ul class="lines">${rows.map((each) => html`<li key=${`${each.first} ${each.last}`} data-item="chapter"><div class="line"><span class="says"><span class="turn">${each.first}–${each.last}</span> <${Text} value=${each.text} most=${300} /></span>
        <span class="from">${each.by_hand && html`<span class="tag good">${t("byHand")}</span> `}<button type="button" class="quiet" data-action="edit" aria-expanded=${editing === each.first} aria-label=${`${t("edit")}: ${each.first}–${each.last}`} onClick=${() => open(editing === each.first ? null : each.first)}>${t("edit")}</button></span></div>
      ${editing === each.first && html`<div class="actions" data-item="styles">${t("anew")} ${STYLES.map((style) => html`<button type="button" class="quiet" key=${style} data-action=${`tell-${style}`} disabled=${running} onClick=${() => anew(each, style)}>${t(`style_${style}`)}</button>`)}</div><${Failed} error=${error} />
        <${Correct} key=${draft} session=${session} fields=${fields(draft ? { ...each, text: draft } : each)} make=${make} done=${done} />`}</li>`)}</ul><//>`;
}

function Added({ lore }) {
  const t = useWords(words);
  const rows = Object.entries(lore);
  return rows.length > 0 && html`<${Part} name="added" title=${t("lore")}><dl class="rows">${rows.map(([name, text]) => html`<div key=${name}><dt><${Text} value=${name} most=${80} /></dt><dd><${Text} value=${text} /></dd></div>`)}</dl><//>`;
}

function Reviews({ rows, changes, names }) {
  const t = useWords(words);
  const made = new Map(changes.map((each) => [each.id, summed(each, names)]));
  const latest = [...rows].reverse().slice(0, MOST);
  return html`<${Part} name="reviews" title=${t("reviews")}>${rows.length === 0 && html`<p class="none">${t("noReviews")}</p>`}
    ${latest.map((each) => html`<details key=${`${each.curator} ${each.turn_id}`} data-item="review"><summary>${t("span", { first: each.since + 1, last: each.turn, name: each.curator === "rules" ? t("by_rules") : each.curator })}
      ${" "}<span class="tag good">${t("accepted", { n: each.accepted.length })}</span>${each.refused.length > 0 && html` <span class="tag warn">${t("refused", { n: each.refused.length })}</span>`}</summary>
      ${each.notice && html`<p class="notice warn"><${Sentence} value=${each.notice} /></p>`}
      <ul>${each.accepted.map((one, at) => html`<li key=${at}><${Text} value=${made.get(one.change) ?? one.summary} most=${240} /></li>`)}
        ${each.refused.map((one, at) => html`<li key=${`no ${at}`}><del><${Text} value=${one.summary} most=${200} /></del> <span class="hint"><${Sentence} value=${one.reason} /></span></li>`)}</ul></details>`)}<//>`;
}
