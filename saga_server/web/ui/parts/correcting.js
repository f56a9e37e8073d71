// Correcting: a form, then what would come of it, then the change. Others who edit meanwhile are not undone.
import { html, useEffect, useLayoutEffect, useRef, useState } from "../lib/dom.js";
import { path, read, write } from "../lib/api.js";
import { useWords } from "../lib/i18n.js";
import { brief } from "../lib/text.js";
import { Failed, useRun } from "./common.js";
import { condition as conditionOf } from "./events.js";
import shell from "../words/shell.js";
import words from "../words/now.js";

/** A line in words: what it is about, and what it says. */
export function spoken(line, t) {
  const subject = line.subject ? brief(line.subject) : "";
  switch (line.kind) {
    case "hp": return `${subject} · ${t("hp")}: ${line.number}${line.top === null ? "" : ` / ${line.top}`}`;
    case "item": return `${subject} · ${brief(line.text)} × ${line.number}`;
    case "condition": return `${subject} · ${t("condition")}: ${brief(line.text)}`;
    case "mood": return `${subject} · ${t("mood")}: ${brief(line.text) || t("noMood")}`;
    case "place": return `${t("place")}: ${brief(line.text) || t("nowhere")}`;
    case "present": return `${t("here")}: ${brief(line.text)}`;
    case "elsewhere": return `${subject} · ${t("place")}: ${brief(line.text) || t("nowhere")}`;
    case "relation": return `${subject} → ${brief(line.other)}: ${brief(line.text)} (${line.number > 0 ? "+" : ""}${line.number})`;
    case "status": return `${subject} · ${t("status")}: ${brief(conditionOf(line.text, t))}`;
    case "happening": return `${t("happened")}: ${brief(line.text, 120)}`;
    case "event": return [brief(line.text, 120), ...when(line.scheduled, t)].join(" · ");
    default: return brief(line.text, 120);
  }
}

/** What an event to come waits for, in words; of a plan or a promise what it is, and when it is due by the clock. */
export function when({ due, expires, when: time, told = time, place, who, thread }, t) {
  return [
    [thread?.tracker, told, thread?.between].filter(Boolean).map((each) => brief(each)).join(" · "),
    due !== null && t("due", { n: due }), expires !== null && t("until", { n: expires }),
    place && t("at", { place: brief(place) }), who && t("with", { who: brief(who) }),
  ].filter(Boolean);
}

/** What a change comes to. `found` is the answer of a try without effect, `chosen` whether its turn was chosen. */
export function Effect({ found, chosen = true, alone = false }) {
  const t = useWords(words);
  const kept = found.later > 0 ? "effectKept" : found.turn > 0 ? "effectReply" : "effect";
  const from = t(alone ? "effectOnly" : !chosen ? kept : found.later > 0 ? "effectLater" : "effect", { n: found.turn, later: found.later });
  return html`<div data-item="effect"><p>${from}</p>
    ${found.effect.length === 0 && html`<p class="hint">${t("noEffect")}</p>`}
    <${Lines} effect=${found.effect} /></div>`;
}

/** Lines that differ: as they were, and as they are. */
export function Lines({ effect }) {
  const t = useWords(words);
  return html`<ul class="effect">${effect.map(({ was, is }, at) => html`<li key=${at}>
    ${was && html`<del><bdi>${spoken(was, t)}</bdi></del>${!is && ` ${t("gone")}`}`}${was && is && " → "}
    ${is && html`<ins><bdi>${spoken(is, t)}</bdi></ins>${!was && ` ${t("new")}`}`}</li>`)}</ul>`;
}

/**
 * A form for one correction. `fields` are `{ name, label, value, kind }`; `make` turns what was entered into the body
 * of the request, `says` into a sentence about what comes of it that no line shows. Where nothing is to be entered,
 * what would change is shown at once. `done` is called with the answer when it was made, with nothing when called off.
 * `known` says that it corrects what is there, and adds nothing.
 */
export function Correct({ session, turn, fields, make, says, done, condition, known = false }) {
  const t = useWords(words);
  const s = useWords(shell);
  const [run, running, error] = useRun();
  const [ready, put] = useState(null);
  const form = useRef(null);
  const tag = useRef(null);
  useEffect(() => {
    if (ready && fields.length === 0) form.current.querySelector("[data-action=save]").focus();
  }, [ready]);
  const [holds, hold] = useState("kept");
  const where = path`api/sessions/${session}/changes`;
  const body = async () => {
    const { "holds-from": from, holds: _, ...entered } = Object.fromEntries(new FormData(form.current));
    const made = make(entered);
    if (turn) return { ...made, turn };
    if (holds === "turn") return { ...made, turn: from };
    if (holds === "kept") return made;
    const { head } = (await read(path`api/sessions/${session}`)).data;
    return { ...made, turn: head };
  };
  const kept = holds === "kept" && !turn && !known ? 1 : null; // what is added outlasts the last reply
  const look = (event) => {
    event?.preventDefault();
    return run(async () => {
      // The changes as they are now: if anybody makes another before this one, SAGA refuses it and says so.
      tag.current = condition ?? (await read(where)).tag;
      const wanted = await body();
      put({ wanted, found: await write("POST", where, wanted, { query: { dry_run: 1, kept } }) });
    });
  };
  useLayoutEffect(() => { // at once, so that the next key is the form's; afterwards it is again where it was
    const opener = document.activeElement;
    if (fields.length === 0) look();
    else form.current.querySelector("input, select, textarea")?.focus();
    return () => opener.focus({ preventScroll: true });
  }, []);
  const save = () => run(async () => {
    done(await write("POST", where, ready.wanted, { query: { kept }, condition: tag.current }), ready.wanted);
  });
  const escape = (event) => event.key === "Escape" && done(null);
  return html`<form class="edit" ref=${form} onSubmit=${look} onKeyDown=${escape} onInput=${() => put(null)} data-item="correction">
    <div class="fields">${fields.map((each) => html`<label key=${each.name}>${each.label}
      ${each.options
        ? html`<select name=${each.name} required>${each.value === undefined && html`<option value="">${t("choose")}</option>`}${each.options.map((one) => html`<option key=${one.value ?? one} value=${one.value ?? one} selected=${(one.value ?? one) === each.value}>${one.label ?? one}</option>`)}</select>`
        : each.kind === "long"
          ? html`<textarea name=${each.name} rows=${Math.max(3, Math.min(12, Math.ceil((each.value ?? "").length / 60)))} required=${!each.free} defaultValue=${each.value ?? ""}></textarea>`
          : html`<input name=${each.name} type=${each.kind ?? "text"} defaultValue=${each.value ?? ""} required=${!each.free} min=${each.min} max=${each.max} autocomplete="off" list=${each.suggest?.length ? `suggest-${each.name}` : null} />`}
      ${each.suggest?.length > 0 && html`<datalist id=${`suggest-${each.name}`}>${each.suggest.map((one) => html`<option key=${one} value=${one} />`)}</datalist>`}
    </label>`)}</div>
    ${!turn && html`<div class="fields"><label>${t("holds")}<select name="holds" onChange=${(event) => hold(event.currentTarget.value)}>
        ${["kept", "reply", "turn"].map((each) => html`<option key=${each} value=${each} selected=${each === holds}>${t(`holds_${each}`)}</option>`)}</select></label>
      ${holds === "turn" && html`<label>${t("holdsFrom")}<input name="holds-from" type="number" min="0" required /></label>`}</div>`}
    ${ready && says && html`<p data-item="says">${says(ready.wanted)}</p>`}
    ${ready && html`<${Effect} found=${ready.found} chosen=${holds !== "kept" || Boolean(turn)} alone=${holds === "reply"} />`}
    <${Failed} error=${error} />
    <div class="actions">
      ${ready
        ? html`<button type="button" class="main" data-action="save" disabled=${running} onClick=${save}>${t("confirm")}</button>`
        : html`<button class="main" data-action="preview" disabled=${running}>${t("preview")}</button>`}
      <button type="button" data-action="cancel" onClick=${() => done(null)}>${s("cancel")}</button>
    </div>
  </form>`;
}

/** A button that undoes a change, or says why it cannot. */
export function Undo({ session, change, about, done, word = null }) {
  const t = useWords(words);
  const [run, running, error] = useRun();
  const undo = () => run(async () => {
    const where = path`api/sessions/${session}/changes`;
    const { tag } = await read(where);
    await write("DELETE", path`api/sessions/${session}/changes/${change}`, undefined, { condition: tag });
    done();
  });
  return html`<button type="button" class="quiet" data-action="undo" data-change=${change} disabled=${running} onClick=${undo}
    aria-label=${`${word ?? t("undo")}: ${about}`}>${word ?? t("undo")}</button><${Failed} error=${error} />`;
}

/** Who said a line, and in which turn. */
export function By({ line }) {
  const t = useWords(words);
  return html`<span class="tag" title=${t("byWhom", { who: t(`by_${line.by}`) })} data-item="by" data-by=${line.by}>${t(`by_${line.by}`)}</span>`;
}

/**
 * That something was changed, in sight wherever one is on the page, and a button that undoes it. `said` is
 * `{ text, change }`; `say` puts another in its place.
 */
export function Said({ said, say, session, reload }) {
  const t = useWords(words);
  const s = useWords(shell);
  const undone = () => {
    say({ text: t("undone") });
    reload();
  };
  return html`<div class="said" role="status" aria-live="polite">${said && html`<div class="notice good line" data-item="said"><span class="says">${said.text}</span>
    <span class="from">${said.change && html`<${Undo} session=${session} change=${said.change} about=${said.text} done=${undone} />`}
      <button type="button" class="quiet" data-action="dismiss" onClick=${() => say(null)}>${s("close")}</button></span></div>`}</div>`;
}
