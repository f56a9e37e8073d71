// Proposals that wait for a person, and the rules by which she decided once for all that are proposed alike.
import { html, useEffect, useRef, useState } from "../lib/dom.js";
import { path, read, write } from "../lib/api.js";
import { language, useWords } from "../lib/i18n.js";
import { go } from "../lib/router.js";
import { brief, Text } from "../lib/text.js";
import { Failed, Part, TurnLink, useRun } from "./common.js";
import { Correct } from "./correcting.js";
import { inShort } from "./events.js";
import shell from "../words/shell.js";
import words from "../words/proposals.js";

const BY = ["edit", "curation", "rules", "extraction"];
const STRATEGY = "memory.";
const MOST = 40; // Proposals that are shown at once.

/** A change in words. A model's proposal has its own; what the rules do is said in the reader's language. */
export function summed(change, { entities, former }) {
  return (change.by !== "rules" && change.summary) || inShort(change.events, entities, former);
}

/** Who made or proposed a change. */
export function Proposer({ by }) {
  const t = useWords(words);
  return html`<small>${BY.includes(by) ? t(`by_${by}`) : html`<code>${by}</code>`}</small>`;
}

/** What a rule is about, in words: what is proposed, and by whom. */
function about({ by, kind }, t) {
  const known = `of_${kind}` in words.en;
  return t(known ? `of_${kind}` : "of_other", { by: brief(by.startsWith(STRATEGY) ? by.slice(STRATEGY.length) : by), kind });
}

/** Proposals that wait: nothing of them counts until a person says so, of one, of many, or once for all alike. */
export function Waiting({ session, rows, names, changed }) {
  const t = useWords(words);
  const [run, running, error] = useRun();
  const [open, show] = useState(null); // The form that is open: `{ id, what }`.
  const [at, put] = useState(null);
  const stop = useRef(false);
  useEffect(() => () => { stop.current = true; }, []);
  const toggle = (id, what) => show(open?.id === id && open.what === what ? null : { id, what });
  const changes = path`api/sessions/${session}/changes`;
  const said = (verdict) => (verdict === "refuse" ? t("refused") : undefined); // What is refused was never told.
  const decide = (change, verdict) => run(async () => {
    const { tag } = await read(changes);
    await write("POST", path`api/sessions/${session}/changes/${change}`, { verdict }, { condition: tag });
    changed(said(verdict));
  });
  // What is no memory is corrected where all corrections are made: line by line, at its turn.
  const correct = (each) => run(async () => {
    const { tag } = await read(changes);
    await write("POST", path`api/sessions/${session}/changes/${each.id}`, { verdict: "accept" }, { condition: tag });
    go("now", { turn: each.turn_id });
  });
  // Each that waits no more is refused by SAGA itself, so that nobody's decision is undone.
  const settle = async (chosen, verdict) => {
    stop.current = false;
    try {
      for (const [done, each] of chosen.entries()) {
        put({ done, n: chosen.length });
        if (stop.current) break;
        await write("POST", path`api/sessions/${session}/changes/${each.id}`, { verdict });
      }
    } finally {
      put(null);
      changed(said(verdict));
    }
  };
  const alike = (one, all = rows) => all.filter((each) => each.waiting && each.by === one.by && each.kind === one.kind);
  const always = (each, verdict) => run(async () => {
    const where = path`api/sessions/${session}/standing`;
    const { tag } = await read(where);
    await write("POST", where, { change: each.id, verdict }, { condition: tag });
    show(null);
    // Since the rule stands nothing more of it waits; what came before it may be more than is shown by now.
    await settle(alike(each, (await read(changes)).data.changes), verdict);
  });
  // Edited, it is the person's own: what was proposed is refused, and what the person wrote is remembered instead.
  const learned = (each) => each.events.find((event) => event.record)?.record;
  const save = (each) => async (made) => {
    show(null);
    if (made) await decide(each.id, "refuse");
  };
  return rows.length > 0 && html`<${Part} name="waiting" title=${t("waiting")} aside=${html`<span class="tag warn">${rows.length}</span>`}>
    <p class="hint">${t("waitingHelp")}</p>
    ${at ? html`<p role="status">${t("deciding", at)}</p><progress aria-label=${t("waiting")} max=${at.n} value=${at.done} /><button type="button" data-action="stop-accepting" onClick=${() => { stop.current = true; }}>${t("stop")}</button>`
      : rows.length > 1 && html`<div class="actions"><button type="button" data-action="accept-all" disabled=${running} onClick=${() => run(() => settle(rows, "accept"))}>${t("acceptAll", { n: rows.length })}</button></div>`}<${Failed} error=${error} />
    <ul class="lines">${rows.slice(0, MOST).map((each) => html`<li key=${each.id} data-item="proposal" data-name=${each.id} data-kind=${each.kind}>
      <div class="line"><span class="says"><${Text} value=${summed(each, names)} /><${Proposer} by=${each.by} /></span><span class="from"><${TurnLink} turn=${each.turn} id=${each.turn_id} /></span></div>
      <div class="actions"><button type="button" class="main" data-action="accept" disabled=${running} onClick=${() => decide(each.id, "accept")}>${t("accept")}</button>
        ${learned(each) && html`<button type="button" data-action="edit" aria-expanded=${open?.id === each.id && open.what === "edit"} onClick=${() => toggle(each.id, "edit")}>${t("edit")}</button>`}
        ${!learned(each) && html`<button type="button" data-action="accept-edit" disabled=${running} onClick=${() => correct(each)}>${t("acceptEdit")}</button>`}
        <button type="button" data-action="refuse" disabled=${running} onClick=${() => decide(each.id, "refuse")}>${t("refuse")}</button>
        <button type="button" class="quiet" data-action="always" disabled=${running} aria-expanded=${open?.id === each.id && open.what === "always"} onClick=${() => toggle(each.id, "always")}>${t("always")}</button></div>
      ${open?.id === each.id && open.what === "edit" && html`<${Correct} session=${session} turn=${each.turn_id} done=${save(each)} fields=${[{ name: "text", label: t("text"), kind: "long", value: learned(each).text }]}
        make=${({ text }) => ({ kind: "remember", text, namespace: learned(each).namespace })} />`}
      ${open?.id === each.id && open.what === "always" && html`<${Always} what=${about(each, t)} n=${alike(each).length} running=${running} decide=${(verdict) => always(each, verdict)} close=${() => show(null)} />`}</li>`)}</ul>
  <//>`;
}

/** What a rule would decide, now and from now on, and which way. */
function Always({ what, n, running, decide, close }) {
  const t = useWords(words);
  const s = useWords(shell);
  const form = useRef(null);
  useEffect(() => form.current.querySelector("button").focus(), []);
  return html`<div class="edit" ref=${form} data-item="always" onKeyDown=${(event) => event.key === "Escape" && close()}>
    <p>${t("alwaysHelp", { what })} ${t("alwaysNow", { n })}</p>
    <div class="actions"><button type="button" class="main" data-action="always-accept" disabled=${running} onClick=${() => decide("accept")}>${t("alwaysAccept")}</button>
      <button type="button" data-action="always-refuse" disabled=${running} onClick=${() => decide("refuse")}>${t("alwaysRefuse")}</button>
      <button type="button" data-action="cancel" onClick=${close}>${s("cancel")}</button></div></div>`;
}

/** The rules that stand in a session, and a button that ends each. */
export function Standing({ session, rules, changed }) {
  const t = useWords(words);
  const [run, running, error] = useRun();
  const end = (rule) => run(async () => {
    const { tag } = await read(path`api/sessions/${session}/standing`);
    await write("DELETE", path`api/sessions/${session}/standing/${rule.id}`, undefined, { condition: tag });
    changed(t("asked"));
  });
  const since = (at) => t("since", { date: new Date(at * 1000).toLocaleDateString(language.get()) });
  return (rules.length > 0 || error) && html`<${Part} name="standing" title=${t("standing")}>
    <p class="hint">${t("standingHelp")}</p><${Failed} error=${error} />
    <ul class="lines">${rules.map((each) => html`<li key=${each.id} class="line long" data-item="rule" data-name=${each.id} data-kind=${each.kind}>
      <span class="says"><${Text} value=${t(`rule_${each.verdict}`, { what: about(each, t) })} /><small>${since(each.at)}</small></span>
      <span class="from"><button type="button" class="quiet" data-action="ask-again" disabled=${running} aria-label=${`${t("askAgain")}: ${about(each, t)}`} onClick=${() => end(each)}>${t("askAgain")}</button></span></li>`)}</ul>
  <//>`;
}
