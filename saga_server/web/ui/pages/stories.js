// Stories: all of them by name, to find, open, rename and delete; what was deleted can be brought back for a day.
import { html, useState } from "../lib/dom.js";
import { path, useRead, write } from "../lib/api.js";
import { language, useWords } from "../lib/i18n.js";
import { useLive } from "../lib/live.js";
import { to } from "../lib/router.js";
import { brief, Text } from "../lib/text.js";
import { Failed, Few, Part, Read, useRun } from "../parts/common.js";
import { Portrait } from "../parts/portrait.js";
import { played, Rename, sessionName } from "../parts/session_name.js";
import words from "../words/stories.js";
import shell from "../words/shell.js";

const moment = (seconds) => new Date(seconds * 1000).toLocaleString(language.get(), { dateStyle: "medium", timeStyle: "short" });

export function Page() {
  const t = useWords(words);
  const named = useWords(shell);
  const [sought, seek] = useState("");
  const listed = useRead("api/sessions", { fleeting: "all" });
  const trash = useRead("api/trash");
  const reload = () => Promise.all([listed.reload(), trash.reload()]);
  useLive(null, reload);
  const rows = played(listed.data?.sessions ?? []).map((each) => ({ ...each, name: sessionName(each, named, language.get()) }));
  const wanted = sought.trim().toLocaleLowerCase();
  const found = rows.filter((each) => [each.name, each.title, each.world].some((text) => text.toLocaleLowerCase().includes(wanted)));
  return html`<${Read} from=${listed}>
    <label>${t("search")}<input type="search" name="search" data-action="search" value=${sought} onInput=${(event) => seek(event.target.value)} /></label>
    <p class="hint" role="status" data-item="count">${t("count", { n: found.length })}</p>
    <${Few} rows=${found} most=${40} data-item="stories" row=${(each) => html`<${Story} key=${each.id} story=${each} reload=${reload} />`} />
    ${trash.data?.sessions.length > 0 && html`<${Part} name="trash" title=${t("trash")}><p class="hint">${t("trashHelp")}</p>
      <${Few} rows=${trash.data.sessions} row=${(each) => html`<${Trashed} key=${each.id} story=${each} name=${sessionName(each, named, language.get())} reload=${reload} />`} /><//>`}
  <//>`;
}

function Story({ story, reload }) {
  const t = useWords(words);
  const [run, running, error] = useRun();
  const [renaming, rename] = useState(false);
  const remove = () => run(async () => {
    await write("DELETE", path`api/sessions/${story.id}`, undefined, { query: { undo: 1 } });
    await reload();
  });
  const done = async () => {
    rename(false);
    await reload();
  };
  return html`<li data-item="story" data-session=${story.id}><div class="line"><${Portrait} story=${story} /><span class="says"><a href=${to("now", { session: story.id })} data-action="open"><strong><${Text} value=${story.name} most=${120} /></strong></a>
      <small>${t("size", { n: story.depth, when: moment(story.updated) })}${story.turns > story.depth && ` · ${t("whole", { n: story.turns })}`}${story.kind === "ephemeral" && ` · ${t("ephemeral")}`}${story.share && ` · ${t("shared", { world: story.share })}`}</small></span>
    <span class="from"><button type="button" class="quiet" data-action="rename" aria-expanded=${renaming} aria-label=${`${t("rename")}: ${brief(story.name)}`} onClick=${() => rename(!renaming)}>${t("rename")}</button>
      <button type="button" class="quiet" data-action="delete" disabled=${running} aria-label=${`${t("delete")}: ${brief(story.name)}`} onClick=${remove}>${t("delete")}</button></span></div>
    ${renaming && html`<${Rename} session=${story.id} was=${story.label} done=${done} />`}<${Failed} error=${error} /></li>`;
}

function Trashed({ story, name, reload }) {
  const t = useWords(words);
  const [run, running, error] = useRun();
  const s = useWords(shell);
  const [asking, ask] = useState(false);
  const then = (method) => () => run(async () => {
    await write(method, path`api/trash/${story.id}`);
    await reload();
  });
  return html`<li data-item="trashed"><div class="line long"><span class="says"><${Text} value=${name} most=${120} /> <small>${t("until", { when: moment(story.until) })}</small></span>
    <span class="from"><button type="button" class="quiet" data-action="restore" disabled=${running} aria-label=${`${t("restore")}: ${brief(name)}`} onClick=${then("POST")}>${t("restore")}</button>
      <button type="button" class="quiet" data-action="discard" aria-expanded=${asking} aria-label=${`${t("discard")}: ${brief(name)}`} onClick=${() => ask(!asking)}>${t("discard")} …</button></span></div>
    ${asking && html`<div class="edit" data-item="discard"><p>${t("discardAsk")}</p><div class="actions"><button type="button" class="danger" data-action="discard-yes" disabled=${running} onClick=${then("DELETE")}>${t("discard")}</button>
      <button type="button" data-action="cancel" onClick=${() => ask(false)}>${s("cancel")}</button></div></div>`}
    <${Failed} error=${error} /></li>`;
}
