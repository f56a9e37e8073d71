"""The comparison of two versions: this version, compared with itself."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bench import versions
from tests.bench.versions import geometric

HERE = Path(versions.__file__).parents[2]


def test_a_ratio_and_its_inverse_cancel_out() -> None:
    ratio, error = geometric([0.5, 2.0])
    assert math.isclose(ratio, 1.0) and error > 0.5
    assert math.isnan(geometric([1.5])[1])


@pytest.mark.deep
@pytest.mark.parametrize("what", [versions.READ, versions.PLAY])
def test_every_step_is_compared(what: str) -> None:
    few = ("--what", what, "--turns", "30", "--portion", "3", "--rounds", "2", "--pairs", "2")
    found = subprocess.run(
        [sys.executable, versions.__file__, str(HERE), str(HERE), *few], capture_output=True, text=True, check=True
    ).stdout
    steps = {"read"} if what == versions.READ else {"turn.read", "turn.commit", "turn.projection"}
    rows = {line.split("|")[1].strip(): line for line in found.splitlines()}
    assert steps <= rows.keys()
    for step in steps:
        assert 0.1 < float(rows[step].split("|")[2].split("±")[0]) < 10
