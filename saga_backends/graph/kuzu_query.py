"""Runs Cypher queries of users. They are checked here and run in a separate process on a copy of the database."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any

from saga_backends.graph import kuzu_query_child
from saga_backends.graph.kuzu_database import KuzuDatabase
from saga_backends.graph.kuzu_grammar import ParsedQuery, understand
from saga_backends.worker import Worker
from saga_core.errors import BadInput, Closed, StoreError, StoreUnavailable
from saga_core.stores import Value
from saga_core.stores.validate import check_limit, shown

_MEMORY = 256 * 1_024 * 1_024
_LONGEST = 60.0
_LEAST_SPACE = 1 << 30
_KEPT_ENVIRONMENT = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT", "LBUG_PYTHON_BACKEND", "LBUG_C_API_LIB_PATH")


class QueryDoor:
    """Runs one query at a time. Each process takes some 0.2 s of CPU. Writes wait while the database is copied.

    The ``read_only`` mode of the engines does not prevent reading and writing files with ``LOAD``, ``COPY`` and
    ``EXPORT``, or using up all memory. So a query is first parsed (see ``kuzu_grammar``) and then run in a process
    without these rights.
    """

    def __init__(self, database: KuzuDatabase, worker: Worker) -> None:
        self._database = database
        self._worker = worker
        self._turn = asyncio.Lock()
        self._process: asyncio.subprocess.Process | None = None
        self._closed = False

    async def query(self, text: str, *, timeout: float, limit: int) -> list[dict[str, Value]]:
        """Run a query and return at most ``limit`` rows as dicts by column.

        A whole node or edge is split into one column for each property (``c.id``, ``c.name``). Values that are neither
        scalars nor lists of scalars, such as lists of nodes, become JSON.

        Raises ``BadInput`` if the query is outside the grammar, if the engine rejects it (an unknown column), or if it
        takes more than ``timeout`` seconds or 256 MB. Raises ``StoreError`` if its process fails.
        """
        if type(text) is not str:
            raise BadInput(f"cypher: {shown(text)} is a {type(text).__name__}; give a text")
        if type(timeout) not in (int, float) or not 0 < timeout <= _LONGEST:
            raise BadInput(f"timeout: {shown(timeout)}; give seconds above 0, at most {_LONGEST:g}")
        check_limit("limit", limit)
        question = understand(text, limit)
        deadline = asyncio.get_running_loop().time() + timeout
        try:
            async with asyncio.timeout_at(deadline), self._turn:
                return await self._answer(question, deadline)
        except (TimeoutError, _Late):
            raise BadInput(
                f"timeout: the query took longer than {timeout:g} s; narrow it, or give it more time"
            ) from None

    async def close(self) -> None:
        """Kill the running query, which then raises ``Closed``."""
        self._closed = True
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
        async with self._turn:
            pass

    async def _answer(self, question: ParsedQuery, deadline: float) -> list[dict[str, Value]]:
        self._alive()
        try:
            copy = await self._worker.run(self._database.copy)
            self._alive()
            request = {
                "engine": self._database.engine.name,
                "packages": str(self._database.packages),
                "database": str(copy),
                "text": question.text,
                "columns": question.columns,
                "seconds": max(0.001, deadline - asyncio.get_running_loop().time()),
                "memory": _MEMORY,
                "address_space": max(_LEAST_SPACE, 1 << (2 * copy.stat().st_size).bit_length()),
            }
            return self._rows(await self._ask(request))
        finally:
            if not self._worker.closed:
                await self._worker.run(self._database.remove_copy)

    async def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        environment = {name: os.environ[name] for name in _KEPT_ENVIRONMENT if name in os.environ}
        pipe = asyncio.subprocess.PIPE
        try:
            self._process = process = await asyncio.create_subprocess_exec(
                sys.executable, "-I", "-S", "-X", "utf8", kuzu_query_child.__file__,
                stdin=pipe, stdout=pipe, stderr=pipe, env=environment,
            )  # fmt: skip
        except OSError as error:
            raise StoreUnavailable(f"{self._database.file}: no process can be started for a query: {error}") from error
        try:
            said, complaint = await process.communicate(json.dumps(request).encode())
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
            self._process = None
        self._alive()
        if process.returncode != 0:
            last = complaint.decode("utf-8", "replace").strip()[-200:]
            raise StoreError(
                f"{self._database.file}: the process of the query ended with status {process.returncode} ({last}); "
                "ask for less"
            )
        reply: dict[str, Any] = json.loads(said)
        return reply

    def _rows(self, reply: dict[str, Any]) -> list[dict[str, Value]]:
        kind = reply.get("error")
        if kind == "timeout":
            raise _Late
        if kind == "memory":
            raise BadInput(f"cypher: the query takes more than {_MEMORY >> 20} MB of memory; narrow it")
        if kind == "open":
            raise StoreError(f"{self._database.file}: a copy of it cannot be read: {reply['message']}")
        if kind is not None:
            raise BadInput(f"cypher: {' '.join(str(reply['message']).split())}")
        return [
            {name: tuple(value) if type(value) is list else value for name, value in row.items()}
            for row in reply["rows"]
        ]

    def _alive(self) -> None:
        if self._closed:
            raise Closed(f"{self._database.file}: the graph store is closed")


class _Late(Exception):
    """The engine itself reported a timeout."""
