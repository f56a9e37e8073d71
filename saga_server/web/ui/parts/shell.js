// The frame: pages, sessions, languages, colours, the connection, and the key.
import { Component, html, useEffect, useRef, useState } from "../lib/dom.js";
import { key, locked, read, unlock, useRead } from "../lib/api.js";
import { LANGUAGES, language, speak, useWords } from "../lib/i18n.js";
import { taste } from "../lib/kept.js";
import { connection, useLive } from "../lib/live.js";
import { observable, useObservable } from "../lib/observable.js";
import { useRole } from "../lib/role.js";
import { go, leaving, keep, place, to } from "../lib/router.js";
import { harmless } from "../lib/text.js";
import { PAGES } from "../pages/list.js";
import { Failed } from "./common.js";
import { played, sessionName } from "./session_name.js";
import words from "../words/shell.js";

const theme = observable(taste.read("theme") ?? "auto");

export function Shell() {
  const t = useWords(words);
  const { page, params } = useObservable(place);
  const wanted = PAGES.find((each) => each.id === page);
  const [all, showAll] = useState(false);
  const sessions = useRead("api/sessions", { fleeting: all ? "all" : "0" });
  useLive(null, sessions.reload);
  const rows = played(sessions.data?.sessions ?? [], params.session);
  const chosen = rows.find((each) => each.id === params.session || (each.label && each.label === params.session));
  useEffect(() => {
    if (leaving(page)) return; // nobody is led away from where she goes
    if (!page && sessions.error?.kind === "store_error") go("health");
    if (!sessions.data) return;
    if (!page) go(rows.length ? "now" : "start", rows.length ? { session: rows[0].id } : {});
    else if (!params.session && rows.length) keep({ session: rows[0].id });
    else if (params.session && !chosen && !all && sessions.data.fleeting) showAll(true);
  }, [sessions.data, sessions.error, page, params.session]);
  const session = chosen?.id ?? params.session ?? null;
  // Where not even the list can be read, no page about a session can: that is said once.
  const unread = wanted?.session && !sessions.data && sessions.error?.kind === "store_error";
  return html`
    <a class="skip" href="#content" onClick=${(event) => { event.preventDefault(); document.getElementById("content").focus(); }}>${t("skip")}</a>
    <${Header} rows=${rows} session=${chosen?.id ?? ""} none=${t(sessions.data ? "noSession" : sessions.error ? "unread" : "loading")} fleeting=${all ? 0 : (sessions.data?.fleeting ?? 0)} showAll=${() => showAll(true)} />
    <div class="body">
      <${Pages} current=${page} />
      <main id="content" tabindex="-1" data-page=${page || null}>
        <${Connection} />
        ${wanted
          ? unread
            ? html`<h1>${wanted.title[language.get()]}</h1><${Failed} error=${sessions.error} again=${sessions.reload} />`
            : html`<${Loaded} key=${wanted.id} page=${wanted} session=${session} params=${params} known=${sessions.data !== null} />`
          : page && html`<p>${t("noPage")}</p>`}
      </main>
    </div>
    <${Lock} />`;
}

function Header({ rows, session, none, fleeting, showAll }) {
  const t = useWords(words);
  const chosen = useObservable(language);
  const change = (event) => {
    if (event.target.value === "*") return showAll();
    const { page } = place.get();
    go(PAGES.find((each) => each.id === page)?.session ? page : "now", { session: event.target.value });
  };
  return html`<header class="top">
    <button type="button" class="menu" data-action="menu" aria-controls="pages" aria-expanded="false" onClick=${toggle} onKeyDown=${escape}>
      <span aria-hidden="true">☰</span><span class="unseen">${t("menu")}</span></button>
    <a class="brand" href=${to("now")}>SAGA</a>
    <label class="session"><span class="unseen">${t("session")}</span>
      <select data-action="session" value=${session} onChange=${change} disabled=${!rows.length}>
        ${!session && html`<option value="">${none}</option>`}
        ${rows.map((each) => html`<option key=${each.id} value=${each.id}>${sessionName(each, t, chosen)} · ${t("turn", { n: each.depth })}</option>`)}
        ${fleeting > 0 && html`<option value="*">${t("fleeting", { n: fleeting })}</option>`}
      </select></label>
  </header>`;
}

function toggle(event) {
  const button = event.currentTarget;
  const open = button.getAttribute("aria-expanded") !== "true";
  button.setAttribute("aria-expanded", String(open));
  document.getElementById("pages").classList.toggle("open", open);
}

const escape = (event) => event.key === "Escape" && shut();

function shut() {
  document.getElementById("pages").classList.remove("open");
  document.querySelector("[data-action=menu]").setAttribute("aria-expanded", "false");
}

function Pages({ current }) {
  const t = useWords(words);
  const role = useRole();
  const chosen = useObservable(language);
  return html`<nav id="pages" aria-label=${t("pages")} onKeyDown=${escape}>
    <ul>${PAGES.filter((each) => !each.admin || role !== "player").map((each) => html`<li key=${each.id}>
      <a href=${to(each.id)} data-action="page" data-name=${each.id} aria-current=${current === each.id ? "page" : null} onClick=${shut}>${each.title[chosen]}</a>
    </li>`)}</ul>
    <${Taste} /><${Live} />
  </nav>`;
}

function Taste() {
  const t = useWords(words);
  const chosen = useObservable(language);
  const colours = useObservable(theme);
  useEffect(() => {
    document.documentElement.dataset.theme = colours;
    document.documentElement.lang = chosen;
  }, [colours, chosen]);
  return html`<div class="taste">
    <label class="pick">${t("theme")}
      <select data-action="theme" value=${colours} onChange=${(event) => { taste.write("theme", event.target.value); theme.set(event.target.value); }}>
        ${["auto", "light", "dark"].map((each) => html`<option key=${each} value=${each}>${t(each)}</option>`)}
      </select></label>
    <label class="pick">${t("language")}
      <select data-action="language" value=${chosen} onChange=${(event) => speak(event.target.value)}>
        ${Object.entries(LANGUAGES).map(([id, name]) => html`<option key=${id} value=${id} lang=${id}>${name}</option>`)}
      </select></label>
  </div>`;
}

function Live() {
  const t = useWords(words);
  const state = useObservable(connection);
  useObservable(locked);
  return html`<p class="live" data-item="connection" data-state=${state}><span class="dot" aria-hidden="true"></span>${state === "live" ? t("live") : t("connecting")}</p>
    ${key() && html`<button type="button" class="quiet" data-action="leave" onClick=${() => { unlock(null); location.reload(); }}>${t("leave")}</button>`}`;
}

function Connection() {
  const t = useWords(words);
  const state = useObservable(connection);
  const shut = useObservable(locked);
  const [back, say] = useState(false);
  const was = useRef(state);
  useEffect(() => {
    const returned = was.current === "lost" && state === "live";
    was.current = state;
    say(returned);
    if (!returned) return;
    const timer = setTimeout(() => say(false), 3_000);
    return () => clearTimeout(timer);
  }, [state]);
  return html`<div role="status" aria-live="polite">
    ${state === "lost" && !shut && html`<p class="notice warn" data-item="lost">${t("lost")}</p>`}
    ${back && html`<p class="notice good" data-item="back">${t("back")}</p>`}
  </div>`;
}

function Lock() {
  const t = useWords(words);
  const shut = useObservable(locked);
  const box = useRef(null);
  const tried = useRef(false);
  useEffect(() => {
    if (shut && !box.current.open) box.current.showModal();
    if (!shut && box.current.open) box.current.close();
  }, [shut]);
  const enter = async (event) => {
    event.preventDefault();
    tried.current = true;
    unlock(new FormData(event.target).get("key").trim());
    await read("api/sessions").catch((error) => error); // a refusal locks anew
  };
  return html`<dialog ref=${box} aria-labelledby="lock" data-item="lock" onCancel=${(event) => event.preventDefault()}>
    <form onSubmit=${enter}>
      <h2 id="lock">${t("keyTitle")}</h2>
      <p>${t("keyHelp")}</p>
      ${shut && tried.current && html`<p class="notice bad" role="alert">${t("wrongKey")}</p>`}
      <label>${t("key")}<input name="key" type="password" autocomplete="off" required /></label>
      <p><button class="main" data-action="unlock">${t("enter")}</button></p>
    </form>
  </dialog>`;
}

/** A page, loaded when it is first opened. */
function Loaded({ page, session, params, known }) {
  const t = useWords(words);
  const chosen = useObservable(language);
  const [found, put] = useState(null);
  useEffect(() => {
    page.load().then((module) => put(() => module.Page), () => put("failed"));
  }, []);
  useEffect(() => {
    document.title = `${page.title[chosen]} · SAGA`;
  }, [chosen]);
  if (found === "failed") {
    return html`<div class="notice bad" role="alert"><p>${t("updated")}</p>
      <button type="button" data-action="reload" onClick=${() => location.reload()}>${t("reload")}</button></div>`;
  }
  return html`<h1>${page.title[chosen]}</h1>
    ${page.session && known && !session
      ? html`<div class="notice" data-item="no-session"><p><strong>${t("noSession")}</strong></p><p>${t("noSessionHelp")}</p>
          <p><a href=${to("start")}>${t("toStart")}</a></p></div>`
      : found && (!page.session || session) && html`<${Caught}><${found} key=${page.session ? session : page.id} session=${session} params=${params} /><//>`}`;
}

/** A mistake of a page takes that page alone down, and says so. */
class Caught extends Component {
  constructor() {
    super();
    this.state = { error: null };
  }

  static getDerivedStateFromError(error) {
    console.error(error);
    return { error };
  }

  render({ children }, { error }) {
    return error ? html`<${Wrong} error=${error} />` : children;
  }
}

function Wrong({ error }) {
  const t = useWords(words);
  return html`<div class="notice bad" role="alert" data-item="error"><p>${t("noWords", { text: harmless(error.message) })}</p>
    <button type="button" data-action="reload" onClick=${() => location.reload()}>${t("reload")}</button></div>`;
}
