"""``make audit``: what it says when a database knows something, nothing, or cannot be asked."""

from __future__ import annotations

import runpy
import types
from pathlib import Path
from typing import Any

import pytest

from tests.docs.pages import ROOT

CLEAN = {"name": "a", "version": "1", "vulns": []}
FAULTY = {"name": "b", "version": "2", "vulns": [{"id": "PYSEC-1", "fix_versions": ["2.1"]}]}
SKIPPED = {"name": "b", "skip_reason": "not found"}
Answer = tuple[list[dict[str, Any]], str]


@pytest.mark.parametrize(
    ("answers", "code", "said"),
    [
        ([([CLEAN, CLEAN], "")], 0, "nothing is known against any of 2 packages"),
        ([([CLEAN, FAULTY], "")], 1, "!!  b 2: PYSEC-1, mended in 2.1"),
        ([([CLEAN, SKIPPED], ""), ([CLEAN, CLEAN], "")], 0, "nothing is known"),
        ([([CLEAN, SKIPPED], ""), ([], "no route")], 2, "NOT AUDITED: 1 of 2"),
        ([([], "no route"), ([], "no name")], 2, "NOT AUDITED: 2 of 2"),
    ],
)
def test_what_it_says(tmp_path: Path, answers: list[Answer], code: int, said: str) -> None:
    (tmp_path / "pins").write_text("a==1\nb==2\n")
    audit = types.SimpleNamespace(**runpy.run_path(str(ROOT / ".ci" / "audit")))
    coming = iter(answers)
    audit.main.__globals__["ask"] = lambda *_: next(coming)
    lines: list[str] = []
    assert audit.main(str(tmp_path / "pins"), lines.append) == code
    assert said in "\n".join(lines)
