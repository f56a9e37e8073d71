"""What a memory strategy is: the kinds of records that it learns, and what a model is told about them.

A plugin registers a ``Backend`` of the kind ``strategy`` under the entry point ``strategy.NAME``. What it opens to is
a ``Strategy``; asking the model, reading its answer, comparing it with what is known and journaling are the core's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from attrs import field, frozen

from saga_core.errors import BadInput
from saga_core.language import DEFAULT, every, primary
from saga_core.model import checked

MAX_TEXT = 300
"""Characters of a record's text, and of each of its details."""


@frozen
class Detail:
    """A field that records of a kind have besides their text."""

    name: str
    told: str
    """What stands in it, for the model."""
    needed: bool = True
    of: tuple[str, ...] = ()
    """The values that it may have; empty: any text."""


@frozen
class Learned:
    """What a model's answer says of one record, before it is compared with what is known."""

    kind: str
    text: str
    details: Mapping[str, str]
    spoken: str
    """What the player said in the turns that prove it."""


@frozen
class RecordKind:
    """One kind of records."""

    name: str
    told: Mapping[str, str]
    """What it is and what it is not, for the model; by language, ``en`` at least."""
    namespace: str
    """Where its records lie when the configuration does not say; see ``saga_core.model.namespaces``."""
    details: tuple[Detail, ...] = ()
    shown: float = 3.0
    """What it is worth in the narrator's context, from 1 to 8; more when the words of the scene touch on it."""
    always: bool = False
    """Whether it is told also where no word touches on it."""
    sources: int = 0
    """Records that it has to be drawn from, at least: those of a reflection."""
    check: Callable[[Learned], str] | None = None
    """Why a record is not to be kept, in words; empty for one that is."""

    def __attrs_post_init__(self) -> None:
        checked(self.namespace)
        if DEFAULT not in self.told:
            raise BadInput(f"strategy kind {self.name!r}: told has no {DEFAULT!r}")


@frozen
class Strategy:
    """One way of learning from play. ``kinds[0]`` lies where the configuration's ``namespace`` says."""

    name: str
    task: Mapping[str, str]
    """What the model is to do, by language, ``en`` at least."""
    kinds: tuple[RecordKind, ...] = field(validator=lambda _, __, kinds: _some(kinds))

    def kind(self, name: str) -> RecordKind | None:
        """The kind of that name."""
        return next((kind for kind in self.kinds if kind.name == name), None)


def _some(kinds: tuple[RecordKind, ...]) -> None:
    if not kinds:
        raise BadInput("strategy: it has no kind of records")


def told(name: str) -> Mapping[str, str]:
    """A text of the strategies that come with SAGA, by language: ``facts.task``. Raises KeyError for none of them."""
    texts = {each.tag: each.questions.strategies[name] for each in every() if name in each.questions.strategies}
    return {DEFAULT: texts[DEFAULT], **texts}


def in_language(texts: Mapping[str, str], language: str) -> str:
    """The text in a language, or the English one."""
    return texts.get(primary(language)) or texts[DEFAULT]
