// A value that components follow.
import { useEffect, useState } from "./dom.js";

/** An observable: `get`, `set`, and `listen`, which gives the function that ends the listening. */
export function observable(value) {
  const listeners = new Set();
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return;
      value = next;
      for (const each of [...listeners]) each(value);
    },
    listen(heard) {
      listeners.add(heard);
      return () => listeners.delete(heard);
    },
  };
}

/** The value of an observable; the component is drawn anew when it changes. */
export function useObservable(source) {
  const [, redraw] = useState(0);
  useEffect(() => source.listen(() => redraw((n) => n + 1)), [source]);
  return source.get();
}
