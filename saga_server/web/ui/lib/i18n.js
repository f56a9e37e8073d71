// The words of the pages. Each page has a table: language to key to text. `{name}` in a text is filled in; a text that
// depends on a number is an object of plural forms, chosen by the argument `n`.
import { observable, useObservable } from "./observable.js";
import { taste } from "./kept.js";

export const LANGUAGES = { en: "English", ko: "한국어", ja: "日本語", zh: "中文" };

function first() {
  const wanted = [taste.read("language"), ...navigator.languages].filter(Boolean);
  return wanted.map((each) => each.slice(0, 2).toLowerCase()).find((each) => each in LANGUAGES) ?? "en";
}

export const language = observable(first());

export function speak(chosen) {
  taste.write("language", chosen);
  language.set(chosen);
}

/** The words of a table in a language. */
export function wordsOf(table, chosen) {
  return (key, values = {}) => {
    let text = table[chosen]?.[key] ?? table.en[key];
    if (text === undefined) throw new Error(`no words for ${key}`);
    if (typeof text === "object") {
      const form = new Intl.PluralRules(chosen).select(values.n ?? 0);
      text = text[form] ?? text.other;
    }
    return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? shown(values[name], chosen) : whole));
  };
}

function shown(value, chosen) {
  return typeof value === "number" ? value.toLocaleString(chosen) : String(value);
}

/** The words of a table in the language that is chosen; the component is drawn anew when another is. */
export function useWords(table) {
  return wordsOf(table, useObservable(language));
}
