"""The worlds on disk: found in the folders of some roots, read on demand, and written as a whole."""

from __future__ import annotations

import asyncio
import errno
import json
import logging
import os
import shutil
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from attrs import define, field, frozen

from saga_core.errors import BadInput, StoreError
from saga_core.language import fold_name, is_common, looked_through, match_name, match_text, mentions_folded, nfc
from saga_core.world.errors import UnknownWorld, WorldError, WorldProblem
from saga_core.world.format import FILES, LONGEST
from saga_core.world.model import EMPTY_WORLD, World
from saga_core.world.parse import parse_world
from saga_core.world.render import LaidOut

_log = logging.getLogger(__name__)

_Stamp = tuple[tuple[str, int, int, int], ...]
_LARGEST = 4 * LONGEST
"""Largest file, in bytes. ``LONGEST`` characters never take more."""
_NONE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})
"""Errors that mean that there is no such file, or that it was removed meanwhile."""
_SEARCHED = 128_000
"""Characters of a system prompt, at both ends together, that are searched for a world's name."""
_MANY = 64
"""Number of worlds above which they are searched in a thread: a thousand take hundredths of a second."""


def packaged_worlds() -> Path:
    """The folder of the worlds that come with SAGA."""
    package = Path(__file__).resolve().parents[1]
    packaged = package / "_packaged_worlds"
    return packaged if packaged.is_dir() else package.parent / "worlds"  # a source checkout


def default_roots(base: Path) -> list[Path]:
    """The folders that hold worlds: ``base/worlds``, ``base/data/worlds``, then the one that comes with SAGA."""
    roots: list[Path] = []
    for root in (base / "worlds", base / "data" / "worlds", packaged_worlds()):
        if root.resolve() not in [other.resolve() for other in roots]:
            roots.append(root)
    return roots


@frozen
class WorldSummary:
    """A world as it appears in a list."""

    name: str
    folder: Path
    files: tuple[str, ...]
    """The names of the files that can be read as text."""
    problems: int
    """The number of problems that make the world unusable."""


@frozen
class _Reading:
    """The content of a folder when it was last read: a world with its warnings, or an error."""

    stamp: _Stamp
    content: dict[str, bytes]
    outcome: World | WorldError
    warnings: tuple[str, ...] = ()


def _as_tuple(roots: Iterable[Path]) -> tuple[Path, ...]:
    return tuple(roots)


@define(eq=False)
class WorldLibrary:
    """The worlds below ``roots``. If two roots have a folder of the same name, the first one wins.

    A world is a folder with at least one of the three files. Names are looked up among the folders that a scan
    finds and never joined to a path, so no name leads out of the roots. Links that lead out of a folder are ignored. A
    world that cannot be read is logged and listed by ``broken``. It is an error only for requests by its name.
    """

    roots: tuple[Path, ...] = field(converter=_as_tuple)
    _readings: dict[Path, _Reading] = field(factory=dict, init=False)

    def names(self) -> list[str]:
        """The names of all worlds in order, readable or not."""
        return list(self._folders())

    def folders(self) -> dict[str, Path]:
        """Every world's folder by its name, in the order of names, readable or not."""
        return {name: folder for name, (folder, _) in self._folders().items()}

    def get(self, name: str) -> World:
        """The world whose folder is called ``name``, or else the first one, in order of names, with that alias.

        Case and spacing are ignored. ``empty`` is ``EMPTY_WORLD`` unless a world has that name or alias. Raises
        ``UnknownWorld``, and ``WorldError`` for a world that cannot be read.
        """
        return _world(self._find(name))

    def warnings(self, name: str) -> tuple[str, ...]:
        """The warnings of one world, each ``file:line: text``. Raises the same errors as ``get``."""
        reading = self._find(name)
        _world(reading)
        return reading.warnings

    def called(self) -> dict[str, World]:
        """The readable worlds by name, by folded name and by folded alias, in this order of preference."""
        worlds = list(self._readable())[::-1]
        return {
            **{fold_name(alias): world for world in worlds for alias in world.aliases},
            **{fold_name(world.name): world for world in worlds},
            **{world.name: world for world in worlds},
        }

    async def read_changes(self) -> None:
        """Read new and changed worlds in a thread, because a large world takes seconds.

        Raises the same errors as ``names``.
        """
        if len(self._readings) > _MANY or any(not self._known(*each) for each in self._folders().values()):
            await asyncio.to_thread(self.read_all)

    async def chosen(self, explicit: str | None, system_text: str, default: str | None) -> World:
        """Like ``choose``, but new and changed worlds are read in a thread."""
        if len(self._readings) > _MANY:
            return await asyncio.to_thread(self.choose, explicit, system_text, default)
        await self.read_changes()
        return self.choose(explicit, system_text, default)

    def portraits(self, names: Collection[str]) -> dict[str, Path]:
        """The pictures of those worlds among ``names`` that came with a card. May be called in another thread."""
        folders = self.folders()
        pictures = ((name, _portrait(folders[name])) for name in names if name in folders)
        return {name: picture for name, picture in pictures if picture is not None}

    def read(self, folder: Path) -> None:
        """Read one world now, so that no request waits for it later. May be called in another thread."""
        self._read(folder, _stamp(folder))

    def written(self, folder: Path, world: World, laid_out: LaidOut) -> None:
        """Cache a world that was just written, if the folder's files match it. May be called in another thread."""
        content = {file: text.encode() for file, text in laid_out.texts.items()}
        stamp = _stamp(folder)
        if {(file, size) for file, _, size, _ in stamp} != {(file, len(raw)) for file, raw in content.items()}:
            self._read(folder, stamp)
            return
        shown = _shown(folder)
        warnings = tuple(shown + each.removeprefix(laid_out.where) for each in laid_out.warnings)
        for warning in warnings:
            _log.warning("%s", warning)
        self._readings[folder] = _Reading(stamp, content, world, warnings)

    def read_all(self) -> None:
        """Read every world now, so that no request waits for it later. May be called in another thread."""
        for world in self._readable():
            _log.debug("world %s: %s", world.name, world.digest)

    def broken(self) -> dict[str, WorldError]:
        """The worlds that cannot be read, by name."""
        readings = ((name, self._read(*each).outcome) for name, each in self._folders().items())
        return {name: outcome for name, outcome in readings if isinstance(outcome, WorldError)}

    def listed(self) -> list[WorldSummary]:
        """Every world in the order of names. Unchanged worlds are not read again."""
        found = []
        for name, (folder, stamp) in self._folders().items():
            reading = self._read(folder, stamp)
            outcome = reading.outcome
            problems = len(outcome.problems) if isinstance(outcome, WorldError) else 0
            found.append(WorldSummary(name, folder, tuple(reading.content), problems))
        return found

    def choose(self, explicit: str | None, system_text: str, default: str | None) -> World:
        """Choose the world of a new session.

        ``explicit`` wins. Otherwise it is the world with the longest ``match`` that occurs in ``system_text`` as a
        word (of equally long ones, the first by name), else ``default``, else ``EMPTY_WORLD``. A name that any system
        prompt may have chooses none. Raises the same errors as ``get``.
        """
        if explicit:
            return self.get(explicit)
        told = match_text(nfc(looked_through(system_text, _SEARCHED)))
        best, chosen = 0, None
        for world in self._readable():
            for name in world.match:
                if len(name) > best and not is_common(name) and mentions_folded(told, match_name(name)):
                    best, chosen = len(name), world
        if chosen is not None:
            return chosen
        return self.get(default) if default else EMPTY_WORLD

    def folder(self, name: str) -> Path:
        """The folder of exactly this name, in any Unicode form. Raises ``UnknownWorld``."""
        folders = self._folders()
        found = folders.get(nfc(name))
        if found is None:
            raise UnknownWorld(name, folders, self.broken().values())
        return found[0]

    def files(self, folder: Path) -> list[str]:
        """The names of the world files in a folder."""
        return [file for file, *_ in _stamp(folder)]

    def _find(self, name: str) -> _Reading:
        folders = self._folders()
        exact = folders.get(nfc(name))
        if exact is not None:
            return self._read(*exact)
        wanted = fold_name(name)
        for other, each in folders.items():
            if fold_name(other) == wanted:
                return self._read(*each)
        for each in folders.values():
            reading = self._read(*each)
            if isinstance(reading.outcome, World) and wanted in map(fold_name, reading.outcome.aliases):
                return reading
        if wanted == EMPTY_WORLD.name:
            return _Reading((), {}, EMPTY_WORLD)
        raise UnknownWorld(name, folders, self.broken().values())

    def _readable(self) -> Iterator[World]:
        for each in self._folders().values():
            outcome = self._read(*each).outcome
            if isinstance(outcome, World):
                yield outcome

    def _folders(self) -> dict[str, tuple[Path, _Stamp]]:
        """Every world's folder by its name, in the order of names, with the state of its files."""
        found: dict[str, tuple[Path, _Stamp]] = {}
        for root in self.roots:
            try:
                for folder in sorted(root.iterdir()) if root.is_dir() else ():
                    name = nfc(folder.name)
                    if not name.startswith(".") and name not in found and (stamp := _stamp(folder)):
                        found[name] = folder, stamp
            except OSError as error:
                message = f"worlds: {error.filename} cannot be listed ({error.strerror}); check its permissions"
                raise BadInput(message) from error
        return dict(sorted(found.items()))

    def _read(self, folder: Path, stamp: _Stamp) -> _Reading:
        """The folder's world, from the cache while its files have the same times, sizes and inodes."""
        known = self._readings.get(folder)
        if known is not None and known.stamp == stamp:
            return known
        reading = _load(folder, stamp, known)
        self._readings[folder] = reading
        return reading

    def _known(self, folder: Path, stamp: _Stamp) -> bool:
        """Whether the current state of the folder has been read."""
        known = self._readings.get(folder)
        return known is not None and known.stamp == stamp


def _world(reading: _Reading) -> World:
    if isinstance(reading.outcome, WorldError):
        raise WorldError(reading.outcome.problems)
    return reading.outcome


def _stamp(folder: Path) -> _Stamp:
    """A value that changes whenever a folder's files do; empty if the folder has none of them.

    A link that leads out of the folder is ignored, so that the author of a world cannot send other files of this
    machine to a model. The folder itself may be a link. A file without permission counts: reading it reports why.
    """
    stamp: list[tuple[str, int, int, int]] = []
    for file in FILES:
        try:
            status = os.lstat(f"{folder}{os.sep}{file}")  # one call: with many worlds it is most of the work
            if stat.S_ISLNK(status.st_mode):
                path = folder / file
                if not path.is_file() or _leads_out(folder, path):
                    continue
                status = path.stat()
            if stat.S_ISREG(status.st_mode):
                stamp.append((file, status.st_mtime_ns, status.st_size, status.st_ino))
        except PermissionError:
            stamp.append((file, 0, 0, 0))
        except OSError as error:
            if error.errno not in _NONE:
                raise
    return tuple(stamp)


def _leads_out(folder: Path, path: Path) -> bool:
    return not path.resolve().is_relative_to(folder.resolve())


def _load(folder: Path, stamp: _Stamp, known: _Reading | None) -> _Reading:
    shown = _shown(folder)
    content: dict[str, bytes] = {}
    texts: dict[str, str] = {}
    problems: list[WorldProblem] = []
    for file, *_ in stamp:
        found = read_world_file(folder, file, shown)
        if isinstance(found, WorldProblem):
            problems.append(found)
        else:
            content[file], texts[file] = found
    if known is not None and known.content == content and not problems:
        return _Reading(stamp, content, known.outcome, known.warnings)
    try:
        world, warnings = _parsed(texts, nfc(folder.name), shown, problems)
    except WorldError as error:
        _log.warning("world %s cannot be used: %s", folder.name, error)
        return _Reading(stamp, content, error.with_traceback(None))
    warnings += _misnamed(folder, stamp)
    for warning in warnings:
        _log.warning("%s", warning)
    return _Reading(stamp, content, world, warnings)


def _parsed(
    texts: Mapping[str, str], name: str, shown: str, problems: Sequence[WorldProblem]
) -> tuple[World, tuple[str, ...]]:
    """Parse the files that could be read. Raises ``WorldError`` with the ``problems`` of the others and its own."""
    if not problems:
        return parse_world(texts, name, shown)
    try:
        if texts:
            parse_world(texts, name, shown)
    except WorldError as error:
        raise WorldError((*problems, *error.problems)) from None
    raise WorldError(problems)


def read_world_file(folder: Path, file: str, shown: str) -> tuple[bytes, str] | WorldProblem:
    """Read a file of a world as bytes and as text, or return the problem. ``shown`` is the folder's name in it."""
    raw = b""
    try:
        if (folder / file).stat().st_size <= _LARGEST:
            raw = (folder / file).read_bytes()
            return raw, raw.decode("utf-8")
    except OSError as error:
        message = f"the file cannot be read ({error.strerror})"
        return WorldProblem(f"{shown}/{file}", 1, message, "check that it is there and readable")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        return WorldProblem(f"{shown}/{file}", line, "the text is not UTF-8", "save the file as UTF-8")
    message = f"the file has more than {_LARGEST:,} bytes"
    return WorldProblem(f"{shown}/{file}", 1, message, f"shorten it to {LONGEST:,} characters")


def _misnamed(folder: Path, stamp: _Stamp) -> tuple[str, ...]:
    """Warnings for files that are ignored because of the case of their names. Some systems do not distinguish case."""
    missing = set(FILES) - {file for file, *_ in stamp}
    there = sorted(path.name for path in folder.iterdir()) if missing and os.access(folder, os.R_OK) else ()
    names = {file.casefold(): file for file in missing}
    return tuple(
        f"{_shown(folder)}/{name}: is not read; rename it to {names[name.casefold()]}"
        for name in there
        if name.casefold() in names and name not in FILES
    )


def _shown(folder: Path) -> str:
    """The folder as a user would type it: relative to the working directory if it is below that."""
    here = Path.cwd()
    return folder.relative_to(here).as_posix() if folder.is_relative_to(here) else folder.as_posix()


NOTE = "IMPORTED.json"
_ASSETS = "assets"
PICTURES = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".webp": "image/webp"}
"""The endings of pictures, and their media types."""
_PORTRAITS = frozenset({"icon", "main", "avatar", "portrait"})


def _portrait(folder: Path) -> Path | None:
    """The picture of an imported card: the one with a card's name for it, else the first one. No link leads to it from
    outside, because players get the file."""
    assets = folder / _ASSETS
    if not (folder / NOTE).is_file() or not assets.is_dir() or _leads_out(folder, assets):
        return None
    files = (path for path in assets.iterdir() if path.suffix.lower() in PICTURES and path.is_file())
    found = [path for path in files if not _leads_out(folder, path)]
    return min(found, key=lambda path: (path.stem.lower() not in _PORTRAITS, path.name), default=None)


_LARGEST_FOLDER = 16 << 20
"""Largest note that is read, in bytes. It is more than SAGA writes."""


def imported_from(roots: Iterable[Path]) -> dict[str, str]:
    """Map the digest of an imported world's source to the world's name. Of two worlds, the first one found counts."""
    found: dict[str, str] = {}
    for root in roots:
        if not root.is_dir():
            continue
        for folder in sorted(root.iterdir()):
            note = folder / NOTE
            if not folder.name.startswith(".") and note.is_file() and not _leads_out(folder, note):
                try:
                    if note.stat().st_size > _LARGEST_FOLDER:
                        continue
                    plain = json.loads(note.read_text(encoding="utf-8"))
                except (OSError, ValueError, RecursionError):
                    continue  # the note was changed, so the source of the world is unknown
                source = plain.get("source") if isinstance(plain, dict) else None
                if isinstance(source, str):
                    found.setdefault(source, nfc(folder.name))
    return found


@define
class FreeNames:
    """Gives out names that no folder of a root has, each name once."""

    _taken: set[str]
    _counts: dict[str, int] = field(factory=dict)

    @classmethod
    def of(cls, roots: Iterable[Path]) -> FreeNames:
        """Start with the current content of the folders ``roots``: a new name hides no world of another root."""
        return cls({path.name.casefold() for root in roots if root.is_dir() for path in root.iterdir()})

    def use(self, name: str) -> None:
        """Mark a name as taken."""
        self._taken.add(name.casefold())

    def take(self, name: str) -> str:
        """Take the name, with a number appended if it is taken. Upper and lower case are the same."""
        key = name.casefold()
        found, count = name, self._counts.get(key, 2)
        while found.casefold() in self._taken:
            found, count = f"{name} {count}", count + 1
        self._counts[key] = count
        self.use(found)
        return found


def write_world(
    root: Path, name: str, texts: Mapping[str, str], files: Mapping[str, bytes], note: Mapping[str, object]
) -> Path:
    """Write a world into the folder ``root / name``: its ``texts``, its ``files`` in a subfolder, and its note.

    ``files`` have plain names. Raises ``StoreError``, in which case nothing is left in the folder.
    """
    target, part = root / name, root / f".{name}.part"
    try:
        root.mkdir(parents=True, exist_ok=True)
        if part.exists():
            shutil.rmtree(part)
        part.mkdir()
        for file, text in texts.items():
            (part / file).write_bytes(text.encode())
        if files:
            (part / _ASSETS).mkdir()
        for file, data in files.items():
            (part / _ASSETS / file).write_bytes(data)
        (part / NOTE).write_text(json.dumps(note, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        if target.exists():
            raise FileExistsError(17, "there is such a folder already", str(target))
        part.replace(target)
    except OSError as error:
        shutil.rmtree(part, ignore_errors=True)
        raise StoreError(f"{target}: the world cannot be written ({error.strerror}); nothing was left there") from error
    return target
