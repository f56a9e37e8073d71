"""Parameters that several handlers of the admin API take."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Annotated, Final

from saga_server.admin.endpoint import Spec, body_fields, in_body, in_path, in_query, upload

JSON_LINES: Final = "application/jsonl"
MULTIPART: Final = "multipart/form-data"
ANY_BYTES: Final = "application/octet-stream"
PICTURE: Final = "image/*"

SETTINGS: Final = frozenset({
    "models.narration", "models.extraction", "models.curator", "profile", "session.default_world",
    "session.group_knowledge", "session.collect_after_days", "recall.other_sessions", "extraction.reporting",
    "extraction.automatic", "extraction.cards", "extraction.names", "extraction.review", "curator.enabled",
    "curator.interval", "curator.review", "curator.compress_story_after_turns", "token_budget.total_context_max",
    "token_budget.dynamic_context_max", "token_budget.lorebook_max", "token_budget.recall_max",
    "token_budget.memories_max", "prompt_caching.cut_sliding",
})  # fmt: skip
"""The settings that players change on a page."""


def _fields_of_corrections() -> Collection[str]:
    from saga_core.curation import FIELDS  # imported late, so that a status request does not wait for it

    return FIELDS


def _quotas() -> Collection[str]:
    from saga_server.hosting import QUOTAS

    return QUOTAS


SessionId = Annotated[str, in_path("id")]
"""A session, by its id or by a name that only one session has. The handler gets its id."""
OneSession = Annotated[str, in_query(example="{id}")]
SomeSession = Annotated[str | None, in_query(example="{id}")]
"""One session; all sessions if it is left out."""
Part = Annotated[str, in_path()]
"""A part of the path. For a turn: its id or number, or a timeline's name for the timeline's head."""
TurnId = Annotated[str | None, in_query(example="TURN")]
"""A turn of the session. If it is left out, the turn recorded last."""
Head = Annotated[str | None, in_query()]
"""A path, by the turn or timeline at its end. If it is left out, the active path."""
Text = Annotated[str | None, in_query()]
Narrowing = Annotated[str | None, Spec("query", narrows=True)]
"""A text that narrows what is removed."""
YesOrNo = Annotated[bool, in_query()]
Limit = Annotated[int | None, in_query(least=1, most=10_000)]
"""The number of rows on a page. If it is left out, all rows."""
Cursor = Annotated[str | None, in_query()]
"""The ``next`` of the previous page."""

BodyText = Annotated[str, in_body()]
MaybeBodyText = Annotated[str | None, in_body()]
TurnInBody = Annotated[str | None, in_body(number=True)]
"""Like ``TurnId``, in the body."""
Verdict = Annotated[str, in_body(remedy="give accept or refuse")]
CorrectionFields = Annotated[Mapping[str, str], body_fields(_fields_of_corrections)]
"""The fields of a kind of correction."""
ChangedSettings = Annotated[Mapping[str, str], body_fields(lambda: SETTINGS)]
"""Settings and their new values; an empty one restores the default."""
GivenQuotas = Annotated[Mapping[str, str], body_fields(_quotas)]
Upload = Annotated[bytes, upload(MULTIPART, ANY_BYTES)]
"""Files as the parts of a form, or one file as the body itself."""
