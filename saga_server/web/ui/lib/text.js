// Texts of stories. They come from models, cards and players: shown as they are, and never obeyed.
import { html, useState } from "./dom.js";
import { useWords } from "./i18n.js";
import words from "../words/shell.js";

// Control characters, and those that turn the direction of the text around them.
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]/g;

/** A text without what a screen must not obey: each such character is shown as U+FFFD. */
export function harmless(text) {
  return String(text ?? "").replace(UNSEEN, "\ufffd");
}

/** For names of controls and other places that hold one line. */
export function brief(text, most = 60) {
  const one = harmless(text).replace(/\s+/g, " ");
  const letters = [...one.slice(0, most * 2 + 2)];
  return letters.length > most ? `${letters.slice(0, most).join("")}…` : one;
}

/** A text of a story: its direction is its own, and one that is long is opened at a button. */
export function Text({ value, most = 400, as = "bdi", ...rest }) {
  const t = useWords(words);
  const [whole, open] = useState(false);
  const text = harmless(value);
  const long = text.length > most + 40;
  const seen = long && !whole ? `${text.slice(0, most).replace(/[\ud800-\udbff]$/, "")}…` : text;
  return html`<${as} class="text" dir="auto" ...${rest}>${seen}<//>${
    long &&
    html` <button type="button" class="quiet" data-action="open-text" aria-expanded=${whole} onClick=${() => open(!whole)}>
      ${whole ? t("less") : t("more")}</button>`
  }`;
}
