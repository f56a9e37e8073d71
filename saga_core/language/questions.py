"""What small models are asked: their tasks, and the words around the quoted material."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen


@frozen(kw_only=True, eq=False, repr=False)
class ExtractionWords:
    """The question to an extraction model. ``again``: with ``{reason}``.

    ``system`` is said of one turn, ``window`` of several in one question. There ``turn`` stands before the number of
    each, and ``number`` in the form where the answer has it.
    """

    system: str
    window: str
    turn: str
    number: str
    before: str
    player: str
    place: str
    hp: str = "HP"
    inventory: str
    present: str
    known: str
    nothing: str
    words: str
    reply: str
    again: str


@frozen(kw_only=True, eq=False, repr=False)
class CurationWords:
    """The question to a curator model. ``state``: with ``{depth}``; ``again``: with ``{reason}``."""

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
    """The question of a memory strategy. ``frame``: with ``{limit}``; ``again``: with ``{reason}``."""

    frame: str
    form: str
    known: str
    turns: str
    nothing: str
    again: str


@frozen(kw_only=True, eq=False, repr=False)
class Questions:
    """All of them."""

    extraction: ExtractionWords
    curation: CurationWords
    learning: LearningWords
    strategies: Mapping[str, str]
    """What the memory strategies that come with SAGA tell a model, by ``strategy.task`` or ``strategy.kind``."""
    nudge: str
    """What asks a model to go on with a reply that it began."""
