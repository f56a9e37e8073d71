// RisuAI runs a plugin in a frame of its own, which may make no requests and submit no forms: RisuAI makes the requests.
import { ask, body, draw, el, part, short, t } from "../sillytavern/panel.js";

const kept = { on: false, address: "", key: "" };
const address = () => new URL(kept.address || SAGA).origin;

/** The chat in sight; null where none is open. */
async function chat() {
  const who = await risuai.getCurrentCharacterIndex();
  return who < 0 ? null : risuai.getChatFromIndex(who, await risuai.getCurrentChatIndex());
}

/** Where the chat is: RisuAI's requests name it, and its newest reply is in sight. */
async function place() {
  const id = short((await chat())?.id);
  if (!id) return null;
  try {
    const found = await ask("GET", `api/chats/${part(id)}`);
    return { session: found.session_id, turn: found.turn_id, notices: found.notices };
  } catch (error) {
    if (error.status === 404) return null;
    throw error;
  }
}

/** Say in a request which chat it is of. SAGA takes the mark out before the model sees anything. An imported chat brings its id, which could end the mark and begin another. */
async function marked(messages, type) {
  const id = kept.on && type === "model" ? short((await chat())?.id) : "";
  return id ? [{ role: "system", content: `[[saga:chat=${id}]]` }, ...messages] : messages;
}

/** RisuAI asks the player whether the plugin may do this. So it is not begun before the panel is switched on. */
let marking = false;
async function mark() {
  if (kept.on && !marking) {
    marking = true;
    await risuai.addRisuReplacer("beforeRequest", marked);
  }
}

for (const name of ["address", "key"]) kept[name] = (await risuai.getArgument(name)) || "";
kept.on = Boolean(Number(await risuai.getArgument("on")));
const inside = body({
  settings: () => kept, address, place,
  origin: new URL(document.baseURI).origin,
  send: (url, options) => risuai.nativeFetch(url, options),
  language: () => navigator.language,
  async set(name, value) {
    kept[name] = value;
    await risuai.setArgument(name, name === "on" ? Number(value) : value);
    await mark();
  },
});
document.head.append(el("style", {}, STYLE));
document.body.append(el("main", { id: "saga_panel" },
  el("div", { class: "saga-row" }, el("b", {}, "SAGA"), el("button", { type: "button", "data-saga": "close", onclick: () => risuai.hideContainer() }, t("close"))), inside));

async function open() {
  await risuai.showContainer("fullscreen");
  await draw();
}

await risuai.registerSetting("SAGA", open, "", "none");
try {
  await risuai.registerButton({ name: "SAGA", icon: "", iconType: "none", location: "hamburger" }, open);
} catch {
  // A RisuAI without buttons of plugins: the panel is among its settings.
}
await mark();
