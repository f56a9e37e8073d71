// Bill: what a session cost by turn, model and kind, and what the cache saved.
import { html, useState } from "../lib/dom.js";
import { path, useRead } from "../lib/api.js";
import { language, useWords } from "../lib/i18n.js";
import { useLive } from "../lib/live.js";
import { Text } from "../lib/text.js";
import { Part, Read } from "../parts/common.js";
import words from "../words/bill.js";

const KINDS = ["narration", "extraction", "curation"];
const BARS = 60; // Turns in one plot.

export function Page({ session }) {
  const t = useWords(words);
  const cost = useRead(path`api/sessions/${session}/cost`, { turns: 1 });
  useLive(session, cost.reload);
  return html`<${Read} from=${cost}>${cost.data && (cost.data.total.calls === 0 ? html`<p class="none" data-item="nothing">${t("noBills")}</p>` : html`
    <div class="split"><${Total} cost=${cost.data} /><${Sums} cost=${cost.data} /></div>
    <${Plot} bills=${cost.data.turns.filter((each) => each.purpose === "narration")} />
    <div class="columns"><${Broken} rows=${cost.data.broken} /><${Pinned} rows=${cost.data.pinned} /></div>
  `)}<//>`;
}

function money(value, t) {
  return value === null ? t("unknown") : `$${value.toLocaleString(language.get(), { minimumFractionDigits: 4, maximumFractionDigits: 4 })}`;
}

function Total({ cost }) {
  const t = useWords(words);
  const { with_saga: paid, without_cache: uncached, without_saga: without, saved, unpriced } = cost.comparison;
  const rows = [["paid", paid], ["uncached", uncached], ["without", without]];
  const most = Math.max(...rows.map(([, value]) => value ?? 0));
  return html`<${Part} name="total" title=${t("total")}>
    ${rows.map(([name, value]) => html`<p key=${name} data-item=${name}>${t(name)} <strong>${money(value, t)}</strong>
      ${most > 0 && value !== null && html`<span class="bar" aria-hidden="true"><span style=${{ left: 0, width: `${(value / most) * 100}%` }} /></span>`}</p>`)}
    ${saved !== null && html`<p class=${`notice ${saved >= 0 ? "good" : "warn"}`}>${t(saved >= 0 ? "saved" : "costs", { n: Math.abs(Math.round(saved * 100)) })}</p>`}
    ${unpriced > 0 && html`<p class="hint">${t("unpriced", { n: unpriced })}</p>`}
  <//>`;
}

function Sums({ cost }) {
  const t = useWords(words);
  const models = new Map();
  for (const bill of cost.turns) {
    const sum = models.get(bill.model) ?? { calls: 0, input: 0, read: 0, output: 0, dollars: null };
    models.set(bill.model, { calls: sum.calls + 1, input: sum.input + bill.input, read: sum.read + bill.read, output: sum.output + bill.output, dollars: bill.dollars === null ? sum.dollars : (sum.dollars ?? 0) + bill.dollars });
  }
  const kinds = KINDS.filter((kind) => cost[kind].calls > 0).map((kind) => [t(kind), { ...cost[kind], dollars: cost[kind].calls > cost[kind].unpriced ? cost[kind].dollars : null }]);
  return html`<div><${Table} name="kinds" title=${t("byKind")} head=${t("kind")} rows=${kinds} /><${Table} name="models" title=${t("byModel")} head=${t("model")} rows=${[...models]} /></div>`;
}

function Table({ name, title, head, rows }) {
  const t = useWords(words);
  return html`<${Part} name=${name} title=${title}><div class="scroll" tabindex="0" role="region" aria-label=${title}><table><thead><tr><th scope="col">${head}</th>${["calls", "input", "read", "output", "dollars"].map((each) => html`<th key=${each} scope="col" class="number">${t(each)}</th>`)}</tr></thead>
    <tbody>${rows.map(([first, sum]) => html`<tr key=${first}><th scope="row"><${Text} value=${first} most=${60} /></th>${["calls", "input", "read", "output"].map((each) => html`<td key=${each} class="number" data-item=${each}>${sum[each].toLocaleString(language.get())}</td>`)}
      <td class="number">${money(sum.dollars, t)}</td></tr>`)}</tbody></table></div><//>`;
}

/** Bars of tokens, drawn as shapes; the table below says the same. */
function Plot({ bills }) {
  const t = useWords(words);
  const [end, put] = useState(null);
  const last = Math.min(end ?? bills.length, bills.length);
  const first = Math.max(0, last - BARS);
  const rows = bills.slice(first, last);
  const most = Math.max(1, ...rows.map((each) => each.input + each.output));
  const height = (tokens) => (tokens / most) * 100;
  const parts = (each) => [["cached", each.read], ["full", each.input - each.read], ["reply", each.output]];
  return html`<${Part} name="plot" title=${t("plot")} aside=${html`<span class="hint">${t("at", { first: first + 1, last })}</span>`}>
    <p class="hint">${t("plotHelp")}</p>
    <p class="legend" aria-hidden="true">${["cached", "full", "reply"].map((each) => html`<span key=${each}><i class=${each}></i>${t(each)}</span>`)}</p>
    <svg class="plot" viewBox="0 0 ${rows.length * 10} 100" preserveAspectRatio="none" role="img" aria-label=${t("plot")} data-item="bars">
      ${rows.map((each, at) => {
        let top = 100;
        return html`<g key=${each.turn}>${parts(each).map(([name, tokens]) => { top -= height(tokens); return html`<rect key=${name} class=${name} x=${at * 10 + 1} y=${top} width="8" height=${height(tokens)} />`; })}</g>`;
      })}</svg>
    <div class="actions">${first > 0 && html`<button type="button" data-action="earlier" onClick=${() => put(last - BARS)}>${t("earlier")}</button>`}
      ${last < bills.length && html`<button type="button" data-action="later" onClick=${() => put(last + BARS)}>${t("later")}</button>`}</div>
    <details><summary>${t("table")}</summary><div class="scroll" tabindex="0" role="region" aria-label=${t("table")}><table><thead><tr><th scope="col">${t("turn")}</th><th scope="col">${t("model")}</th>${["input", "read", "output", "dollars"].map((each) => html`<th key=${each} class="number" scope="col">${t(each)}</th>`)}</tr></thead>
      <tbody>${rows.map((each, at) => html`<tr key=${each.turn}><td>${first + at + 1}</td><td><${Text} value=${each.model} most=${40} /></td>${["input", "read", "output"].map((name) => html`<td key=${name} class="number">${each[name].toLocaleString(language.get())}</td>`)}<td class="number">${money(each.dollars, t)}</td></tr>`)}</tbody></table></div></details>
  <//>`;
}

function Broken({ rows }) {
  const t = useWords(words);
  return html`<${Part} name="broken" title=${t("broken")}>${rows.length === 0 && html`<p class="none">${t("noBroken")}</p>`}
    <ul>${rows.slice(-50).map((each) => html`<li key=${each.turn}><${Text} value=${each.note} /></li>`)}</ul><//>`;
}

function Pinned({ rows }) {
  const t = useWords(words);
  return rows.length > 0 && html`<${Part} name="pinned" title=${t("pinned")}><ul>${rows.slice(-50).map((each) => html`<li key=${each.turn}>${new Date(each.at * 1000).toLocaleString(language.get())}: <${Text} value=${each.reason} /></li>`)}</ul><//>`;
}
