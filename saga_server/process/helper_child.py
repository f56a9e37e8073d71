"""The process that reads what is large: it is given functions and their arguments, and answers what they give.

A question is two messages: a function with its arguments, and the bytes that are one of them, if any.

It gives way to the process that serves, and takes no more than so much memory. It ends when its input does.
"""

from __future__ import annotations

import importlib
import os
import pickle
import struct
import sys
from contextlib import suppress
from pathlib import Path

FOUND, RAISED, BROKEN, MEMORY = "found", "raised", "broken", "memory"
"""What an answer holds: what the function gave, the error that it raises for its caller, any other in words, nothing
for lack of memory."""
MEMORY_BYTES = 2 << 30
_NICER = 5
_LENGTH = struct.Struct("!Q")
_PIPE = 1 << 20
"""Bytes that wait in a pipe, at most: the fewer, the more often two processes take turns."""


def main() -> None:
    """Import what the arguments name, say so, and answer what is asked."""
    for module in sys.argv[1:]:
        importlib.import_module(module)
    answers = os.dup(1)
    os.dup2(2, 1)  # whatever is printed is no answer
    os.nice(_NICER)
    _bound()
    for pipe in (0, answers):
        _widen(pipe)
    send(answers, b"")
    while True:
        try:
            asked, bulk = receive(0), receive(0)
        except EOFError:
            return
        send(answers, _answered(asked, bulk))


def _answered(asked: bytes, bulk: bytes) -> bytes:
    from saga_core.errors import SagaError

    try:
        work, args = pickle.loads(asked, buffers=[bulk])
        return pickle.dumps((FOUND, work(*args)), protocol=5)
    except SagaError as error:
        return pickle.dumps((RAISED, error), protocol=5)
    except MemoryError:
        return pickle.dumps((MEMORY, None), protocol=5)
    except Exception as error:  # noqa: BLE001 - told to whoever asked
        return pickle.dumps((BROKEN, f"{type(error).__name__}: {error}"), protocol=5)


def _bound() -> None:
    if sys.platform != "win32":
        import resource

        taken = Path("/proc/self/statm")
        if taken.exists():
            most = int(taken.read_text().split()[0]) * resource.getpagesize() + MEMORY_BYTES
            resource.setrlimit(resource.RLIMIT_AS, (most, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def send(file: int, message: bytes) -> None:
    """Write a message to a pipe. Raises ``OSError``."""
    for part in (_LENGTH.pack(len(message)), message):
        left = memoryview(part)
        while left:
            left = left[os.write(file, left) :]


def receive(file: int) -> bytes:
    """Read a message from a pipe. Raises ``EOFError`` at its end, and ``OSError``."""
    return _exactly(file, _LENGTH.unpack(_exactly(file, _LENGTH.size))[0])


def _exactly(file: int, size: int) -> bytes:
    found: list[bytes] = []
    while size:
        piece = os.read(file, min(size, _PIPE))
        if not piece:
            raise EOFError
        found.append(piece)
        size -= len(piece)
    return b"".join(found)


def _widen(file: int) -> None:
    if sys.platform == "linux":
        import fcntl

        with suppress(OSError):  # a system may allow less, and then it stays as it is
            fcntl.fcntl(file, fcntl.F_SETPIPE_SZ, _PIPE)


if __name__ == "__main__":
    main()
