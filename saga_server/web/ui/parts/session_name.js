// What the session is called, and giving it another name.
import { html, useEffect, useRef, useState } from "../lib/dom.js";
import { Failure, path, read, useRead, write } from "../lib/api.js";
import { useWords } from "../lib/i18n.js";
import { useLive } from "../lib/live.js";
import { brief, Text } from "../lib/text.js";
import { Failed, useRun } from "./common.js";
import { Portrait } from "./portrait.js";
import words from "../words/shell.js";

/** What a story is called: the name that somebody gave it, its title, or the day on which it began. */
export function sessionName(session, t, chosen) {
  if (session.label || session.title) return brief(session.label || session.title, 60);
  const date = new Date(session.created * 1000).toLocaleString(chosen, { dateStyle: "medium", timeStyle: "short" });
  return t("untitled", { date });
}

/** The sessions in which something was told, the latest first; of the others only `chosen`: a request that failed leaves no story. */
export function played(sessions, chosen) {
  return sessions.filter((each) => each.turns || each.id === chosen).sort((a, b) => b.updated - a.updated);
}

export function SessionName({ session }) {
  const t = useWords(words);
  const known = useRead(path`api/sessions/${session}`);
  const [editing, edit] = useState(null); // The name that was there when the form was opened.
  useLive(session, known.reload);
  const label = known.data?.label ?? "";
  const name = label || known.data?.title;
  const done = async () => {
    edit(null);
    await known.reload();
  };
  return known.data && html`<div class="line" data-item="session-name"><${Portrait} story=${known.data} /><span class="says">${name ? html`<strong><${Text} value=${name} most=${120} /></strong>` : html`<span class="none">${t("unnamed")}</span>`}</span>
      <span class="from"><button type="button" class="quiet" data-action="rename-session" aria-expanded=${editing !== null} onClick=${() => edit(editing === null ? label : null)}>${t("rename")}</button></span></div>
    ${editing !== null && html`<${Rename} session=${session} was=${editing} done=${done} />`}`;
}

export function Rename({ session, was, done }) {
  const t = useWords(words);
  const [run, running, error] = useRun();
  const box = useRef(null);
  useEffect(() => box.current.focus(), []);
  const rename = (event) => {
    event.preventDefault();
    const label = box.current.value;
    run(async () => {
      const where = path`api/sessions/${session}`;
      const { data, tag } = await read(where);
      if (data.label !== was) throw new Failure(t("nameIs", { name: brief(data.label) }), { status: 412, kind: "precondition_error", own: true });
      await write("POST", where, { label }, { condition: tag });
      await done();
    });
  };
  return html`<form class="edit stack" onSubmit=${rename} onKeyDown=${(event) => event.key === "Escape" && done()} data-item="rename-session">
    <label>${t("newName")}<input name="label" required maxlength="200" autocomplete="off" defaultValue=${was} ref=${box} /></label>
    ${was && html`<p class="hint">${t("renameHelp")}</p>`}
    <${Failed} error=${error} />
    <div class="actions"><button class="main" data-action="save" disabled=${running}>${t("save")}</button>
      <button type="button" data-action="cancel" onClick=${done}>${t("cancel")}</button></div></form>`;
}
