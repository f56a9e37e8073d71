"""Whether a process lives is known by its lock, whatever a clock says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from saga_server.hosting.liveness import LivenessFiles
from tests.postgres.cluster import ROOT

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="server.workers is refused there")

_LIVES = """
import sys
from pathlib import Path
from saga_server.hosting.liveness import LivenessFiles
files = LivenessFiles(Path(sys.argv[1]))
files.announce(sys.argv[2])
print("lives", flush=True)
sys.stdin.read()
"""


def living(data: Path, server: str) -> subprocess.Popen[bytes]:
    found = subprocess.Popen(
        [sys.executable, "-c", _LIVES, str(data), server], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert found.stdout is not None and found.stdout.readline() == b"lives\n"
    return found


def test_a_process_is_gone_when_it_ended_and_not_before(tmp_path: Path) -> None:
    here = LivenessFiles(tmp_path)
    assert here.is_gone("home.w1#1"), "nobody ever had that name"
    other = living(tmp_path, "home.w1#1")
    try:
        assert not here.is_gone("home.w1#1")
        assert not here.is_gone("home.w1#1"), "looking does not change it"
        assert here.is_gone("home.w1#0"), "an earlier process of that name"
        assert here.is_gone("home.w2#1")
    finally:
        other.kill()
        other.communicate()
    assert here.is_gone("home.w1#1")


def test_the_next_process_of_a_name_waits_for_the_end_of_the_last(tmp_path: Path) -> None:
    first = LivenessFiles(tmp_path)
    first.announce("home.w1#1")
    here = LivenessFiles(tmp_path)
    assert not here.is_gone("home.w1#1")
    later = subprocess.Popen(
        [sys.executable, "-c", _LIVES, str(tmp_path), "home.w1#2"], cwd=ROOT, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )  # fmt: skip
    try:
        assert not here.is_gone("home.w1#1")
        assert first._held is not None
        import os

        os.close(first._held)  # as the system does at the end of a process
        assert later.stdout is not None and later.stdout.readline() == b"lives\n"
        assert here.is_gone("home.w1#1")
        assert not here.is_gone("home.w1#2")
    finally:
        later.kill()
        later.communicate()
