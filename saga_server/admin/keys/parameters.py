"""Parameters of the endpoints of keys and of the audit log."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from attrs import frozen

from saga_server.admin.endpoint import body_fields, in_body, in_path, in_query


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
