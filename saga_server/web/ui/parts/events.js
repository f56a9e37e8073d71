// Events in short, with names for ids.
import { language, wordsOf } from "../lib/i18n.js";
import { harmless } from "../lib/text.js";
import table from "../words/events.js";

/** What happened and its words. `entities` are those that the story knows. */
export function inShort(events, entities) {
  const t = wordsOf(table, language.get());
  const names = new Map(entities.map((each) => [each.id, each.name]));
  const word = (value) => (Array.isArray(value) ? value.map(word).join(", ") : names.get(value) ?? String(value));
  return events.map(({ t: kind, ...rest }) => {
    const parts = Object.entries(rest).filter(([name, value]) => value !== null && name !== "event" && name !== "id" && (typeof value !== "object" || Array.isArray(value)));
    const said = [...parts.map(([, value]) => word(value)), rest.record?.text].filter(Boolean).join(", ");
    return harmless(`${kind in table.en ? t(kind) : kind.replaceAll("_", " ")}: ${said}`);
  }).join(" · ");
}
