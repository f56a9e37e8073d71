// Turns that nobody reported: what reading them costs, before anything is spent; then reading, some at a time.
import { html, useEffect, useRef, useState } from "../lib/dom.js";
import { path, read, useRead, write } from "../lib/api.js";
import { language, useWords } from "../lib/i18n.js";
import { useRole } from "../lib/role.js";
import { to } from "../lib/router.js";
import { Failed, Part, useRun } from "./common.js";
import words from "../words/backfill.js";

const STEP = 24; // Turns of a step: what has begun is read to its end when one stops.

export function Backfill({ session, turn, unread, done }) {
  const t = useWords(words);
  const status = useRead(useRole() === "admin" ? "api/status" : null);
  const [run, running, error] = useRun();
  const [found, put] = useState(null); // What the API said last of what is left.
  const [at, show] = useState(null); // `{ total, begun, over }` once reading was begun.
  const stop = useRef(false);
  const budget = useRef(null);
  useEffect(() => () => { stop.current = true; }, []);
  const where = path`api/sessions/${session}/backfill`;
  const estimate = () => run(async () => put((await read(where, { head: turn })).data));
  const begin = () => run(async () => {
    stop.current = false;
    const most = budget.current?.value ? Number(budget.current.value) : null;
    let state = found;
    const begun = { total: state.left, spent: state.spent ?? 0 };
    show({ ...begun, over: null });
    let over = "done";
    while (state.left) {
      const next = ((state.dollars ?? 0) / state.left) * Math.min(STEP, state.left);
      if (stop.current) over = "stopped";
      else if (most !== null && (state.spent ?? 0) - begun.spent + next > most) over = "budget";
      if (over !== "done") break;
      state = await write("POST", where, undefined, { query: { turns: STEP, head: turn } });
      put(state);
      if (!state.read) {
        over = "failed";
        break;
      }
    }
    show({ ...begun, over });
    done();
  });
  const reader = status.data?.extraction?.reader;
  const here = at && found ? at.total - found.left : 0;
  return html`<${Part} name="backfill" title=${found?.left === 0 ? t("read") : t("title", { n: found?.left ?? unread })}>
    ${found?.left !== 0 && html`<p class="hint">${t("help")}</p>`}
    ${status.data && !reader && html`<p class="notice" data-item="no-reader">${t("noReader")}</p>`}
    ${found && (!at || at.over) && found.left > 0 && html`<dl class="rows" data-item="estimate">
      ${[["turns", found.left.toLocaleString(language.get())], ["model", html`<code>${found.model}</code>`], ["price", found.dollars === null ? t("unpriced") : `$${found.dollars.toLocaleString(language.get(), { minimumFractionDigits: 2, maximumFractionDigits: 4 })}`],
        ["tokens", t("inOut", { input: found.input_tokens, output: found.output_tokens, calls: found.calls })], ["time", t("minutes", { n: Math.max(1, Math.round(found.seconds / 60)) })]]
        .map(([name, value]) => html`<div key=${name}><dt>${t(name)}</dt><dd data-item=${name}>${value}</dd></div>`)}</dl>`}
    ${running && at && html`<p role="status">${t("progress", { done: here, n: at.total })}</p><progress aria-label=${t("reading")} max=${at.total || 1} value=${here} />`}
    <div role="status" aria-live="polite">${at?.over && html`<p class=${`notice ${at.over === "done" ? "good" : "warn"}`} data-item="over" data-state=${at.over}>${t(`over_${at.over}`, { done: here, n: at.total })}</p>`}
      ${found?.failed > 0 && html`<p class="hint"><a href=${to("health")}>${t("failed", { n: found.failed })}</a></p>`}</div>
    <${Failed} error=${error} />
    ${reader && html`<div class="actions">
      ${running && at && !at.over && html`<button type="button" data-action="stop-backfill" onClick=${() => { stop.current = true; }}>${t("stop")}</button>`}
      ${!running && !found && html`<button type="button" class="main" data-action="estimate" onClick=${estimate}>${t("estimate")}</button>`}
      ${!running && found?.left > 0 && html`${found.dollars !== null && html`<label>${t("budget")}<input type="number" name="budget" min="0" step="any" ref=${budget} /></label>`}
        <button type="button" class="main" data-action="backfill" onClick=${begin}>${t(at ? "goOn" : "begin")}</button>`}</div>`}
  <//>`;
}
