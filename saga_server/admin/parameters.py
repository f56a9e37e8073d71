"""Parameters of the admin API, a class for each kind of request."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final, Literal

from attrs import frozen

from saga_server.admin.endpoint import body_fields, in_body, in_path, in_query, upload

JSON_LINES: Final = "application/jsonl"
MULTIPART: Final = "multipart/form-data"
ANY_BYTES: Final = "application/octet-stream"
PICTURE: Final = "image/*"


def _fields_of_corrections() -> Collection[str]:
    from saga_core.curation import FIELDS  # imported late, so that a status request does not wait for it

    return FIELDS


@frozen(eq=False, repr=False)
class OfSession:
    """A session, by its id or by a name that only one session has."""

    session: str = in_path("id")


@frozen(eq=False, repr=False)
class DeleteSession(OfSession):
    """A session to delete. With ``undo``, it is kept for a day, so that it can be restored."""

    undo: bool = in_query(False)


@frozen(eq=False, repr=False)
class OfTrash:
    """A deleted session, by its id."""

    deleted: str = in_path()


@frozen(eq=False, repr=False)
class OfChat:
    """A chat, by the id that its frontend gave with the last request."""

    chat: str = in_path()


@frozen(eq=False, repr=False)
class Listed(OfSession):
    """A list of a session, whole or in pages of ``limit`` rows. ``cursor`` is the ``next`` of the previous answer."""

    limit: int | None = in_query(None, least=1, most=10_000)
    cursor: str | None = in_query(None)


@frozen(eq=False, repr=False)
class AtTurn(OfSession):
    """A session and one of its turns. Without ``turn``, it is the turn recorded last."""

    turn: str | None = in_query(None, example="TURN")


@frozen(eq=False, repr=False)
class KnowledgeAt(AtTurn):
    """Either a turn by its number (``about``), or a character by name or id (``who``)."""

    about: int | None = in_query(None, example="1")
    who: str | None = in_query(None)


@frozen(eq=False, repr=False)
class ContextAt(AtTurn):
    """A turn whose context is explained. With ``text``, it is the context that this text would get after the turn."""

    text: str | None = in_query(None)


@frozen(eq=False, repr=False)
class TextAtTurn(OfSession):
    """A text to look up in a turn's context. Without ``turn``, it is the turn recorded last."""

    text: str = in_query(example="TEXT")
    turn: str | None = in_query(None, example="TURN")


@frozen(eq=False, repr=False)
class TriedWords(OfSession):
    """A text that the player might say after a turn. Without ``turn``, it is the turn recorded last."""

    text: str = in_body()
    turn: str | None = in_body(None, number=True)


@frozen(eq=False, repr=False)
class PostedText(OfSession):
    """A text to look up in a turn's context, given in the body. Without ``turn``, it is the turn recorded last."""

    text: str = in_body()
    turn: str | None = in_body(None, number=True)


@frozen(eq=False, repr=False)
class OfEntity(OfSession):
    """An entity, by its id, as known at a turn. Without ``turn``, it is the turn recorded last."""

    entity: str = in_path()
    turn: str | None = in_query(None, example="TURN")


SETTINGS: Final = frozenset({
    "models.narration", "models.extraction", "models.curator", "profile", "session.default_world",
    "session.group_knowledge", "session.collect_after_days", "recall.other_sessions", "extraction.reporting",
    "extraction.automatic", "extraction.cards", "extraction.names", "extraction.review", "curator.enabled",
    "curator.interval", "curator.review", "curator.compress_story_after_turns", "token_budget.total_context_max",
    "token_budget.dynamic_context_max", "token_budget.lorebook_max", "token_budget.recall_max",
    "token_budget.memories_max", "prompt_caching.cut_sliding",
})  # fmt: skip
"""The settings that players change on a page."""


def _settings() -> Collection[str]:
    return SETTINGS


@frozen(eq=False, repr=False)
class SettingsChange:
    """Settings and their new values; an empty one restores the default.

    ``price_model`` is the beginning of a model's name, and ``price_input`` and ``price_output`` are what a million of
    its tokens costs in US dollars.
    """

    price_model: str | None = in_body(None)
    price_input: str | None = in_body(None)
    price_output: str | None = in_body(None)
    fields: Mapping[str, str] = body_fields(_settings)
    dry_run: bool = in_query(False)


@frozen(eq=False, repr=False)
class Drain:
    """How long to wait for background work, in seconds."""

    timeout: float = in_query(30.0, example="30", most=3_600.0)


@frozen(eq=False, repr=False)
class Log:
    """The latest ``limit`` lines of the log with a number above ``after``."""

    after: int = in_query(0, example="0")
    limit: int = in_query(200, example="200", least=1, most=500)


@frozen(eq=False, repr=False)
class WhichSessions:
    """Which sessions to list: without the fleeting ones (``0``), only the fleeting ones (``1``), or ``all``."""

    fleeting: Literal["0", "1", "all"] = in_query("0")
    limit: int | None = in_query(None, least=1, most=10_000)
    cursor: str | None = in_query(None)


@frozen(eq=False, repr=False)
class NewSession:
    """A session to create before playing."""

    world: str | None = in_body(None)
    label: str | None = in_body(None)


@frozen(eq=False, repr=False)
class RenameSession(OfSession):
    """A session and its new name."""

    label: str = in_body()


@frozen(eq=False, repr=False)
class JoinWorld(OfSession):
    """A session, and the name of the shared world, if there are several of its world."""

    world: str = in_body("")


@frozen(eq=False, repr=False)
class Cost(OfSession):
    """A session whose cost is reported; ``turns`` adds every bill."""

    turns: bool = in_query(False, example="1")


@frozen(eq=False, repr=False)
class Bills(OfSession):
    """A page of ``limit`` bills, the latest first. ``cursor`` is the ``next`` of the previous answer."""

    cursor: str | None = in_query(None)
    limit: int = in_query(60, example="60", least=1, most=1_000)


@frozen(eq=False, repr=False)
class Path(OfSession):
    """A path, by the turn at its end (``head``: an id, or a timeline's name). The default is the active path.

    The bounds are inclusive depths.
    """

    from_turn: int | None = in_query(None, example="1")
    to_turn: int | None = in_query(None, example="9")
    head: str | None = in_query(None)


@frozen(eq=False, repr=False)
class OneTurn(OfSession):
    """A turn, by its id or number, or by a timeline's name for the timeline's head."""

    turn: str = in_path()


@frozen(eq=False, repr=False)
class Fork(OfSession):
    """A timeline to create, at a turn or another timeline's head."""

    name: str = in_body()
    turn: str | None = in_body(None, number=True)


@frozen(eq=False, repr=False)
class OfTimeline(OfSession):
    """A named timeline."""

    name: str = in_path()


@frozen(eq=False, repr=False)
class Rename(OfTimeline):
    """A timeline and its new name."""

    new: str = in_body(name="name")


@frozen(eq=False, repr=False)
class Compare(OfSession):
    """Two turns to compare, by id or number, or timelines by name."""

    one: str = in_query(example="TURN")
    other: str = in_query(example="TURN")
    language: str | None = in_query(None, example="en")


@frozen(eq=False, repr=False)
class Memories(OfSession):
    """Memory records within a namespace as known at a turn, those nearest to ``query`` first."""

    namespace: str = in_query("/", example="/")
    query: str = in_query("", example="WORDS")
    turn: str | None = in_query(None, example="TURN")
    limit: int | None = in_query(None, least=1, most=10_000)
    cursor: str | None = in_query(None)


@frozen(eq=False, repr=False)
class Picture(OfSession):
    """A session, a module that draws it, and a turn. Without ``turn``, it is the turn recorded last."""

    module: str = in_path()
    turn: str | None = in_query(None, example="TURN")


@frozen(eq=False, repr=False)
class Correction(OfSession):
    """A manual correction: its kind, and the fields of that kind.

    ``within_session`` refuses what your other sessions would see too.
    """

    kind: str = in_body(remedy="say what kind of correction it is")
    turn: str | None = in_body(None)
    fields: Mapping[str, str] = body_fields(_fields_of_corrections)
    dry_run: bool = in_query(False)
    within_session: bool = in_query(False)


@frozen(eq=False, repr=False)
class OfChange(OfSession):
    """A change."""

    change: str = in_path()


@frozen(eq=False, repr=False)
class Undoing(OfChange):
    """A change to undo. ``within_session`` refuses one that your other sessions see too."""

    within_session: bool = in_query(False)


@frozen(eq=False, repr=False)
class Decision(OfChange):
    """A waiting change, and whether to ``accept`` or ``refuse`` it."""

    verdict: str = in_body(remedy="give accept or refuse")


@frozen(eq=False, repr=False)
class Always(OfSession):
    """A proposal that waits or waited, and whether to ``accept`` or ``refuse`` similar proposals from now on."""

    change: str = in_body(remedy="give the id of a change that waits")
    verdict: str = in_body(remedy="give accept or refuse")


@frozen(eq=False, repr=False)
class OfRule(OfSession):
    """A standing rule."""

    rule: str = in_path()


@frozen(eq=False, repr=False)
class Prune(OfSession):
    """The turn to remove, with everything below it."""

    turn: str = in_body()


@frozen(eq=False, repr=False)
class Reextract(OfSession):
    """A turn to extract again, alone (``only``) or with the turns below it. Without ``turn``, it is the active path."""

    only: bool = in_query(False, example="0")
    turn: str | None = in_body(None)


@frozen(eq=False, repr=False)
class Search:
    """A search in the turns of a path: the one to a turn (its id, or a timeline's name), or else the active one."""

    q: str = in_query(example="TEXT")
    session: str = in_query(example="{id}")
    k: int = in_query(10, example="10", least=1, most=1_000)
    turn: str | None = in_query(None)


@frozen(eq=False, repr=False)
class Dice:
    """Dice such as ``d20`` or ``2d6+1``: at most 99 of at most 999 sides, and a number to add."""

    dice: str = in_query(example="2d6")


@frozen(eq=False, repr=False)
class GraphQuery:
    """A query in the graph engine's own language."""

    cypher: str = in_query(example="TEXT")
    limit: int = in_query(100, example="100", least=1, most=10_000)
    timeout: float = in_query(5.0, example="5", most=60.0)


@frozen(eq=False, repr=False)
class MaybeOfSession:
    """One session, or all sessions."""

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
    """A file of a world and its new text. With ``dry_run`` the text is only checked."""

    file: str = in_body()
    text: str = in_body()
    dry_run: bool = in_query(False)


@frozen(eq=False, repr=False)
class OfPath(OfSession):
    """A path, by the turn or timeline at its end (``head``). The default is the active path."""

    head: str | None = in_query(None)


@frozen(eq=False, repr=False)
class Backfill(OfPath):
    """A step of a backfill: how many turns to read, whether to retry failed ones (``again``), and how to ``review``.

    With ``review=ask`` the changes wait until a person accepts them. The default is ``extraction.review``.
    """

    turns: int = in_query(24, example="24", least=1, most=64)
    again: bool = in_query(False)
    review: Literal["auto", "ask"] | None = in_query(None)


@frozen(eq=False, repr=False)
class Export(OfPath):
    """The format of an exported session. The path applies only to a chat file (``sillytavern``)."""

    format: Literal["saga", "sillytavern"] = in_query("saga", example="saga")


@frozen(eq=False, repr=False)
class ExportWorld(OfWorld):
    """A world, and the format of its file."""

    format: Literal["card", "lorebook"] = in_query("card", example="card")


@frozen(eq=False, repr=False)
class Import:
    """Files to import, as the parts of a form, or one file as the body itself."""

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
    """What to forget: a session, a name in it, or all sessions of an API key, by the key's fingerprint."""

    name: str | None = in_query(None)
    owner: str | None = in_query(None)


# -- Parameters of the endpoints of keys and of the audit log --------------------------------------------------


def _quotas() -> Collection[str]:
    from saga_server.hosting import QUOTAS

    return QUOTAS


@frozen(eq=False, repr=False)
class OfKey:
    """A key, by its id."""

    key: str = in_path()


@frozen(eq=False, repr=False)
class NewKey:
    """A key to make: its name, its role and its quotas. ``owner`` names an owner that already has sessions."""

    name: str = in_body(remedy="say whose key it is")
    role: str | None = in_body(None)
    owner: str | None = in_body(None)
    quotas: Mapping[str, str] = body_fields(_quotas)


@frozen(eq=False, repr=False)
class KeyChange(OfKey):
    """The new name and the new quotas of a key; both are optional."""

    name: str | None = in_body(None)
    quotas: Mapping[str, str] = body_fields(_quotas)


@frozen(eq=False, repr=False)
class Rotation(OfKey):
    """A rotation of a key. The previous secret stays valid for ``grace`` seconds."""

    grace: float = in_query(0.0, example="0", most=2_592_000.0)


@frozen(eq=False, repr=False)
class WhichEntries:
    """Which entries of the audit log to list: of a key (by its id or owner), of a session, behind a ``cursor``."""

    limit: int = in_query(100, example="100", least=1, most=1_000)
    cursor: str | None = in_query(None)
    key: str | None = in_query(None)
    session: str | None = in_query(None)
