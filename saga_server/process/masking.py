"""Takes keys, passwords, and for players also paths and addresses of servers, out of texts."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Final
from urllib.parse import quote, unquote

from attrs import frozen

from saga_core.errors import QUOTES

HIDDEN: Final = "(key)"
_SHORTEST = 6
_RUN = 12
"""The length of a run of a secret's characters from which on it is hidden, forwards or backwards."""
_STRIDE = _RUN // 2
_LONGEST = 10_000
"""Characters of a text that are searched, besides half as many at its end. An error may quote megabytes."""
_PLACES = 4
"""How many places of secrets are compared with one place of a text. A secret that repeats itself has more."""

# -- keys ------------------------------------------------------------------------------------------------------

_BEARER = re.compile(r"(?i)\b(bearer\s+)(?=\S*\d)[^\s\"',;]{8,}")
_BASIC = re.compile(r"(?i)\b(basic\s+)(?=\S*[\d=])[a-z0-9+/_-]{8,}={0,2}")
_NAMED = re.compile(r"(?i)(x-(?:goog-)?api-key[\"']?\s*[:=]\s*[\"']?)[^\s\"',;]+")
_NAMES = (
    r"(?:passw(?:or)?d|pwd|passphrase|(?:api|access|auth|secret|private|account|subscription|master)[-_ ]?key"
    r"|(?:[a-z]{1,10}[-_])?(?:token|secret))"
)
"""Fields whose values are secrets."""
_IN_QUOTES = re.compile(rf"(?i)({_NAMES}\\{{0,4}}[\"']?\s{{0,3}}[:=]\s{{0,3}}\\{{0,4}}[\"'])[^\"'\\]{{4,300}}")
_ASSIGNED = re.compile(rf"(?i)((?:{_NAMES}|[?&]key)=)[^\s\"'\\,;&<>()]{{4,300}}")
_STATED = re.compile(rf"(?i)({_NAMES}:\s{{0,3}})(?=[^\s\"',;]{{0,80}}\d)[^\s\"',;<>()]{{8,300}}")
"""Prose has words behind a colon: "token: expected a number"."""
_KEY = re.compile(
    r"saga_[A-Za-z0-9_-]{40,}|(?:(?<=%[0-9A-Fa-f]{2})|(?<![A-Za-z0-9]))"
    r"(?:(?:sk|pk|rk)(?:-|%2[Dd])(?:[A-Za-z0-9_-]|%[0-9A-Fa-f]{2}){16,}|A[KS]IA[A-Z0-9]{16}|AIza[A-Za-z0-9_-]{30,}"
    r"|(?:gh[a-z]|github_pat|gsk|hf|r8|fw)_[A-Za-z0-9_]{20,}|(?:pplx|xai|nvapi|csk|tvly|glpat|xox[a-z])-[A-Za-z0-9_-]{20,}"
    r"|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?"
    r"|[A-Za-z]{2,16}[-_](?=[A-Z0-9]{0,80}[a-z])(?=[a-z0-9]{0,80}[A-Z])(?=[A-Za-z]{0,80}\d)[A-Za-z0-9]{24,200})"
)
"""Keys of SAGA, of providers and of code hosts, signed tokens (JWT), and what is made like such a key."""
_BETWEEN = r"\\{0,4}[\"']?\s{0,3}[:=]\s{0,3}\\{0,4}[\"']?"
_COOKIE = re.compile(rf"(?i)(\bcookie{_BETWEEN})[\w.~+%-]{{1,100}}=[^\r\n\"'\\<>]{{1,4000}}")
_AUTHORIZED = re.compile(
    rf"(?i)(\bauthorization{_BETWEEN}(?:(?:bearer|basic|digest|negotiate|token|key)\s{{1,3}}|(?=[^\s\"',;]{{0,200}}\d)))"
    r"[^\s\"',;<>()\\]{8,4000}"
)
_PEM = re.compile(
    r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[^-]|-(?!----)){0,20000}(?:-----END [A-Z ]{0,60}-----)?"
)
_IN_URL = re.compile(r"(\w{1,20}://[^/\s:]{0,100}:)(?!\d{1,5}/)[^\s\"'<>]{1,300}(?=@)")
"""A password may hold "/" and "@" itself, so it ends at the last "@". A port before a path is none."""
_ALONE = re.compile(r"(\w{1,20}://)[^/\s:@]{1,300}(?=@)")
_BEFORE_HOST = re.compile(
    r"(?<![\w./:@-])([A-Za-z][\w.+-]{0,60}:)[^\s@/\"'<>:(]{1,100}(?=@[\w-]{1,63}(?:\.[A-Za-z]|:\d)|@localhost\b)"
)
"""A name and a password without a scheme before them."""
_IN_ENCODED_URL = re.compile(r"(?i)(\w{1,20}%3A%2F%2F)[^\s\"'<>]{1,300}(?=%40)")
_BEHIND = (
    *(_COOKIE, _AUTHORIZED, _BEARER, _BASIC, _NAMED, _IN_QUOTES),
    *(_ASSIGNED, _STATED, _IN_URL, _ALONE, _BEFORE_HOST, _IN_ENCODED_URL),
)
"""Patterns of secrets that stand behind their first group."""
_QUOTED = re.compile(re.escape(QUOTES) + ".*")

# -- places ----------------------------------------------------------------------------------------------------

_ADDRESS = re.compile(
    r"(?i)\b[a-z][a-z0-9+.-]{1,20}://(?:\(key\)|[^\s\"'<>()])+"
    r"|(?<![\w.:])(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?(?![\w.])|\[[0-9a-f:.]{0,45}:[0-9a-f:.]{1,45}\](?::\d{1,5})?"
    r"|(?<![\w:.])(?=:{0,2}[0-9a-f])(?=[0-9a-f:]{0,40}::|(?:[0-9a-f]{1,4}:){5})[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,8}(?:\.\d{1,3}){0,3}"
    r"(?:%\w{1,16})?(?::\d{1,5})?(?!\w)|(?<=cannot reach )[^\s.:]{1,60}:\d{1,5}\b"
    r"|(?<![\w.-])[a-z][\w.-]{0,250}(?:\.(?:local|localhost|lan|internal|home\.arpa)\b(?::\d{1,5})?|:\d{4,5}\b)"
)
"""Addresses of servers. The name of a public one says whose it is, and is left."""
_PART = r"[^\s/:;,\"'`()\[\]{}<>|*”»」]{1,255}"
_OURS = r"/(?:api|v1|v1beta|s|w|ui)/"
_ROOTS = (
    "/(?:home|root|Users|Volumes|etc|usr|var|opt|srv|mnt|media|tmp|private|proc|sys|dev|run|boot|lib|lib64|snap|nix|"
    "data|work|workspaces?|apps?|content|models|Library|Applications|System|storage|sdcard)/"
)
"""Folders at the root of many machines. They begin a path wherever they stand."""
_PATH = re.compile(
    rf"(?P<own>(?<![\w/]){_OURS}[^\s\"']*)"
    rf"|(?P<open>[\"'`])(?!{_OURS})(?=(?:[a-z]{{1,10}}:|~|[A-Za-z]:)?[/\\]{{1,3}}[^\"'`\n/\\]{{1,255}}[/\\])"
    r"[^\"'`\n]{1,1000}(?P=open)"
    rf"|(?:\b(?i:file):|(?<![\w/])(?:~[\w-]{{0,32}}|\.{{1,2}}))(?:/{{1,3}}{_PART})+"
    rf"|(?:(?<![\w/])/{{1,3}}|(?={_ROOTS})/){_PART}(?:/+{_PART})+(?: {_PART}(?:/+{_PART})+)*"
    r"|(?:\b[A-Za-z]:(?:\\{1,2}|/(?!/))|\\{2,4}[\w.$-]{1,100}\\{1,2})[^\s:;,\"'<>]+"
    r"(?: [^\s:;,\"'<>\\]{1,60}\\[^\s:;,\"'<>]*)*"
    r"|(?i:%2F)[^\s%/\"'<>]{1,255}(?:(?i:%2F)[^\s%/\"'<>]{1,255})+"
)
"""Paths of files, however they stand in a sentence. SAGA's own endpoints stay: they match as ``own``."""


@frozen
class Mask:
    """Hides known secrets in a text, and what looks like a secret. Logs and clients get the same mask."""

    secrets: tuple[str, ...]
    """Known secrets, the longest first."""
    places: tuple[str, ...] = ()
    """Folders of this machine, the longest first."""
    written: tuple[str, ...] = ()
    """The secrets as they are configured, of which runs are hidden too."""

    @cached_property
    def _encoded(self) -> re.Pattern[str]:
        """Matches a secret of which any character is escaped, also those that need not be."""
        return re.compile("|".join(map(_any_escaped, self.secrets)) or r"(?!)")

    @classmethod
    def of(cls, secrets: Iterable[str], folders: Iterable[Path] = ()) -> Mask:
        """Build one for ``secrets``. Those with fewer than six characters could be ordinary words, and are ignored."""
        secrets = tuple(secrets)
        known = {form for each in secrets if len(each) >= _SHORTEST for form in _spelled(each)}
        places = {str(each) for each in folders if len(each.parts) > 2}
        written = tuple(sorted({each for each in secrets if len(each) > _RUN}))
        return cls(_longest_first(known), _longest_first(places), written)

    @cached_property
    def _parts(self) -> Mapping[str, tuple[tuple[str, int], ...]]:
        """Half a run -> where it stands in secrets, which are written forwards and backwards."""
        found: dict[str, list[tuple[str, int]]] = {}
        for whole in (way for each in self.written for way in (each, each[::-1])):
            for at in range(len(whole) - _STRIDE + 1):
                places = found.setdefault(whole[at : at + _STRIDE], [])
                if len(places) < _PLACES:
                    places.append((whole, at))
        return {part: tuple(places) for part, places in found.items()}

    def _without_runs(self, text: str) -> str:
        """Hide what shares a long run with a secret, such as a key without its beginning, or a key backwards.

        Each run holds a half that begins at a multiple of its length, so that few places of the text are looked at.
        """
        kept, end = [], 0
        for at in range(0, len(text) - _STRIDE + 1, _STRIDE):
            if at < end or (places := self._parts.get(text[at : at + _STRIDE])) is None:
                continue
            first, last = max((_shared(text, at, end, *place) for place in places), key=lambda run: run[1] - run[0])
            if last - first >= _RUN:
                kept += [text[end:first], HIDDEN]
                end = last
        return "".join((*kept, text[end:])) if end else text

    def __call__(self, text: str, *, whole: bool = False) -> str:
        """Return the text without secrets, and without the middle of a long one, unless the ``whole`` is needed."""
        text = text if whole or len(text) <= _LONGEST else _shortened(text)
        for secret in self.secrets:
            text = text.replace(secret, HIDDEN)
        if self.written:
            text = self._without_runs(text)
        if "%" in text or "\\" in text or "&#" in text:
            text = self._encoded.sub(HIDDEN, text)
        text = _PEM.sub(HIDDEN, text)
        for pattern in _BEHIND:
            text = pattern.sub(rf"\1{HIDDEN}", text)
        return _KEY.sub(HIDDEN, text)

    def for_players(self, text: str) -> str:
        """Return the text without secrets, and without the paths and servers that only who runs SAGA should know."""
        text = _ADDRESS.sub("(address)", self(text))
        for place in self.places:
            text = text.replace(place, "/home/hidden")
        return _PATH.sub(_unless_own, text)

    def for_log(self, text: str, *, whole: bool = False) -> str:
        """Return the text without secrets, and without text of a story that an error quotes."""
        return _QUOTED.sub("", self(text, whole=whole))


def _shortened(text: str) -> str:
    """The beginning and the end of a long text, as it takes seconds to search a megabyte. They are cut at blanks, since
    a part of a key does not look like one; of a beginning without any, half is kept."""
    first, last = text[:_LONGEST], text[max(_LONGEST, len(text) - _LONGEST // 2) :]
    first = first[: max(first.rfind(" "), first.rfind("\n"), 0) or _LONGEST // 2]
    last = last[last.rfind("PRIVATE KEY-----") + 1 :]
    last = last[min((at for at in (last.find(" "), last.find("\n")) if at >= 0), default=len(last)) :]
    return f"{first} … ({len(text):,} characters) … {last}"


def _shared(text: str, at: int, least: int, secret: str, start: int) -> tuple[int, int]:
    """Where the run begins and ends that a text shares with a secret around one place, not before ``least``."""
    first, last, ahead = at, at, start
    while first > least and start and text[first - 1] == secret[start - 1]:
        first, start = first - 1, start - 1
    while last < len(text) and ahead < len(secret) and text[last] == secret[ahead]:
        last, ahead = last + 1, ahead + 1
    return first, last


def _longest_first(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(texts, key=len, reverse=True))


def _unless_own(found: re.Match[str]) -> str:
    quote = found["open"] or ""
    return found["own"] or f"{quote}(path){quote}"


def _spelled(secret: str) -> set[str]:
    """Return a secret as written, percent-decoded, percent-encoded, in base64 and in hexadecimal digits."""
    plain = unquote(secret)
    forms = {secret, plain, quote(plain, safe="", errors="replace"), quote(plain, errors="replace")}
    packed = plain.encode("utf-8", "replace")
    forms |= {*_in_base64(packed), packed.hex(), packed.hex().upper()}
    return {each for each in forms if len(each) >= _SHORTEST}


def _in_base64(secret: bytes) -> Iterator[str]:
    """A secret in base64, also in the midst of something else: for each place in a group of three bytes, the characters
    that depend on the secret alone. Short ones could be ordinary words."""
    yield b64encode(secret).decode()
    for before in range(3 if len(secret) > _SHORTEST else 0):
        packed = b64encode(bytes(before) + secret).decode()
        own = packed[(8 * before + 5) // 6 : 8 * (before + len(secret)) // 6]
        yield from (own, own.translate(_FOR_URLS))


_FOR_URLS = str.maketrans("+/", "-_")


def _any_escaped(secret: str) -> str:
    """A pattern for a secret of which any character is escaped: in percents, as in JSON, Python or HTML."""
    found = []
    for char in secret:
        percents = "".join(f"%(?:25)?{byte:02x}" for byte in char.encode("utf-8", "replace"))
        number = ord(char)
        others = rf"{percents}|\\x{number:02x}|\\u{number:04x}|&#0{{0,5}}(?:{number}|x0{{0,5}}{number:x});"
        found.append(f"(?:{re.escape(char)}|(?i:{others}))")
    return "".join(found)
