// Small parts that many pages use.
import { html, useEffect, useState } from "../lib/dom.js";
import { reachable } from "../lib/api.js";
import { useWords } from "../lib/i18n.js";
import { useObservable } from "../lib/observable.js";
import { to } from "../lib/router.js";
import { Sentence } from "./sentence.js";
import words from "../words/shell.js";

/** What went wrong, in SAGA's own words, and a button that tries again. */
export function Failed({ error, again }) {
  const t = useWords(words);
  const back = useObservable(reachable); // then it is no longer so
  if (!error || (back && error.kind === "unreachable")) return null;
  return html`<div class="notice bad" role="alert" data-item="error">
    ${error.status === 412 && html`<p>${t("changedMeanwhile")}</p>`}
    <p>${error.kind === "unreachable" || error.own ? error.message || t("unreachable") : html`<${Sentence} value=${error.message} most=${4_000} />`}</p>
    ${(again || error.kind === "store_error") && html`<div class="actions">
      ${again && html`<button type="button" data-action="again" onClick=${again}>${t("again")}</button>`}
      ${error.kind === "store_error" && html`<a href=${to("health")} data-action="health">${t("toHealth")}</a>`}</div>`}
  </div>`;
}

/** Something that is being read: its error, a word of patience, or `children`. What one of `beside` failed of, too, is
    said there alone. */
export function Read({ from, beside = [], children }) {
  const t = useWords(words);
  const said = beside.some((each) => each.error && each.error.message === from.error?.message);
  const again = () => [from, ...beside].forEach((each) => each.error && each.reload());
  return html`<${Failed} error=${said ? null : from.error} again=${again} />
    ${from.data ? children : !from.error && html`<p class="patience" role="status">${t("loading")}</p>`}`;
}

/** A turn's number; a link to the story there. */
export function TurnLink({ turn, id, story = true }) {
  const t = useWords(words);
  const text = turn === 0 ? t("opening") : t("turn", { n: turn });
  return story && id
    ? html`<a class="turn" href=${to("story", { turn: id })} data-item="turn" data-turn=${id}>${text}</a>`
    : html`<span class="turn" data-item="turn" data-turn=${id}>${text}</span>`;
}

/** A text to take along, with a button that copies it. */
export function Copy({ value, name }) {
  const t = useWords(words);
  const [done, say] = useState(false);
  useEffect(() => {
    if (!done) return;
    const timer = setTimeout(() => say(false), 2_000);
    return () => clearTimeout(timer);
  }, [done]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(value);
    } catch {
      const box = document.querySelector(`[data-copy="${CSS.escape(name)}"]`); // no clipboard without https: select it
      getSelection().selectAllChildren(box);
      document.execCommand("copy");
    }
    say(true);
  };
  return html`<span class="copy"><code data-copy=${name} data-item=${name}>${value}</code>
    <button type="button" data-action="copy" aria-label=${`${t("copy")}: ${name}`} onClick=${copy}>${done ? t("copied") : t("copy")}</button>
    <span class="unseen" role="status">${done ? t("copied") : ""}</span></span>`;
}

/** A heading with what belongs below it. */
export function Part({ title, name, aside, children }) {
  return html`<section class="part" data-item=${name} aria-label=${title}>
    <header><h2>${title}</h2>${aside}</header>
    ${children}
  </section>`;
}

/** The first `most` of many rows, and a button for the rest, as many again each time. `row` draws one. */
export function Few({ rows, most = 12, row, ...list }) {
  const t = useWords(words);
  const [shown, show] = useState(most);
  const left = rows.length - shown > 1 ? rows.length - shown : 0; // a single one takes no more room than the button
  return html`<ul class="lines" ...${list}>${rows.slice(0, rows.length - left).map(row)}</ul>
    ${left > 0 && html`<button type="button" class="quiet" data-action="rest" onClick=${() => show(shown + Math.max(most, 40))}>${t("rest", { n: left })}</button>`}`;
}

/** Whether something goes on, and the functions that start it and tell what went wrong: `[run, running, error]`. */
export function useRun() {
  const [state, put] = useState({ running: false, error: null });
  const run = async (work) => {
    put({ running: true, error: null });
    try {
      const found = await work();
      put({ running: false, error: null });
      return found;
    } catch (error) {
      if (error.kind === undefined) throw error;
      put({ running: false, error });
      return undefined;
    }
  };
  return [run, state.running, state.error];
}
