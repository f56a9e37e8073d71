"""The wheel is built once for all tests of installing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.install.wheel import build


@pytest.fixture(scope="package")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """See ``build``."""
    pytest.importorskip("hatchling", reason="the extra dev brings it; `make test` installs that")
    return build(tmp_path_factory.mktemp("checkout"))
