"""The manager of services is told how the server is. `test_saga_command.py` has a whole life with one."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from saga_server.process.running_server import READY, tell_manager

pytestmark = pytest.mark.skipif(os.name != "posix", reason="sockets that are files")


@pytest.mark.skipif(not Path("/proc/net/unix").exists(), reason="sockets that are no files are those of Linux")
def test_a_socket_that_is_no_file() -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(f"\0saga-{os.getpid()}")
        manager.settimeout(5)
        tell_manager(READY, {"NOTIFY_SOCKET": f"@saga-{os.getpid()}"})
        assert manager.recv(99) == b"READY=1"


def test_a_manager_that_is_gone_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    tell_manager(READY, {"NOTIFY_SOCKET": str(tmp_path / "gone")})
    assert "gone cannot be told READY=1 (No such file or directory)" in caplog.text


def test_without_one_nothing_is_told(caplog: pytest.LogCaptureFixture) -> None:
    tell_manager(READY, {})
    assert caplog.text == ""
