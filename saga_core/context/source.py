"""ContextSource: the interface of sources that return pieces of context for a turn, and sources of other packages."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from math import isfinite
from typing import Any, Final, Protocol

from attrs import field, frozen

from saga_core import registry
from saga_core.config import Config
from saga_core.context.model import Piece, Section, one_line
from saga_core.context.scene import Scene
from saga_core.errors import BadInput
from saga_core.foreign import foreign
from saga_core.modules import LONGEST, is_line
from saga_core.registry import OpenOptions
from saga_core.stores.validate import check_object


@frozen
class Given:
    """The results of the sources that a source needs."""

    pieces: Mapping[str, Sequence[Piece]] = field(factory=dict)
    """The pieces of each needed source, empty for a missing one."""
    missing: frozenset[str] = frozenset()
    """The needed sources that failed or were not done in time."""


NOTHING_GIVEN = Given()


class ContextSource(Protocol):
    """One kind of context. A source must not call a generating model, change any data or block the event loop.

    SAGA's own sources may also have ``prepare(scene)``, which is called before any ``gather`` and starts the store
    requests that ``gather`` will await. A source with ``at_once`` has no needs and awaits nothing; it runs without a
    task. So does a source without needs whose ``ready(scene)`` returns that everything it awaits is available.
    """

    @property
    def name(self) -> str:
        """The name of the source in ``late``, in ``timings`` and in its pieces."""
        ...

    @property
    def needs(self) -> Sequence[str]:
        """The names of sources whose pieces this source needs. It runs when these are done, without needs at once."""
        ...

    async def gather(self, scene: Scene, given: Given = NOTHING_GIVEN) -> Sequence[Piece]:
        """Return the pieces for the scene in any order, scored by the scale in ``saga_core.context.model``.

        A source that raises or is late is left out of the turn. ``given`` has only the results of the needed sources.
        """
        ...


# -- sources of other packages ---------------------------------------------------------------------------------

KIND: Final = "context"
MOST = 64
"""Maximum pieces of a guest for one turn."""

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,31}\Z")


@frozen
class Guest:
    """A source from another package. Its pieces are validated, so that its errors do not fail the turn."""

    name: str
    needs: tuple[str, ...]
    _inner: ContextSource = field(repr=False)

    async def gather(self, scene: Scene, given: Given = NOTHING_GIVEN) -> Sequence[Piece]:
        """Return the source's pieces, each on one line and with its name. Raises ``BadInput`` for invalid pieces."""
        with foreign:
            offered: Any = await self._inner.gather(scene, given)
        if not isinstance(offered, list | tuple):
            raise BadInput(f"gather gave a {type(offered).__name__}; give a list of pieces")
        if len(offered) > MOST:
            raise BadInput(f"gather gave {len(offered)} pieces; give the best {MOST} at most")
        return [_checked(piece, self.name) for piece in offered]

    async def aclose(self) -> None:
        """Close the source if it has ``aclose``."""
        close = getattr(self._inner, "aclose", None)
        if close is not None:
            await close()


async def open_plugin_source(name: str, config: Config, taken: Collection[str]) -> Guest:
    """Open the guest that is enabled as ``name`` in ``recall.sources``, with its options.

    It may keep files in ``context.<name>`` of the data directory. Raises ``BadInput`` for a name that is invalid, not
    registered or in ``taken``, for options that the guest rejects, and for an object that is not a source. Raises
    ``StoreUnavailable`` if the guest cannot be opened.
    """
    where = f"recall.sources.{name}"
    _check_name(where, name, taken)
    known = registry.names(KIND)
    if name not in known:
        raise BadInput(
            f"{where}: no installed package brings a source of that name; there are: {', '.join(known) or 'none'}"
        )
    options = OpenOptions(config.data_dir / f"{KIND}.{name}", options=config.recall.sources[name])
    source = await registry.open_plugin(KIND, name, options, at=where, options_at=f"{where}: ")
    return Guest(name, _needs_of(source, name, where), source)


def plugin_source(where: str, name: str, source: ContextSource, taken: Collection[str]) -> Guest:
    """Return ``source``, which a program passes in, as a guest. Raises ``BadInput`` as ``open_plugin_source`` does."""
    _check_name(where, name, taken)
    return Guest(name, _needs_of(source, name, where), source)


def _check_name(where: str, name: str, taken: Collection[str]) -> None:
    if name in taken:
        raise BadInput(f"{where}: there is a source of that name already; give it another one")
    if not _NAME.match(name):
        place = registry.by_place(name, "saga.backends: {{context.NAME: {}}}")
        raise BadInput(f"{where}: a source is named with at most 32 small letters, digits, '-' and '_'{place}")


def _needs_of(source: Any, name: str, where: str) -> tuple[str, ...]:
    """Return the source's needs. Raises ``BadInput`` if it is not a ``ContextSource``."""
    check_object(where, source, ContextSource)
    if source.name != name:
        raise BadInput(f"{where}: what it opens is named {source.name!r}; its name must be {name!r}")
    needs = source.needs
    if isinstance(needs, str) or not isinstance(needs, Collection) or not all(isinstance(each, str) for each in needs):
        raise BadInput(f"{where}: its needs are {needs!r}; give a tuple of names of sources, () for none")
    return tuple(needs)


def _checked(piece: Any, source: str) -> Piece:
    if not isinstance(piece, Piece):
        raise BadInput(f"gather gave a {type(piece).__name__} among its pieces; give saga_core.context.Piece")
    try:
        section = Section(piece.section)
    except ValueError:
        raise BadInput(f"a piece's section is {piece.section!r}; give one of {', '.join(Section)}") from None
    if not piece.key or not isinstance(piece.key, str):
        raise BadInput(f"a piece's key is {piece.key!r}; give a text that says what the piece is about")
    texts: list[Any] = [piece.text, piece.under, piece.bare, piece.within, piece.brief, *piece.shorter]
    if not all(map(is_line, [piece.key, *texts])) or not piece.text.strip():
        raise BadInput(
            f"the piece {piece.key!r:.80} has {piece.text!r:.80} as text; give a line of text of at most {LONGEST:,} "
            "characters that UTF-8 can store"
        )
    numbers: list[tuple[str, Any]] = [("score", piece.score), ("order", piece.order), *piece.why.items()]
    for what, value in numbers:
        if not isinstance(value, int | float) or not isfinite(value):
            raise BadInput(f"the piece {piece.key!r} has {value!r} as {what}; give a number")
    text, under, bare, within, brief, *shorter = map(one_line, texts)
    why = {str(what): float(value) for what, value in piece.why.items()}
    return Piece(
        source,
        piece.key,
        section,
        text,
        float(piece.score),
        why=why,
        order=float(piece.order),
        shorter=tuple(shorter),
        under=under,
        bare=bare,
        within=within,
        brief=brief,
    )
