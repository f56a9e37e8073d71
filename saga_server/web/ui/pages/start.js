// Start: for whoever opens the pages first. Is a provider there, which address goes into which frontend, a test message.
import { html, useState } from "../lib/dom.js";
import { BASE, key, read, send, useRead } from "../lib/api.js";
import { useWords } from "../lib/i18n.js";
import { useRole } from "../lib/role.js";
import { Text } from "../lib/text.js";
import { Copy, Failed, Part, Read, useRun } from "../parts/common.js";
import { Sentence } from "../parts/sentence.js";
import words from "../words/start.js";

export function Page() {
  const t = useWords(words);
  const role = useRole();
  const status = useRead(role === "admin" ? "api/status" : null);
  const models = useRead("v1/models");
  return html`${role === "player"
      ? html`<${Addresses} /><${Test} models=${models} />`
      : html`<${Read} from=${status}>
      ${status.data && html`<${Provider} status=${status.data} models=${models} /><${Addresses} /><${Test} models=${models} />`}
    <//>`}
    <p class="hint">${t("next")}</p>`;
}

function Provider({ status, models }) {
  const t = useWords(words);
  const offline = status.narrators.every((each) => each.startsWith("offline"));
  return html`<${Part} name="provider" title=${t("provider")}>
    ${offline
      ? html`<div class="notice warn"><p>${t("offline")}</p><p>${t("offlineHelp")}</p></div>`
      : html`<p>${t("providerYes")}</p><ul>${status.narrators.map((each) => html`<li key=${each}><code><${Text} value=${each} /></code></li>`)}</ul><${Failed} error=${models.error} again=${models.reload} />`}
  <//>`;
}

function Addresses() {
  const t = useWords(words);
  const root = BASE.href.replace(/\/$/, "");
  const rows = [
    ["base", `${root}/v1`, ""],
    ["st", `${root}/v1`, t("stHelp")],
    ["risu", `${root}/v1/chat/completions`, t("risuHelp")],
    ["stText", root, t("stTextHelp")],
    ["claude", root, t("claudeHelp")],
  ];
  return html`<${Part} name="addresses" title=${t("address")}>
    <p>${t("addressHelp")}</p>
    <dl class="rows">${rows.map(([name, value, help]) => html`<div key=${name}>
      <dt>${t(name)}${help && html`<small>${help}</small>`}</dt>
      <dd><${Copy} value=${value} name=${t(name)} /></dd></div>`)}</dl>
    <p class="hint">${key() ? t("keyNeeded") : t("keyAny")}</p>
  <//>`;
}

function Test({ models }) {
  const t = useWords(words);
  const [run, running, error] = useRun();
  const [found, put] = useState(null);
  const names = (models.data?.data ?? []).map((each) => each.id);
  const ask = async (event) => {
    event.preventDefault();
    const form = new FormData(event.target);
    put(null);
    const begun = performance.now();
    await run(async () => {
      const body = { messages: [{ role: "user", content: form.get("text") }] };
      // Where no models are known yet, what is wrong with the provider is said in place of that none is named.
      const model = form.get("model") ?? names[0] ?? (await read("v1/models")).data.data[0]?.id;
      if (model) body.model = model;
      const response = await send("POST", "v1/chat/completions", { body });
      const reply = await response.json();
      const notice = response.headers.get("X-SAGA-Notice");
      put({ text: reply.choices[0].message.content, ms: Math.round(performance.now() - begun), notice });
    });
  };
  return html`<${Part} name="test" title=${t("test")}>
    <p>${t("testHelp")}</p>
    <form class="stack" onSubmit=${ask}>
      ${names.length > 1 && html`<label>${t("model")}<select name="model">${names.map((each) => html`<option key=${each}>${each}</option>`)}</select></label>`}
      <label>${t("say")}<input name="text" required defaultValue=${t("hello")} /></label>
      <p><button class="main" data-action="test" disabled=${running}>${t("send")}</button></p>
    </form>
    <div role="status" aria-live="polite">
      ${running && html`<p class="patience">${t("sending")}</p>`}
      ${found && html`<blockquote data-item="reply"><p><${Text} value=${found.text} as="span" /></p></blockquote>
        <p class="hint">${t("took", { n: found.ms })}</p>
        ${found.notice && html`<p class="notice warn"><${Sentence} value=${found.notice} /></p>`}`}
    </div>
    <${Failed} error=${error} />
  <//>`;
}
