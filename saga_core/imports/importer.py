"""The protocol of importers, which read files of other tools, and how one is chosen for a file.

Importers are plugins: an object at an entry point in the group ``saga.importers``. A file is recognised by its content,
never by its name.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from enum import IntEnum
from functools import lru_cache, partial
from importlib.metadata import EntryPoint
from typing import Any, Protocol, cast, get_args, runtime_checkable

from attrs import frozen

from saga_core.errors import BadInput
from saga_core.foreign import foreign, in_time
from saga_core.imports.foreign_file import ForeignFile, Source, opened
from saga_core.imports.records import (
    Card,
    Chat,
    Found,
    Group,
    Persona,
    Reading,
    Record,
    Refused,
    SagaSession,
    Unreadable,
)
from saga_core.modules import check_fields
from saga_core.registry import entry_points, object_at
from saga_core.registry import why as in_short
from saga_core.stores.validate import check_object

log = logging.getLogger("saga.importers")

GROUP = "saga.importers"
MESSAGES = 200_000
"""Most messages of a chat. Each reply beside the one that was taken counts as one: it becomes a turn as well."""
NAME = 1_000
"""Longest name of a character, a player or a persona, in characters. Macros put names into texts again and again."""

TEXT = 12_000_000
"""Longest text, in characters: as much as a whole world has. Longer ones are looked through without a pause."""
SECONDS = 120.0
"""How long an importer may take for a file. It may be the code of others."""


class Fit(IntEnum):
    """How surely a file has an importer's format. Of several importers, the surest one reads the file."""

    NONE = 0
    LOOSE = 1
    """Some of its fields are those of the format."""
    LIKELY = 2
    """It has the structure of the format."""
    SHAPED = 3
    """It has a structure that no other format has."""
    DECLARED = 4
    """It says itself which format it has."""


@runtime_checkable
class Importer(Protocol):
    """Reads the files of one tool."""

    @property
    def kinds(self) -> Mapping[str, str]:
        """The kinds of records that it reads, each in words, such as ``{"cai_chat": "a chat of CAI Tools"}``."""
        ...

    def fits(self, file: ForeignFile) -> Fit:
        """Return how surely it can read the file.

        Raises ``Unreadable`` for a file that it knows and that nobody can import. The message says what the file looks
        like and what to do instead; it is shown if no other importer reads the file.
        """
        ...

    def read(self, file: ForeignFile) -> Iterable[tuple[str, Record]]:
        """Return the records of a file, each with its kind. Called only if ``fits`` returned more than ``NONE``.

        Whatever is left out or changed is noted in ``file.losses``. Raises ``Unreadable``.
        """
        ...


@frozen
class Importers:
    """The installed importers by name, and why others cannot be used."""

    loaded: Mapping[str, Importer]
    failed: Mapping[str, str]

    @property
    def kinds(self) -> dict[str, str]:
        """All kinds of records, in words."""
        found = {kind: words for each in self.loaded.values() for kind, words in each.kinds.items()}
        return {**found, "saga_session": "a session that saga export wrote"}


def importers() -> Importers:
    """Return the installed importers. One that cannot be loaded is logged, and the others are used."""
    return _importers(tuple(entry_points(group=GROUP)))


@lru_cache(maxsize=4)
def _importers(points: tuple[EntryPoint, ...]) -> Importers:
    loaded: dict[str, Importer] = {}
    failed: dict[str, str] = {}
    for point in sorted(points, key=lambda each: each.name):
        try:
            with foreign:
                loaded[point.name] = _checked(point.value, object_at(point))
        except BadInput as error:
            log.error("the importer %s cannot be used: %s", point.name, error)
            failed[point.name] = str(error)
        except Exception as error:
            failed[point.name] = why = f"{type(error).__name__}: {error}"
            log.error("the importer %s (%s) cannot be loaded: %s", point.name, point.value, why)
            log.debug("why the importer %s cannot be loaded", point.name, exc_info=error)
    return Importers(loaded, failed)


def _checked(where: str, found: Any) -> Importer:
    check_object(where, found, Importer)
    kinds, told = found.kinds, "give a mapping of each kind to its words"
    if not isinstance(kinds, Mapping):
        raise BadInput(f"{where}: its kinds is a {type(kinds).__name__}; {told}")
    for kind, words in kinds.items():
        if not (isinstance(kind, str) and isinstance(words, str)):
            raise BadInput(f"{where}: its kinds has {kind!r:.80}: {words!r:.80}; {told}")
    return cast(Importer, found)


def read_files(files: Iterable[tuple[str, Source]]) -> Reading:
    """Read files, each with its name. A file that cannot be imported is refused with a reason; the others are read."""
    return Reading().and_(read_file(name, source) for name, source in files)


def read_file(name: str, source: Source, among: Importers | None = None) -> Reading:
    """Read one file. A zip or a file of lines that is given by its path is never in memory as a whole."""
    try:
        with opened(name, source) as file:
            return _read(file, among if among is not None else importers())
    except Unreadable as error:
        return Reading((), (Refused(name, str(error)),))
    except OSError as error:
        return Reading((), (Refused(name, f"it cannot be read ({error.strerror})"),))


def _read(file: ForeignFile, among: Importers) -> Reading:
    if file.is_session:
        return _found(file, [("saga_session", SagaSession(file.raw))])
    chosen, why = _choose(file, among)
    if chosen is not None:
        name, importer = chosen
        try:
            read = partial(_rows, name, importer, file, among)
            return _found(file, in_time(f"read of the importer {name}", read, SECONDS))
        except TimeoutError as error:
            raise _failed(name, file, error) from None
        except (Unreadable, OSError):
            raise
        except BadInput as error:
            raise _wrong(name, file, error) from None
        except Exception as error:  # noqa: BLE001 - the code of others; logged there
            raise _failed(name, file, error) from None
    if file.archive is not None and why is None:
        return _read_members(file, among)
    if why is None:
        why = file.unknown()
        if among.failed:
            absent = ", ".join(among.failed)
            why = Unreadable(f"{why} (importers that could not be loaded: {absent})")
    raise why


def _rows(name: str, importer: Importer, file: ForeignFile, among: Importers) -> list[Any]:
    rows = _records(importer.read(file), among.kinds)
    if not rows:
        raise Unreadable(f"the importer {name} found nothing in it")
    for each in (*(record for _, record in rows), *file.losses.listed()):
        check_fields("read gave", each, longest=TEXT)
    return rows


def _wrong(name: str, file: ForeignFile, error: BadInput) -> Unreadable:
    """Why a file is refused whose importer gave what is no answer. ``error`` says what to give instead."""
    log.error("the importer %s failed at %s: %s", name, file.name, error)
    return Unreadable(f"the importer {name} failed at it: {error}")


def _failed(name: str, file: ForeignFile, error: Exception) -> Unreadable:
    """Why a file is refused whose importer raised."""
    log.error("the importer %s failed at %s", name, file.name, exc_info=error)
    return Unreadable(f"the importer {name} failed at it ({in_short(error)}); the log has more")


def _choose(file: ForeignFile, among: Importers) -> tuple[tuple[str, Importer] | None, Unreadable | None]:
    """Return the surest importer with its name, or else why nobody can import the file, if an importer knows that."""
    chosen, surest, why = None, Fit.NONE, None
    for name, importer in among.loaded.items():
        try:
            fit = in_time(f"fits of the importer {name}", partial(importer.fits, file), SECONDS)
            if not isinstance(fit, Fit):
                raise BadInput(f"fits gave {fit!r:.200}; give a Fit of saga_core.imports")
        except Unreadable as error:
            why = why or error
            continue
        except TimeoutError as error:
            raise _failed(name, file, error) from None  # nobody else reads a file that it may still read
        except OSError:
            raise
        except Exception as error:  # noqa: BLE001 - the code of others; logged there
            failed = _wrong(name, file, error) if isinstance(error, BadInput) else _failed(name, file, error)
            file.losses.add("importers", "dropped", str(failed))  # another one may know the file
            why = why or failed
            continue
        if fit > surest:
            chosen, surest = (name, importer), fit
    return chosen, why


def _found(file: ForeignFile, records: Iterable[tuple[str, Record]]) -> Reading:
    """The records with what became of the fields; records of a second kind are without, as they are of one file."""
    rows = list(records)
    for _, record in rows:
        _check(record)
        if isinstance(record, Chat) and _last_role(record) == "user":
            why = "nobody replied to them yet: the next request has them"
            file.losses.add("last words", "dropped", why, record.name)
    listed = file.losses.listed()
    first = rows[0][0] if rows else ""
    return Reading(
        tuple(
            Found(file=file.name, kind=kind, record=each, losses=listed if kind == first else ()) for kind, each in rows
        )
    )


def _records(given: object, kinds: Mapping[str, str]) -> list[tuple[str, Record]]:
    """What an importer read. Raises ``BadInput`` for what are no records, and for a kind that no importer names."""
    rows: list[Any] = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else [given]
    for row in rows:
        if not (isinstance(row, tuple) and len(row) == 2 and isinstance(row[1], get_args(Record))):
            raise BadInput(f"read gave {row!r:.200}; give pairs of a kind and a record of saga_core.imports")
        if row[0] not in kinds:
            raise BadInput(f"read gave a record of the kind {row[0]!r:.80}; the kinds are {', '.join(kinds)}")
    return rows


def _last_role(chat: Chat) -> str:
    return next((each.role for each in reversed(chat.messages) if each.role != "narrator"), "")


# -- archives ----------------------------------------------------------------------------------------------------


def _read_members(file: ForeignFile, among: Importers) -> Reading:
    """Read each member of a zip as a file of its own. An inner zip is read only if an importer knows it as a whole."""
    assert file.archive is not None
    readings = []
    for member in file.archive.names:
        if _is_noise(member):
            continue
        path = f"{file.name}/{member}"
        try:
            with opened(path, file.archive.read(member)) as inner:
                if inner.archive is not None and _choose(inner, among) == (None, None):
                    raise Unreadable("an archive in an archive: unpack it, or import it by itself")
                readings.append(_read(inner, among))
        except Unreadable as error:
            readings.append(Reading((), (Refused(path, str(error)),)))
    found = Reading().and_(readings)
    if not found.found and not found.refused:
        raise Unreadable("the archive holds nothing that could be a card, a lorebook or a chat")
    return found


def _is_noise(member: str) -> bool:
    """Whether a member is a system's own file, or by its extension not a card, lorebook or chat."""
    name = member.rpartition("/")[2].lower()
    if member.startswith("__MACOSX/") or name.startswith(".") or name in ("thumbs.db", "desktop.ini"):
        return True
    return name.endswith((".webp", ".gif", ".mp3", ".mp4", ".ogg", ".wav", ".webm", ".css", ".js", ".html", ".ttf"))


# -- limits ------------------------------------------------------------------------------------------------------


def _check(record: Record) -> None:
    """Raise ``Unreadable`` if a name is too long, or a chat has no messages, or too many messages and swipes."""
    names: list[tuple[str, str]] = []
    if isinstance(record, Card):
        names = [("name", record.name), ("nickname", record.nickname)]
    elif isinstance(record, Persona):
        names = [("the persona's name", record.name)]
    elif isinstance(record, Group):
        names = [("the group's name", record.name)]
    elif isinstance(record, Chat):
        names = [("the player's name", record.user), ("the character's name", record.character)]
        names += [(f"the name of message {at}'s speaker", each.speaker) for at, each in enumerate(record.messages, 1)]
        check_amount(len(record.messages), sum(len(each.swipes) for each in record.messages))
        if not record.messages:
            raise Unreadable("this looks like a chat, and holds no message")
    for field, name in names:
        if len(name) > NAME:
            raise Unreadable(
                f'{field} has {len(name):,} characters ("{name[:40]}…"); at most {NAME:,} are taken: shorten it'
            )


def check_amount(messages: int, swipes: int) -> None:
    """Raise ``Unreadable`` if a chat has too many messages and swipes. Call it while reading, to stop early."""
    if messages + swipes > MESSAGES:
        raise Unreadable(
            f"the chat has {messages:,} messages and {swipes:,} swipes; at most {MESSAGES:,} of both together are "
            "taken: divide it, or remove swipes"
        )
