"""Logging on stderr, and the latest records for the admin API. Records name their request, session and turn.

Secrets are masked. Text of a story is not logged, except prompts and replies at the level ``debug``. Such records are
marked as private.
"""

from __future__ import annotations

import logging
import os
import re
import time
from base64 import b64encode
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final
from urllib.parse import quote, unquote, urlsplit

from attrs import asdict, evolve, frozen
from pythonjsonlogger.json import JsonFormatter

from saga_core.config import Config, LogFormat, LoggingConfig, StoreConfig
from saga_core.counters import Subject, subject
from saga_core.errors import QUOTES
from saga_server.providers import KEY_VARIABLES
from saga_server.terminal import on_one_line

PRIVATE: Final = {"private": True}
"""The ``extra`` of a record that holds text of a story."""

HIDDEN = "(key)"
_SHORTEST = 6
_OURS = ("saga", "saga_core", "saga_backends", "saga_server")
_SECRET_NAME = re.compile(r"key|token|secret|password", re.IGNORECASE)
_BEARER = re.compile(r"(?i)\b(bearer\s+)(?=\S*\d)[^\s\"',;]{8,}")
_BASIC = re.compile(r"(?i)\b(basic\s+)(?=\S*[\d=])[a-z0-9+/_-]{8,}={0,2}")
_NAMED = re.compile(r"(?i)(x-(?:goog-)?api-key[\"']?\s*[:=]\s*[\"']?)[^\s\"',;]+")
_KEY = re.compile(
    r"saga_[A-Za-z0-9_-]{40,}|(?:(?<=%[0-9A-Fa-f]{2})|(?<![A-Za-z0-9]))"
    r"(?:(?:sk|pk|rk)(?:-|%2[Dd])(?:[A-Za-z0-9_-]|%[0-9A-Fa-f]{2}){16,}|hf_[A-Za-z0-9]{20,}|AKIA[A-Z0-9]{16})"
)
_QUOTED = re.compile(re.escape(QUOTES) + ".*")
_IN_URL = re.compile(r"(\w{1,20}://[^/\s:]{0,100}:)(?!\d{1,5}/)[^\s\"'<>]{1,300}(?=@)")
"""A password may hold "/" and "@" itself, so it ends at the last "@". A port before a path is none."""
_ALONE = re.compile(r"(\w{1,20}://)[^/\s:@]{1,300}(?=@)")
_ADDRESS = re.compile(
    r"(?i)\b[a-z][a-z0-9+.-]{1,20}://(?:\(key\)|[^\s\"'<>()])+"
    r"|(?<![\w.:])(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?(?![\w.])|\[[0-9a-f:.]{0,45}:[0-9a-f:.]{1,45}\](?::\d{1,5})?"
    r"|(?<![\w.-])[a-z][\w.-]{0,250}(?:\.(?:local|localhost|lan|internal|home\.arpa)\b(?::\d{1,5})?|:\d{4,5}\b)"
)
"""Addresses of servers. The name of a public one says whose it is, and is left."""
_PATH = re.compile(
    r"(?<![\w/.:\]\[<-])(?!/(?:api|v1|v1beta|s|w|ui)/)(?:/[^\s/:;,\"'()\[\]<>]{1,255}){2,}|\b[A-Za-z]:\\[^\s:;,\"'<>]+"
)
"""Paths of files; not those of SAGA's own endpoints."""
_IN_ENCODED_URL = re.compile(r"(?i)(\w{1,20}%3A%2F%2F)[^\s\"'<>]{1,300}(?=%40)")


@frozen
class Mask:
    """Hides known secrets in a text, and what looks like a secret. Logs and clients get the same mask."""

    secrets: tuple[str, ...]
    """Known secrets, the longest first."""

    @cached_property
    def _encoded(self) -> re.Pattern[str]:
        """Matches a secret of which any character is escaped, also those that need not be."""
        return re.compile("|".join(map(_any_escaped, self.secrets)) or r"(?!)")

    @classmethod
    def of(cls, secrets: Iterable[str]) -> Mask:
        """Build one for ``secrets``. Those with fewer than six characters could be ordinary words, and are ignored."""
        known = {form for each in secrets if len(each) >= _SHORTEST for form in _spelled(each)}
        return cls(tuple(sorted(known, key=len, reverse=True)))

    def __call__(self, text: str) -> str:
        """Return the text without secrets."""
        for secret in self.secrets:
            text = text.replace(secret, HIDDEN)
        if "%" in text or "\\" in text or "&#" in text:
            text = self._encoded.sub(HIDDEN, text)
        for pattern in (_BEARER, _BASIC, _NAMED, _IN_URL, _ALONE, _IN_ENCODED_URL):
            text = pattern.sub(rf"\1{HIDDEN}", text)
        return _KEY.sub(HIDDEN, text)

    def for_players(self, text: str) -> str:
        """Return the text without secrets, and without the paths and servers that only who runs SAGA should know."""
        return _PATH.sub("(path)", _ADDRESS.sub("(address)", self(text)))

    def for_log(self, text: str) -> str:
        """Return the text without secrets, and without text of a story that an error quotes."""
        return _QUOTED.sub("", self(text))


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


class TextFormatter(logging.Formatter):
    """Formats a record as one line for people, with a traceback below it."""

    def __init__(self, mask: Mask) -> None:
        super().__init__("%(asctime)s %(message)s", "%H:%M:%S")
        self._mask = mask

    def formatMessage(self, record: logging.LogRecord) -> str:
        """Return the line, with the ids at its end."""
        about = _about(record)
        mark = "[private] " if about.pop("private", False) else ""
        line = f"{record.asctime} {record.levelname:<7} {record.name}: {mark}{on_one_line(record.message)}"
        ids = " ".join(f"{name}={value}" for name, value in about.items())
        return f"{line} [{ids}]" if ids else line

    def format(self, record: logging.LogRecord) -> str:
        """Return the line and the traceback, without secrets."""
        return self._mask.for_log(super().format(record))


class JsonLines(JsonFormatter):
    """Formats a record as one line with a JSON object.

    It has ``time``, ``level``, ``logger`` and ``message``, and where they apply ``request``, ``session``, ``turn``,
    ``error`` (a traceback) and ``private``.
    """

    converter = staticmethod(time.gmtime)

    def __init__(self, mask: Mask) -> None:
        super().__init__(json_ensure_ascii=False)
        self._mask = mask

    def add_fields(self, log_data: dict[str, Any], record: logging.LogRecord, message_dict: dict[str, Any]) -> None:
        """Fill in the fields, in their order."""
        log_data["time"] = f"{self.formatTime(record, '%Y-%m-%dT%H:%M:%S')}.{int(record.msecs):03}Z"
        log_data["level"] = record.levelname.lower()
        log_data["logger"] = record.name
        log_data["message"] = self._mask.for_log(record.message)
        log_data.update(_about(record))
        error = message_dict.get("exc_info")
        if error:
            log_data["error"] = self._mask.for_log(str(error))


class _Subjects(logging.Filter):
    """Adds to each record the request, session and turn that it belongs to."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Add the subject, and return True."""
        record.subject = subject()
        return True


def _about(record: logging.LogRecord) -> dict[str, Any]:
    """Return the ids that the record has, and ``private`` if it is."""
    found = {name: value for name, value in asdict(getattr(record, "subject", Subject())).items() if value}
    if getattr(record, "private", False):
        found["private"] = True
    return found


def secrets_of(config: Config, environ: Mapping[str, str] | None = None) -> list[str]:
    """Return every key in a configuration and the environment, including passwords in addresses and secret options."""
    environ = os.environ if environ is None else environ
    keys = [config.api_keys.anthropic, config.api_keys.openai, config.api_keys.google]
    keys += [provider.api_key for provider in config.providers.values()]
    keys += [environ.get(variable) for variables in KEY_VARIABLES.values() for variable in variables]
    storage = config.storage
    stores: tuple[StoreConfig, ...] = (storage.state, storage.graph, storage.vector, storage.cache)
    addresses = [storage.url, *(store.url for store in stores), *(each.base_url for each in config.providers.values())]
    for parts in (urlsplit(address) for address in addresses if address):
        if parts.password:
            keys += [parts.password, f"{unquote(parts.username or '')}:{unquote(parts.password)}"]  # as sent in Basic
    for options in (*(store.options for store in stores), config.recall.options, config.curator.options):
        keys += [value for name, value in options.items() if isinstance(value, str) and _SECRET_NAME.search(name)]
    return [*config.server.api_keys, *config.server.chat_keys, *(key for key in keys if key)]


def formatter(kind: LogFormat, secrets: Iterable[str]) -> logging.Formatter:
    """Return the formatter for a log format. It removes ``secrets``."""
    mask = Mask.of(secrets)
    return JsonLines(mask) if kind == "json" else TextFormatter(mask)


def set_up_logging(config: Config) -> None:
    """Log to stderr: records of SAGA from ``logging.level`` on, and of libraries from ``WARNING`` on or higher.

    A second call replaces the handlers of the first.
    """
    handler = logging.StreamHandler()
    handler.addFilter(_Subjects())
    handler.setFormatter(formatter(config.logging.format, secrets_of(config)))
    level = logging.getLevelName(config.logging.level.upper())
    logging.basicConfig(level=max(level, logging.WARNING), handlers=[handler], force=True)
    logging.captureWarnings(True)
    for name in _OURS:
        logging.getLogger(name).setLevel(level)


def log_errors_only(config: Config) -> None:
    """Log only errors, for commands that print their results on the terminal."""
    set_up_logging(evolve(config, logging=LoggingConfig(level="error")))


# -- The latest log records, kept in memory for the admin API --------------------------------------------------

KEPT = 500
"""Most records that are kept; older ones are dropped."""
_LONGEST = 2_000


class LogTail(logging.Handler):
    """Keeps the latest records as rows, without keys. Private records, which hold text of a story, are left out."""

    def __init__(self, mask: Callable[[], Mask]) -> None:
        """``mask`` returns that of the settings in force."""
        super().__init__()
        self._mask = mask
        self._rows: deque[dict[str, Any]] = deque(maxlen=KEPT)
        self._count = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Store ``record`` unless it is private."""
        if getattr(record, "private", False):
            return
        try:
            text = self._mask().for_log(on_one_line(record.getMessage()))[:_LONGEST]
        except Exception:  # noqa: BLE001 - like every handler: a bad record must not stop the program
            self.handleError(record)
            return
        self._count += 1
        self._rows.append(
            {
                "number": self._count,
                "at": round(record.created, 3),
                "level": record.levelname.lower(),
                "logger": record.name,
                "text": text,
            }
        )

    def rows(self, after: int, limit: int) -> Sequence[Mapping[str, Any]]:
        """Return the latest ``limit`` rows with a number above ``after``, oldest first."""
        return [row for row in self._rows if row["number"] > after][-limit:]
