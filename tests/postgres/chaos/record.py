"""Every change of the journal's table, in the order in which it became true, written down by the database itself."""

from __future__ import annotations

from collections.abc import Iterable

import psycopg
from attrs import define, field

from saga_backends.key_bytes import decode, encode, range_end
from saga_core.stores import Key

_MADE = """
DROP SCHEMA IF EXISTS watch CASCADE;
CREATE SCHEMA watch;
CREATE TABLE watch.changes (
  number bigserial PRIMARY KEY, at double precision NOT NULL, tx bigint NOT NULL, who text NOT NULL,
  key bytea NOT NULL, value bytea
);
CREATE FUNCTION watch.note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO watch.changes (at, tx, who, key, value) VALUES (
    extract(epoch FROM clock_timestamp()), txid_current(), current_setting('application_name'),
    CASE WHEN TG_OP = 'DELETE' THEN OLD.key ELSE NEW.key END, CASE WHEN TG_OP = 'DELETE' THEN NULL ELSE NEW.value END
  );
  RETURN NULL;
END $$;
CREATE TRIGGER note AFTER INSERT OR UPDATE OR DELETE ON saga.entries FOR EACH ROW EXECUTE FUNCTION watch.note();
"""
_READ = (
    "SELECT number, at, tx, who, key, value FROM watch.changes WHERE number > %s AND NOT (key >= %s AND key < %s) "
    "ORDER BY number"
)
_BEATS = encode(("lease", "server"))


@define
class Commit:
    """One transaction: who made it, and what each key it touched was afterwards; None: gone."""

    number: int
    """Its first change. Grows in the order in which commits of one session became true: each locks the lease first."""
    last: int
    """Its last change."""
    at: float
    """Seconds since 1970, by this machine's clock."""
    who: str
    """The ``application_name`` of its connection."""
    rows: dict[Key, bytes | None] = field(repr=False)


def keep_record(url: str) -> None:
    """Begin to write down what happens to the table of the journal, which is there already."""
    with psycopg.connect(url, autocommit=True) as line:
        line.execute(_MADE)


def commits_since(url: str, number: int) -> list[Commit]:
    """All transactions whose changes have numbers above ``number``: those under way are waited for."""
    with psycopg.connect(url) as line:
        line.execute("LOCK TABLE saga.entries IN SHARE MODE")  # a low number may be true later than a high one
        rows = line.execute(_READ, (number, _BEATS, range_end(_BEATS))).fetchall()
    return _together(rows)


def _together(rows: Iterable[tuple[int, float, int, str, bytes, bytes | None]]) -> list[Commit]:
    found: dict[int, Commit] = {}
    for number, at, tx, who, key, value in rows:
        commit = found.setdefault(tx, Commit(number, number, at, who, {}))
        commit.last = number
        commit.rows[decode(key)] = value
    return sorted(found.values(), key=lambda commit: commit.number)
