"""The definition of a memory strategy: its kinds of records, and the texts about them for the model.

A plugin registers a ``Backend`` of the kind ``strategy`` under the entry point ``strategy.NAME``. It opens to a
``Strategy``. The core asks the model, reads its answer, compares it with known records, and journals it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from attrs import frozen

from saga_core.errors import BadInput
from saga_core.language import DEFAULT, every, primary
from saga_core.model import checked
from saga_core.modules import check_fields

MAX_TEXT = 300
"""The largest number of characters of a record's text, and of each of its details."""


RESERVED = ("do", "record", "kind", "text", "turns", "from")
"""The fields of a record in a model's answer, besides its details."""
_NAME = re.compile(r"[\w-]{1,64}")


def _check_name(what: str, name: str) -> None:
    if _NAME.fullmatch(name) is None:
        raise BadInput(f"{what} {name!r}: give a name of at most 64 letters, digits, '-' and '_'")


@frozen
class Detail:
    """An additional field of the records of a kind."""

    name: str
    told: str
    """The description of the field for the model."""
    needed: bool = True
    of: tuple[str, ...] = ()
    """The allowed values; empty: any text."""

    def __attrs_post_init__(self) -> None:
        check_fields(f"strategy detail {self.name!r}:", self)
        _check_name("strategy detail", self.name)
        if self.name in RESERVED:
            raise BadInput(f"strategy detail {self.name!r}: every record has such a field; give another name")


@frozen
class LearnedRecord:
    """A record in a model's answer, before it is compared with known records."""

    kind: str
    text: str
    details: Mapping[str, str]
    spoken: str
    """The player's messages in the turns that are its evidence."""


@frozen
class RecordKind:
    """One kind of records."""

    name: str
    told: Mapping[str, str]
    """The description for the model of what belongs to this kind and what does not, by language; at least ``en``."""
    namespace: str
    """The default namespace of its records. See ``saga_core.model.namespaces``."""
    details: tuple[Detail, ...] = ()
    shown: float = 3.0
    """Its weight in the narrator's context, from 1 to 8. Records that match words of the scene weigh more."""
    always: bool = False
    """Whether it is used even if no word of the scene matches."""
    sources: int = 0
    """The minimum number of records that it must be derived from, as for reflections."""
    check: Callable[[LearnedRecord], str] | None = None
    """Returns why a record must not be kept; empty if it may."""

    def __attrs_post_init__(self) -> None:
        check_fields(f"strategy kind {self.name!r}:", self)
        _check_name("strategy kind", self.name)
        checked(self.namespace)
        if DEFAULT not in self.told:
            raise BadInput(f"strategy kind {self.name!r}: told has no {DEFAULT!r}")
        if not 1 <= self.shown <= 8:
            raise BadInput(f"strategy kind {self.name!r}: shown is {self.shown}; give a number from 1 to 8")


@frozen
class Strategy:
    """One way of learning from play. The configuration's ``namespace`` applies to ``kinds[0]``."""

    name: str
    task: Mapping[str, str]
    """The instructions for the model, by language; at least ``en``."""
    kinds: tuple[RecordKind, ...]

    def __attrs_post_init__(self) -> None:
        check_fields(f"strategy {self.name!r}:", self)
        _check_name("strategy", self.name)
        if not self.kinds:
            raise BadInput(f"strategy {self.name!r}: it has no kind of records")
        if DEFAULT not in self.task:
            raise BadInput(f"strategy {self.name!r}: task has no {DEFAULT!r}")

    def kind(self, name: str) -> RecordKind | None:
        """Return the kind with this name, or None."""
        return next((kind for kind in self.kinds if kind.name == name), None)


def told(name: str) -> Mapping[str, str]:
    """Return a text of SAGA's own strategies, such as ``facts.task``, by language. Raises ``KeyError`` if unknown."""
    texts = {each.tag: each.questions.strategies[name] for each in every() if name in each.questions.strategies}
    return {DEFAULT: texts[DEFAULT], **texts}


def in_language(texts: Mapping[str, str], language: str) -> str:
    """Return the text in a language, or the English one."""
    return texts.get(primary(language)) or texts[DEFAULT]
