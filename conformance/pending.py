"""The calls of stores that have not returned, and a board with one of them for the process that watches this one."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import traceback
from collections.abc import Awaitable
from time import perf_counter, sleep
from typing import Any, TypeVar

from conformance.assertions import CheckFailed

T = TypeVar("T")

calls: list[tuple[str, Any]] = []
"""The calls of the running check that have not returned, with their coroutines, oldest first. A cancelled call
remains."""
answered: dict[str, list[float]] = {}
"""The seconds that the running check's calls took which have returned, by name."""
SIZE = 1_024
"""The bytes of a board. The first part is the call begun last, so it is right also if the process ends at once or keeps
the GIL. The rest, which a thread writes each second, has the line as well."""
_LINE = 256
_board: Any = bytearray(SIZE)


def clear() -> None:
    """Forget the calls of the check before."""
    calls.clear()
    answered.clear()
    _begun("")


def _begun(name: str) -> None:
    _board[:_LINE] = name.encode()[:_LINE].ljust(_LINE, b"\0")


async def asked(name: str, made: Awaitable[T]) -> T:
    """Await a call of a store. A ``SystemExit`` becomes a ``CheckFailed``, because it would stop the event loop."""
    call, begun = (name, made), perf_counter()
    calls.append(call)
    _begun(name)
    try:
        return await made
    except asyncio.CancelledError:
        call = None  # type: ignore[assignment]
        raise
    except SystemExit as error:
        at = traceback.extract_tb(error.__traceback__)[-1]
        raise CheckFailed(f"SystemExit escaped: {error}, from {at.filename}:{at.lineno}", clause="L-7") from error
    finally:
        if call in calls:
            calls.remove(call)
            answered.setdefault(name, []).append(perf_counter() - begun)
            _begun("")


def watch(board: Any) -> None:
    """Write to ``board``, which the parent process reads, and end with the parent, also if the loop is blocked."""
    global _board
    _board = board
    parent = os.getppid()

    def look() -> None:
        while os.getppid() == parent:
            alive = [(name, at) for name, made in calls[::-1] if (at := getattr(made, "cr_frame", None)) is not None]
            told = [f"{name} ({at.f_code.co_filename}:{at.f_lineno})".encode() for name, at in alive[:1]] or [b""]
            _board[_LINE:] = told[0][: SIZE - _LINE].ljust(SIZE - _LINE, b"\0")
            sleep(1)
        os.killpg(0, signal.SIGKILL)

    threading.Thread(target=look, daemon=True).start()


def read(board: Any) -> str:
    """The call on a board, with its file and line if they are known; empty if there is no call."""
    begun, line = (bytes(part).rstrip(b"\0").decode(errors="replace") for part in (board[:_LINE], board[_LINE:]))
    return line if line.startswith(begun) else begun
