"""The error tree: what is caught by which name, and what each error carries."""

from __future__ import annotations

import inspect

import pytest

from saga_core import errors
from saga_core.errors import (
    BadInput,
    Closed,
    ConfigError,
    Conflict,
    SagaError,
    StoreError,
    StoreUnavailable,
    UpstreamError,
    in_words,
)


def test_what_fails_after_the_files_were_replaced_asks_for_a_restart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errors, "_BEGUN", 0.0)
    assert in_words(ImportError("cannot import name 'x'")).endswith(errors.RESTART)
    assert errors.RESTART not in in_words(ValueError("x"))
    monkeypatch.setattr(errors, "_BEGUN", float("inf"))
    assert errors.RESTART not in in_words(ImportError("x"))
    monkeypatch.setattr(errors, "__file__", "/nowhere/errors.py")
    assert errors.were_files_replaced(), "they are gone"


def test_everything_that_is_raised_on_purpose_is_one_of_ours() -> None:
    kinds = [each for _, each in inspect.getmembers(errors, inspect.isclass)]
    assert len(kinds) > 10 and all(issubclass(each, SagaError) for each in kinds)


def test_what_a_store_raises_is_a_store_error() -> None:
    names = (
        "StoreUnavailable",
        "StoreCorrupt",
        "NewerSchema",
        "StoreLocked",
        "Closed",
        "Conflict",
        "NotSupported",
        "ScopeMismatch",
    )
    assert all(issubclass(getattr(errors, name), StoreError) for name in names)
    assert not issubclass(BadInput, StoreError) and not issubclass(UpstreamError, StoreError)
    assert issubclass(ConfigError, BadInput) and issubclass(Closed, StoreError)


def test_a_conflict_names_its_key() -> None:
    assert str(Conflict(("label", "-", "모험"))) == "precondition failed at key ('label', '-', '모험')"
    told = Conflict(("a",), "choose another")
    assert (str(told), told.key) == ("choose another", ("a",))


def test_a_config_error_has_a_line_for_each_culprit() -> None:
    error = ConfigError("saga.yaml", ("server.port: 0", "models: missing"))
    assert str(error) == "saga.yaml: server.port: 0; models: missing"
    assert error.problems == ("server.port: 0", "models: missing") and error.source == "saga.yaml"


def test_a_providers_failure_is_answered_as_a_bad_gateway_unless_it_says_otherwise() -> None:
    error = UpstreamError("it failed")
    assert (error.status, error.kind, error.retry_after, error.passing) == (502, "upstream_error", None, False)
    busy = UpstreamError("slow down", status=429, kind="rate_limit", retry_after=2.5, passing=True)
    assert (busy.status, busy.kind, busy.retry_after, busy.passing, str(busy)) == (
        429,
        "rate_limit",
        2.5,
        True,
        "slow down",
    )


def test_ours_are_shown_without_the_name_of_their_class() -> None:
    assert in_words(StoreUnavailable("the graph is away; start it")) == "the graph is away; start it"
    assert in_words(OSError("no room")) == "OSError: no room", "of what others raise the kind says half of it"
    assert in_words(Closed("")) == "Closed: "
