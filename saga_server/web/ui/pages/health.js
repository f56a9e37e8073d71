// Health: what works less well and what helps, stores, waiting work, verifying, backups, settings.
import { html, useRef, useState } from "../lib/dom.js";
import { read, useRead, write } from "../lib/api.js";
import { language, useWords } from "../lib/i18n.js";
import { useLive } from "../lib/live.js";
import { to } from "../lib/router.js";
import { brief, Text } from "../lib/text.js";
import { Failed, Part, Read, useRun } from "../parts/common.js";
import { Sentence } from "../parts/sentence.js";
import { called } from "../parts/told.js";
import whyWords from "../words/why.js";
import words from "../words/health.js";

export function Page() {
  const t = useWords(words);
  const status = useRead("api/status");
  const jobs = useRead("api/jobs");
  const backups = useRead("api/backups");
  useLive(null, () => [status.reload(), jobs.reload()]);
  return html`<${Read} from=${status}>${status.data && html`
    <${Degraded} status=${status.data} />
    <div class="columns"><${Server} status=${status.data} /><${Stores} status=${status.data} /></div>
  `}<//>
  <${Read} from=${jobs}>${jobs.data && html`<${Jobs} found=${jobs.data} reload=${jobs.reload} />`}<//>
  <${Check} />
  <${Read} from=${backups}>${backups.data && html`<${Backups} found=${backups.data.backups} reload=${backups.reload} />`}<//>
  <div class="split"><${Doctor} /><${Settings} /></div>
  <${Log} />
  ${status.data && html`<details class="part" data-item="counters"><summary>${t("counters")}</summary>
    <div lang="en"><${Table} rows=${Object.entries(status.data.counters)} /></div></details>`}`;
}

function Degraded({ status }) {
  const t = useWords(words);
  const modes = Object.entries(status.degraded);
  const failed = status.work?.failed ?? [];
  return html`<${Part} name="degraded" title=${t("degraded")}>
    ${modes.length === 0 && status.silent.length === 0 && failed.length === 0 && html`<p class="notice good">${t("fine")}</p>`}
    ${modes.map(([name, why]) => html`<div class="notice warn" key=${name} data-item="mode" data-name=${name}>
      <p><code>${name}</code></p><p><${Sentence} value=${why} most=${4_000} /></p></div>`)}
    ${status.silent.map((each) => html`<div class="notice warn" key=${each.session} data-item="silent"><p><strong>${t("silent")}</strong></p>
      <p>${t("silentHelp", { n: each.replies ?? 3 })} <a href=${to("now", { session: each.session })}>${brief(each.label || each.session, 40)}</a></p></div>`)}
    ${failed.length > 0 && html`<h3>${t("failed")}</h3><ul>${failed.map((each, at) => html`<li key=${at}><${Sentence} value=${each.reason ?? each} /></li>`)}</ul>`}
  <//>`;
}

function lasting(seconds, t) {
  const all = Math.floor(seconds);
  const parts = [["days", Math.floor(all / 86_400)], ["hours", Math.floor(all / 3_600) % 24], ["minutes", Math.floor(all / 60) % 60], ["seconds", all % 60]];
  const first = Math.max(0, parts.findIndex(([, n]) => n > 0));
  return parts.slice(first, first + 2).map(([name, n]) => t(name, { n })).join(" ");
}

function Server({ status }) {
  const t = useWords(words);
  const w = useWords(whyWords);
  const loop = status.loop.blocks ? `${status.loop.longest_ms} ms (${t("blocks", { n: status.loop.blocks })})` : `${status.loop.longest_ms} ms`;
  const late = Object.entries(status.context.late ?? {}).map(([name, n]) => `${called(w, "s_", name)}: ${n}`).join(", ");
  return html`<${Part} name="server" title=${t("server")}><${Table} rows=${[
    [t("version"), status.version], [t("uptime"), lasting(status.uptime_seconds, t)], [t("narrators"), html`<code>${status.narrators.join(", ")}</code>`],
    [t("openRequests"), status.open_requests], [t("loop"), loop], [t("worlds"), status.worlds.length ? html`<code>${status.worlds.join(", ")}</code>` : t("none")],
    ...(late ? [[t("late"), late]] : []),
  ]} /><//>`;
}

function Table({ rows }) {
  return html`<div class="scroll"><table><tbody>${rows.map(([name, value]) => html`<tr key=${name}><th scope="row">${name}</th><td>${value?.type ? value : html`<${Text} value=${value} />`}</td></tr>`)}</tbody></table></div>`;
}

function Stores({ status }) {
  const t = useWords(words);
  return html`<${Part} name="stores" title=${t("stores")}><div class="scroll" tabindex="0" role="region" aria-label=${t("stores")}><table>
    <thead><tr><th scope="col">${t("store")}</th><th scope="col">${t("engine")}</th><th scope="col">${t("health")}</th></tr></thead>
    <tbody>${Object.entries(status.stores).map(([kind, store]) => html`<tr key=${kind} data-item="store" data-name=${kind}>
      <th scope="row">${`k_${kind}` in words.en ? t(`k_${kind}`) : kind}</th><td><code>${store.name ?? store.backend ?? ""}</code></td>
      <td><span class=${`tag ${store.ok === false ? "bad" : "good"}`}>${store.ok === false ? "✗" : "✓"}</span> <${Sentence} value=${store.detail ?? ""} /></td></tr>`)}
    </tbody></table></div>
    <p class="hint">${t("embedder")}: <code>${status.embedder}</code> · ${t("tokens")}: <code>${status.tokens}</code></p><//>`;
}

function Jobs({ found, reload }) {
  const t = useWords(words);
  const [run, running, error] = useRun();
  const retry = () => run(async () => {
    await write("POST", "api/jobs/retry");
    await reload();
  });
  return html`<${Part} name="jobs" title=${t("jobs")} aside=${found.jobs.length > 0 && html`<button type="button" data-action="retry" disabled=${running} onClick=${retry}>${t("retry")}</button>`}>
    ${found.jobs.length === 0 && html`<p class="none">${t("noJobs")}</p>`}
    <${Failed} error=${error} />
    ${found.jobs.length > 0 && html`<ul class="lines">${found.jobs.slice(0, 100).map((job, at) => html`<li key=${at} class="line" data-item="job">
      <span class="says"><strong>${`j_${job.kind}` in words.en ? t(`j_${job.kind}`) : job.kind}</strong> <${Sentence} value=${job.reason} /></span>
      <span class="from"><span class=${`tag ${job.stuck ? "bad" : ""}`}>${job.stuck ? t("stuck") : t("waiting")}</span></span></li>`)}</ul>`}
  <//>`;
}

/** One session after the other, so that it can be seen how far it is, and stopped. */
function Check() {
  const t = useWords(words);
  const [run, running, error] = useRun();
  const [at, put] = useState(null);
  const stop = useRef(false);
  const check = (method, where, over = "equal") => run(async () => {
    stop.current = false;
    const { data } = await read("api/sessions", { fleeting: "all" });
    const ids = data.sessions.map((each) => each.id);
    let found = [];
    put({ done: 0, n: ids.length, found, over: false });
    for (const [number, id] of ids.entries()) {
      if (stop.current) break;
      const answer = method === "GET" ? (await read(where, { session: id })).data : await write(method, where, undefined, { query: { session: id } });
      found = [...found, ...answer.findings];
      put({ done: number + 1, n: ids.length, found, over: false });
    }
    put((last) => ({ ...last, over }));
  });
  return html`<${Part} name="check" title=${t("check")}>
    <p class="hint">${t("checkHelp")} ${t("rebuildHelp")}</p>
    <div class="actions">
      <button type="button" data-action="verify" disabled=${running} onClick=${() => check("GET", "api/verify")}>${t("verify")}</button>
      ${at?.over && at.found.some((each) => each.mendable) && html`<button type="button" class="main" data-action="repair" disabled=${running} onClick=${() => check("POST", "api/repair")}>${t("repair")}</button>`}
      <button type="button" data-action="rebuild" disabled=${running} onClick=${() => check("POST", "api/rebuild", "rebuilt")}>${t("rebuild")}</button>
      ${running && html`<button type="button" data-action="stop" onClick=${() => { stop.current = true; }}>${t("stop")}</button>`}
    </div>
    ${at && running && html`<p>${t("checking", at)}</p><progress aria-label=${t("verify")} max=${at.n || 1} value=${at.done} />`}
    <div role="status" aria-live="polite">
      ${at?.over && at.done < at.n && html`<p class="notice warn">${t("stopped", at)}</p>`}
      ${at?.over && at.done === at.n && at.found.length === 0 && html`<p class="notice good" data-item="equal">${t(at.over === "rebuilt" ? "over_rebuild" : "equal", at)}</p>`}
      ${at?.found.length > 0 && html`<p class="notice bad">${t("findings", { n: at.found.length })}</p>`}
    </div>
    ${at && html`<ul>${at.found.slice(0, 100).map((each, number) => html`<li key=${number} data-item="finding"><${Sentence} value=${each.what} /> ${each.mendable && html`<span class="tag">${t("mendable")}</span>`}</li>`)}</ul>`}
    <${Failed} error=${error} />
  <//>`;
}

function Backups({ found, reload }) {
  const t = useWords(words);
  const [run, running, error] = useRun();
  const make = () => run(async () => {
    await write("POST", "api/backups");
    await reload();
  });
  const chosen = language.get();
  return html`<${Part} name="backups" title=${t("backups")} aside=${html`<button type="button" data-action="backup" disabled=${running} onClick=${make}>${t("backUp")}</button>`}>
    <${Failed} error=${error} />
    ${found.length === 0 && html`<p class="none">${t("noBackups")}</p>`}
    ${found.length > 0 && html`<ul class="lines">${[...found].reverse().slice(0, 20).map((each) => html`<li key=${each.path} data-item="backup" class="line">
      <span class="says">${new Date(each.made * 1000).toLocaleString(chosen)}<small><${Text} value=${each.path} /></small></span>
      <span class="from">${!each.there && html`<span class="tag bad">${t("missing")}</span>`}<span class="tag">${(each.bytes / 1024).toLocaleString(chosen, { maximumFractionDigits: 0 })} KB</span>
        <span class="tag">${t("turns")}: ${each.turns.toLocaleString(chosen)}</span></span></li>`)}</ul>`}
  <//>`;
}

function Settings() {
  const t = useWords(words);
  const [run, running, error] = useRun();
  const [found, put] = useState(null);
  const reload = () => run(async () => put(await write("POST", "api/reload")));
  return html`<${Part} name="settings" title=${t("settings")} aside=${html`<button type="button" data-action="reload-settings" disabled=${running} onClick=${reload}>${t("reload")}</button>`}>
    <${Failed} error=${error} />
    <div role="status">${found && html`<p>${found.applied.length ? html`${t("applied", { names: "" })}<code>${found.applied.join(", ")}</code>` : t("unchanged")}</p>
      ${found.restart.length > 0 && html`<p class="notice warn">${t("restart", { names: "" })}<code>${found.restart.join(", ")}</code></p>`}`}</div>
  <//>`;
}

function Doctor() {
  const t = useWords(words);
  const [run, running, error] = useRun();
  const [found, put] = useState(null);
  const examine = () => run(async () => put(await write("POST", "api/doctor")));
  return html`<${Part} name="doctor" title=${t("doctor")} aside=${html`<button type="button" data-action="doctor" disabled=${running} onClick=${examine}>${t("examine")}</button>`}>
    <p class="hint">${t("doctorHelp")}</p><${Failed} error=${error} />
    ${running && html`<progress aria-label=${t("doctor")} />`}
    <div role="status" aria-live="polite">${found && html`<p class=${`notice ${found.good ? "good" : "bad"}`} data-item="verdict">${found.good ? t("fine") : t("notFine")}</p>`}</div>
    <ul class="lines">${(found?.found ?? []).map((each, at) => html`<li key=${at} data-item="examined" data-good=${each.good}><span class=${`tag ${each.good ? "good" : "bad"}`}>${each.good ? "✓" : "✗"} <${Sentence} value=${each.about} most=${60} /></span> <${Sentence} value=${each.text} /></li>`)}</ul>
  <//>`;
}

function Log() {
  const t = useWords(words);
  const log = useRead("api/log");
  useLive(null, log.reload);
  return html`<${Part} name="log" title=${t("log")} aside=${html`<button type="button" data-action="read-log" onClick=${log.reload}>${t("readLog")}</button>`}>
    <${Read} from=${log}>${log.data && (log.data.lines.length === 0 ? html`<p class="none">${t("quiet")}</p>` : html`<div class="log" tabindex="0" aria-label=${t("log")} role="log"><ol data-item="lines">
      ${[...log.data.lines].reverse().map((each) => html`<li key=${each.number} data-level=${each.level}><span class="turn">${new Date(each.at * 1000).toLocaleTimeString(language.get())}</span>
        <span lang="en" class=${`tag ${each.level === "info" || each.level === "debug" ? "" : each.level === "warning" ? "warn" : "bad"}`}>${each.level}</span> <${Sentence} value=${each.text} /></li>`)}</ol></div>`)}<//>
  <//>`;
}
