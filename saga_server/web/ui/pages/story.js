// Story: the tree of turns, rows without a branch as one; a turn with what it said, changed and cost; timelines.
import { html, useEffect, useRef, useState } from "../lib/dom.js";
import { BASE, download, path, read, send, useRead, write } from "../lib/api.js";
import { language, useWords } from "../lib/i18n.js";
import { useLive } from "../lib/live.js";
import { keep, to } from "../lib/router.js";
import { brief, Text } from "../lib/text.js";
import { Copy, Failed, Part, Read, useRun } from "../parts/common.js";
import { Correct, Lines, Said } from "../parts/correcting.js";
import { Sentence } from "../parts/sentence.js";
import billing from "../words/bill.js";
import now from "../words/now.js";
import people from "../words/people.js";
import shell from "../words/shell.js";
import words from "../words/story.js";

const WINDOW = 20; // Turns of a run that are shown at once.
const RUNS = 150; // Runs that are drawn before one asks for more.

export function Page({ session, params }) {
  const t = useWords(words);
  const tree = useRead(path`api/sessions/${session}/runs`);
  const names = useRead(path`api/sessions/${session}/timelines`);
  useLive(session, () => [tree.reload(), names.reload()]);
  const reload = () => Promise.all([tree.reload(), names.reload()]);
  return html`<div class="split">
    <div class=${params.turn ? "" : "after"}>${params.turn
      ? html`<${Turn} key=${params.turn} session=${session} id=${params.turn} head=${tree.data?.head} changed=${reload} />`
      : html`<p class="hint wideOnly">${t("openHint")}</p>`}
      <${Read} from=${names}>${names.data && html`<${Timelines} session=${session} found=${names} open=${params.turn} changed=${reload} />`}<//>
    </div>
    <${Read} from=${tree} beside=${[names]}>${tree.data && html`<${Tree} session=${session} tree=${tree.data} open=${params.turn} />`}<//>
  </div>`;
}

// -- the tree ------------------------------------------------------------------------------------------------------

/** The runs in reading order, each with its indent: what goes on stays in its column, what branches off steps in. */
function laidOut(runs) {
  const below = new Map();
  for (const run of runs) below.set(run.parent, [...(below.get(run.parent) ?? []), run]);
  const rows = [];
  const open = (below.get(null) ?? []).map((run) => [run, 0]);
  while (open.length) {
    const [run, indent] = open.pop();
    rows.push({ ...run, indent });
    const kids = below.get(run.id) ?? [];
    const main = kids.find((each) => each.active) ?? kids[0];
    if (main) open.push([main, indent]);
    for (const each of kids.filter((one) => one !== main).reverse()) open.push([each, indent + 1]);
  }
  return rows;
}

function Tree({ session, tree, open }) {
  const t = useWords(words);
  const [most, show] = useState(RUNS);
  const rows = laidOut(tree.runs);
  return html`<${Part} name="tree" title=${t("tree")} aside=${html`<span class="hint">${t("all", { n: tree.turns })}</span>`}>
    <ol class="tree">${rows.slice(0, most).map((run) => html`<${Run} key=${run.id} session=${session} run=${run} open=${open} />`)}</ol>
    ${rows.length > most && html`<button type="button" data-action="more-runs" onClick=${() => show(most + RUNS)}>${t("moreRuns", { n: rows.length - most })}</button>`}
  <//>`;
}

function Run({ session, run, open }) {
  const t = useWords(words);
  const [shown, show] = useState(false);
  const span = run.first === run.last ? t("one", run) : t("span", run);
  return html`<li data-item="run" data-turn=${run.id} data-active=${run.active} style=${{ "--indent": Math.min(run.indent, 6) }}>
    <div class="line"><span class="says"><strong>${span}</strong>
        ${run.head && html` <span class="tag good">${t("head")}</span>`}
        ${run.indent > 0 && html` <span class="tag">${t("branch")}</span>`}
        ${run.swipes > 0 && html` <span class="tag">${t("swipes", { n: run.swipes })}</span>`}
        ${run.names.map((name) => html` <span class="tag warn" key=${name}><${Text} value=${name} most=${60} /></span>`)}</span>
      <button type="button" class="quiet" data-action="show" aria-expanded=${shown} aria-label=${`${shown ? t("hide") : t("show")}: ${span}`} onClick=${() => show(!shown)}>${shown ? t("hide") : t("show")}</button></div>
    ${!shown && html`<p class="hint"><a href=${to("story", { turn: run.id })} data-action="open"><bdi>${brief(run.begins, 70) || span}</bdi></a>
      ${run.last_id !== run.id && html` … <a href=${to("story", { turn: run.last_id })} data-action="open"><bdi>${brief(run.ends, 70) || t("turn", { n: run.last })}</bdi></a>`}</p>`}
    ${shown && html`<${TurnsOf} session=${session} run=${run} open=${open} />`}
  </li>`;
}

function TurnsOf({ session, run, open }) {
  const t = useWords(words);
  const [end, put] = useState(run.last);
  const begin = Math.max(run.first, end - WINDOW + 1);
  const turns = useRead(path`api/sessions/${session}/turns`, { head: run.last_id, from_turn: begin, to_turn: end });
  return html`<${Read} from=${turns}>${turns.data && html`
    ${begin > run.first && html`<button type="button" class="quiet" data-action="earlier" onClick=${() => put(begin - 1)}>${t("earlier")}</button>`}
    <ol class="turns">${turns.data.turns.map((each) => html`<li key=${each.turn_id}>
      <a href=${to("story", { turn: each.turn_id })} data-action="open" data-turn=${each.turn_id} aria-current=${open === each.turn_id ? "true" : null}>
        <span class="turn">${each.turn}</span> <bdi>${brief(each.user || each.reply, 60)}</bdi> <span class="hint"><bdi>${brief(each.user ? each.reply : "", 60)}</bdi></span>
        ${run.beside[each.turn] > 0 && html`<span class="tag">${t("swipes", { n: run.beside[each.turn] })}</span>`}</a></li>`)}</ol>
    ${end < run.last && html`<button type="button" class="quiet" data-action="later" onClick=${() => put(Math.min(run.last, end + WINDOW))}>${t("later")}</button>`}
  `}<//>`;
}

// -- a turn --------------------------------------------------------------------------------------------------------

function Turn({ session, id, head, changed }) {
  const t = useWords(words);
  const s = useWords(shell);
  const turn = useRead(path`api/sessions/${session}/turns/${id}`);
  useLive(session, turn.reload);
  const found = turn.data;
  const top = useRef(null);
  // It opens above the tree, or beside its beginning: whoever opened it far below is taken there.
  const there = found !== null;
  useEffect(() => {
    const box = top.current?.getBoundingClientRect();
    if (box && (box.top < 0 || box.top > innerHeight * 0.6)) top.current.scrollIntoView({ block: "start" });
  }, [there]);
  return html`<${Read} from=${turn}>${found && html`<span class="opened" ref=${top}></span><${Part} name="turn" title=${found.turn ? t("turn", { n: found.turn }) : s("opening")}
    aside=${html`<a href=${to("story", { turn: null })} data-action="close">${t("close")}</a>`}>
    <p class="hint">${new Date(found.at * 1000).toLocaleString(language.get())}${found.model && ` · ${brief(found.model, 40)}`}
      ${found.finish === "aborted" && html` <span class="tag warn">${t("aborted")}</span>`}${found.head && html` <span class="tag good">${t("head")}</span>`}
      ${found.active && !found.head && html` <span class="tag">${t("here")}</span>`}</p>
    ${found.user && html`<h3>${t("said")}</h3><p data-item="user"><${Text} value=${found.user} as="span" /></p>`}
    <h3>${t("reply")}</h3><blockquote data-item="reply"><p><${Text} value=${found.reply} as="span" most=${900} /></p></blockquote>
    <h3>${t("changed")}</h3>
    ${["fallback", "cut"].includes(found.status) && html`<p class="notice warn">${t("unread", { status: t(`u_${found.status}`) })}</p>`}
    ${found.effect.length ? html`<${Lines} effect=${found.effect} />` : html`<p class="none">${t("nothing")}</p>`}
    ${found.problems.map((each) => html`<p class="notice warn" key=${each}><${Sentence} value=${each} /></p>`)}
    ${found.turn > 0 && html`<${Knowers} session=${session} about=${found.turn} turn=${found.active ? null : id} />`}
    <h3>${t("cost")}</h3><${Bills} bills=${found.bills} />
    ${found.beside.length > 0 && html`<h3>${t("beside")}</h3><ul class="turns">${found.beside.map((each) => html`<li key=${each.turn_id}>
      <a href=${to("story", { turn: each.turn_id })} data-action="beside" data-turn=${each.turn_id}><bdi>${brief(each.reply, 90)}</bdi></a></li>`)}</ul>`}
    <div class="actions">
      ${found.parent && html`<a href=${to("story", { turn: found.parent })} data-action="before">← ${t("before")}</a>`}
      ${found.next.slice(0, 6).map((each, at) => html`<a key=${each} href=${to("story", { turn: each })} data-action="next">${t("nextTurns")}${found.next.length > 1 ? ` ${at + 1}` : ""} →</a>`)}
      <a href=${to("now", { turn: found.head ? null : id })} data-action="now">${t("nowThere")}</a>
      <a href=${to("why", { turn: id })} data-action="why">${t("whyThere")}</a>
    </div>
    <${PlayOn} session=${session} turn=${id} changed=${changed} />
    ${!found.active && found.parent && html`<${Prune} session=${session} found=${found} fresh=${turn.reload} changed=${changed} />`}
  <//>`}<//>`;
}

/** Who knows what happened at a turn: since when and from whom. `turn` is the end of the path; without it, where the story is. */
function Knowers({ session, about, turn }) {
  const t = useWords(words);
  const p = useWords(people);
  const known = useRead(path`api/sessions/${session}/knowledge`, { about, turn });
  const n = useWords(now);
  const [open, show] = useState("");
  const [said, say] = useState(null);
  useLive(session, known.reload);
  const done = (made) => {
    show("");
    if (!made) return;
    say({ text: n("saved"), change: made.change });
    known.reload();
  };
  // Whoever is taken out leaves the others who know it. To them alone it is known from then on.
  const others = (id) => known.data.people.filter((each) => each.knows && !each.player && each.id !== id).map((each) => each.id).join(", ");
  const make = (each) => () => (each.knows ? { kind: "audience", number: String(about), audience: "only", ...(others(each.id) && { who: others(each.id) }) } : { kind: "told", number: String(about), who: each.id });
  return html`<${Read} from=${known}>${known.data?.people.length > 0 && html`<div data-item="knowers"><h3>${t("knowers")}</h3><${Said} said=${said} say=${say} session=${session} reload=${known.reload} />
    <ul class="lines">${known.data.people.map((each) => html`<li key=${each.id} data-knows=${each.knows}><div class="line"><a class="says" href=${to("people", { who: each.id })}><${Text} value=${each.name} most=${80} /></a>
      <small>${!each.knows ? p("knowsNot") : each.by ? p("knowsFrom", { n: each.since, who: brief(each.by, 40) }) : p("knowsSince", { n: each.since })}</small>
      ${!each.player && html`<span class="from"><button type="button" class="quiet" data-action="knows" aria-expanded=${open === each.id} onClick=${() => show(open === each.id ? "" : each.id)}>${t(each.knows ? "unknow" : "know")}</button></span>`}</div>
      ${open === each.id && html`<${Correct} key=${each.knows} session=${session} turn=${turn} fields=${[]} make=${make(each)} says=${() => t(each.knows ? "knownNot" : "known", { who: brief(each.name, 40), n: about })} done=${done} />`}</li>`)}</ul></div>`}<//>`;
}

function Bills({ bills }) {
  const t = useWords(words);
  const b = useWords(billing);
  if (!bills.length) return html`<p class="none">${t("noBill")}</p>`;
  return html`<ul>${bills.map((each) => html`<li key=${each.call} data-item="bill">${each.purpose in billing.en ? b(each.purpose) : each.purpose}: ${t("tokens", each)}${each.dollars !== null && `, ${t("dollars", { n: each.dollars.toFixed(5) })}`}</li>`)}</ul>`;
}

/** An edit of the timelines under the condition that they are as they were when it was begun. */
async function edited(session, method, where, body) {
  const { tag } = await read(path`api/sessions/${session}/timelines`);
  return write(method, where, body, { condition: tag });
}

/** How one goes on at a turn: in the frontend's own chat, with that chat made anew, or at an address of its own. */
function PlayOn({ session, turn, changed }) {
  const t = useWords(words);
  const [run, running, error] = useRun();
  const save = () => run(async () => {
    const blob = await (await send("GET", path`api/sessions/${session}/export`, { query: { format: "sillytavern", head: turn } })).blob();
    download(blob, `${turn}.jsonl`);
  });
  return html`<details data-item="play-on"><summary><strong>${t("playOn")}</strong></summary>
    <p>${t("playHelp")}</p>
    <p>${t("playGone")}</p>
    <p><button type="button" data-action="chat" disabled=${running} onClick=${save}>${t("playChat")}</button></p>
    <${Failed} error=${error} />
    <${Name} session=${session} turn=${turn} changed=${changed} /></details>`;
}

/** The base URL at which a named place goes on. */
function addressOf(enter) {
  return new URL(`s/${encodeURIComponent(enter).replaceAll("%40", "@")}/v1`, BASE).href;
}

function Name({ session, turn, changed }) {
  const t = useWords(words);
  const [run, running, error] = useRun();
  const [made, put] = useState(null);
  const name = (event) => {
    event.preventDefault();
    const wanted = new FormData(event.target).get("name");
    run(async () => {
      put(await edited(session, "POST", path`api/sessions/${session}/fork`, { name: wanted, turn }));
      await changed();
    });
  };
  return html`<details data-item="fork"><summary>${t("name")}</summary><form class="edit stack" onSubmit=${name}>
    <p class="hint">${t("nameHelp")}</p>
    <label>${t("nameField")}<input name="name" required maxlength="200" autocomplete="off" /></label>
    <button class="main" data-action="fork" disabled=${running}>${t("name")}</button>
    <${Failed} error=${error} />
    <div role="status">${made && html`<p class="notice good">${t("named")}</p><${Copy} name=${t("goOn")} value=${addressOf(made.enter)} />`}</div>
  </form></details>`;
}

function Prune({ session, found, fresh, changed }) {
  const t = useWords(words);
  const s = useWords(shell);
  const [run, running, error] = useRun();
  const box = useRef(null);
  const n = found.below.turns;
  // What goes is counted anew: places may have been named since the turn was opened.
  const ask = async () => {
    await fresh();
    box.current?.showModal();
  };
  const prune = () => run(async () => {
    await edited(session, "POST", path`api/sessions/${session}/prune`, { turn: found.turn_id });
    box.current.close();
    keep({ turn: null });
    await changed();
  });
  return html`<p><button type="button" class="danger" data-action="prune" onClick=${ask}>${t("prune")} …</button></p>
    <dialog ref=${box} data-item="prune" aria-label=${t("prune")}><p><strong>${t("pruneAsk", { n })}</strong></p>
      ${found.below.forgotten.length > 0 && html`<p>${t("pruneForgets", { names: found.below.forgotten.map((each) => brief(each, 40)).join(", ") })}</p>`}
      ${found.below.shortened.length > 0 && html`<p>${t("pruneShortens", { names: found.below.shortened.map((each) => brief(each, 40)).join(", ") })}</p>`}
      <${Failed} error=${error} />
      <div class="actions"><button type="button" class="danger" data-action="prune-yes" disabled=${running} onClick=${prune}>${t("pruneYes", { n })}</button>
        <button type="button" data-action="cancel" autofocus onClick=${() => box.current.close()}>${s("cancel")}</button></div>
    </dialog>`;
}

// -- timelines -----------------------------------------------------------------------------------------------------

function Timelines({ session, found, open, changed }) {
  const t = useWords(words);
  const rows = found.data.timelines;
  const named = rows.filter((each) => each.name !== null);
  return html`<${Part} name="timelines" title=${t("timelines")}>
    ${named.length === 0 && html`<p class="none">${t("noTimelines")}</p>`}
    <ul class="lines">${named.map((each) => html`<${Timeline} key=${each.name} session=${session} row=${each} changed=${changed} />`)}</ul>
    ${rows.length + (open ? 1 : 0) > 1 && html`<${Compare} session=${session} rows=${rows} open=${open} />`}
  <//>`;
}

function Timeline({ session, row, changed }) {
  const t = useWords(words);
  const s = useWords(shell);
  const [run, running, error] = useRun();
  const [editing, edit] = useState(false);
  const where = path`api/sessions/${session}/timelines/${row.name}`;
  const rename = (event) => {
    event.preventDefault();
    const name = new FormData(event.target).get("name");
    run(async () => {
      await edited(session, "POST", where, { name });
      edit(false);
      await changed();
    });
  };
  const forget = () => run(async () => {
    await edited(session, "DELETE", where);
    await changed();
  });
  return html`<li data-item="timeline" data-name=${row.name}><div class="line">
      <span class="says"><strong><${Text} value=${row.name} /></strong> <a class="turn" href=${to("story", { turn: row.head })}>${t("endOf", { n: row.depth })}</a></span>
      <button type="button" class="quiet" data-action="rename" aria-expanded=${editing} onClick=${() => edit(!editing)}>${t("rename")}</button>
      <button type="button" class="quiet" data-action="forget" disabled=${running} onClick=${forget}>${t("forget")}</button></div>
    ${editing && html`<form class="edit stack" onSubmit=${rename}><label>${t("nameField")}<input name="name" required defaultValue=${row.name} /></label>
      <div class="actions"><button class="main" data-action="save">${s("save")}</button><button type="button" onClick=${() => edit(false)}>${s("cancel")}</button></div></form>`}
    <${Failed} error=${error} /></li>`;
}

function Compare({ session, rows, open }) {
  const t = useWords(words);
  const spoken = language.get();
  const [run, running, error] = useRun();
  const [found, put] = useState(null);
  const options = [
    ...(open ? [{ value: open, label: t("thisTurn") }] : []),
    ...rows.slice(0, 200).map((each) => ({ value: each.head, label: each.name ? brief(each.name, 40) : each.active ? t("theHead", { n: each.depth }) : [t("endOf", { n: each.depth }), brief(each.ends, 40)].filter(Boolean).join(": ") })),
  ];
  useEffect(() => put(null), [open]);
  const compare = (event) => {
    event.preventDefault();
    const { one, other } = Object.fromEntries(new FormData(event.target));
    run(async () => put((await read(path`api/sessions/${session}/compare`, { one, other, language: spoken })).data));
  };
  const pick = (name, label, at) => html`<label>${label}<select name=${name}>${options.map((each, number) => html`<option key=${number} value=${each.value} selected=${number === Math.min(at, options.length - 1)}>${each.label}</option>`)}</select></label>`;
  return html`<details data-item="compare" open=${Boolean(found)}><summary>${t("compareWith")}</summary>
    <form class="edit stack" onSubmit=${compare}>${pick("one", t("left"), 0)}${pick("other", t("right"), 1)}
      <button class="main" data-action="compare" disabled=${running}>${t("compare")}</button></form>
    <${Failed} error=${error} />
    ${found && html`<p class="hint">${t("parted", { n: found.ancestor.turn })}</p>
      ${found.words.length === 0 ? html`<p class="none">${t("same")}</p>` : html`<ul data-item="differences">${found.words.map((each, at) => html`<li key=${at}><${Text} value=${each} /></li>`)}</ul>`}`}
  </details>`;
}
