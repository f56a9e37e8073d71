// A context, piece by piece: the signal that brought each, and what it costs in tokens.
import { html } from "../lib/dom.js";
import { language, useWords } from "../lib/i18n.js";
import { brief, Text } from "../lib/text.js";
import table from "../words/why.js";

/** What a source or a signal is called; its own name if the pages have no word for it yet. */
export function called(t, prefix, name) {
  return `${prefix}${name}` in table.en ? t(`${prefix}${name}`) : name;
}

export function Pieces({ rows, name, time = null }) {
  const t = useWords(table);
  return html`<ul class="lines" data-item=${name}>${rows.map((each) => html`<li key=${each.key} data-item="piece" data-source=${each.source} data-key=${each.key}>
    <div class="line long"><span class="says"><${Text} value=${each.text} most=${500} /></span><span class="from"><span class="tag">${t("tokens", { n: each.tokens })}</span></span></div>
    <p class="signals"><span class="tag good">${called(t, "s_", each.source)}</span> <${Signals} of=${each} time=${time} /></p></li>`)}</ul>`;
}

/** Scores that others make up: they are no reasons of their own. */
const TOTALS = ["fused", "lexical"];
/** A part of the strongest reason below which one is not worth naming. */
const SLIGHT = 0.05;

/** What spoke for a piece, the strongest first; the figures below, for whoever wants them. */
function Signals({ of, time }) {
  const t = useWords(table);
  const { why, score, words = [], beside } = of;
  /** A reason with what stood behind it: the words, the turn, the time. */
  const named = (reason) => {
    const behind = { words: words.map((word) => brief(word, 40)).join(", "), mention: words.map((word) => brief(word, 40)).join(", "),
      neighbours: beside === undefined ? "" : t("kind_turn", { n: beside }), time: time ? t("turns", { a: time.first, b: time.last }) : "" }[reason];
    return behind ? `${called(t, "w_", reason)} (${behind})` : called(t, "w_", reason);
  };
  const parts = Object.entries(why).filter(([, value]) => value !== 0).sort((one, other) => other[1] - one[1]);
  const number = (value) => value.toLocaleString(language.get(), { maximumFractionDigits: 2 });
  if (!parts.length) return html`<span class="hint">${t("always")}</span>`;
  const reasons = parts.filter(([name]) => !TOTALS.includes(name));
  const strong = (reasons.length ? reasons : parts).filter(([, value], _, [strongest]) => value > SLIGHT * strongest[1]);
  const names = [...new Set(strong.map(([name]) => named(name)))];
  return html`<details class="figures"><summary class="hint">${t("because", { names: names.slice(0, 3).join(", ") })}</summary>
    <p class="hint">${[...reasons, ...parts.filter(([name]) => TOTALS.includes(name))].map(([name, value]) => `${called(t, "w_", name)} ${value > 0 ? "+" : ""}${number(value)}`).join(" · ")} → ${t("worth", { n: number(score) })}</p></details>`;
}
