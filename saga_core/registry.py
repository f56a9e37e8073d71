"""Plugins by name: registered by this program, named in the configuration, or installed with an entry point."""

from __future__ import annotations

import asyncio
import inspect
import logging
import re
import sys
from collections.abc import Awaitable, Callable, Mapping
from functools import lru_cache, partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from socket import gaierror
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypeVar, get_args

from attrs import field, frozen

from saga_core.errors import BadInput, SagaError, StoreCorrupt, StoreError, StoreTimeout, StoreUnavailable
from saga_core.foreign import foreign

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "saga.backends"
GROUPS = (GROUP, "saga.modules", "saga.doors", "saga.importers")
"""The groups of entry points that SAGA looks for."""
_DISTRIBUTION = "saga-rp"

Kind = Literal[
    "state",
    "graph",
    "vector",
    "cache",
    "curator",
    "resident",
    "embedder",
    "chat",
    "tokens",
    "context",
    "strategy",
    "hosting",
]
KINDS: tuple[Kind, ...] = get_args(Kind)
PUBLIC = tuple(kind for kind in KINDS if kind not in ("resident", "hosting"))
"""The kinds that a package may add. The others are parts of SAGA itself."""
log = logging.getLogger("saga.stores")

T_co = TypeVar("T_co", covariant=True)


@frozen
class OpenOptions:
    """The options with which a backend is opened."""

    path: Path | None = None
    """The directory for the backend's files, which it creates itself. None for backends in memory or behind a URL."""
    url: str | None = field(default=None, repr=False)
    options: Mapping[str, Any] = field(factory=dict)
    """The ``options`` of the config. The backend checks them: an unknown name raises ``BadInput``."""

    def take(self, **defaults: Any) -> dict[str, Any]:
        """Return ``defaults`` updated with the options. Raises ``BadInput`` for unknown names and wrong types."""
        for name, value in self.options.items():
            if name not in defaults:
                allowed = ", ".join(sorted(defaults)) or "none"
                raise BadInput(f"options.{name}: unknown option; this backend takes: {allowed}")
            wanted = defaults[name]
            if wanted is not None and type(value) is not type(wanted):
                if isinstance(wanted, float) and type(value) is int:
                    continue
                given, needed = type(value).__name__, type(wanted).__name__
                raise BadInput(f"options.{name}: {value!r} is of type {given}; give one of type {needed}")
        return {**defaults, **self.options}


def _check_kind(kind: object) -> None:
    if kind not in KINDS:
        raise BadInput(f"kind: {kind!r} is no kind of backend; give one of {', '.join(PUBLIC)}")


def _check_open(name: str, open_: object) -> None:
    if inspect.isclass(open_):
        raise BadInput(
            f"{name}: {open_.__name__} is a class, and opening is asynchronous; give a coroutine function that takes "
            "OpenOptions, or the class itself in place of the Backend"
        )
    if not callable(open_):
        raise BadInput(f"{name}: {open_!r} cannot open anything; give a coroutine function that takes OpenOptions")


@frozen
class Backend(Generic[T_co]):
    """An engine that can be opened. Its entry point is named ``<kind>.<name>``."""

    kind: Kind = field(validator=lambda _self, _attribute, value: _check_kind(value))
    name: str
    open: Callable[[OpenOptions], Awaitable[T_co]] = field(
        validator=lambda self, _attribute, value: _check_open(f"the {self.kind} backend {self.name!r}", value)
    )
    """Open the store (or embedder, chat model, counter, context source) and return it ready to use."""
    summary: str = ""
    extra: str | None = None
    """The optional dependency set that installs the engine, for the message when it is missing."""
    warm_up: tuple[str, ...] = ()
    """Modules that the first use needs but opening does not.

    They must be installed. They are imported in a thread right after the start, or by the first use.
    """


Opener: TypeAlias = Backend[T_co] | Callable[[OpenOptions], Awaitable[T_co]] | type[T_co]
"""What opens a store or a model: a ``Backend``, a coroutine function that takes ``OpenOptions``, or a class.

A class whose ``__init__`` requires an argument gets the ``OpenOptions``. Any other class is called without arguments,
and its options must be empty.
"""

_CURRENT = {("graph", "adjacency"): "networkx"}
"""The names of backends that took the place of others."""

_AS_THEY_ARE = ("strategy", "context")
"""Kinds that are objects without a state of their own, so that a module can hold one ready to use."""

_registered: dict[str, Backend[Any]] = {}
_configured: dict[tuple[str, str], EntryPoint] = {}
"""The entry points that the configuration adds, by group and name."""
_warm_up: dict[str, None] = {}


def remedy(extra: str) -> str:
    """Return how to install an engine of SAGA's own: the command for its optional dependency set."""
    return f"pip install 'saga-rp[{extra}]' (in a checkout: make setup EXTRAS={extra})"


def register(name: str, opener: Opener[Any]) -> None:
    """Make a backend known to this program as ``<kind>.<name>``, such as ``state.mine``.

    It replaces a registered or installed one of that name, one of SAGA's own too. Engines that are open stay as they
    are. Raises ``BadInput``.
    """
    kind, dot, own = name.partition(".")
    if not dot or not own or ":" in own:
        raise BadInput(f"register: {name!r} is no name of a backend; give <kind>.<name>, such as state.mine")
    _check_kind(kind)
    _registered[name] = backend_of(kind, own, opener)  # type: ignore[arg-type]


def unregister(name: str) -> None:
    """Forget a backend that was registered as ``name``. An unknown name is no error."""
    _registered.pop(name, None)


def backend_of(kind: Kind, name: str, opener: object) -> Backend[Any]:
    """Return ``opener`` as a ``Backend``. Raises ``BadInput`` for another kind, and for what opens nothing."""
    if isinstance(opener, Backend):
        if opener.kind != kind:
            raise BadInput(f"{kind} backend {name!r}: it is a backend of kind {opener.kind!r}; give one of {kind!r}")
        return opener
    if inspect.isclass(opener):
        return Backend(kind, name, _opened_by(f"{kind} backend {name!r}", opener))
    if inspect.iscoroutinefunction(opener):
        _check_takes(f"{kind} backend {name!r}", opener, 1)
        return Backend(kind, name, opener)
    if kind in _AS_THEY_ARE and not callable(opener):
        return Backend(kind, name, partial(_as_it_is, opener))
    if inspect.isfunction(opener):
        raise BadInput(
            f"{kind} backend {name!r}: {opener.__qualname__} opens nothing, for it is not asynchronous: write async def"
        )
    raise BadInput(
        f"{kind} backend {name!r}: {opener!r} opens nothing; give a Backend, a class, or a coroutine function that "
        "takes OpenOptions"
    )


async def _as_it_is(opened: object, options: OpenOptions) -> object:
    options.take()
    return opened


def _opened_by(where: str, cls: type[Any]) -> Callable[[OpenOptions], Awaitable[Any]]:
    required = [
        each
        for each in inspect.signature(cls).parameters.values()
        if each.default is each.empty and each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)
    ]
    _check_takes(where, cls, min(1, len(required)))

    async def opened(options: OpenOptions) -> Any:
        if required:
            return cls(options)
        options.take()
        return cls()

    opened.__module__ = cls.__module__
    return opened


def _check_takes(where: str, opener: Callable[..., Any], arguments: int) -> None:
    try:
        inspect.signature(opener).bind(*[None] * arguments)
    except TypeError as error:
        form = f"{opener.__name__}{inspect.signature(opener)}"
        raise BadInput(
            f"{where}: {form} cannot be called with OpenOptions alone ({error}); take one argument, and the rest from "
            "its options"
        ) from error


def names(kind: str) -> list[str]:
    """Return the names of the registered and installed backends of ``kind``, sorted. ``BadInput``."""
    _check_kind(kind)
    prefix = kind + "."
    known = [*_registered, *(point.name for point in entry_points(group=GROUP))]
    return sorted({name[len(prefix) :] for name in known if name.startswith(prefix)})


def current(kind: str, name: str) -> str:
    """Return the name under which a backend is registered now: ``networkx`` for the graph ``adjacency``."""
    return _CURRENT.get((kind, name), name)


def load(kind: Kind, name: str) -> Backend[Any]:
    """Return the backend ``name`` of ``kind``. ``name`` may be the place of an ``Opener``, as in ``package.module:X``.

    Raises ``BadInput`` for an unknown name (the message lists the known ones) or a module that does not exist, and
    ``StoreUnavailable`` if its module cannot be imported or one of ``warm_up`` is not installed (the message says what
    to install).
    """
    _check_kind(kind)
    name = current(kind, name)
    backend = _registered.get(f"{kind}.{name}")
    if backend is None:
        backend = _imported(kind, name) if ":" in name else _installed(kind, name)
    for module in backend.warm_up:
        _require(module.partition(".")[0], f"{kind}.{name}", backend.extra)
    _warm_up.update(dict.fromkeys(backend.warm_up))
    return backend


OPEN_SECONDS = 120.0
"""How long a store may take to open. A large one that was not closed in order may take a while."""


async def open_plugin(
    kind: Kind, name: str, options: OpenOptions, *, at: str, options_at: str, if_damaged: str = ""
) -> Any:
    """Open the backend ``name``, which the setting ``at`` names. Its options are those of ``<options_at>options``.

    Whatever it raises becomes a ``SagaError`` that names the setting, the backend and what to do. What is no error of
    SAGA becomes ``StoreUnavailable``, or ``StoreCorrupt`` if there is a remedy ``if_damaged`` and the error tells
    nothing of rights, space or what is not installed. A store that is not open after ``OPEN_SECONDS`` becomes
    ``StoreTimeout``. A model may be loaded for longer. A plain ``StoreError`` of another author gets a remedy.
    """
    extra = None
    try:
        backend = load(kind, name)
        extra = backend.extra
        with foreign:
            opening = backend.open(options)
        if not inspect.isawaitable(opening):
            raise BadInput(f"what opens {name} is not asynchronous; write it with async def")
        if kind not in ("state", "graph", "vector", "cache"):
            with foreign:
                return await opening
        return await _in_time(_opened(opening), f"{at}: {name} did not open within {OPEN_SECONDS:g} s")
    except SagaError as error:
        named = _named(error, at, name, options, options_at)
        if type(error) is StoreError and not getattr(backend.open, "__module__", "").startswith("saga_"):
            todo = if_damaged or f"{_remedy(error, extra, options, at, options_at)}, or name another backend"
            named.args = (f"{named}; {todo}",)
        raise named from error.__cause__
    except Exception as error:
        told = f"{at}: {name} cannot be opened ({why(error)})"
        if if_damaged and not isinstance(error, (OSError, MemoryError, ImportError)):
            raise StoreCorrupt(f"{told}; {if_damaged}") from error
        todo = _remedy(error, extra, options, at, options_at)
        raise StoreUnavailable(f"{told}; {todo}, or name another backend") from error


def _remedy(error: Exception, extra: str | None, options: OpenOptions, at: str, options_at: str) -> str:
    """Return what is to be done about an error at opening that is no error of SAGA."""
    if isinstance(error, TypeError | AttributeError) and OpenOptions.__name__ in str(error):
        return "what opens it gets OpenOptions as its one argument; take path, url and options from there"
    if isinstance(error, ImportError):
        return f"install it: {remedy(extra)}" if extra else "install it"
    if isinstance(error, ConnectionError | TimeoutError | gaierror):
        return f"start what it connects to, or correct its address in {at}"
    return f"check {options_at}options" + (f", rights and space at {options.path}" if options.path is not None else "")


async def _opened(opening: Awaitable[Any]) -> Any:
    with foreign:
        return await opening


async def _in_time(opening: Awaitable[Any], late: str) -> Any:
    """Wait for an opening. One that is late is cancelled and not waited for, because it may hang in a thread."""
    task = asyncio.ensure_future(opening)
    try:
        await asyncio.wait({task}, timeout=OPEN_SECONDS)
    except asyncio.CancelledError:
        task.cancel()
        await asyncio.wait({task})  # it leaves the path free
        raise
    if not task.done():
        task.cancel()
        log.error("%s", late)
        raise StoreTimeout(late)
    return task.result()


def _named(error: SagaError, at: str, name: str, options: OpenOptions, options_at: str) -> SagaError:
    """Return ``error`` with the setting and the backend in front of its message, unless that names the setting."""
    told = str(error)
    if isinstance(error, BadInput) and told.startswith("options."):
        error.args = (f"{options_at}{told}",)
    elif at not in told:
        error.args = (f"{at}: {told}" if name in told else f"{at}: {name}: {told}",)
    return error


CLOSING_SECONDS = 3.0
"""After how long it is said what is still being closed."""


async def close_plugin(at: str, plugin: Any, *, warns: bool = True) -> None:
    """Close what ``open_plugin`` opened. Raises ``StoreError`` that names the setting, whatever goes wrong.

    With ``warns``, it is logged if that takes long.
    """
    name = getattr(getattr(plugin, "info", None), "name", None) or getattr(plugin, "id", None) or type(plugin).__name__
    told = ("%s: %s is still in aclose after %g s; %s", at, name, CLOSING_SECONDS, _SAFE)
    late = asyncio.get_running_loop().call_later(CLOSING_SECONDS, log.warning, *told) if warns else None
    try:
        with foreign:
            await plugin.aclose()
    except SagaError:
        raise
    except Exception as error:
        raise StoreError(f"{at}: {name} failed in aclose ({why(error)}); {_SAFE}") from error
    finally:
        if late is not None:
            late.cancel()


_SAFE = "what was recorded is safe, and the process can be ended"

_MOST_OF_ERROR = 300
"""Characters of another program's message that are quoted."""


def why(error: Exception) -> str:
    """Return the type and the beginning of the message of another program's error."""
    return f"{type(error).__name__}: {error}"[:_MOST_OF_ERROR]


def _imported(kind: Kind, name: str) -> Backend[Any]:
    module, _, attribute = name.partition(":")
    try:
        with foreign:
            found = found_at(module, attribute)
    except _Lacking as error:
        raise BadInput(f"{kind} backend {name!r}: {error}") from error
    except Exception as error:
        _check_there(f"{kind} backend {name!r}", module, error)
        raise StoreUnavailable(f"{kind} backend {name!r}: {module} cannot be imported: {why(error)}") from error
    return backend_of(kind, name, found)


class _Lacking(AttributeError):
    """A module without the name that is looked for. The message says which name is like it."""


def found_at(module: str, attribute: str) -> Any:
    """Import what is at a place. Raises ``AttributeError`` that names what is like it, and what the import raises."""
    import difflib  # only a wrong name needs it

    found: Any = import_module(module)
    for step in filter(None, attribute.split(".")):
        if not hasattr(found, step):
            close = difflib.get_close_matches(step, [each for each in dir(found) if each[0] != "_"], 1)
            raise _Lacking(f"{module} has no {attribute!r}" + (f"; did you mean {close[0]!r}?" if close else ""))
        found = getattr(found, step)
    return found


def by_place(name: str, entry: str) -> str:
    """What to do about the place of a plugin, given where a ``name`` is expected; empty if it is no place."""
    return f"; a place goes into plugins, such as plugins: {{{entry.format(name)}}}" if ":" in name else ""


def _check_there(where: str, module: str, error: Exception) -> None:
    """Raise ``BadInput`` if ``module`` itself is not found, rather than a module that it imports."""
    missing = error.name if isinstance(error, ModuleNotFoundError) else None
    if missing is not None and f"{module}.".startswith(f"{missing}."):
        raise BadInput(
            f"{where}: there is no module {missing!r}; if the name is right, install its package, or start with "
            "PYTHONPATH=FOLDER"
        ) from error


def _installed(kind: Kind, name: str) -> Backend[Any]:
    point = next((point for point in entry_points(group=GROUP) if point.name == f"{kind}.{name}"), None)
    if point is None:
        known = ", ".join(names(kind)) or "none are installed"
        raise BadInput(f"no {kind} backend {name!r}; known: {known}; or give the place of one, package.module:object")
    try:
        with foreign:
            found = found_at(point.module, point.attr)
    except _Lacking as error:
        raise BadInput(f"backend {point.name!r}: {error}") from error
    except Exception as error:
        _check_there(f"backend {point.name!r} ({point.value})", point.module, error)
        missing = (error.name or "").partition(".")[0] if isinstance(error, ImportError) else ""
        extra = _extra_with(missing, point)
        install = f"; install it: {remedy(extra)}" if extra else ""
        raise StoreUnavailable(
            f"backend {point.name!r} ({point.value}) cannot be imported: {why(error)}{install}"
        ) from error
    return backend_of(kind, name, found)


def warm_up() -> tuple[str, ...]:
    """Return the modules that the backends loaded so far import at their first use."""
    return tuple(_warm_up)


def _require(package: str, backend: str, extra: str | None) -> None:
    if find_spec(package) is None:
        missing = ModuleNotFoundError(f"No module named {package!r}", name=package)
        install = remedy(extra) if extra else f"pip install {package}"
        raise StoreUnavailable(f"backend {backend!r} cannot be used: {missing}; install it: {install}") from missing


def _extra_with(package: str, point: EntryPoint) -> str | None:
    """Return the extra of SAGA that brings ``package``, if the entry point is SAGA's own."""
    if point.dist is None or point.dist.name != _DISTRIBUTION:
        return None
    for line in point.dist.requires or ():
        found = re.match(r"([\w.-]+)[^;]{0,200};\s*extra\s*==\s*['\"]([^'\"]+)", line)
        if found is not None and found[1].replace("-", "_") == package and found[2] not in ("all", "dev"):
            return found[2]
    return None


def add_entry_points(plugins: Mapping[str, Mapping[str, str]]) -> None:
    """Make plugins known as if a package with these entry points was installed: group -> name -> place.

    They replace installed ones of the same names.
    """
    from importlib.metadata import EntryPoint

    for group, named in plugins.items():
        _configured.update({(group, name): EntryPoint(name, place, group) for name, place in named.items()})


def entry_points(*, group: str) -> tuple[EntryPoint, ...]:
    """Return the entry points of a group: backends, importers, modules or doors.

    They are those of the packages on the path, and those that the configuration adds. Of several with one name, SAGA's
    own is used, or else that of the first package by name; ``unused`` tells of the others.
    """
    installed = _searched(tuple(sys.path))[0].get(group, ())
    added = {name: point for (of, name), point in _configured.items() if of == group}
    return (*(point for point in installed if point.name not in added), *added.values())


def object_at(point: EntryPoint) -> Any:
    """Load what an entry point names. A class is called without arguments."""
    with foreign:
        found = found_at(point.module, point.attr)
        return found() if inspect.isclass(found) else found


def unused() -> tuple[str, ...]:
    """Return which entry points of installed packages nothing uses, each with the reason and the remedy."""
    return _searched(tuple(sys.path))[1]


def is_name(name: str) -> bool:
    """Whether a backend may have this name: ``<kind>.<name>``."""
    kind, _, own = name.partition(".")
    return kind in KINDS and bool(own)


@lru_cache(maxsize=8)
def _searched(_path: tuple[str, ...]) -> tuple[Mapping[str, tuple[EntryPoint, ...]], tuple[str, ...]]:
    """Return those of SAGA's groups, by group, and what is said of the others.

    Cached: a search takes up to 25 ms of CPU, and an engine needs nine.
    """
    # The module for that imports thirteen others, which opening alone needs.
    from importlib.metadata import entry_points as search

    found = search()
    used: dict[str, tuple[EntryPoint, ...]] = {}
    told: list[str] = []
    for group in sorted(group for group in found.groups if group.startswith("saga.")):
        points = tuple(found.select(group=group))
        if group not in GROUPS:
            told += [
                f"{_said(each)}: there is no group {group!r}; the groups are {', '.join(GROUPS)}" for each in points
            ]
            continue
        named: dict[str, list[EntryPoint]] = {}
        for point in points:
            if group == GROUP and not is_name(point.name):
                told.append(f"{_said(point)}: name it <kind>.<name>; the kinds are {', '.join(PUBLIC)}")
            else:
                named.setdefault(point.name, []).append(point)
        used[group] = tuple(_one_of(several, told) for several in named.values())
    for each in told:
        log.warning("%s", each)
    return used, tuple(told)


def _one_of(several: list[EntryPoint], told: list[str]) -> EntryPoint:
    """Return which of the entry points of one name is used, and add to ``told`` what is to be said of the others."""
    if len(several) == 1:
        return several[0]  # without its package, whose name is in a file
    first, *others = sorted(several, key=lambda each: (_package(each) != _DISTRIBUTION, _package(each)))
    for each in others:
        if each.value != first.value:
            told.append(
                f"{_said(each)}: {_package(first)} has one of this name; rename it, or uninstall one of the two"
            )
    return first


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else ""


def _said(point: EntryPoint) -> str:
    return f"{_package(point)}: {point.name} = {point.value} in {point.group} is not used"
