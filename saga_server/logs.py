"""Logging: one line an event on stderr, and no key in it."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable

from saga_core.config import Config
from saga_server.narrators import KEY_VARIABLES

_SHORTEST = 6
_TALKATIVE = ("httpx", "httpx2", "httpcore", "httpcore2", "openai", "aiohttp.access", "asyncio")


class RedactingFormatter(logging.Formatter):
    """Formats a record, traceback included, and takes known secrets out of the text."""

    def __init__(self, secrets: Iterable[str]) -> None:
        super().__init__("%(asctime)s %(levelname)-7s %(name)s: %(message)s", "%H:%M:%S")
        self._secrets = sorted({secret for secret in secrets if len(secret) >= _SHORTEST}, key=len, reverse=True)

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        text = super().format(record)
        for secret in self._secrets:
            text = text.replace(secret, "(key)")
        return text


def secrets_of(config: Config) -> list[str]:
    """Every key that a configuration or the environment holds."""
    keys = [config.api_keys.anthropic, config.api_keys.openai, config.api_keys.google]
    keys += [provider.api_key for provider in config.providers.values()]
    keys += [os.environ.get(variable) for variables in KEY_VARIABLES.values() for variable in variables]
    return [*config.server.api_keys, *config.server.chat_keys, *(key for key in keys if key)]


def set_up_logging(level: str, secrets: Iterable[str]) -> None:
    """Send everything from ``level`` up to stderr; libraries speak up only when something is wrong."""
    handler = logging.StreamHandler()
    handler.setFormatter(RedactingFormatter(secrets))
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(logging.WARNING)
