// Events in short, with names for ids.
import { language, wordsOf } from "../lib/i18n.js";
import { harmless } from "../lib/text.js";
import table from "../words/events.js";
import memories from "../words/memories.js";
import now from "../words/now.js";
import people from "../words/people.js";
import shell from "../words/shell.js";

/** What somebody's condition is called; a word of the story's own stays as it is. */
export function condition(status, t) {
  return `s_${status}` in now.en ? t(`s_${status}`) : status;
}

/** What a fact is called; one that a person made up stays as it is. */
export function factName(name, t) {
  return `f_${name}` in people.en ? t(`f_${name}`) : name;
}

/** The names of whatever changes bring in, by id. What waits or was undone is known to nobody else. */
export function introduced(changes) {
  return Object.fromEntries(changes.flatMap((each) => each.events).filter((each) => each.t === "introduced").map((each) => [each.id, each.name]));
}

/**
 * What happened, a sentence for each event. `entities` are those that the story knows, `former` the names of those that
 * it knows no more, by id.
 */
export function inShort(events, entities, former = {}) {
  const chosen = language.get();
  const t = wordsOf(table, chosen);
  const names = new Map([...Object.entries(former), ...entities.map((each) => [each.id, each.name])]);
  const word = (value) => (Array.isArray(value) ? value.map(word).join(", ") : names.get(value) ?? String(value ?? "").slice(0, 400));
  const said = events.map(({ t: kind, record, shown, ...rest }) => {
    if (!(kind in table.en)) throw new Error(`no sentence for ${kind}`);
    const values = Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, word(value)]));
    if (record?.text) values.text = record.text;
    if (rest.amount !== undefined) values.amount = rest.amount > 0 ? `+${rest.amount}` : String(rest.amount);
    if (rest.quantity !== undefined && rest.quantity !== 1) values.item += ` × ${rest.quantity}`;
    if (kind === "introduced" && rest.again) return `${wordsOf(people, chosen)("names")}: ${values.names}`;
    if (kind === "renamed") values.old = entities.find((each) => each.id === rest.id)?.aliases?.at(-1) ?? "";
    if (shown) values[kind === "tracker_changed" ? "by" : "value"] = shown;
    if (kind === "settled" && `decided_${rest.verdict}` in memories.en) values.verdict = wordsOf(memories, chosen)(`decided_${rest.verdict}`);
    if (kind === "profile_chosen" && `profile_${rest.profile}` in now.en) values.profile = wordsOf(now, chosen)(`profile_${rest.profile}`);
    if (kind === "event_closed" && rest.outcome) values.event += ` (${wordsOf(now, chosen)(`outcome_${rest.outcome}`)})`;
    if (kind === "status_changed") values.status = condition(rest.status === "alive" ? "well" : rest.status, wordsOf(now, chosen)); // wounds are over, too
    if (kind === "audience_set") {
      const { turn: n, audience = "also", who = [] } = rest;
      const known = wordsOf(memories, chosen);
      values.turn = n ? wordsOf(shell, chosen)("turn", { n }) : known("this_turn");
      values.audience = known(audience === "only" && who.length === 0 ? "knows_nobody" : `knows_${audience}`, { who: word(who) });
    }
    if (kind === "attribute_set") values.name = factName(rest.name, wordsOf(people, chosen));
    return t(kind, { amount: "", by: "", added: "", subject: "", value: "–", type: "", text: "–", ...values }).replace(/\s{2,}/g, " ").trim();
  });
  return harmless([...new Set(said)].join(" · "));
}
