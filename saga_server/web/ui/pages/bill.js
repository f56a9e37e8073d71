// Bill: what a session cost by turn, model and kind, and what the cache saved.
import { html, useState } from "../lib/dom.js";
import { path, useRead } from "../lib/api.js";
import { language, useWords } from "../lib/i18n.js";
import { useLive } from "../lib/live.js";
import { useRole } from "../lib/role.js";
import { to } from "../lib/router.js";
import { Text } from "../lib/text.js";
import { Part, Read } from "../parts/common.js";
import { Sentence } from "../parts/sentence.js";
import words from "../words/bill.js";

const KINDS = ["narration", "extraction", "curation"];
const BARS = 60; // Calls in one plot.
const FEW = 20; // Of fewer, the bars are no broader.
const LEAST = 0.0001; // Dollars that are shown as a figure.

export function Page({ session }) {
  const t = useWords(words);
  const cost = useRead(path`api/sessions/${session}/cost`);
  useLive(session, cost.reload);
  return html`<${Read} from=${cost}>${cost.data && (cost.data.total.calls === 0 ? html`<p class="none" data-item="nothing">${t("noBills")}</p>` : html`
    <div class="split"><${Total} cost=${cost.data} /><${Sums} cost=${cost.data} /></div>
    <${Plot} session=${session} />
    <div class="columns"><${Broken} rows=${cost.data.broken} none=${t(cost.data.total.read ? "noBroken" : "noCache")} /><${Pinned} rows=${cost.data.pinned} /></div>
  `)}<//>`;
}

function money(value, t) {
  if (value > 0 && value < LEAST) return `< ${money(LEAST, t)}`;
  return value === null ? t("unknown") : `$${value.toLocaleString(language.get(), { minimumFractionDigits: 4, maximumFractionDigits: 4 })}`;
}

function Total({ cost }) {
  const t = useWords(words);
  const admin = useRole() === "admin";
  const free = cost.free.reduce((sum, model) => sum + cost.models[model].unpriced, 0);
  const { with_saga: paid, without_cache: uncached, without_saga: without, saved } = cost.comparison;
  const unpriced = cost.comparison.unpriced - free;
  const rows = [["paid", paid], ["uncached", uncached], ["without", without]];
  const most = Math.max(...rows.map(([, value]) => value ?? 0));
  return html`<${Part} name="total" title=${t("total")}>
    ${rows.map(([name, value]) => html`<p key=${name} data-item=${name}>${t(name)} <strong>${value === null && free && !unpriced ? t("free") : money(value, t)}</strong>
      ${most > 0 && value !== null && html`<span class="bar" aria-hidden="true"><span style=${{ left: 0, width: `${(value / most) * 100}%` }} /></span>`}</p>`)}
    ${saved !== null && html`<p class=${`notice ${saved >= 0 ? "good" : "warn"}`}>${t(saved >= 0 ? "saved" : "costs", { n: Math.abs(Math.round(saved * 100)) })}</p>`}
    ${unpriced > 0 && html`<p class="hint">${t("unpriced", { n: unpriced })}${admin && html` <a href=${to("settings")} data-action="price">${t("price")}</a>`}</p>`}
  <//>`;
}

/** A sum whose dollars are null where no price is known. */
function priced(sum, free) {
  return { ...sum, free, dollars: sum.calls > sum.unpriced ? sum.dollars : null };
}

function Sums({ cost }) {
  const t = useWords(words);
  const models = Object.entries(cost.models).map(([name, sum]) => [name, html`<code><${Text} value=${name} most=${60} /></code>`, priced(sum, cost.free.includes(name))]);
  const kinds = KINDS.filter((kind) => cost[kind].calls > 0).map((kind) => [kind, t(kind), priced(cost[kind], cost.free.length > 0 && Object.keys(cost.models).every((model) => cost.free.includes(model)))]);
  return html`<div><${Shares} name="kinds" title=${t("byKind")} rows=${kinds} /><${Shares} name="models" title=${t("byModel")} rows=${models} /></div>`;
}

/** The tokens of a call, or of many: from the cache, in full, and the reply. */
function parts(sum) {
  return [["cached", sum.read], ["full", sum.input - sum.read], ["reply", sum.output]];
}

/** What each kind of calls, or each model, came to: dollars, a bar of its tokens as long as its share, and the figures. */
function Shares({ name, title, rows }) {
  const t = useWords(words);
  const most = Math.max(1, ...rows.map(([, , sum]) => sum.input + sum.output));
  return html`<${Part} name=${name} title=${title}><ul class="lines">${rows.map(([id, shown, sum]) => html`<li key=${id} data-item="share" data-name=${id}>
    <div class="line"><strong class="says">${shown}</strong><strong class="from" data-item="dollars">${sum.free && sum.dollars === null ? t("free") : money(sum.dollars, t)}</strong></div>
    <span class="shares" aria-hidden="true">${parts(sum).map(([part, tokens]) => html`<span key=${part} class=${part} style=${{ width: `${(tokens / most) * 100}%` }} />`)}</span>
    <p class="legend">${["calls", "input", "read", "output"].map((each) => html`<span key=${each}>${t(each)}: <b data-item=${each}>${sum[each].toLocaleString(language.get())}</b></span>`)}</p></li>`)}</ul><//>`;
}

/** What a bar of the plot is made of, each part with its share of 1: tokens as they were paid, or dollars as of a kind. */
function bar(each, unit, most) {
  return unit === "tokens" ? parts(each).map(([name, tokens]) => [name, tokens / most]) : [[each.purpose, (each.dollars ?? 0) / most]];
}

/** A bar for each call, drawn as shapes; the table below says the same. */
function Plot({ session }) {
  const t = useWords(words);
  const [cursors, put] = useState([null]); // From the latest bills back to those that are shown.
  const [unit, count] = useState("tokens");
  const found = useRead(path`api/sessions/${session}/bills`, { cursor: cursors.at(-1), limit: BARS });
  useLive(session, found.reload);
  const rows = [...(found.data?.bills ?? [])].reverse();
  const most = Math.max(unit === "tokens" ? 1 : 1e-9, ...rows.map((each) => (unit === "tokens" ? each.input + each.output : each.dollars ?? 0)));
  const legend = unit === "tokens" ? ["cached", "full", "reply"] : KINDS.filter((kind) => rows.some((each) => each.purpose === kind));
  return html`<${Read} from=${found}>${found.data && html`<${Part} name="plot" title=${t("plot")}
      aside=${html`<label class="check">${t("unit")}<select data-action="unit" value=${unit} onChange=${(event) => count(event.target.value)}>${["tokens", "dollars"].map((each) => html`<option key=${each} value=${each} selected=${each === unit}>${t(each)}</option>`)}</select></label>`}>
    <p class="hint">${t(unit === "tokens" ? "plotHelp" : "plotDollars")}</p>
    <p class="legend" aria-hidden="true">${legend.map((each) => html`<span key=${each}><i class=${each}></i>${t(each)}</span>`)}</p>
    <svg class="plot" viewBox="0 0 ${Math.max(FEW, rows.length) * 10} 100" preserveAspectRatio="none" role="img" aria-label=${t("plot")} data-item="bars" data-unit=${unit}>
      ${rows.map((each, at) => {
        let top = 100;
        return html`<g key=${`${each.turn} ${each.call}`}>${bar(each, unit, most).map(([name, share]) => { top -= share * 100; return html`<rect key=${name} class=${name} x=${at * 10 + 1} y=${top} width="8" height=${share * 100} />`; })}</g>`;
      })}</svg>
    <div class="actions">${found.data.next && html`<button type="button" data-action="earlier" onClick=${() => put([...cursors, found.data.next])}>${t("earlier")}</button>`}
      ${cursors.length > 1 && html`<button type="button" data-action="later" onClick=${() => put(cursors.slice(0, -1))}>${t("later")}</button>`}</div>
    <details><summary>${t("table")}</summary><div class="scroll" tabindex="0" role="region" aria-label=${t("table")}><table><thead><tr><th scope="col">${t("when")}</th><th scope="col">${t("kind")}</th><th scope="col">${t("model")}</th>${["input", "read", "output", "dollars"].map((each) => html`<th key=${each} class="number" scope="col">${t(each)}</th>`)}</tr></thead>
      <tbody>${rows.map((each) => html`<tr key=${`${each.turn} ${each.call}`} data-item="bill"><td>${new Date(each.at * 1000).toLocaleString(language.get())}</td><td>${KINDS.includes(each.purpose) ? t(each.purpose) : each.purpose}</td><td><code><${Text} value=${each.model} most=${40} /></code></td>${["input", "read", "output"].map((name) => html`<td key=${name} class="number">${each[name].toLocaleString(language.get())}</td>`)}<td class="number">${money(each.dollars, t)}</td></tr>`)}</tbody></table></div></details>
  <//>`}<//>`;
}

function Broken({ rows, none }) {
  const t = useWords(words);
  return html`<${Part} name="broken" title=${t("broken")}>${rows.length === 0 && html`<p class="none">${none}</p>`}
    <ul>${rows.slice(-50).map((each) => html`<li key=${each.turn}><${Sentence} value=${each.note} /></li>`)}</ul><//>`;
}

function Pinned({ rows }) {
  const t = useWords(words);
  return rows.length > 0 && html`<${Part} name="pinned" title=${t("pinned")}><ul>${rows.slice(-50).map((each) => html`<li key=${each.turn}>${new Date(each.at * 1000).toLocaleString(language.get())}: ${`p_${each.reason}` in words.en ? t(`p_${each.reason}`) : each.reason}</li>`)}</ul><//>`;
}
