// What SAGA itself says: in the reader's language where the pages know the sentence, and marked as English elsewhere.
import { html } from "../lib/dom.js";
import { language } from "../lib/i18n.js";
import { useObservable } from "../lib/observable.js";
import { Text } from "../lib/text.js";
import table, { engine } from "../words/sentences.js";

/** What only programs that use the API can do. */
const ENDPOINT = /; GET \S+ lists them$/;
const FIELD = /^[\w, ]+: /;
const QUOTED = /^(['"])(.*)\1$/s;

/** A pattern that a sentence fits, with a group for each `{name}`. */
function pattern(template) {
  const parts = template.split(/\{(\w+)\}/).map((part, at) => (at % 2 ? `(?<${part}>.+?)` : part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")));
  return new RegExp(`^${parts.join("")}$`, "s");
}

// Those with the most words of their own first: a sentence is the one that says most of it.
const PATTERNS = Object.entries({ ...table.en, ...engine })
  .sort(([, one], [, other]) => other.replace(/\{\w+\}/g, "").length - one.replace(/\{\w+\}/g, "").length)
  .map(([key, template]) => [key, pattern(template)]);

/** A sentence of the engine in a language, without the field that it is about; null if the pages do not know it. */
export function translated(text, chosen) {
  for (const [key, fits] of PATTERNS) {
    const found = fits.exec(text)?.groups;
    if (!found && !fits.test(text)) continue;
    const values = { ...found };
    if (values.rest !== undefined) {
      values.rest = translated(values.rest, chosen);
      if (values.rest === null) return null;
    }
    return table[chosen][key].replace(/\{(\w+)\}/g, (whole, name) => values[name].replace(QUOTED, chosen === "en" ? "$&" : "$2"));
  }
  return FIELD.test(text) ? translated(text.replace(FIELD, ""), chosen) : null;
}

export function Sentence({ value, ...rest }) {
  const chosen = useObservable(language);
  const text = String(value ?? "").replace(ENDPOINT, "");
  const own = translated(text, chosen);
  return html`<${Text} value=${own ?? text} lang=${own === null && chosen !== "en" ? "en" : null} ...${rest} />`;
}
