"""The inputs that were written before the code that reads them was looked at: ``strangers.yaml`` in each folder.

One with ``short`` is not read rightly yet, and says why.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

HERE = Path(__file__).parent


def strangers(folder: str) -> pytest.MarkDecorator:
    """One test for each input of a folder, named by where its form comes from."""
    files = sorted((HERE / folder).glob("strangers*.yaml"))
    rows: list[dict[str, Any]] = [row for file in files for row in yaml.load(file.read_text("utf-8"), yaml.CSafeLoader)]
    return pytest.mark.parametrize("row", [pytest.param(row, id=row["origin"], marks=_short(row)) for row in rows])


def _short(row: dict[str, Any]) -> list[pytest.MarkDecorator]:
    return [pytest.mark.xfail(reason=row["short"], strict=True)] if "short" in row else []
