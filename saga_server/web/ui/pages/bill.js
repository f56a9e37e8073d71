// Bill: what a session cost by turn, model and kind, and what the cache saved.
import { html, useState } from "../lib/dom.js";
import { path, useRead } from "../lib/api.js";
import { language, useWords } from "../lib/i18n.js";
import { useLive } from "../lib/live.js";
import { Text } from "../lib/text.js";
import { Part, Read } from "../parts/common.js";
import { Sentence } from "../parts/sentence.js";
import words from "../words/bill.js";

const KINDS = ["narration", "extraction", "curation"];
const BARS = 60; // Turns in one plot.

export function Page({ session }) {
  const t = useWords(words);
  const cost = useRead(path`api/sessions/${session}/cost`);
  useLive(session, cost.reload);
  return html`<${Read} from=${cost}>${cost.data && (cost.data.total.calls === 0 ? html`<p class="none" data-item="nothing">${t("noBills")}</p>` : html`
    <div class="split"><${Total} cost=${cost.data} /><${Sums} cost=${cost.data} /></div>
    <${Plot} session=${session} />
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

/** A sum whose dollars are null where no price is known. */
function priced(sum) {
  return { ...sum, dollars: sum.calls > sum.unpriced ? sum.dollars : null };
}

function Sums({ cost }) {
  const t = useWords(words);
  const models = Object.entries(cost.models).map(([name, sum]) => [name, priced(sum)]);
  const kinds = KINDS.filter((kind) => cost[kind].calls > 0).map((kind) => [t(kind), priced(cost[kind])]);
  return html`<div><${Table} name="kinds" title=${t("byKind")} head=${t("kind")} rows=${kinds} /><${Table} name="models" title=${t("byModel")} head=${t("model")} rows=${models} /></div>`;
}

function Table({ name, title, head, rows }) {
  const t = useWords(words);
  return html`<${Part} name=${name} title=${title}><div class="scroll" tabindex="0" role="region" aria-label=${title}><table><thead><tr><th scope="col">${head}</th>${["calls", "input", "read", "output", "dollars"].map((each) => html`<th key=${each} scope="col" class="number">${t(each)}</th>`)}</tr></thead>
    <tbody>${rows.map(([first, sum]) => html`<tr key=${first}><th scope="row">${name === "models" ? html`<code><${Text} value=${first} most=${60} /></code>` : first}</th>${["calls", "input", "read", "output"].map((each) => html`<td key=${each} class="number" data-item=${each}>${sum[each].toLocaleString(language.get())}</td>`)}
      <td class="number">${money(sum.dollars, t)}</td></tr>`)}</tbody></table></div><//>`;
}

/** Bars of tokens, drawn as shapes; the table below says the same. */
function Plot({ session }) {
  const t = useWords(words);
  const [cursors, put] = useState([null]); // From the latest bills back to those that are shown.
  const found = useRead(path`api/sessions/${session}/bills`, { cursor: cursors.at(-1), limit: BARS });
  useLive(session, found.reload);
  const rows = [...(found.data?.bills ?? [])].reverse();
  const most = Math.max(1, ...rows.map((each) => each.input + each.output));
  const height = (tokens) => (tokens / most) * 100;
  const parts = (each) => [["cached", each.read], ["full", each.input - each.read], ["reply", each.output]];
  return html`<${Read} from=${found}>${found.data && html`<${Part} name="plot" title=${t("plot")}>
    <p class="hint">${t("plotHelp")}</p>
    <p class="legend" aria-hidden="true">${["cached", "full", "reply"].map((each) => html`<span key=${each}><i class=${each}></i>${t(each)}</span>`)}</p>
    <svg class="plot" viewBox="0 0 ${rows.length * 10} 100" preserveAspectRatio="none" role="img" aria-label=${t("plot")} data-item="bars">
      ${rows.map((each, at) => {
        let top = 100;
        return html`<g key=${`${each.turn} ${each.call}`}>${parts(each).map(([name, tokens]) => { top -= height(tokens); return html`<rect key=${name} class=${name} x=${at * 10 + 1} y=${top} width="8" height=${height(tokens)} />`; })}</g>`;
      })}</svg>
    <div class="actions">${found.data.next && html`<button type="button" data-action="earlier" onClick=${() => put([...cursors, found.data.next])}>${t("earlier")}</button>`}
      ${cursors.length > 1 && html`<button type="button" data-action="later" onClick=${() => put(cursors.slice(0, -1))}>${t("later")}</button>`}</div>
    <details><summary>${t("table")}</summary><div class="scroll" tabindex="0" role="region" aria-label=${t("table")}><table><thead><tr><th scope="col">${t("when")}</th><th scope="col">${t("model")}</th>${["input", "read", "output", "dollars"].map((each) => html`<th key=${each} class="number" scope="col">${t(each)}</th>`)}</tr></thead>
      <tbody>${rows.map((each) => html`<tr key=${`${each.turn} ${each.call}`} data-item="bill"><td>${new Date(each.at * 1000).toLocaleString(language.get())}</td><td><code><${Text} value=${each.model} most=${40} /></code></td>${["input", "read", "output"].map((name) => html`<td key=${name} class="number">${each[name].toLocaleString(language.get())}</td>`)}<td class="number">${money(each.dollars, t)}</td></tr>`)}</tbody></table></div></details>
  <//>`}<//>`;
}

function Broken({ rows }) {
  const t = useWords(words);
  return html`<${Part} name="broken" title=${t("broken")}>${rows.length === 0 && html`<p class="none">${t("noBroken")}</p>`}
    <ul>${rows.slice(-50).map((each) => html`<li key=${each.turn}><${Sentence} value=${each.note} /></li>`)}</ul><//>`;
}

function Pinned({ rows }) {
  const t = useWords(words);
  return rows.length > 0 && html`<${Part} name="pinned" title=${t("pinned")}><ul>${rows.slice(-50).map((each) => html`<li key=${each.turn}>${new Date(each.at * 1000).toLocaleString(language.get())}: ${`p_${each.reason}` in words.en ? t(`p_${each.reason}`) : each.reason}</li>`)}</ul><//>`;
}
