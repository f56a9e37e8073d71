"""Log prompts and replies, at the level ``debug`` only. Each record is marked as private."""

from __future__ import annotations

import json
import logging

from saga_core.play import PendingTurn
from saga_server.process import PRIVATE

_log = logging.getLogger("saga.said")


def log_prompt(begun: PendingTurn, model: str) -> None:
    """Log the prompt for ``model``."""
    if _log.isEnabledFor(logging.DEBUG):
        text = json.dumps(begun.plan.to_openai(), ensure_ascii=False)
        _log.debug("to %s: %s", model, text, extra=PRIVATE)


def log_replies(begun: PendingTurn, model: str) -> None:
    """Log the replies of ``model``, state blocks included."""
    if _log.isEnabledFor(logging.DEBUG):
        for reply in begun.replies:
            _log.debug("from %s: %s", model, reply.raw, extra=PRIVATE)
