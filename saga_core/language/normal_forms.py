"""Unicode normalisation of all text that enters SAGA, and the two forms of a name: as stored and as compared."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Final, Literal

_SPACES = re.compile(r"\s+")
_MAY_BE_DRESSED = re.compile(r"[^\w\s.'-]|[_\u0640]")
_UNSEEN = (
    "[\\u00ad\\u034f\\u061c\\u0640\\u180b-\\u180f\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\ufe00-\\ufe0f\\ufeff"
    "\\U000e0000-\\U000e01ef]"
)
"""Characters that show nothing, so that a model reads over them, and the line that draws an Arabic word out."""
_ORNAMENT = (
    "[~*_:|=^\\u00a1\\u00a6\\u00b7\\u00bf\\u2010-\\u2015\\u2020-\\u205e\\u2190-\\u2bff\\u3000-\\u3003\\u3012-\\u3020\\u3030\\u30fb"
    "\\ua9c1-\\ua9cd\\uff5c\\uff5e\\uff65]"
)
_FRAMED = re.compile(
    rf"^(?:{_ORNAMENT}|[\s\u3099-\u309c\uff9e\uff9f])+|(?:{_ORNAMENT}[\u3099-\u309c\uff9e\uff9f]?|\s)+$"
)
"""Signs around a name. A dot, a bracket, a quotation mark or a number sign may belong to it."""
_SHOWS_NOTHING = re.compile(_UNSEEN)
_STRUCK = re.compile("[\u0334-\u0338\u20d2\u20d3\u20d8-\u20da\u20e5\u20e6\u20ea\u20eb]")
"""Marks that are drawn through a letter."""
_OPENING = "\u3008\u300a\u300c\u300e\u3010\u3014\u3016"
"""Brackets and quotation marks of Chinese, Japanese and Korean, which mark a name as one. Each closes with the next
character."""
_TYPED = {**dict.fromkeys(map(ord, "\u2018\u2019\u02bc"), "'"), **dict.fromkeys(range(0x2010, 0x2014), "-")}
"""Apostrophes and hyphens that are set by a program, as they are typed."""
_MEANS_NOTHING = re.compile("[\u00ad\u034f\u200b\u2060-\u2064\ufeff]")
"""Those that change nothing of the letters beside them either: where a word may break, and marks of byte order."""
_DIRECTION = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_JOINS = re.compile("(?<![\u0300-\U0010ffff])[\u200c\u200d]|[\u200c\u200d](?![\u0300-\U0010ffff])")
"""A joiner that joins nothing."""
_WIDE = {**{ord("\uff10") + n: ord("0") + n for n in range(10)}, **{ord("\uff41") + n: ord("a") + n for n in range(26)}}
_UNLIKE = re.compile(_UNSEEN[:-1] + "\uff10-\uff19\uff41-\uff5a]")
_BRACKET = re.compile(
    "[\\[\u2045\u2308\u230a\u23a1-\u23a3\u2772\u27e6\u27ec\u298b\u298d\u298f\u2997\u3010\u3014\u3016\u3018\u301a\ufe17"
    "\ufe39\ufe3b\ufe47\ufe5d\uff3b]"
)
"""Brackets that a model may read as "["."""
_SIGN = "saga"
_LOOKALIKE = {
    **dict.fromkeys("$\u0455\u01bd\u057f\u13d5\u13da\u2d1d\ua4e2\ua731\U00010296\U00010448\U000118c1\U00016f3a", "s"),
    **dict.fromkeys("\u0251\u03b1\u03bb\u0430\u13aa\u15c5\u1d00\u2200\u237a\ua4ee\U000102a0\U00016f40", "a"),
    **dict.fromkeys("\u018d\u050d\u0261\u0262\u0581\u13c0\u13f3\u1d83\ua4d6", "g"),
}
"""Case-folded letters that look like those of SAGA, as Unicode's table of confusables has them, and have no
decomposition that says so."""
_READ_OVER = frozenset(
    "/\\_*~\u1735\u2041\u2044\u2215\u2571\u27cb\u29f8\u2cc6\u3033\u30ce\u31d3\u4e3f\uff0f\u0640\u115f\u1160\u2800\u3164"
    "\uffa0\U0001d23a"
)
"""Slashes, signs of emphasis, and characters that show nothing although they are letters or symbols."""
_RUN = 30
"""The maximum number of consecutive marks, as in the Stream-Safe Text Format (Unicode Standard Annex 15)."""
_JOINER = "\u034f"
"""An invisible character. Marks are not reordered across it."""
_STARTS = re.compile("[ -~\u3041-\u3094\u4e00-\u9fff\uac00-\ud7a3]")
"""Matches a character that no normal form combines with the previous one."""
_CHARACTERS = 8_192
"""The maximum number of characters that are kept with an answer about them."""
_FEW = 500
"""The length up to which a text is normalized directly, because sorting even a single run of marks is fast."""


def normalized(form: Literal["NFC", "NFD", "NFKC", "NFKD"], text: str) -> str:
    """``text`` in a normal form, in time proportional to its length.

    Python sorts the marks on one letter in quadratic time and holds the GIL meanwhile: 80 KB take a second. So runs of
    more than 30 marks are split by U+034F, which is invisible. No writing system uses that many.
    """
    if text.isascii():
        return text
    if len(text) > _FEW and not unicodedata.is_normalized(form, text):
        text = _long_run().sub(_parted, text)
    return unicodedata.normalize(form, text)


def pieces(text: str, size: int) -> Iterator[str]:
    """Split ``text`` into pieces of ``size`` characters or slightly more. Their normal forms, joined, equal the normal
    form of the text."""
    start = 0
    while start < len(text):
        cut = _STARTS.search(text, start + size)
        end = cut.start() if cut is not None else len(text)
        yield text[start:end]
        start = end


def _parted(run: re.Match[str]) -> str:
    return run.group() + _JOINER


@cache
def _long_run() -> re.Pattern[str]:
    """Matches ``_RUN`` marks that are followed by another one."""
    marks = "".join(char for char in map(chr, range(0x300, 0x1F000)) if unicodedata.combining(char))
    marks += "\u0f73\u0f75\u0f81\uff9e\uff9f"  # not marks themselves, but composed of marks
    return re.compile(f"[{marks}]{{{_RUN}}}(?=[{marks}])")


def nfc(text: str) -> str:
    """Canonical composition, so that Hangul typed on any system compares equal.

    Names, keys and stored text are passed through this function once, when they enter. NUL and lone surrogates, which
    most storage engines reject, are replaced by U+FFFD.
    """
    if "\0" in text:
        text = text.replace("\0", "\ufffd")
    if text.isascii():
        return text
    if not unicodedata.is_normalized("NFC", text):
        text = normalized("NFC", text)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def clean_name(text: str) -> str:
    """A name in the form in which it is stored: NFC, inner white space collapsed to one space, ends stripped.

    It is kept as it was written, with joiners, direction marks, pictures and full-width letters. Only soft hyphens,
    zero-width spaces and marks of byte order go, which nobody wrote on purpose. Names are compared by ``fold_name``.
    """
    if not text.isascii():
        text = _MEANS_NOTHING.sub("", text)  # first, as one may stand between two letters that compose
    return " ".join(nfc(text).split())


def spoken_name(name: str) -> str:
    """A name as a story calls its bearer: without pictures and signs around it, and what shows nothing."""
    return " ".join(_said_aloud(name).split()) if _MAY_BE_DRESSED.search(name) is not None else name


def without_needless_marks(text: str) -> str:
    """``text`` without characters that show nothing, except the joiners within words and pictures."""
    if text.isascii():
        return text
    return _JOINS.sub("", _DIRECTION.sub("", _MEANS_NOTHING.sub("", text)))


def alike(folded: str) -> str:
    """A case-folded text without characters that show nothing, with plain letters and digits for full-width ones, and
    typed apostrophes and hyphens."""
    if folded.isascii():
        return folded
    folded = folded.replace("\u2019", "'").replace("\u2011", "-")
    if _UNLIKE.search(folded) is None:
        return folded
    return _SHOWS_NOTHING.sub("", folded).translate(_WIDE)


def squash(text: str) -> str:
    """A key or word of a report in the form used for comparison: NFKC, case folded, letters with their marks and digits
    only. In some scripts the vowels are marks."""
    return _squashed(text) if len(text) <= _SHORT else _squashed.__wrapped__(text)


_SHORT = 64
"""The longest text whose form is kept. A report may have thousands of long ones."""


@lru_cache(maxsize=4_096)
def _squashed(text: str) -> str:
    plain = normalized("NFKC", text).casefold()
    if plain.isascii():
        return "".join(filter(str.isalnum, plain))
    plain = _SHOWS_NOTHING.sub("", plain)
    return "".join(char for char in plain if char.isalnum() or unicodedata.category(char) in ("Mn", "Mc"))


@lru_cache(maxsize=16_384)
def fold_name(text: str) -> str:
    """A name in the form used for comparison: NFKC, case folded, without white space and what nobody says aloud.

    ``fold_name("어둠의 숲") == fold_name("어둠의숲")``, because the spacing of Korean compounds varies by writer.
    Joiners, direction marks, soft hyphens and variation selectors do not count, and neither do pictures beside letters
    and signs around them: ``fold_name("~Mara❤~") == fold_name("Mara")``. Round apostrophes count as straight ones.
    """
    plain = normalized("NFKC", text if text.isascii() else _SHOWS_NOTHING.sub("", text) or text)
    if _MAY_BE_DRESSED.search(plain) is not None:
        plain = _said_aloud(plain)
    return _SPACES.sub("", plain if plain.isascii() else plain.translate(_TYPED)).casefold()


def _said_aloud(text: str) -> str:
    heard = "".join(char for char in _SHOWS_NOTHING.sub("", text) if unicodedata.category(char) != "Cf")
    letters = _FRAMED.sub("", _STRUCK.sub("", "".join(char for char in heard if not _is_picture(char))))
    if letters[:1] in tuple(_OPENING) and letters.find(chr(ord(letters[0]) + 1)) == len(letters) - 1:
        letters = letters[1:-1].strip()
    return letters if any(map(str.isalnum, letters)) else heard or text


def _is_picture(char: str) -> bool:
    """Whether a character is a picture, and not a letter in a circle or box."""
    return unicodedata.category(char) in ("So", "Sk") and not unicodedata.decomposition(char)


@lru_cache(maxsize=16_384)
def caseless(text: str) -> bool:
    """Whether a text contains letters of a script without capitals, such as Hangul, kana or Han characters."""
    return not text.isascii() and any(map(caseless_letter, text))


class _Caseless(dict[str, bool]):
    """Whether characters are letters of a script without capitals. Texts use few different ones, again and again."""

    def __missing__(self, char: str) -> bool:
        if len(self) >= _CHARACTERS:
            self.clear()
        self[char] = found = char.isalpha() and char.lower() == char.upper()
        return found


caseless_letter = _Caseless().__getitem__
"""Whether a character is a letter of a script without capitals. The index asks about every term of one letter, and an
``lru_cache`` reads and writes several places of memory to say which it answered last."""


def without_signs(text: str, tokens: re.Pattern[str]) -> str:
    """Text of a story or a world with SAGA's own markers and tokens of a model's template made harmless.

    A bracket before "SAGA" or "/SAGA" becomes "(". So does what ``tokens`` finds (``text_prompt.TOKENS``), such as the
    "<" of ``<|im_end|>``, because servers may interpret it as a template token. Blanks, marks and what shows nothing do
    not count, and neither does the script.
    """
    return tokens.sub("(", _BRACKET.sub(_unsigned, text))


def _unsigned(bracket: re.Match[str]) -> str:
    text, found = bracket.string, 0
    for at in range(bracket.end(), len(text)):
        for char in unicodedata.normalize("NFKD", text[at]):
            if char in _READ_OVER or char.isspace() or unicodedata.category(char) in ("Cc", "Cf", "Mn", "Me"):
                continue
            if _LOOKALIKE.get(folded := char.casefold(), folded) != _SIGN[found]:
                return bracket.group()
            found += 1
            if found == len(_SIGN):
                return "("
    return bracket.group()


# -- long texts, shortened for code that searches them on the event loop ---------------------------------------

LONG: Final = 64_000
"""The longest text, in characters, that code on the event loop reads in full."""


_MANY = 64
"""A text with at most this many lines is searched as it is."""
_EMPTY = re.compile(r"\n(?:[ \t\r]*+\n){2,}+")


def without_empty_lines(text: str) -> str:
    """Return ``text`` with one empty line in place of several in a row.

    Patterns try something at each line, so a page of empty lines takes many times as long as a page of words.
    """
    return _EMPTY.sub("\n\n", text) if text.count("\n") > _MANY else text


def looked_through(text: str, most: int = LONG) -> str:
    """Return ``text``, or its beginning and end, joined by a newline, if it has more than ``most`` characters.

    This bounds the time of reading a text, during which the event loop serves no other request. The important parts of
    a long text are usually at its beginning and end.
    """
    return text if len(text) <= most else f"{text[: most // 2]}\n{text[-most // 2 :]}"
