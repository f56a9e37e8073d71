"""The main program of the helper process: it receives functions with their arguments, and answers with the results.

A request has two messages: a function with its arguments, and the bytes of one large argument, which may be empty.

The process runs at a lower priority than the server, and its memory is limited. It ends when its input ends.
"""

from __future__ import annotations

import importlib
import os
import pickle
import struct
import sys
from contextlib import suppress
from io import BytesIO
from pathlib import Path

FOUND, RAISED, BROKEN, MEMORY = "found", "raised", "broken", "memory"
"""What an answer holds: the result, a ``SagaError`` to raise for the caller, the text of another error, or nothing for
lack of memory."""
MEMORY_BYTES = 2 << 30
"""Memory that the process may use beyond what it has when it is ready."""
_NICER = 5
_LENGTH = struct.Struct("!Q")
_PIPE = 1 << 20
"""Size of a pipe in bytes. The smaller it is, the more often the two processes have to wait for each other."""


def main() -> None:
    """Import the modules named in the arguments, send an empty message, and answer requests."""
    for module in sys.argv[1:]:
        importlib.import_module(module)
    answers = os.dup(1)
    os.dup2(2, 1)  # printed text must not mix with the answers
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
    except Exception as error:  # noqa: BLE001 - sent to the caller
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
    found = BytesIO()  # not a list, because joining its parts would hold the interpreter's lock of the server
    while size:
        piece = os.read(file, min(size, _PIPE))
        if not piece:
            raise EOFError
        size -= found.write(piece)
    return found.getvalue()


def _widen(file: int) -> None:
    if sys.platform == "linux":
        import fcntl

        with suppress(OSError):  # the system's limit may be lower; the size then stays as it is
            fcntl.fcntl(file, fcntl.F_SETPIPE_SZ, _PIPE)


if __name__ == "__main__":
    main()
