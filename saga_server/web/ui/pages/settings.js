// Settings: those that players change. The file stays the truth: what would be written into it is shown before it is.
import { html, useState } from "../lib/dom.js";
import { useRead, write } from "../lib/api.js";
import { useWords } from "../lib/i18n.js";
import { Text } from "../lib/text.js";
import { Failed, Part, Read, useRun } from "../parts/common.js";
import words from "../words/settings.js";

const GROUPS = {
  models: ["models.narration", "models.extraction", "models.curator"],
  story: ["profile", "session.default_world", "session.group_knowledge", "recall.other_sessions", "session.collect_after_days"],
  reading: ["extraction.reporting", "extraction.automatic", "extraction.cards", "extraction.names", "extraction.review"],
  curator: ["curator.enabled", "curator.interval", "curator.review", "curator.compress_story_after_turns"],
  budgets: ["token_budget.total_context_max", "token_budget.dynamic_context_max", "token_budget.lorebook_max", "token_budget.recall_max", "token_budget.memories_max", "prompt_caching.cut_sliding"],
};
const PRICE = ["price_model", "price_input", "price_output"];
const word = (name) => name.replace(/\W/g, "_");
const plain = (value) => (value === null || value === undefined ? "" : String(value));

export function Page() {
  const t = useWords(words);
  const known = useRead("api/settings");
  const [changes, put] = useState({});
  const [shown, show] = useState(null);
  const [done, say] = useState(null);
  const [run, running, error] = useRun();
  const rows = Object.fromEntries((known.data?.settings ?? []).map((each) => [each.name, each]));
  const change = (name, text) => {
    const { [name]: _, ...rest } = changes;
    put(rows[name] && plain(rows[name].value) === text ? rest : { ...rest, [name]: text });
    show(null);
    say(null);
  };
  const look = (event) => {
    event.preventDefault();
    run(async () => show(await write("POST", "api/settings", changes, { query: { dry_run: 1 }, condition: known.tag })));
  };
  const save = () => run(async () => {
    const written = await write("POST", "api/settings", changes, { condition: known.tag });
    show(null);
    // The new values are read first: what was typed must not give way to the old ones for a moment.
    await known.reload();
    put({});
    say(written);
  });
  const field = (name) => html`<${Field} key=${name} setting=${rows[name]} value=${changes[name] ?? plain(rows[name].value)} change=${change} locked=${!known.data.writable} />`;
  return html`<${Read} from=${known}>${known.data && html`
    ${known.data.file ? html`<p class="hint" data-item="file">${t("file")} <code><${Text} value=${known.data.file} most=${200} /></code></p>` : html`<p class="notice" data-item="file">${t("program")}</p>`}
    ${known.data.file && !known.data.writable && html`<p class="notice warn">${t("locked")}</p>`}
    <form onSubmit=${look}><fieldset class="columns" disabled=${!known.data.writable}>
      ${Object.entries(GROUPS).map(([group, names]) => html`<${Part} key=${group} name=${group} title=${t(`g_${group}`)}><div class="stack">${names.map(field)}</div><//>`)}
      <${Part} name="price" title=${t("price")} aside=${html`<span class="tag">${t("later")}</span>`}><p class="hint">${t("priceHelp")}</p><div class="stack">${PRICE.map((name) => html`<label key=${name}>${t(name)}<input name=${name} value=${changes[name] ?? ""} inputmode=${name === "price_model" ? null : "decimal"} autocomplete="off" onInput=${(event) => change(name, event.target.value)} /></label>`)}</div><//>
    </fieldset>
    <${Failed} error=${error} />
    <div role="status" aria-live="polite">${done && html`<p class="notice good" data-item="saved">${t("saved")} ${done.restart.length > 0 ? t("restart", { names: done.restart.map((each) => (word(each) in words.en ? t(word(each)) : each)).join(", ") }) : ""}</p>`}
      ${shown && html`<${Part} name="diff" title=${t("diff")}>${shown.diff.length === 0 ? html`<p class="none">${t("same")}</p>` : html`<pre>${shown.diff.map((line, at) => (line.startsWith("-") ? html`<del key=${at}>${line}${"\n"}</del>` : html`<ins key=${at}>${line}${"\n"}</ins>`))}</pre>`}
        ${shown.restart.length > 0 && html`<p class="notice warn">${t("restart", { names: shown.restart.map((each) => (word(each) in words.en ? t(word(each)) : each)).join(", ") })}</p>`}
        ${shown.diff.length > 0 && html`<div class="actions"><button type="button" class="main" data-action="save" disabled=${running} onClick=${save}>${t("save")}</button><button type="button" data-action="cancel" onClick=${() => show(null)}>${t("cancel")}</button></div>`}<//>`}</div>
    ${known.data.writable && !shown && html`<div class="actions"><button class="main" data-action="preview" disabled=${running || !Object.keys(changes).length}>${t("look")}</button></div>`}</form>`}<//>`;
}

function Field({ setting, value, change, locked }) {
  const t = useWords(words);
  const { name, kind, choices } = setting;
  const set = (event) => change(name, event.target.value);
  const label = html`${t(word(name))}${!setting.at_once && html` <span class="tag">${t("later")}</span>`}`;
  const options = kind === "flag" ? ["true", "false"] : choices;
  return html`<label>${label}${kind === "flag" || kind === "choice"
    ? html`<select name=${name} value=${value} disabled=${locked} onChange=${set}>${options.map((each) => html`<option key=${each} value=${each} selected=${each === value}>${`v_${word(each)}` in words.en ? t(`v_${word(each)}`) : each}</option>`)}</select>`
    : html`<input name=${name} value=${value} type=${kind === "text" ? "text" : "number"} min=${setting.least} placeholder=${setting.default === null ? t("none") : plain(setting.default)} autocomplete="off" disabled=${locked} onInput=${set} />`}</label>`;
}
