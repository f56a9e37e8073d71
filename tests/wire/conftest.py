"""Fixtures of the tests with the official SDKs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="session", autouse=True)
def no_certificates(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Each client of an SDK reads the machine's certificates, which takes 20 ms. The servers here speak plain HTTP."""
    folder = tmp_path_factory.mktemp("no-certificates")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("SSL_CERT_FILE", raising=False)
        patch.setenv("SSL_CERT_DIR", str(folder))
        yield folder
