// Why: for each turn the context as the narrator got it, and why a text was not told.
import { html, useState } from "../lib/dom.js";
import { path, useRead, write } from "../lib/api.js";
import { useWords } from "../lib/i18n.js";
import { useLive } from "../lib/live.js";
import { to } from "../lib/router.js";
import { brief, harmless, Text } from "../lib/text.js";
import { Failed, Part, Read, TurnLink, useRun } from "../parts/common.js";
import { called, Pieces } from "../parts/told.js";
import words from "../words/why.js";

export function Page({ session, params }) {
  const t = useWords(words);
  const id = params.turn ?? null;
  const context = useRead(path`api/sessions/${session}/context`, { turn: id });
  const turn = useRead(context.data ? path`api/sessions/${session}/turns/${context.data.turn}` : null);
  useLive(session, context.reload);
  return html`<${Read} from=${context}>${context.data && turn.data && html`
    <${Steps} turn=${turn.data} />
    <${Context} found=${context.data} turn=${turn.data} />
    <div class="split"><${Ask} key=${`ask ${context.data.turn}`} session=${session} turn=${context.data.turn} /><${Try} key=${`try ${context.data.turn}`} session=${session} turn=${context.data.turn} /></div>
  `}<//>`;
}

function Steps({ turn }) {
  const t = useWords(words);
  return html`<div class="actions">
    ${turn.parent && html`<a href=${to("why", { turn: turn.parent })} data-action="before">← ${t("before")}</a>`}
    <${TurnLink} turn=${turn.turn} id=${turn.turn_id} />
    ${turn.next.slice(0, 1).map((each) => html`<a key=${each} href=${to("why", { turn: each })} data-action="after">${t("after")} →</a>`)}
  </div>`;
}

function Context({ found, turn }) {
  const t = useWords(words);
  return html`<${Part} name="told" title=${t("told", { n: turn.turn })} aside=${html`<span class="tag" data-item="tokens">${t("tokens", { n: found.tokens })}</span>`}>
    <p class="hint">${found.anew ? t("anew") : t("kept")} ${found.timings_ms.total !== undefined && t("took", { n: Math.round(found.timings_ms.total) })}</p>
    ${turn.user && html`<blockquote><p><${Text} value=${turn.user} as="span" /></p></blockquote>`}
    ${found.late.length > 0 && html`<p class="notice warn">${t("late", { names: found.late.map((name) => called(t, "s_", name)).join(", ") })}</p>`}
    ${found.pieces.length === 0 ? html`<p class="none">${t("nothing")}</p>` : html`<${Pieces} rows=${found.pieces} name="pieces" time=${found.time} />`}
    ${found.skipped.length > 0 && html`<details data-item="skipped"><summary>${t("skipped")} (${found.skipped.length})</summary><p class="hint">${t("skippedHelp")}</p><${Pieces} rows=${found.skipped} name="left-out" time=${found.time} /></details>`}
    <${Whole} found=${found} />
  <//>`;
}

/** The summary in front of the history, and the block as it stands in the prompt. */
function Whole({ found }) {
  const t = useWords(words);
  return html`${found.pages && html`<details data-item="summary"><summary>${t("pages")}</summary><pre dir="auto" tabindex="0">${harmless(found.pages)}</pre></details>`}
    ${found.text && html`<details data-item="whole"><summary>${t("whole")}</summary><pre dir="auto" tabindex="0" data-item="text">${harmless(found.text)}</pre></details>`}`;
}

/** The tag of a row: of another sentence that has only some of the words, it is no answer that it was told. */
const tagOf = ({ reason, share }) => (TAGS[reason] === "good" && share < 1 ? "" : TAGS[reason] ?? "warn");
const TAGS = { told: "good", own_words: "good", in_prompt: "good", in_front: "good", in_chat: "good", no_signal: "bad", cut_out: "bad" };

/** What an event to come waits for, or since when it is over. */
function more(t, { waits, until, happened }) {
  const names = Object.entries(waits ?? {}).filter(([, what]) => what !== null).map(([name, what]) => t(`waits_${name}`, name === "turn" ? { n: what } : { name: brief(what, 60) }));
  const said = names.length ? t("waits", { names: names.join(", ") }) : happened ? t("over_happened", { n: happened }) : until ? t("over_until", { n: until }) : "";
  return said && html` <span data-item="more">${said}</span>`;
}

function Ask({ session, turn }) {
  const t = useWords(words);
  const [run, running, error] = useRun();
  const [found, put] = useState(null);
  const ask = (event) => {
    event.preventDefault();
    const text = new FormData(event.target).get("text");
    put(null);
    if (!text.trim()) return;
    run(async () => put(await write("POST", path`api/sessions/${session}/untold`, turn ? { text, turn } : { text })));
  };
  return html`<${Part} name="untold" title=${t("ask")}>
    <p class="hint">${t("askHelp")}</p>
    <form class="stack" onSubmit=${ask}><label>${t("askLabel")}<input name="text" required /></label>
      <p><button class="main" data-action="ask" disabled=${running}>${t("askDo")}</button></p></form>
    <${Failed} error=${error} />
    <div role="status" aria-live="polite">${found?.anew && html`<p class="hint" data-item="may-differ">${t("mayDiffer")}</p>`}${found && (found.found.length === 0 ? html`<p class="notice warn" data-item="unknown">${t("known")}</p>`
      : html`<ul class="lines" data-item="answers">${found.found.map((each) => html`<li key=${`${each.kind} ${each.key} ${each.part ?? ""}`} data-item="answer" data-reason=${each.reason}>
        ${each.part && html`<p class="hint" data-item="part">“<${Text} value=${each.part} most=${160} as="span" />”</p>`}
        <p><span class=${`tag ${tagOf(each)}`}>${each.kind === "turn" ? t("kind_turn", { n: each.turn }) : t(`kind_${each.kind}`)}</span> ${each.kind !== "turn" && each.turn !== undefined && html`<span class="tag">${t("kind_turn", { n: each.turn })}</span> `}<strong>${each.share < 1 && `${t("alike")} `}${t(`reason_${each.reason}`, { n: each.mentioned })}</strong>${more(t, each)}</p>
        <p><${Text} value=${each.near} most=${320} /></p>
        ${each.reason === "cut_out" && html`<p class="hint" data-item="instead">${t("instead")} <${Text} value=${each.line} most=${320} /></p>`}
        <p class="hint">${t("share", { n: Math.round(each.share * 100) })}${each.share < 1 && html`: <${Text} value=${each.words.join(", ")} most=${160} as="span" />`}</p></li>`)}</ul>`)}</div>
  <//>`;
}

/** What would be told to words that nobody said yet. */
export function Try({ session, turn = null, only = null }) {
  const t = useWords(words);
  const [run, running, error] = useRun();
  const [found, put] = useState(null);
  const attempt = (event) => {
    event.preventDefault();
    const text = new FormData(event.target).get("text");
    put(null);
    if (!text.trim()) return;
    run(async () => put(await write("POST", path`api/sessions/${session}/context`, turn ? { text, turn } : { text })));
  };
  const rows = found && (only ? [...found.pieces, ...found.skipped].filter((each) => each.source === only) : found.pieces);
  return html`<${Part} name="try" title=${t("tryIt")}>
    <p class="hint">${t("tryHelp")}</p>
    <form class="stack" onSubmit=${attempt}><label>${t("askLabel")}<input name="text" required /></label>
      <p><button class="main" data-action="try" disabled=${running}>${t("tryDo")}</button></p></form>
    <${Failed} error=${error} />
    <div role="status" aria-live="polite">${found && html`${found.shown_from !== null && html`<p class="hint" data-item="shown-from">${found.shown_from > 1 ? t("shownFrom", { n: found.shown_from }) : t("shownAll")}</p>`}<h3>${t("wouldTell")} <span class="tag">${t("tokens", { n: rows.reduce((sum, each) => sum + each.tokens, 0) })}</span></h3>
      ${rows.length === 0 ? html`<p class="none">${t("nothing")}</p>` : html`<${Pieces} rows=${rows} name="would" time=${found.time} />`}${!only && html`<${Whole} found=${found} />`}`}</div>
  <//>`;
}
