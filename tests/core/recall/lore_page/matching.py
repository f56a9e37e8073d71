"""Whether a key stands in a text: plain words, whole words, and patterns as JavaScript reads them."""

from __future__ import annotations

import re

from tests.core.recall.lore_page.rule import Filter, Rule

_DELIMITED = re.compile(r"/(.+)/([a-z]*)", re.S)
_WORD = "0-9A-Za-z_"  # JavaScript's \w knows ASCII alone, without its flags u and v too


def stands(key: str, text: str, rule: Rule) -> bool:
    pattern = _pattern(key, rule.patterns)
    if pattern is not None:
        return pattern.search(text) is not None
    if rule.patterns:
        return False
    if not rule.case:
        key, text = key.lower(), text.lower()
    key = key.strip()
    if not key:
        return False
    # The manual: "entries with keys containing only one word". A key of several words stands wherever it stands.
    if not rule.whole or len(key.split()) > 1:
        return key in text
    # The page is silent on what a word is. SillyTavern is JavaScript, where letters beyond ASCII are no word
    # characters: a Korean key with a particle behind it is found, as is one inside of a Japanese sentence.
    return re.search(f"(?<![{_WORD}]){re.escape(key)}(?![{_WORD}])", text) is not None


def _pattern(key: str, bare: bool) -> re.Pattern[str] | None:
    """The key as a pattern; None for plain words, and for what is none that JavaScript would take."""
    found = _DELIMITED.fullmatch(key.strip())
    # A slash inside that is not escaped ends the pattern too early: then it is no pattern but words.
    if found is not None and not re.search(r"(?<!\\)/", found[1]):
        source, letters = found[1], found[2]
        if set(letters) - set("dgimsuvy") or len(set(letters)) < len(letters):
            return None
    elif bare:
        source, letters = key, ""
    else:
        return None
    flags = re.IGNORECASE * ("i" in letters) | re.MULTILINE * ("m" in letters) | re.DOTALL * ("s" in letters)
    try:
        return re.compile(_as_javascript(source), flags)
    except re.error:
        return None


def _as_javascript(source: str) -> str:
    """JavaScript's escapes, where Python's mean more: digits and word characters are those of ASCII."""
    edge = f"(?:(?<![{_WORD}])(?=[{_WORD}])|(?<=[{_WORD}])(?![{_WORD}]))"
    source = re.sub(r"(?<!\\)\\b", lambda _: edge, source)
    source = re.sub(r"(?<!\\)\\w", lambda _: f"[{_WORD}]", source)
    source = re.sub(r"(?<!\\)\\d", lambda _: "[0-9]", source)
    return source.replace(r"\/", "/")


def invalid(rule: Rule) -> bool:
    """The specification: with use_regex, an entry with a pattern that is not valid is no match at all."""
    keys = [*rule.keys, *(key for each in rule.filters for key in each.keys)]
    return rule.patterns and any(_pattern(key, True) is None for key in keys)


def hits(rule: Rule, text: str) -> int:
    """How many of the first keys stand there; with the filters' points, what the manual calls the score."""
    points = sum(stands(key, text, rule) for key in rule.keys)
    if points:
        points += sum(_points(each, text, rule) for each in rule.filters)
    return points


def _points(each: Filter, text: str, rule: Rule) -> int:
    found = sum(stands(key, text, rule) for key in each.keys)
    if each.logic == "and_any" or (each.logic == "and_all" and found == len(each.keys)):
        return found
    return 0


def fits(rule: Rule, text: str) -> bool:
    """One of the first keys stands there, and every filter has its way."""
    if invalid(rule) or not any(stands(key, text, rule) for key in rule.keys):
        return False
    return all(_passes(each, text, rule) for each in rule.filters)


def _passes(each: Filter, text: str, rule: Rule) -> bool:
    found = [stands(key, text, rule) for key in each.keys]
    if not found:
        return True
    return {"and_any": any(found), "and_all": all(found), "not_any": not any(found), "not_all": not all(found)}[
        each.logic
    ]
