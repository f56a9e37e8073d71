"""The questions to small models: their tasks, and the texts around the quoted material."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import frozen


@frozen(kw_only=True, eq=False, repr=False)
class WorkedExample:
    """A turn with the right answer. ``answer`` leaves out what is empty. Its names occur in no other text of SAGA."""

    place: str
    present: str
    words: str
    reply: str
    answer: Mapping[str, Any]


@frozen(kw_only=True, eq=False, repr=False)
class ExtractionWords:
    """The texts of the question to an extraction model. ``again`` contains ``{reason}``.

    ``task`` is the task for one turn, ``window`` that for several turns in one question. ``keys`` says what the keys of
    an answer mean, ``more`` what the keys mean that only larger models are asked for. In a window, ``turn`` precedes
    the number of each turn.
    """

    task: str
    window: str
    keys: str
    more: str
    examples: tuple[WorkedExample, ...]
    answer: str
    turn: str
    before: str
    player: str
    place: str
    hp: str = "HP"
    inventory: str
    present: str
    known: str
    words: str
    reply: str
    again: str


@frozen(kw_only=True, eq=False, repr=False)
class CurationWords:
    """The texts of the question to a curator model. ``state`` contains ``{depth}``, ``again`` contains ``{reason}``."""

    task: str
    answer: str
    calls: str
    state: str
    known: str
    story: str
    schedule: str
    facts: str
    turns: str
    memory: str
    done: str
    nothing: str
    again: str


@frozen(kw_only=True, eq=False, repr=False)
class LearningWords:
    """The texts of a memory strategy's question. ``frame`` contains ``{limit}``, ``again`` contains ``{reason}``."""

    frame: str
    form: str
    known: str
    turns: str
    nothing: str
    again: str


@frozen(kw_only=True, eq=False, repr=False)
class Questions:
    """The texts of all questions in one language."""

    extraction: ExtractionWords
    curation: CurationWords
    learning: LearningWords
    strategies: Mapping[str, str]
    """The texts of the built-in memory strategies, by ``strategy.task`` or ``strategy.kind``."""
    nudge: str
    """The request to a model to continue a reply that it has begun."""
