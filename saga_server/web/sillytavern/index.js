// SAGA's panel inside SillyTavern. Requests that go to SAGA say which chat, persona and group member they are of.
import { ask, body, draw, el, part, short } from "./panel.js";

const NAME = "saga";
const context = () => SillyTavern.getContext();

// -- settings ------------------------------------------------------------------------------------------------------

function settings() {
  const all = context().extensionSettings;
  all[NAME] = { on: true, address: "", key: "", ...all[NAME] };
  return all[NAME];
}

/** SAGA's address without a path: the one entered, the one that was installed, or that of the connection. */
function address() {
  const own = settings().address || installed.address || context().chatCompletionSettings?.custom_url || "";
  try {
    return new URL(own).origin;
  } catch {
    return "";
  }
}

let installed = {};

// -- what a request says of itself -----------------------------------------------------------------------------------

const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])$/;

/** Whether requests to `url` reach SAGA: the same machine and port, by whatever name. */
function isSaga(url) {
  try {
    const [one, other] = [new URL(url), new URL(address())];
    return one.port === other.port && (one.hostname === other.hostname || (LOOPBACK.test(one.hostname) && LOOPBACK.test(other.hostname)));
  } catch {
    return false;
  }
}

function facts() {
  const { chatId, name1, groupId, name2 } = context();
  return { Chat: chatId, Player: name1, Member: groupId ? name2 : "" };
}

function headers() {
  return Object.entries(facts()).filter(([, value]) => value)
    .map(([name, value]) => `X-SAGA-${name}: "${encodeURIComponent(short(value)).replace(/"/g, "%22")}"`).join("\n");
}

/** The same for an API without headers of one's own. SAGA takes the marks out before the model sees anything. */
function marks() {
  return Object.entries(facts()).filter(([, value]) => value)
    .map(([name, value]) => `[[saga:${name.toLowerCase()}=${short(value)}]]`).join("");
}

function onChatRequest(data) {
  if (!settings().on || !context().chatId) return;
  if (data.chat_completion_source === "custom") {
    if (isSaga(data.custom_url)) data.custom_include_headers = [data.custom_include_headers, headers()].filter(Boolean).join("\n");
  } else if (isSaga(data.reverse_proxy) && Array.isArray(data.messages)) {
    data.messages.unshift({ role: "system", content: marks() });
  }
}

function onTextRequest(data) {
  if (settings().on && context().chatId && isSaga(data.api_server) && typeof data.prompt === "string") data.prompt = `${marks()}\n${data.prompt}`;
}

/** Where the chat is: the session, and the turn of the swipe in sight. It is kept in the chat's own file. */
async function place({ played = false } = {}) {
  const { chat, chatId, chatMetadata, saveMetadata, saveChat } = context();
  if (!chatId) return null;
  let found = null;
  try {
    found = await ask("GET", `api/chats/${part(short(chatId))}`);
  } catch (error) {
    if (error.status !== 404) throw error;
  }
  const known = chatMetadata[NAME];
  if (found && known?.session !== found.session_id) {
    chatMetadata[NAME] = { session: found.session_id };
    await saveMetadata();
  }
  const last = chat.at(-1);
  if (found && played && last && !last.is_user && last.extra && last.extra.saga_turn !== found.turn_id) {
    last.extra.saga_turn = found.turn_id;
    const swipe = last.swipe_info?.[last.swipe_id];
    if (swipe) swipe.extra = { ...swipe.extra, saga_turn: found.turn_id };
    await saveChat();
  }
  const session = found?.session_id ?? known?.session;
  if (!session) return null;
  const turn = last && !last.is_user ? last.extra?.saga_turn ?? null : null;
  return { session, turn, notices: found?.notices ?? [] };
}

// -- the panel -----------------------------------------------------------------------------------------------------

const host = {
  settings, address, place,
  origin: location.origin,
  send: (url, options) => fetch(url, options),
  language: () => localStorage.getItem("language") || navigator.language,
  set(name, value) {
    settings()[name] = value;
    context().saveSettingsDebounced();
  },
};

async function begin() {
  try {
    installed = await (await fetch(new URL("./installed.json", import.meta.url))).json();
  } catch {
    installed = {}; // copied by hand: the address is entered in the panel
  }
  const made = el("div", { id: "saga_panel", class: "inline-drawer" },
    el("div", { class: "inline-drawer-toggle inline-drawer-header" }, el("b", {}, "SAGA"), el("div", { class: "inline-drawer-icon fa-solid fa-circle-chevron-down down" })),
    el("div", { class: "inline-drawer-content" }, body(host)));
  (document.getElementById("extensions_settings2") ?? document.getElementById("extensions_settings")).append(made);
  const { eventSource } = context();
  const types = context().eventTypes ?? context().event_types;
  eventSource.on(types.CHAT_COMPLETION_SETTINGS_READY, onChatRequest);
  eventSource.on(types.TEXT_COMPLETION_SETTINGS_READY, onTextRequest);
  for (const each of ["CHAT_CHANGED", "MESSAGE_SWIPED", "MESSAGE_DELETED", "MESSAGE_EDITED"]) eventSource.on(types[each], () => draw());
  // A reply is recorded when its last byte is out; SillyTavern puts it into the chat at that moment.
  for (const each of ["CHARACTER_MESSAGE_RENDERED", "GENERATION_ENDED"]) eventSource.on(types[each], () => draw({ played: true }));
  await draw();
}

jQuery(begin);
