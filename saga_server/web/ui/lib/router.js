// Where one is: `#/now?session=ID`. The address holds the page, the session and whatever else the page keeps in it.
import { observable } from "./observable.js";

function read() {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  return { page: decodeURIComponent(path || ""), params: Object.fromEntries(new URLSearchParams(query ?? "")) };
}

export const place = observable(read());
addEventListener("hashchange", () => place.set(read()));

/** Whether the reader has gone elsewhere from `page`, which `place` or what was drawn may not know yet. */
export function leaving(page) {
  return read().page !== page;
}

/** The address of a page. The session stays the one that is looked at, unless another is given. */
export function to(page, params = {}) {
  const { session } = place.get().params;
  const all = { ...(session ? { session } : {}), ...params };
  const given = Object.entries(all).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return `#/${encodeURIComponent(page)}${query ? `?${query}` : ""}`;
}

export function go(page, params) {
  location.hash = to(page, params);
}

/** Change what the page keeps in its address, without a step in the browser's history. */
export function keep(params) {
  const now = place.get();
  history.replaceState(null, "", to(now.page, { ...now.params, ...params }));
  place.set(read());
}
