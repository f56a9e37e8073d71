"""StateKV in PostgreSQL, with one table of byte keys and values. A commit is one function call and one transaction.

The function first locks the expected entries in key order. Rows that must have a value are locked. Where no entry may
exist, a placeholder row is inserted, and removed again unless the commit puts that key. So of two commits with the same
expectation only one succeeds, and no commit overwrites a value that it has not seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import psycopg
from psycopg import AsyncConnection

from saga_backends.key_bytes import decode, encode, range_end
from saga_backends.postgres.database import Database, Migration, Part, connected
from saga_backends.postgres.store import MOST_ROWS, PostgresStore
from saga_core.errors import Conflict
from saga_core.registry import OpenOptions
from saga_core.stores import Batch, Key, StateKV
from saga_core.stores.validate import check_batch, check_keys, check_scan

_CONFLICT = "SG001"
"""The SQLSTATE of a failed expectation. The error's detail is the position of the key, counted from 1."""

_TABLE = """
CREATE TABLE {schema}.entries (key bytea PRIMARY KEY, value bytea NOT NULL);
ALTER TABLE {schema}.entries ALTER value SET STORAGE EXTENDED;
"""
_COMMIT = """
CREATE FUNCTION {schema}.commit_entries(
  expected_keys bytea[], expected_values bytea[], gone bytea[], put_keys bytea[], put_values bytea[]
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  held bytea[];
  held_values bytea[];
  reserved bytea[] := '{}';
  failed bigint;
BEGIN
  IF current_setting('synchronous_commit') = 'off' THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;
  IF cardinality(expected_keys) > 0 THEN
    SELECT coalesce(array_agg(locked.key), '{}'), coalesce(array_agg(locked.value), '{}') INTO held, held_values
      FROM (SELECT key, value FROM {schema}.entries WHERE key = ANY(expected_keys) ORDER BY key FOR UPDATE) locked;
    WITH put AS (
      INSERT INTO {schema}.entries (key, value)
        SELECT k, '' FROM unnest(expected_keys, expected_values) AS wanted(k, v) WHERE v IS NULL ORDER BY k
        ON CONFLICT (key) DO NOTHING RETURNING key
    ) SELECT coalesce(array_agg(key), '{}') INTO reserved FROM put;
    SELECT min(wanted.place) INTO failed
      FROM unnest(expected_keys, expected_values) WITH ORDINALITY AS wanted(k, v, place)
      LEFT JOIN unnest(held, held_values) AS found(k, v) ON found.k = wanted.k
      WHERE CASE WHEN wanted.v IS NULL THEN NOT wanted.k = ANY(reserved) ELSE wanted.v IS DISTINCT FROM found.v END;
    IF failed IS NOT NULL THEN
      RAISE EXCEPTION 'an expectation does not hold' USING ERRCODE = 'SG001', DETAIL = failed::text;
    END IF;
  END IF;
  IF cardinality(gone) > 0 OR cardinality(reserved) > 0 THEN
    DELETE FROM {schema}.entries WHERE key = ANY(gone) OR (key = ANY(reserved) AND NOT key = ANY(put_keys));
  END IF;
  IF cardinality(put_keys) > 0 THEN
    INSERT INTO {schema}.entries (key, value) SELECT k, v FROM unnest(put_keys, put_values) AS puts(k, v) ORDER BY k
      ON CONFLICT (key) DO UPDATE SET value = excluded.value;
  END IF;
END $$;
"""
PART = Part("state", (Migration(_TABLE + _COMMIT),))


class PostgresState(PostgresStore):
    """The state store, created by ``open_``. Each call is one round trip to the server."""

    kind = "state"
    tables = ("entries",)
    everything = "SELECT count(*), coalesce(sum(length(key) + length(value)), 0) FROM {entries}"

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        entries = self._named["entries"]
        self._get = f"SELECT key, value FROM {entries} WHERE key = ANY(%b::bytea[])".encode()
        scan = f"SELECT key, value FROM {entries} WHERE key {{}} %b::bytea AND key < %b::bytea ORDER BY key LIMIT %s"
        self._scan_from, self._scan_behind = scan.format(">=").encode(), scan.format(">").encode()
        self._commit = (
            f"SELECT {database.schema}.commit_entries"
            "(%b::bytea[], %b::bytea[], %b::bytea[], %b::bytea[], %b::bytea[])".encode()
        )

    async def get(self, keys: Sequence[Key]) -> dict[Key, bytes]:
        """See ``StateKV.get``."""
        self._database.alive()
        check_keys(keys, self._info.limits)
        wanted = {encode(key): key for key in keys}
        if not wanted:
            return {}
        rows = await self._rows(self._get, [list(wanted)], binary=True)
        return {wanted[raw]: value for raw, value in rows}

    async def scan(self, prefix: Key, *, after: Key | None = None, limit: int = 1_000) -> list[tuple[Key, bytes]]:
        """See ``StateKV.scan``."""
        self._database.alive()
        check_scan(prefix, after, limit, self._info.limits)
        start = encode(prefix)
        end = range_end(start)
        statement = self._scan_from
        if after is not None and (behind := encode(after)) >= start:
            start, statement = behind, self._scan_behind
        rows = await self._rows(statement, [start, end, min(limit, MOST_ROWS)], binary=True)
        return [(decode(raw), value) for raw, value in rows]

    async def commit(self, batch: Batch, *, expected: Mapping[Key, bytes | None] | None = None) -> None:
        """See ``StateKV.commit``."""
        self._database.alive()
        check_batch(batch, expected, self._info.limits)
        wanted = list((expected or {}).items())
        if not (wanted or batch.puts or batch.deletes):
            return
        values = [
            [encode(key) for key, _ in wanted],
            [value for _, value in wanted],
            [encode(key) for key in batch.deletes],
            [encode(key) for key in batch.puts],
            list(batch.puts.values()),
        ]

        async def write(connection: AsyncConnection) -> None:
            try:
                await connection.execute(self._commit, values)
            except psycopg.Error as error:
                if error.sqlstate != _CONFLICT:
                    raise
                raise Conflict(wanted[int(error.diag.message_detail or 1) - 1][0]) from None

        await self._database.write(write)


async def open_(options: OpenOptions) -> StateKV:
    """Connect to the database of ``options.url``. Raises ``StoreError`` and ``BadInput``."""
    return PostgresState(await connected(options, "state", PART))
