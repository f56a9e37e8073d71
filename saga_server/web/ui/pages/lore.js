// Lore: the entries, which were told when and why, a sentence tried against them, and the worlds' files.
import { html, useEffect, useRef, useState } from "../lib/dom.js";
import { path, read, useRead, write } from "../lib/api.js";
import { language, useWords } from "../lib/i18n.js";
import { useLive } from "../lib/live.js";
import { useRole } from "../lib/role.js";
import { brief, Text } from "../lib/text.js";
import { Failed, Part, Read, TurnLink, useRun } from "../parts/common.js";
import { Correct } from "../parts/correcting.js";
import { Sentence } from "../parts/sentence.js";
import whyWords from "../words/why.js";
import words from "../words/lore.js";
import { Try } from "./why.js";

const MOST = 150; // Entries that are listed before one searches.

export function Page({ session }) {
  const t = useWords(words);
  const role = useRole();
  const lore = useRead(path`api/sessions/${session}/lore`);
  const [said, say] = useState("");
  useLive(session, lore.reload);
  const changed = () => {
    say(t("saved"));
    lore.reload();
  };
  return html`<div role="status" aria-live="polite">${said && html`<p class="notice good">${said}</p>`}</div>
    <div class="split">
      <${Read} from=${lore}>${lore.data && html`<${Entries} session=${session} found=${lore.data} changed=${changed} />`}<//>
      <div><${Try} session=${session} only="lorebook" />${role === "admin" && html`<${Worlds} own=${lore.data?.world} />`}</div>
    </div>`;
}

function Entries({ session, found, changed }) {
  const t = useWords(words);
  const [wanted, want] = useState("");
  const low = wanted.toLowerCase();
  const rows = found.entries.filter((each) => [each.name, ...each.aliases, ...each.tags].some((name) => name.toLowerCase().includes(low)));
  return html`<${Part} name="entries" title=${t("entries")} aside=${html`<span class="tag">${found.entries.length}</span>`}>
    ${found.entries.length === 0 ? html`<p class="none">${t("none")}</p>` : html`<p class="hint">${t("of", { name: brief(found.world, 40) })}</p>`}
    ${found.entries.length > 8 && html`<label>${t("search")}<input type="search" data-action="search" value=${wanted} onInput=${(event) => want(event.target.value)} /></label>`}
    ${found.entries.length > 0 && html`<p class="hint">${t(found.contexts ? "looked" : "noneLooked", { n: found.contexts })}</p>`}
    <ul class="lines">${rows.slice(0, MOST).map((each) => html`<${Entry} key=${each.name} session=${session} entry=${each} looked=${found.contexts > 0} changed=${changed} />`)}</ul>
  <//>`;
}

function Entry({ session, entry, looked, changed }) {
  const t = useWords(words);
  const w = useWords(whyWords);
  const [editing, edit] = useState(false);
  const done = (made) => {
    edit(false);
    if (made) changed();
  };
  const reason = (why) => Object.entries(why).map(([name, value]) => `${`w_${name}` in whyWords.en ? w(`w_${name}`) : name} +${value.toLocaleString(language.get(), { maximumFractionDigits: 2 })}`).join(" · ");
  return html`<li data-item="entry" data-name=${entry.name}><details><summary><strong><${Text} value=${entry.name} most=${80} /></strong> <span class="tag">${t("layer", { n: entry.layer })}</span>
      ${looked && html`<span class=${`tag ${entry.fired.length ? "good" : ""}`}>${entry.fired.length ? t("told", { n: entry.fired.length }) : t("untold")}</span>`}</summary>
    <p><${Text} value=${entry.text} most=${600} /></p>
    ${entry.added && html`<p class="notice"><strong>${t("added")}</strong> <${Text} value=${entry.added} /></p>`}
    <p class="hint">${entry.mentioned === null ? t("never") : t("mentioned", { n: entry.mentioned })}${entry.constant && ` · ${t("constant")}`}${entry.secret && ` · ${t("secret", { names: entry.known_by.map((each) => brief(each, 30)).join(", ") })}`}</p>
    <ul>${entry.fired.map((each) => html`<li key=${each.turn_id} data-item="fired"><${TurnLink} turn=${each.turn} id=${each.turn_id} /> ${t("why")} ${reason(each.why)}</li>`)}</ul>
    <button type="button" class="quiet" data-action="edit" aria-expanded=${editing} onClick=${() => edit(!editing)}>${t("edit")}</button>
    ${editing && html`<${Correct} session=${session} done=${done} fields=${[{ name: "text", label: t("text"), kind: "long", value: entry.added ?? "", free: true }]} make=${({ text }) => ({ kind: "lore", entry: entry.name, text })} />`}
  </details></li>`;
}

// -- worlds --------------------------------------------------------------------------------------------------------

function Worlds({ own }) {
  const t = useWords(words);
  const library = useRead("api/library");
  const [chosen, choose] = useState(null);
  const names = (library.data?.worlds ?? []).map((each) => each.name);
  const name = chosen ?? (names.includes(own) ? own : names[0]);
  return html`<${Read} from=${library}>${names.length > 0 && html`<${Part} name="worlds" title=${t("worlds")}>
    <label>${t("world")}<select data-action="world" value=${name} onChange=${(event) => choose(event.target.value)}>${library.data.worlds.map((each) => html`<option key=${each.name} value=${each.name}>${brief(each.name, 40)}${each.problems > 0 ? ` – ${t("problems", { n: each.problems })}` : ""}</option>`)}</select></label>
    <${World} key=${name} name=${name} />
  <//>`}<//>`;
}

function World({ name }) {
  const t = useWords(words);
  const world = useRead(path`api/library/${name}`);
  const [file, open] = useState(null);
  const files = Object.keys(world.data?.files ?? {});
  const shown = file ?? files.at(-1);
  return html`<${Read} from=${world}>${world.data && html`
    ${!world.data.writable && html`<p class="hint" data-item="shipped">${t("shipped")}</p>`}
    <label id="world-file">${t("file")}<select data-action="file" translate=${false} value=${shown} onChange=${(event) => open(event.target.value)}>${files.map((each) => html`<option key=${each} value=${each}>${each}</option>`)}</select></label>
    ${shown && html`<${Editor} key=${shown} name=${name} file=${shown} world=${world} />`}
  `}<//>`;
}

function Editor({ name, file, world }) {
  const t = useWords(words);
  const [run, running, error] = useRun();
  const [found, put] = useState(null);
  const [edited, mark] = useState(false);
  const box = useRef(null);
  const tag = useRef(world.tag);
  const where = path`api/library/${name}`;
  useEffect(() => {
    if (!edited) tag.current = world.tag;
  }, [world.tag]);
  const send = (dry) => run(async () => {
    const options = dry ? { query: { dry_run: 1 } } : { condition: tag.current };
    const answer = await write("POST", where, { file, text: box.current.value }, options);
    put({ ...answer, dry });
    if (dry) return;
    mark(false);
    await world.reload();
  });
  const go = (line) => {
    const lines = box.current.value.split("\n");
    const start = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
    box.current.focus();
    box.current.setSelectionRange(start, start + (lines[line - 1] ?? "").length);
    box.current.scrollTop = (box.current.scrollHeight / lines.length) * Math.max(0, line - 4);
  };
  const problems = (found ?? world.data).problems;
  return html`<textarea class="file" rows="16" spellcheck="false" aria-labelledby="world-file" ref=${box} data-item="text" defaultValue=${world.data.files[file]} onInput=${() => mark(true)}></textarea>
    <div class="actions"><button type="button" data-action="check" disabled=${running} onClick=${() => send(true)}>${t("check")}</button>
      ${world.data.writable && html`<button type="button" class="main" data-action="write" disabled=${running} onClick=${() => send(false)}>${t("write")}</button>`}
      ${edited && html`<span class="tag warn">${t("changed")}</span>`}</div>
    <${Failed} error=${error} />
    <div role="status" aria-live="polite">${found && problems.length === 0 && html`<p class="notice good">${found.dry ? t("checked") : t("wrote")}</p>`}
      ${problems.length > 0 && html`<p class="notice bad">${t("problems", { n: problems.length })}</p>`}</div>
    <ul>${problems.map((each, at) => html`<li key=${at} data-item="problem" data-line=${each.line}><strong>${t("line", { file: each.file, n: each.line })}</strong>: <${Sentence} value=${each.message} />; <${Sentence} value=${each.remedy} />
      ${each.file === file && html`<button type="button" class="quiet" data-action="go" onClick=${() => go(each.line)}>${t("go")}</button>`}</li>`)}</ul>
    ${(found ?? world.data).warnings.length > 0 && html`<details><summary>${t("warnings")}</summary><ul>${(found ?? world.data).warnings.map((each) => html`<li key=${each}><${Sentence} value=${each} /></li>`)}</ul></details>`}`;
}
