"""Logging on stderr, and the latest records for the admin API. Records name their request, session and turn.

Secrets are masked. Text of a story is not logged, except prompts and replies at the level ``debug``. Such records are
marked as private.
"""

from __future__ import annotations

import logging
import os
import re
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import parse_qsl, unquote, urlsplit

from attrs import asdict, evolve
from pythonjsonlogger.json import JsonFormatter

from saga_core.config import Config, LogFormat, LoggingConfig, StoreConfig
from saga_core.counters import Subject, subject
from saga_server.process.masking import Mask
from saga_server.providers import KEY_VARIABLES
from saga_server.terminal import on_one_line

PRIVATE: Final = {"private": True}
"""The ``extra`` of a record that holds text of a story."""

_OURS = ("saga", "saga_core", "saga_backends", "saga_server")
_SECRET_NAME = re.compile(r"key|token|secret|password", re.IGNORECASE)


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
        return self._mask.for_log(super().format(record), whole=getattr(record, "private", False))


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
        log_data["message"] = self._mask.for_log(record.message, whole=getattr(record, "private", False))
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
        keys += [value for name, value in parse_qsl(parts.query) if _SECRET_NAME.search(name)]
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
