"""The child process that runs one query. It reads a request from standard input, writes the reply and exits.

The process opens a copy of the database for reading, and gives up its other rights before it runs the query. After that
it cannot write to files, open further files or take more memory, and it is killed when its time is over. It uses only
the standard library and the engine. These limits need POSIX. On other systems, the data is protected by the grammar,
the copy, and the timeouts of the engine and of the parent.
"""

from __future__ import annotations

# Import everything that is needed later, including the lazy imports of the engine, because files cannot be opened then.
import datetime  # noqa: F401
import decimal
import importlib
import json
import math
import signal
import sys
import uuid  # noqa: F401
from pathlib import Path
from typing import Any

_INT64 = range(-(2**63), 2**63)
_MOST_BYTES = 16 * 1_024 * 1_024


def main() -> None:
    """Read the request and print the reply, both as JSON.

    The request has ``engine``, ``packages``, ``database``, ``text``, ``columns``, ``seconds``, ``memory`` and
    ``address_space``. The reply has ``rows``, or ``error`` and ``message``.
    """
    request = json.load(sys.stdin)
    print(json.dumps(_answer(request), ensure_ascii=False, allow_nan=False))  # noqa: T201 - it is the answer


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    sys.path.append(request["packages"])
    engine = importlib.import_module(request["engine"])
    _no_writing(request["seconds"])
    lenient = {"throw_on_wal_replay_failure": False} if request["engine"] == "ladybug" else {}
    try:
        database = engine.Database(
            request["database"],
            buffer_pool_size=request["memory"] // 4,
            max_num_threads=1,
            max_db_size=request["address_space"],
            read_only=True,
            **lenient,
        )
        connection = engine.Connection(database, num_threads=1)
        connection.set_query_timeout(max(1, int(request["seconds"] * 1_000)))
    except (RuntimeError, MemoryError, ValueError, LookupError, OSError) as error:
        return {"error": "open", "message": str(error)}
    _no_more(request["memory"])
    try:
        result = connection.execute(request["text"])
        if isinstance(result, list):
            return {"error": "query", "message": "several statements"}
        return {"rows": _rows(result, request["columns"])}
    except MemoryError:
        return {"error": "memory", "message": "out of memory"}
    except (RuntimeError, ValueError, LookupError, ArithmeticError) as error:
        return {"error": _kind(str(error)), "message": str(error)}


def _kind(text: str) -> str:
    if "Interrupted" in text:
        return "timeout"
    return "memory" if "bad_alloc" in text or "Buffer manager" in text else "query"


def _no_writing(seconds: float) -> None:
    if sys.platform != "win32":
        import resource

        signal.setitimer(signal.ITIMER_REAL, seconds + 1)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _no_more(memory: int) -> None:
    if sys.platform != "win32":
        import resource

        taken = Path("/proc/self/statm")
        if taken.exists():
            pages = int(taken.read_text().split()[0])
            most = pages * resource.getpagesize() + memory
            resource.setrlimit(resource.RLIMIT_AS, (most, most))
        resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))


def _rows(result: Any, columns: list[str] | None) -> list[dict[str, Any]]:
    names = columns or result.get_column_names()
    kinds = result.get_column_data_types()
    rows: list[dict[str, Any]] = []
    size = 0
    while result.has_next():
        row: dict[str, Any] = {}
        for name, kind, value in zip(names, kinds, result.get_next(), strict=True):
            if kind in ("NODE", "REL"):
                row.update(_spread(name, value))
            else:
                row[name] = _value(value)
        size += len(json.dumps(row))
        if size > _MOST_BYTES:
            raise MemoryError
        rows.append(row)
    return rows


def _spread(name: str, value: dict[str, Any] | None) -> dict[str, Any]:
    """Split a whole node or edge into one column for each property."""
    return {f"{name}.{key}": _value(part) for key, part in (value or {}).items() if key != "pk" and key[0] != "_"}


def _value(value: Any) -> Any:
    """Return a scalar or a list of scalars. Other lists and dicts become JSON, and other values text."""
    if isinstance(value, list) and not any(isinstance(part, list | dict) for part in value):
        return [_value(part) for part in value]
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False, default=str)
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int) and value in _INT64:
        return value
    if isinstance(value, decimal.Decimal) and value == value.to_integral_value() and int(value) in _INT64:
        return int(value)
    if isinstance(value, float) and math.isfinite(value):
        return value
    return str(value)


if __name__ == "__main__":
    main()
