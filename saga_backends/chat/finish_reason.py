"""Maps the finish reasons of all providers to those of OpenAI's API, at one place.

There are four meanings: the reply is complete (``stop``, or ``tool_calls`` where it ends with calls), it was cut off
(``length``), the provider withholds it (``content_filter``), or the provider failed (``BROKEN``, which is an error).
"""

from __future__ import annotations

import logging
import re

BROKEN = "broken"
"""The reply is incomplete because the provider failed. The same call may succeed in a moment."""

_log = logging.getLogger(__name__)

_OPENAI = frozenset({"stop", "length", "content_filter", "tool_calls", "function_call"})
_MEANINGS = (
    (
        "content_filter",
        re.compile(
            r"filter|safe|sensitiv|refus|block|prohibit|recitation|spii|guardrail|moderat|policy|censor|armor|harm"
            r"|^language$"
        ),
    ),
    (
        BROKEN,
        re.compile(
            r"error|abort|cancel|fail|insufficient|time_?out|timed_out|interrupt|disconnect|overload|unavailable"
            r"|rate_limit|quota|malformed|preempt"
        ),
    ),
    ("length", re.compile(r"length|max|limit|exceed|truncat|window|budget|incomplete")),
    ("tool_calls", re.compile(r"tool|function")),
    ("stop", re.compile(r"stop|eos|end|complete|finish|done|success|pause|load")),
)
"""The first pattern that is found in a reason decides."""


def finish_reason(told: str, host: str) -> str:
    """Return OpenAI's name for the reason ``told`` by ``host``, or ``BROKEN``. An unknown one counts as ``stop``."""
    if told in _OPENAI:
        return told
    reason = told.strip().lower().replace("-", "_").replace(" ", "_")
    for meaning, words in _MEANINGS:
        if words.search(reason):
            return meaning
    _log.warning("%s ended a reply for an unknown reason, %.60r; the reply counts as complete", host, told)
    return "stop"
