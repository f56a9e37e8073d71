// Import and export: drop a file, see what would come of it and what is left out, confirm; and take a session along.
import { html, useState } from "../lib/dom.js";
import { BASE, download, path, send, useRead, write } from "../lib/api.js";
import { language, useWords } from "../lib/i18n.js";
import { useEvent } from "../lib/live.js";
import { useRole } from "../lib/role.js";
import { to } from "../lib/router.js";
import { brief, Text } from "../lib/text.js";
import { Copy, Failed, Part, useRun } from "../parts/common.js";
import { chosen, dropped } from "../parts/dropped.js";
import { Sentence } from "../parts/sentence.js";
import { sessionName } from "../parts/session_name.js";
import shell from "../words/shell.js";
import words from "../words/transfer.js";

const NAMED = 8; // Files whose names are shown.

export function Page({ session }) {
  const role = useRole();
  return html`${role === "admin" && html`<${Import} />`}${session && html`<${Export} key=${session} session=${session} />`}`;
}

function Import() {
  const t = useWords(words);
  const [run, running, error] = useRun();
  const [files, hold] = useState([]);
  const [options, choose] = useState({ world: "", lore: "auto", tell_card: false, edited: false });
  const [found, put] = useState(null);
  const [over, mark] = useState(false);
  const [far, move] = useState(null); // How far the server is with what it takes in.
  const [stopping, end] = useState(false);
  const [halt, , deaf] = useRun();
  useEvent("importing", move);
  const library = useRead("api/library");
  const ask = (all, dry, how = options) => run(async () => {
    move(null);
    end(false);
    const body = new FormData();
    for (const { file, name } of all) body.append("file", file, name);
    const query = { dry_run: dry ? 1 : null, world: how.world, lore: how.lore, tell_card: how.tell_card ? 1 : null, edited: how.edited ? 1 : null };
    put(await (await send("POST", "api/import", { query, form: body })).json());
  });
  // What it is at is finished; its answer then says what was left out.
  const stop = () => halt(async () => {
    end(true);
    await write("DELETE", "api/import");
  });
  const take = (all) => {
    if (!all.length) return;
    hold(all);
    put(null);
    ask(all, true);
  };
  const change = (name, value) => {
    const how = { ...options, [name]: value };
    choose(how);
    if (files.length) ask(files, true, how);
  };
  const drop = (event) => {
    event.preventDefault();
    mark(false);
    const reading = dropped(event.dataTransfer);
    run(() => reading).then((all) => all && take(all));
  };
  const clear = () => {
    hold([]);
    put(null);
  };
  const wanted = found?.things.some((each) => ["new", "grown"].includes(each.state));
  return html`<${Part} name="import" title=${t("bring")}>
    <p class="hint">${t("help")}</p>
    <div class=${`drop ${over ? "over" : ""}`} onDragOver=${(event) => { event.preventDefault(); mark(true); }} onDragLeave=${() => mark(false)} onDrop=${drop}>
      <label>${t("drop")} ${t("choose")}<input type="file" multiple data-action="files" onChange=${(event) => take(chosen(event.target.files))} /></label>
      <label>${t("folder")}<input type="file" webkitdirectory data-action="folder" onChange=${(event) => take(chosen(event.target.files))} /></label></div>
    <div class="split"><label>${t("world")}<select data-action="world" value=${options.world} onChange=${(event) => change("world", event.target.value)}><option value="">${t("noWorld")}</option>
        ${(library.data?.worlds ?? []).map((each) => html`<option key=${each.name} value=${each.name}>${brief(each.name, 40)}</option>`)}</select></label>
      <label>${t("lore")}<select data-action="lore" value=${options.lore} onChange=${(event) => change("lore", event.target.value)}>${["auto", "keep", "saga"].map((each) => html`<option key=${each} value=${each}>${t(`lore_${each}`)}</option>`)}</select></label>
      <p><label class="check"><input type="checkbox" data-action="tell-card" checked=${options.tell_card} onChange=${(event) => change("tell_card", event.target.checked)} />${t("tellCard")}</label>
        <label class="check"><input type="checkbox" data-action="edited" checked=${options.edited} onChange=${(event) => change("edited", event.target.checked)} />${t("edited")}</label></p></div>
    ${files.length > 0 && html`<p class="hint">${t("files", { names: files.slice(0, NAMED).map((each) => brief(each.name, 60)).join(", ") + (files.length > NAMED ? ` … (${files.length})` : "") })}</p>`}
    ${running && html`<p class="patience" role="status" data-item="progress">${stopping ? t("stopping") : far ? t("progress", far) : t("reading")}</p><progress aria-label=${t("reading")} max=${far?.total || null} value=${far ? far.done : null} />
      <button type="button" data-action="stop" disabled=${stopping} onClick=${stop}>${t("stop")}</button>`}
    <${Failed} error=${error} /><${Failed} error=${deaf} />
    <div role="status" aria-live="polite">${found && !running && html`<h3>${found.dry_run ? t("would") : t("done")}</h3>
      ${found.things.length === 0 && html`<p class="notice warn">${t("nothing")}</p>`}`}</div>
    ${found && !running && html`<${Outcome} found=${found} />
      ${found.dry_run && html`<div class="actions">${wanted && html`<button type="button" class="main" data-action="confirm" onClick=${() => ask(files, false)}>${t("confirm")}</button>`}
        <button type="button" data-action="cancel" onClick=${clear}>${t("cancel")}</button></div>`}`}
  <//>`;
}

/** What became of a file that a player should know, by how the engine says it. The rest stands in the list of fields. */
const NOTES = [
  ["frontend", /^kept in CHARACTERS\.md for the author/], ["place", /^kept for export/], ["script", /^SAGA runs no scripts/],
  ["pattern", /^a pattern that cannot be/], ["network", /^SAGA fetches nothing/], ["thoughts", /^what a model thought/],
  ["copied", /^the story is here already/],
];
const TAGS = { new: "good", grown: "good", known: "", read: "" };

function Outcome({ found }) {
  const t = useWords(words);
  return html`<ul class="lines">${found.things.map((each, at) => html`<li key=${at} data-item="thing" data-kind=${each.kind} data-state=${each.state}>
      <div class="line"><span class="says"><strong><${Text} value=${each.title || (`k_${each.kind}` in words.en ? t(`k_${each.kind}`) : each.what)} most=${120} /></strong> <small>${`k_${each.kind}` in words.en ? t(`k_${each.kind}`) : each.what} · <${Text} value=${each.file} most=${120} /></small></span>
        <span class="from"><span class=${`tag ${TAGS[each.state]}`}>${t(each.state)}</span>${!found.dry_run && each.session && html`<a href=${to("now", { session: each.session })} data-action="open">${t("open")}</a>`}</span></div>
      <p class="hint">${[
        ...Object.entries(each.counts).filter(([, n]) => n).map(([name, n]) => (`c_${name}` in words.en ? t(`c_${name}`, { n }) : `${name}: ${n}`)),
        ...(each.world && each.world !== "empty" ? [`${t("inWorld")}: ${brief(each.world, 60)}`] : []), ...(each.label && each.label !== each.title ? [`${t("inSession")}: ${brief(each.label, 60)}`] : []),
      ].join(" · ")}</p>
      ${NOTES.filter(([, said]) => each.losses.some((loss) => said.test(loss.why))).map(([name]) => html`<p class="hint" key=${name} data-item="became" data-name=${name}>${t(`n_${name}`)}</p>`)}
      ${each.losses.length > 0 && html`<details><summary>${t("losses", { n: each.losses.length })}</summary><ul>${each.losses.map((loss, number) => html`<li key=${number} data-item="loss"><code>${brief(loss.field, 60)}</code>${loss.count > 1 && ` ${t("times", { n: loss.count })}`}
        <span class=${`tag ${loss.verdict === "dropped" ? "warn" : ""}`}>${loss.verdict === "dropped" ? t("dropped") : t("mapped")}</span> <${Sentence} value=${loss.why} />${loss.where && html` <span class="hint"><${Text} value=${loss.where} most=${80} /></span>`}</li>`)}</ul></details>`}</li>`)}</ul>
    ${!found.dry_run && found.things.length > 0 && html`<${Play} things=${found.things} />`}
    ${found.refused.length > 0 && html`<h3>${t("refused")}</h3><ul>${found.refused.map((each, at) => html`<li key=${at} data-item="refused"><strong><${Text} value=${each.file} most=${120} /></strong>: <${Sentence} value=${each.why} /></li>`)}</ul>`}`;
}

/** How what was taken in is played: from the frontend, which finds it by the card's name or the chat's words. */
function Play({ things }) {
  const t = useWords(words);
  const chats = things.some((each) => each.session);
  const worlds = [...new Set(things.filter((each) => each.kind === "card" || "entries" in each.counts).map((each) => each.world))].filter(Boolean);
  const root = BASE.href.replace(/\/$/, "");
  if (!chats && !worlds.length) return null;
  return html`<${Part} name="play" title=${t("play")}><ol>
      <li>${t("playConnect")} <${Copy} name="base" value=${`${root}/v1`} /> <a href=${to("start")}>${t("playStart")}</a></li>
      ${worlds.length > 0 && html`<li>${t("playCard")}</li>`}
      ${chats && html`<li>${t("playChat")}</li>`}
      ${worlds.slice(0, 3).map((each) => html`<li key=${each}>${t("playWorld", { name: brief(each, 60) })} <${Copy} name=${each} value=${`${root}/w/${encodeURIComponent(each)}/v1`} /></li>`)}
    </ol><//>`;
}

/** A name as every operating system takes it for a file. */
const fileName = (name) => name.replace(/[\\/:*?"<>|]/g, "_").replace(/^[. ]+|[. ]+$/g, "").slice(0, 80) || "story";

function Export({ session }) {
  const t = useWords(words);
  const [run, running, error] = useRun();
  const named = useWords(shell);
  const known = useRead(path`api/sessions/${session}`).data;
  const world = known?.world;
  const library = useRead(useRole() === "admin" ? "api/library" : null).data;
  const has = (file) => library?.worlds.some((each) => each.name === world && each.files.includes(file));
  const name = known ? fileName(sessionName(known, named, language.get())) : session;
  const save = (where, format, name) => run(async () => {
    const blob = await (await send("GET", where, { query: { format } })).blob();
    download(blob, name);
  });
  const own = path`api/sessions/${session}/export`;
  const there = world && path`api/library/${world}/export`;
  return html`<${Part} name="export" title=${t("export")}><p>${t("exportHelp")}</p>
    <p><button type="button" class="main" data-action="export" disabled=${running} onClick=${() => save(own, "saga", `${name}.saga.jsonl`)}>${t("save")}</button></p>
    <p>${t("exportOthers")}</p>
    <div class="actions"><button type="button" data-action="export-chat" disabled=${running} onClick=${() => save(own, "sillytavern", `${name}.jsonl`)}>${t("saveChat")}</button>
      ${has("CHARACTERS.md") && html`<button type="button" data-action="export-card" disabled=${running} onClick=${() => save(there, "card", `${world}.card.json`)}>${t("saveCard")}</button>`}
        ${has("LOREBOOK.md") && html`<button type="button" data-action="export-lorebook" disabled=${running} onClick=${() => save(there, "lorebook", `${world}.lorebook.json`)}>${t("saveLorebook")}</button>`}</div>
    <${Failed} error=${error} /><p class="hint"><a href=${to("health")}>${t("backups")}</a></p><//>`;
}
