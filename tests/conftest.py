"""Hypothesis profiles (quick while writing, default in `make test`, deep in `make test-deep`), and shared fixtures."""

from __future__ import annotations

import gc
import logging
import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from saga_backends.embedder.ngram import NgramEmbedder
from saga_core import registry
from tests.web.chromium import MISSING, chromium

_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]

settings.register_profile("quick", max_examples=20, deadline=None, suppress_health_check=_SLOW)
settings.register_profile("default", max_examples=30, deadline=None, suppress_health_check=_SLOW)
settings.register_profile("deep", max_examples=2_000, deadline=None, suppress_health_check=_SLOW)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

gc.disable()  # while tests are collected, which live until the end

_LEVELS = {"": logging.WARNING, **dict.fromkeys(("saga", "saga_core", "saga_backends", "saga_server"), logging.NOTSET)}


@pytest.fixture(autouse=True)
def levels_as_they_are_at_first() -> None:
    """Commands and servers set how much SAGA logs, those of a whole module too; each test sees its records all the
    same."""
    for name, level in _LEVELS.items():
        logger = logging.getLogger(name)
        if logger.level != level:  # setting a level clears the caches of all loggers
            logger.setLevel(level)


@pytest.fixture(autouse=True, scope="module")
def no_plugins_of_other_tests() -> Iterator[None]:
    """The plugins of a configuration are known for the rest of the process."""
    before = dict(registry._configured)
    yield
    registry._configured.clear()
    registry._configured.update(before)


@pytest.fixture
def sees_meaning(monkeypatch: pytest.MonkeyPatch) -> None:
    """The built-in embedder passes for one that sees meaning, so that earlier turns have vectors as well."""
    monkeypatch.setattr(NgramEmbedder, "semantic", property(lambda _self: True))


def pytest_collection_finish() -> None:
    """Freeze the collected tests, which live until the end: full garbage collections would visit them each time.

    Without a collection before, which frees nothing and takes a second and a half.
    """
    gc.freeze()
    gc.set_threshold(10_000, 10, 200)
    gc.enable()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """A run that looked at no page says so, whatever else it printed."""
    if chromium() is None:
        terminalreporter.write_line(MISSING, red=True, bold=True)
