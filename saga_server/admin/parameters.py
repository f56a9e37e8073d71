"""What the admin API takes, a class for each kind of request."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final, Literal

from attrs import frozen

from saga_server.admin.endpoint import body_fields, in_body, in_path, in_query, upload

JSON_LINES: Final = "application/jsonl"
MULTIPART: Final = "multipart/form-data"
ANY_BYTES: Final = "application/octet-stream"


def _fields_of_corrections() -> Collection[str]:
    from saga_core.curation import FIELDS  # who asks how the server is does not wait for it

    return FIELDS


@frozen(eq=False, repr=False)
class OfSession:
    """A session, by id or by a name that only one has."""

    session: str = in_path("id")


@frozen(eq=False, repr=False)
class Listed(OfSession):
    """A list of a session: all of it, or ``limit`` rows from the one on that the answer before named."""

    limit: int | None = in_query(None, least=1, most=10_000)
    cursor: str | None = in_query(None)


@frozen(eq=False, repr=False)
class AtTurn(OfSession):
    """A session, and a turn of it; None is the turn recorded last."""

    turn: str | None = in_query(None, example="TURN")


@frozen(eq=False, repr=False)
class ToldAt(AtTurn):
    """A turn; with a text, what would be told if the player said it after the turn."""

    text: str | None = in_query(None)


@frozen(eq=False, repr=False)
class Untold(OfSession):
    """A text that was told at a turn, or not; None is the turn recorded last."""

    text: str = in_query(example="TEXT")
    turn: str | None = in_query(None, example="TURN")


@frozen(eq=False, repr=False)
class TriedWords(OfSession):
    """Words that the player might say after a turn; None is the turn recorded last."""

    text: str = in_body()
    turn: str | None = in_body(None, number=True)


@frozen(eq=False, repr=False)
class AskedText(OfSession):
    """A text of any length that was told at a turn, or not; None is the turn recorded last."""

    text: str = in_body()
    turn: str | None = in_body(None, number=True)


@frozen(eq=False, repr=False)
class OfEntity(OfSession):
    """An entity, by its id, as known at a turn; None is the turn recorded last."""

    entity: str = in_path()
    turn: str | None = in_query(None, example="TURN")


@frozen(eq=False, repr=False)
class Drain:
    """How long to wait for background work, in seconds."""

    timeout: float = in_query(30.0, example="30", most=3_600.0)


@frozen(eq=False, repr=False)
class Log:
    """Lines of the log with a higher number than ``after``, the latest ``limit`` of them."""

    after: int = in_query(0, example="0")
    limit: int = in_query(200, example="200", least=1, most=500)


@frozen(eq=False, repr=False)
class WhichSessions:
    """Sessions that somebody came back to (``0``), those that nobody did (``1``), or all."""

    fleeting: Literal["0", "1", "all"] = in_query("0")
    limit: int | None = in_query(None, least=1, most=10_000)
    cursor: str | None = in_query(None)


@frozen(eq=False, repr=False)
class NewSession:
    """A session to begin ahead of play."""

    world: str | None = in_body(None)
    label: str | None = in_body(None)


@frozen(eq=False, repr=False)
class RenameSession(OfSession):
    """A session's new name."""

    label: str = in_body()


@frozen(eq=False, repr=False)
class Cost(OfSession):
    """Whether each bill is wanted, too."""

    turns: bool = in_query(False, example="1")


@frozen(eq=False, repr=False)
class Bills(OfSession):
    """Bills, the latest first: ``limit`` of them, behind the ``cursor`` that the answer before gave."""

    cursor: str | None = in_query(None)
    limit: int = in_query(60, example="60", least=1, most=1_000)


@frozen(eq=False, repr=False)
class Path(OfSession):
    """A path, by the turn at its end; None is the active one. The bounds are depths, both included."""

    from_turn: int | None = in_query(None, example="1")
    to_turn: int | None = in_query(None, example="9")
    head: str | None = in_query(None)


@frozen(eq=False, repr=False)
class OneTurn(OfSession):
    """A turn, by id or number, or a timeline's name for its head."""

    turn: str = in_path()


@frozen(eq=False, repr=False)
class Fork(OfSession):
    """A timeline to name, at a turn or another timeline's head."""

    name: str = in_body()
    turn: str | None = in_body(None, number=True)


@frozen(eq=False, repr=False)
class OfTimeline(OfSession):
    """A named timeline."""

    name: str = in_path()


@frozen(eq=False, repr=False)
class Rename(OfTimeline):
    """A timeline's new name."""

    new: str = in_body(name="name")


@frozen(eq=False, repr=False)
class Compare(OfSession):
    """Two turns by id or number, or timelines by name."""

    one: str = in_query(example="TURN")
    other: str = in_query(example="TURN")
    language: str | None = in_query(None, example="en")


@frozen(eq=False, repr=False)
class Memories(OfSession):
    """Records below a namespace, those nearest to ``query`` first, as known at a turn."""

    namespace: str = in_query("/", example="/")
    query: str = in_query("", example="WORDS")
    turn: str | None = in_query(None, example="TURN")
    limit: int | None = in_query(None, least=1, most=10_000)
    cursor: str | None = in_query(None)


@frozen(eq=False, repr=False)
class Correction(OfSession):
    """A correction by hand: its kind, and the fields of that kind."""

    kind: str = in_body(remedy="say what kind of correction it is")
    turn: str | None = in_body(None)
    fields: Mapping[str, str] = body_fields(_fields_of_corrections)
    dry_run: bool = in_query(False)


@frozen(eq=False, repr=False)
class OfChange(OfSession):
    """A change."""

    change: str = in_path()


@frozen(eq=False, repr=False)
class Decision(OfChange):
    """A change that waits, and whether to ``accept`` or to ``refuse`` it."""

    verdict: str = in_body(remedy="give accept or refuse")


@frozen(eq=False, repr=False)
class Always(OfSession):
    """A proposal that waits, or waited, and whether to ``accept`` or to ``refuse`` from now on what is like it."""

    change: str = in_body(remedy="give the id of a change that waits")
    verdict: str = in_body(remedy="give accept or refuse")


@frozen(eq=False, repr=False)
class OfRule(OfSession):
    """A standing rule."""

    rule: str = in_path()


@frozen(eq=False, repr=False)
class Prune(OfSession):
    """The turn that goes, with everything below it."""

    turn: str = in_body()


@frozen(eq=False, repr=False)
class Reextract(OfSession):
    """A turn to ask for anew, alone (``only``) or with those below; None is all of the active path."""

    only: bool = in_query(False, example="0")
    turn: str | None = in_body(None)


@frozen(eq=False, repr=False)
class Search:
    """A question to the turns of a session's active path."""

    q: str = in_query(example="TEXT")
    session: str = in_query(example="{id}")
    k: int = in_query(10, example="10", least=1, most=1_000)


@frozen(eq=False, repr=False)
class GraphQuery:
    """A query in the graph engine's own language."""

    cypher: str = in_query(example="TEXT")
    limit: int = in_query(100, example="100", least=1, most=10_000)
    timeout: float = in_query(5.0, example="5", most=60.0)


@frozen(eq=False, repr=False)
class MaybeOfSession:
    """One session, or all."""

    session: str | None = in_query(None, example="{id}")


@frozen(eq=False, repr=False)
class OneSession:
    """One session."""

    session: str = in_query(example="{id}")


@frozen(eq=False, repr=False)
class RetryJobs(MaybeOfSession):
    """Jobs of all sessions, of one, or of one turn."""

    turn: str | None = in_query(None, example="TURN")


@frozen(eq=False, repr=False)
class OfWorld:
    """A world, by the name of its folder."""

    world: str = in_path()


@frozen(eq=False, repr=False)
class WorldEdit(OfWorld):
    """A file of a world and its new text; or only whether it could be."""

    file: str = in_body()
    text: str = in_body()
    dry_run: bool = in_query(False)


@frozen(eq=False, repr=False)
class OfPath(OfSession):
    """A path, by its end: a turn or a timeline; None is the active one."""

    head: str | None = in_query(None)


@frozen(eq=False, repr=False)
class Backfill(OfPath):
    """How many turns are read, whether those that could not be read before are among them, and whether what is read
    waits until a person accepts it.
    """

    turns: int = in_query(24, example="24", least=1, most=64)
    again: bool = in_query(False)
    review: Literal["auto", "ask"] | None = in_query(None)


@frozen(eq=False, repr=False)
class Export(OfPath):
    """How a session is written; the path is that of a chat's file."""

    format: Literal["saga", "sillytavern"] = in_query("saga", example="saga")


@frozen(eq=False, repr=False)
class ExportWorld(OfWorld):
    """A world, and how it is written."""

    format: Literal["card", "lorebook"] = in_query("card", example="card")


@frozen(eq=False, repr=False)
class Import:
    """Files: as the parts of a form, or one as the body itself."""

    file: bytes = upload(MULTIPART, ANY_BYTES)
    dry_run: bool = in_query(False, example="0")
    name: str | None = in_query(None)
    world: str | None = in_query(None)
    lore: Literal["auto", "keep", "saga"] = in_query("auto", example="auto")
    tell_card: bool = in_query(False, example="0")
    owner: str | None = in_query(None)
    edited: bool = in_query(False, example="0")


@frozen(eq=False, repr=False)
class Forget(MaybeOfSession):
    """A session, a name in it, or all sessions of an API key by its fingerprint."""

    name: str | None = in_query(None)
    owner: str | None = in_query(None)
