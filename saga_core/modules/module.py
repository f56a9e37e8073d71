"""Modules: what a developer adds to stories. This file is the protocol, and what runs the modules of an engine."""

from __future__ import annotations

import hashlib
import inspect
import logging
import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property, partial
from importlib.metadata import EntryPoint
from itertools import islice
from typing import Any, Protocol, TypeVar, get_args

from attrs import define, field, frozen

from saga_core.counters import Counters
from saga_core.errors import BadInput, StoreUnavailable
from saga_core.foreign import foreign
from saga_core.model import Delta, Event, WorldState, deltas, fold
from saga_core.modules.fields import LONGEST, check_fields, is_line
from saga_core.registry import by_place, entry_points, object_at
from saga_core.trackers import Tracker

GROUP = "saga.modules"
log = logging.getLogger("saga.modules")

_NOT_DRAWN = re.compile("[^\t\n\r -~\u00a0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|[\u202a-\u202e\u2066-\u2069]")
"""Control characters, and what no XML may have. A single one, in a name, would keep a browser from drawing anything."""

_SVG = re.compile(r"<(?:[\w.-]+:)?svg[\s/>]")

T = TypeVar("T")


@frozen
class ModuleTurn:
    """What a module's rules see of a turn."""

    before: WorldState
    after: WorldState
    """The state with everything that was reported."""
    words: str
    """The player's words."""
    reply: str
    seed: str
    """The id of the turn. A swipe has another one, and a replay has the same."""

    @cached_property
    def random(self) -> random.Random:
        """A source of chance that gives the same for the same turn."""
        return random.Random(hashlib.blake2b(self.seed.encode(), digest_size=16).digest())


class Module(Protocol):
    """A module. Every method is pure: the same arguments give the same result, and nothing else is read or changed."""

    @property
    def name(self) -> str:
        """The name of its entry point."""
        ...

    @property
    def version(self) -> int:
        """Grows when rules change.

        The journal keeps with each turn what the rules made of it, so that old turns stay as they are, and the version
        that made it.
        """
        ...

    def trackers(self, language: str) -> Iterable[Tracker]:
        """What the story counts because of this module. The narrator is asked for it."""
        ...

    def rules(self, turn: ModuleTurn) -> Iterable[Event]:
        """What follows from a turn, besides what was reported."""
        ...

    def context(self, state: WorldState, language: str) -> Iterable[str]:
        """Lines for the narrator, at most a few and short."""
        ...

    def section(self, state: WorldState, language: str) -> Iterable[str]:
        """Lines for the page and ``GET /api/sessions/{id}/state``."""
        ...

    def picture(self, state: WorldState, language: str) -> str:
        """An SVG for ``GET /api/sessions/{id}/{name}.svg``; empty for none."""
        ...


@define(eq=False)
class Modules:
    """The modules of an engine. A module that fails is left out of that turn, and the status says so."""

    modules: tuple[Module, ...] = ()
    counters: Counters | None = None
    off: frozenset[str] = frozenset()
    """The names that the configuration switches off."""
    _of_worlds: dict[tuple[str, ...], Modules] = field(factory=dict)
    """The names that worlds have -> these modules with those."""
    _failing: dict[str, str] = field(factory=dict)
    """Degraded mode -> the method that failed. The mode ends when that one works again."""

    def of_world(self, names: tuple[str, ...]) -> Modules:
        """These modules with those that a world names.

        One that is switched off is left out in silence; one that is not installed is said in the status.
        """
        have = {each.name for each in self.modules}
        wanted = tuple(name for name in names if name not in have and name not in self.off)
        if not wanted:
            return self
        if wanted not in self._of_worlds:
            found = [module for name in wanted if (module := self._installed(name)) is not None]
            self._of_worlds[wanted] = Modules((*self.modules, *found), self.counters, self.off)
        return self._of_worlds[wanted]

    def _installed(self, name: str) -> Module | None:
        try:
            return _load(name, {point.name: point for point in entry_points(group=GROUP)})
        except (BadInput, StoreUnavailable) as error:
            log.warning("a world names the module %s, which its stories do without: %s", name, error)
            if self.counters is not None:
                self.counters.degrade(f"module.{name}", f"a world names it, and its stories do without: {error}")
            return None

    def trackers(self, language: str) -> tuple[Tracker, ...]:
        """What the modules declare."""
        return tuple(
            each
            for found in self._each("trackers", lambda module: _all(Tracker, module.trackers(language), "trackers"))
            for each in found
        )

    def events(self, turn: ModuleTurn) -> tuple[Event, ...]:
        """The events of all modules for a turn, in the order of the modules; each sees those before it."""

        def of(state: WorldState, module: Module) -> tuple[Event, ...]:
            seen = ModuleTurn(turn.before, state, turn.words, turn.reply, f"{turn.seed}:{module.name}")
            found = _all(Event, module.rules(seen), "rules")
            if found and state.modules.get(module.name) != module.version:
                found = (deltas.ModuleUsed(module.name, module.version), *found)
            fold(state, Delta(found), turn=state.turn, depth=state.depth)  # what it cannot take fails here
            return found

        events: list[Event] = []
        state = turn.after
        for module in self.modules:
            found = self._safely(module, "rules", partial(of, state))
            if found:
                events += found
                state = fold(state, Delta(found), turn=state.turn, depth=state.depth)
        return tuple(events)

    def context(self, state: WorldState, language: str) -> tuple[str, ...]:
        """The lines of all modules for the narrator."""
        found = self._each("context", lambda module: _lines(module.context(state, language), "context"))
        return tuple(line for lines in found for line in lines)

    def sections(self, state: WorldState, language: str) -> list[dict[str, object]]:
        """The lines of each module for the page, and whether it draws a picture. JSON-able."""
        found: list[dict[str, object]] = []
        for module in self.modules:
            lines = self._safely(module, "section", lambda module: _lines(module.section(state, language), "section"))
            drawn = bool(self.picture(module.name, state, language))
            found.append({"name": module.name, "version": module.version, "lines": list(lines or ()), "picture": drawn})
        return found

    def picture(self, name: str, state: WorldState, language: str) -> str:
        """The picture of a module; empty if there is no such module or it has none.

        The map is drawn in every story, because worlds say what is next to what.
        """
        module = next((each for each in self.modules if each.name == name), None)
        if module is None and name == "map":
            from saga_core.modules.map import MODULE  # imports this module

            module = MODULE
        if module is None:
            return ""
        drawn = self._safely(module, "picture", lambda found: _drawn(found.picture(state, language)))
        return _NOT_DRAWN.sub("\ufffd", drawn or "")

    def _each(self, step: str, ask: Callable[[Module], T]) -> Iterator[T]:
        for module in self.modules:
            found = self._safely(module, step, ask)
            if found is not None:
                yield found

    def _safely(self, module: Module, step: str, ask: Callable[[Module], T]) -> T | None:
        mode = f"module.{module.name}"
        try:
            with foreign:
                found = ask(module)
        except Exception as error:
            log.exception("the module %s is left out of this turn", module.name)
            self._failing[mode] = step
            if self.counters is not None:
                off = f"modules.{module.name}.enabled: false switches it off"
                why = str(error) if isinstance(error, BadInput) else f"{type(error).__name__}: {error}"
                self.counters.degrade(mode, f"{why}; it is left out of the turn; {off}")
            return None
        if self._failing.get(mode) == step and self.counters is not None:
            del self._failing[mode]
            self.counters.recover(mode)
        return found


_MOST = 1_000
"""Events of a turn, trackers, or lines."""
_LARGEST = 1_000_000
"""Characters of all of them. The journal does not take a turn of any size."""
_GIVE = {"rules": "events of saga_core.model.deltas", "trackers": "saga_core.trackers.Tracker"}


def _all(kind: Any, given: Iterable[Any], method: str) -> tuple[Any, ...]:
    """What a method gave. Raises ``BadInput`` unless each is of the kind, with fields of the declared types."""
    found = tuple(islice(_several(given, method), _MOST + 1))
    if len(found) > _MOST:
        raise BadInput(f"{method} gave more than {_MOST:,}; give fewer")
    odd = next((each for each in found if not isinstance(each, get_args(kind) or kind)), None)
    if odd is not None:
        raise BadInput(f"{method} gave a {type(odd).__name__}; give {_GIVE[method]}")
    for each in found:
        check_fields(f"{method} gave", each)
    if len(found) > 1 and (size := sum(len(repr(each)) for each in found)) > _LARGEST:
        raise BadInput(f"{method} gave {size:,} characters in all; give at most {_LARGEST:,}")
    return found


def _lines(given: Iterable[str], method: str) -> tuple[str, ...]:
    if isinstance(given, str | bytes):
        raise BadInput(f"{method} gave a text; give a list of lines")
    found = tuple(islice(_several(given, method), _MOST + 1))
    if len(found) > _MOST:
        raise BadInput(f"{method} gave more than {_MOST:,} lines; give fewer")
    for each in found:
        if not is_line(each):
            raise BadInput(
                f"{method} gave {each!r:.80} as a line; give texts of at most {LONGEST:,} characters that UTF-8 can "
                "store"
            )
    return found


def _drawn(given: Any) -> str:
    if inspect.iscoroutine(given):
        given.close()
        raise BadInput("picture is asynchronous; write it with def")
    if given is not None and not isinstance(given, str):
        raise BadInput(f"picture gave a {type(given).__name__}; give an SVG as a text, or '' for none")
    if given and not _SVG.search(given):
        raise BadInput(f"picture gave {given[:80]!r}; give an SVG, or '' for none")
    return given or ""


def _several(given: Any, method: str) -> Iterable[Any]:
    if inspect.iscoroutine(given):
        given.close()
        raise BadInput(f"{method} is asynchronous; write it with def")
    if not isinstance(given, Iterable):
        raise BadInput(f"{method} gave a {type(given).__name__}; give a list")
    return given


NO_MODULES = Modules()


def open_modules(enabled: Mapping[str, bool], counters: Counters) -> Modules:
    """Return the enabled modules, found by the entry points ``saga.modules``. Raises ``BadInput`` for unknown names."""
    wanted = [name for name, on in enabled.items() if on]
    points = {point.name: point for point in entry_points(group=GROUP)} if wanted else {}
    off = frozenset(name for name, on in enabled.items() if not on)
    return Modules(tuple(_load(name, points) for name in wanted), counters, off)


def modules_that_fail() -> dict[str, str]:
    """Why installed modules cannot be used, by name."""
    failed = {}
    points = {point.name: point for point in entry_points(group=GROUP)}
    for name in points:
        try:
            _load(name, points)
        except (BadInput, StoreUnavailable) as error:
            failed[name] = str(error).removeprefix(f"modules.{name}: ")
    return failed


def _load(name: str, points: Mapping[str, EntryPoint]) -> Module:
    if name not in points:
        known = ", ".join(sorted(points)) or "none"
        place = by_place(name, "saga.modules: {{NAME: {}}}")
        raise BadInput(f"modules.{name}: no such module is installed; there are {known}{place}")
    try:
        with foreign:
            return _fitting(name, points[name].value, object_at(points[name]))
    except BadInput:
        raise
    except Exception as error:  # the code of others
        raise StoreUnavailable(f"modules.{name}: {points[name].value} cannot be loaded: {error}") from error


def _fitting(name: str, place: str, module: Module) -> Module:
    if lacking := [each for each in vars(Module) if not each.startswith("_") and not hasattr(module, each)]:
        raise BadInput(
            f"modules.{name}: {place} is no module, for it lacks {', '.join(lacking)}; docs/write-a-module.md shows one"
        )
    if type(module.version) is not int:
        raise BadInput(f"modules.{name}: its version is {module.version!r}; give a whole number")
    if module.name != name:
        raise BadInput(f"modules.{name}: what it opens is named {module.name!r}; its name must be {name!r}")
    return module
