// What happens, while it happens. `fetch` reads the events, for an EventSource cannot send a key.
import { useEffect, useRef } from "./dom.js";
import { Failure, locked, reachable, send } from "./api.js";
import { observable } from "./observable.js";

/** `starting`, `live`, or `lost`. */
export const connection = observable("starting");
const listeners = new Set();
const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 8_000;
const SETTLED = 120; // Milliseconds without another event, before pages read again.

function tell(event) {
  for (const each of [...listeners]) each(event);
}

function parsed(block) {
  const lines = block.split("\n");
  const name = lines.find((line) => line.startsWith("event: "))?.slice(7);
  const data = lines.find((line) => line.startsWith("data: "))?.slice(6);
  return name && data ? { name, ...JSON.parse(data) } : null;
}

async function listen() {
  const response = await send("GET", "api/events");
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const again = connection.get() === "lost";
  connection.set("live");
  if (again) tell({ name: "again" });
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop();
    for (const event of blocks.map(parsed)) if (event) tell(event);
  }
}

function waiting(pause) {
  return new Promise((go) => {
    const timer = setTimeout(go, pause);
    const end = locked.listen((is) => !is && (clearTimeout(timer), end(), go()));
  });
}

/** Listen from now on, and again whenever the connection was lost. */
export async function follow() {
  let pause = FIRST_PAUSE;
  for (;;) {
    try {
      await listen();
      pause = FIRST_PAUSE;
    } catch (error) {
      if (error instanceof Failure && error.kind !== "unreachable" && error.status !== 503 && error.status !== 401) throw error;
    }
    connection.set("lost");
    if (!locked.get()) reachable.set(false);
    await waiting(pause);
    pause = Math.min(LONGEST_PAUSE, pause * 2);
  }
}

/** Call `heard` with each event of a name, as it comes. */
export function useEvent(name, heard) {
  const latest = useRef(heard);
  latest.current = heard;
  useEffect(() => {
    const hear = (event) => event.name === name && latest.current(event);
    listeners.add(hear);
    return () => listeners.delete(hear);
  }, [name]);
}

/** Call `changed` soon after something happened in a session (null: in any). */
export function useLive(session, changed) {
  const latest = useRef(changed);
  latest.current = changed;
  useEffect(() => {
    let timer = null;
    const heard = (event) => {
      if (session && event.session && event.session !== session) return;
      clearTimeout(timer);
      timer = setTimeout(() => latest.current(event), SETTLED);
    };
    listeners.add(heard);
    return () => {
      listeners.delete(heard);
      clearTimeout(timer);
    };
  }, [session]);
}
