"""The server that the tests of one run share, and a schema of it for each folder."""

from __future__ import annotations

import atexit
import hashlib
import os
from pathlib import Path

import pytest

from tests.postgres.real_server import ADDRESS, RealServer, missing

needs_postgres = pytest.mark.skipif(bool(missing()), reason=missing() or "there is one")


def address() -> str:
    """The url of the shared server, which is started when it is first asked for. Other processes inherit it."""
    if ADDRESS not in os.environ:
        # Nobody pulls a plug here: what is tested is what processes do to each other.
        server = RealServer(options=("fsync=off",))
        atexit.register(_remove, server, os.getpid())
        server.start()
        os.environ[ADDRESS] = server.url
    return os.environ[ADDRESS]


def _remove(server: RealServer, starter: int) -> None:
    if os.getpid() == starter:  # a fork inherits what is to be done at the end
        server.remove()


def schema_of(path: Path) -> str:
    """A schema of its own for a folder, the same in every process."""
    return "t" + hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:24]
