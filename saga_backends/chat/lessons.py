"""Learns from refused requests which parameters a provider's model does not accept."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from typing import Any

from attrs import define, evolve, field, frozen

from saga_backends.json_text import inside
from saga_core.errors import UpstreamError
from saga_core.upstream import ParameterRules

_log = logging.getLogger(__name__)

_LESSONS = 8
"""The maximum number of refusals of one request to learn from."""
_KEPT = frozenset({"model", "messages", "system", "stream", "n", "tools", "tool_choice"})
"""Parameters that are never left out, because the reply would be a different one."""
_NEUTRAL: Mapping[str, tuple[Any, ...]] = {
    "temperature": (1,),
    "top_p": (1,),
    "top_k": (0, -1),
    "min_p": (0,),
    "top_a": (0,),
    "presence_penalty": (0,),
    "frequency_penalty": (0,),
    "repetition_penalty": (1,),
    "seed": (-1,),
    "n": (1,),
    "logprobs": (False,),
    "use_cache": (False,),
}
_LASTING = re.compile(
    r"support|unknown|unrecogni|unexpected|deprecat|permitted|not allowed|cannot find|not enabled|forbidden",
    re.IGNORECASE,
)
_BOTH = re.compile(r"cannot both|only one|mutually exclusive|not both", re.IGNORECASE)
_INSTEAD = re.compile(r"[Uu]se [`'\"]?(max_\w+)")
_PREFILL = re.compile(
    r"prefill|must end with a user message|end with a user role|last (?:message|role) must", re.IGNORECASE
)
_TURNS = re.compile(
    r"roles must alternate|initial optional system|system role not supported|system message must be (?:at|the)",
    re.IGNORECASE,
)
"""Errors of chat templates that allow only one leading system message and strictly alternating roles."""
_SCHEMA = re.compile(r"json[ _]schema|grammar|structured output", re.IGNORECASE)
_FIELD = re.compile(r"messages\[\d+\]\.(?!role\b|content\b)([a-z_]+)")
_SYSTEM = re.compile(r"role ['`\"]system['`\"]|system message must follow|top-level ['`\"]system['`\"]", re.IGNORECASE)


def neutral(name: str, value: Any) -> bool:
    """Return whether omitting ``name`` has the same effect as ``value``."""
    return value is None or value in ([], {}, "") or (type(value) is not str and value in _NEUTRAL.get(name, ()))


@frozen
class Lesson:
    """The rules that would have avoided the refusal."""

    rules: ParameterRules
    name: str
    why: str
    lasting: bool
    """Whether the lesson holds for the model in general, and not only for this value."""


def lesson_of(error: UpstreamError, body: Mapping[str, Any], rules: ParameterRules) -> Lesson | None:
    """Return what to change after ``error`` refused ``body``, or None if the error does not say what to omit."""
    said = str(error)
    if rules.system_turns and _TURNS.search(said):  # checked before the status, as some servers answer with a 5xx
        return Lesson(evolve(rules, system_turns=False), "system", "voices must take turns", True)
    if error.status not in (400, 422):
        return None
    if rules.prefill and _PREFILL.search(said):
        return Lesson(evolve(rules, prefill=False), "prefill", "the model cannot be given a reply's beginning", True)
    if rules.system_turns and _SYSTEM.search(said):
        return Lesson(evolve(rules, system_turns=False), "system", "the model takes no system message there", True)
    field_of_message = _FIELD.search(said)
    if field_of_message is not None and _LASTING.search(said) is not None:
        name = f"messages.{field_of_message[1]}"
        if name not in rules.refuses:
            return Lesson(evolve(rules, refuses=(*rules.refuses, name)), name, "messages do not have it", True)
    named = [name for name in body if name not in _KEPT and _names(said, name)]
    if (
        rules.schemas
        and inside(body, "response_format", "type") == "json_schema"
        and ("response_format" in named or _SCHEMA.search(said) is not None)
    ):
        return Lesson(evolve(rules, schemas=False), "json_schema", "the model is held to JSON instead", True)
    if not named and "enalty" in said:
        named = [name for name in body if "penalty" in name]
    if not named:
        return None
    instead = _INSTEAD.search(said)
    if instead is not None and instead[1] not in named and any(name.startswith("max_") for name in named):
        return Lesson(evolve(rules, limit=instead[1]), named[0], f"the model calls it {instead[1]}", True)
    lasting = _LASTING.search(said) is not None
    if len(named) > 1 and _BOTH.search(said):
        return Lesson(evolve(rules, together=tuple(named)), named[1], f"not together with {named[0]}", True)
    if "max_tokens" in named and "max_tokens" not in rules.refuses and not lasting:
        return None  # the client asked for too many tokens, and has to change that itself
    changed = evolve(rules, refuses=(*rules.refuses, *named))
    return Lesson(changed, ", ".join(named), "the model does not take it", lasting)


def _names(said: str, name: str) -> bool:
    """Return whether a refusal mentions the parameter ``name``, and not just the word."""
    word = re.escape(name)
    if re.search(
        rf"[`'\"]{word}[`'\".]|(?<![\w.]){word}:|\b(?:supplied|permitted|fields?|inputs?)\b[^.]*\b{word}\b", said
    ):
        return True
    return ("_" in name or name == "temperature") and re.search(rf"(?<![\w.]){word}(?!\w)", said) is not None


@define(eq=False)
class Learned:
    """The rules for each model that were learned from refusals since the process started."""

    host: str
    _known: dict[str, ParameterRules] = field(factory=dict, init=False)

    def trial(self, model: str, rules: ParameterRules) -> Trial:
        """Start a request to ``model``. ``rules`` apply unless other rules were learned for the model."""
        return Trial(self, model, self._known.get(model, rules))

    def keep(self, model: str, lesson: Lesson) -> None:
        """Apply the lesson to all later requests to ``model``."""
        self._known[model] = lesson.rules
        _log.warning("%s refused %s for %s: %s; from now on it is not sent", self.host, lesson.name, model, lesson.why)


@define(eq=False)
class Trial:
    """One request, which is repeated until it is accepted or a refusal yields no further lesson."""

    learned: Learned
    model: str
    _lasting: ParameterRules
    rules: ParameterRules = field(init=False)
    """The rules for the next attempt."""
    _left: int = field(default=_LESSONS, init=False)

    def __attrs_post_init__(self) -> None:
        self.rules = self._lasting

    def learn(self, error: UpstreamError, body: Mapping[str, Any]) -> bool:
        """Learn from the refusal of ``body``. Returns whether ``rules`` were changed."""
        lesson = lesson_of(error, body, self.rules) if self._left else None
        if lesson is None:
            return False
        self._left -= 1
        self.rules = lesson.rules
        lasting = lesson_of(error, body, self._lasting) if lesson.lasting else None
        if lasting is not None:
            self._lasting = lasting.rules
            self.learned.keep(self.model, lasting)
        else:
            _log.warning("%s refused %s for %s, this once", self.learned.host, lesson.name, self.model)
        return True
