"""Shows a world's files as texts with their problems, and writes a file as a whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from attrs import field, frozen

from saga_core.errors import BadInput, NotSupported, StoreError
from saga_core.language import nfc
from saga_core.world.errors import WorldError, WorldProblem
from saga_core.world.format import FILES, LONGEST
from saga_core.world.library import WorldLibrary, WorldSummary, packaged_worlds, read_world_file
from saga_core.world.parse import parse_world


@frozen
class WorldFiles:
    """The files of a world and their problems."""

    name: str
    texts: Mapping[str, str]
    """By file name. A file that is not UTF-8 is missing here, and listed among the problems."""
    writable: bool
    problems: tuple[WorldProblem, ...] = field(default=())
    """The problems that make the world unusable. Their files are named without the folder."""
    warnings: tuple[str, ...] = field(default=())


def world_files(library: WorldLibrary, name: str) -> WorldFiles:
    """The files of the world whose folder has exactly this name. Raises ``UnknownWorld``."""
    return files_in(library, library.folder(name))


def files_in(library: WorldLibrary, folder: Path) -> WorldFiles:
    """The files of the world in one of the library's folders."""
    texts: dict[str, str] = {}
    unreadable: list[WorldProblem] = []
    for file in library.files(folder):
        found = read_world_file(folder, file, folder.name)
        if isinstance(found, WorldProblem):
            unreadable.append(WorldProblem(_bare(found.file), found.line, found.message, found.remedy))
        else:
            texts[file] = found[1]
    return _checked(nfc(folder.name), texts, _writable(library, folder), tuple(unreadable))


def edited(library: WorldLibrary, name: str, file: str, text: str, *, dry_run: bool) -> WorldFiles:
    """Replace the content of one file by ``text``, and return the files. With ``dry_run``, nothing is written.

    The file is replaced atomically. Existing sessions keep the world that they began with. Raises ``UnknownWorld``,
    ``BadInput`` for an unknown file or a text that is too long, ``NotSupported`` if the world came with SAGA or its
    folder is read-only, ``WorldError`` if the world could not be read with the new text, and ``StoreError`` if the
    file cannot be written.
    """
    if file not in FILES:
        raise BadInput(f"file: {file[:80]!r} is no file of a world; give one of {', '.join(FILES)}")
    if len(text) > LONGEST:
        raise BadInput(f"text: {len(text)} characters are too many (at most {LONGEST})")
    now = world_files(library, name)
    found = _checked(now.name, {**now.texts, file: text}, now.writable, ())
    if dry_run:
        return found
    if not now.writable:
        raise NotSupported(
            f"world {now.name!r} came with SAGA, or its folder cannot be written; copy the folder to worlds/ beside"
            " saga.yaml, and edit the copy"
        )
    if found.problems:
        raise WorldError(found.problems)
    try:
        _write(library.folder(name) / file, text)
    except OSError as error:
        raise StoreError(f"{name}/{file}: cannot be written ({error.strerror}); the file is as it was") from error
    return world_files(library, name)


def listed(library: WorldLibrary) -> list[tuple[WorldSummary, bool]]:
    """Every world in the order of names, with whether its files can be written. May be called in another thread."""
    return [(each, _writable(library, each.folder)) for each in library.listed()]


def _checked(name: str, texts: Mapping[str, str], writable: bool, unreadable: tuple[WorldProblem, ...]) -> WorldFiles:
    if not texts:
        return WorldFiles(name, texts, writable, unreadable)
    try:
        _, warnings = parse_world(dict(texts), name, name)
    except WorldError as error:
        found = tuple(WorldProblem(_bare(each.file), each.line, each.message, each.remedy) for each in error.problems)
        return WorldFiles(name, texts, writable, (*unreadable, *found))
    return WorldFiles(name, texts, writable, unreadable, tuple(warnings))


def _bare(file: str) -> str:
    return file.rpartition("/")[2]


def _writable(library: WorldLibrary, folder: Path) -> bool:
    """Whether a world's folder can be written, and did not come with SAGA. Of who plays in a source checkout, all
    worlds are the player's own."""
    packaged = packaged_worlds().resolve()
    came = folder.resolve().is_relative_to(packaged) and library.roots[0].resolve() != packaged
    return os.access(folder, os.W_OK) and not came


def _write(path: Path, text: str) -> None:
    """Replace a file atomically, and keep its permissions."""
    handle, made = tempfile.mkstemp(dir=path.parent, prefix=".saga-", suffix=".tmp")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(made).chmod(path.stat().st_mode & 0o777 if path.exists() else 0o644)
        Path(made).replace(path)
    except BaseException:
        Path(made).unlink(missing_ok=True)
        raise
