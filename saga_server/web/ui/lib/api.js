// The admin API. Errors are SAGA's own sentences; a server that does not answer is told apart from one that refuses.
import { useCallback, useEffect, useRef, useState } from "./dom.js";
import { thisTab } from "./kept.js";
import { observable } from "./observable.js";

/** Where SAGA is: one step above the pages, whatever stands in front of it. */
export const BASE = new URL("../", new URL(location.pathname, location.origin));

/** Whether the server answered last time. */
export const reachable = observable(true);
/** Whether the server wants a key that this tab does not have. */
export const locked = observable(false);

export class Failure extends Error {
  constructor(message, { status = 0, kind = "", param = null, own = false } = {}) {
    super(message);
    Object.assign(this, { status, kind, param, own }); // `own`: in the reader's language
  }
}

export function unlock(key) {
  thisTab.write("key", key || null);
  locked.set(false);
}

export function key() {
  return thisTab.read("key");
}

/** A path with its parts made safe: path`api/sessions/${id}/state`. */
export function path(texts, ...parts) {
  return texts.reduce((made, text, at) => made + encodeURIComponent(parts[at - 1]) + text);
}

function address(where, query) {
  const url = new URL(where, BASE);
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== null && value !== undefined && value !== "") url.searchParams.set(name, value);
  }
  return url;
}

/** The response to a request. Throws `Failure`; an abort is thrown as it is. */
export async function send(method, where, { query, body, form, headers = {}, condition, signal } = {}) {
  const given = { ...headers };
  const mine = key();
  if (mine) given.Authorization = `Bearer ${mine}`;
  if (condition) given["If-Match"] = condition;
  if (body !== undefined) given["Content-Type"] = "application/json";
  let response;
  try {
    const payload = body === undefined ? form : JSON.stringify(body);
    response = await fetch(address(where, query), { method, headers: given, body: payload, signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    reachable.set(false);
    throw new Failure("", { kind: "unreachable" });
  }
  reachable.set(true);
  if (response.ok) return response;
  const said = await response.json().then((found) => found.error, () => null);
  if (response.status === 401 && key() === mine) locked.set(true); // else it was asked before the key was given
  const message = said?.message ?? `${response.status} ${response.statusText}`;
  throw new Failure(message, { status: response.status, kind: said?.type ?? "", param: said?.param ?? null });
}

/** Hand the browser a file to save. */
export function download(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** What a GET answers, with its ETag: `{ data, tag }`. */
export async function read(where, query, signal) {
  const response = await send("GET", where, { query, signal });
  return { data: await response.json(), tag: response.headers.get("ETag") };
}

/** What a POST or DELETE answers. `condition` is an ETag: if that is no longer so, the edit is refused. */
export async function write(method, where, body, { query, condition } = {}) {
  const response = await send(method, where, { body, query, condition });
  return response.json();
}

/** What a GET answers, for a component: `{ data, tag, error, reload }`. Nothing is asked while `where` is null. */
export function useRead(where, query) {
  const [found, put] = useState({ data: null, tag: null, error: null });
  const running = useRef(null);
  const asked = where === null ? null : address(where, query).href;
  const reload = useCallback(async () => {
    running.current?.abort();
    if (asked === null) return;
    const own = (running.current = new AbortController());
    try {
      const fresh = await read(asked, null, own.signal);
      // What has not changed stays the same object, so that nothing of it is drawn anew.
      if (!own.signal.aborted) put((last) => ({ ...(fresh.tag && last.asked === asked && last.tag === fresh.tag ? last : fresh), error: null, asked }));
    } catch (error) {
      if (error.name === "AbortError" || own.signal.aborted) return;
      if (!(error instanceof Failure)) throw error;
      // What was read before stays in sight: a lost connection takes nothing away.
      put((last) => ({ ...(last.asked === asked ? last : { data: null, tag: null }), error, asked }));
    }
  }, [asked]);
  useEffect(() => {
    reload();
    const ends = [locked.listen((is) => is || reload()), reachable.listen((is) => is && found.error && reload())];
    return () => {
      running.current?.abort();
      for (const end of ends) end();
    };
  }, [reload]);
  const current = found.asked === asked ? found : { data: null, tag: null, error: null };
  return { ...current, reload };
}
