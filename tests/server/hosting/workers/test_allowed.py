"""Which settings several processes are refused with."""

from __future__ import annotations

import os
from typing import Any

import pytest

from saga_core.config import Config, load_config
from saga_core.errors import ConfigError
from saga_server.hosting import check_workers


def config(workers: int = 4, **storage: Any) -> Config:
    return load_config({"server": {"workers": workers}, "storage": {"profile": "lite", **storage}})


def told(config: Config) -> str:
    with pytest.raises(ConfigError) as refused:
        check_workers(config)
    return "\n".join(refused.value.problems)


def test_the_stores_of_two_profiles_are_taken() -> None:
    check_workers(config())
    check_workers(config(profile="scale", url="postgresql://saga@127.0.0.1/saga"))
    check_workers(config(1, profile="full"))


@pytest.mark.parametrize("profile", ["full", "full-lance", "memory"])
def test_stores_that_one_process_alone_may_open_are_refused(profile: str) -> None:
    found = told(config(profile=profile))
    assert "whose data only one process may open" in found
    assert "or set server.workers to 1" in found


def test_a_journal_in_a_database_wants_its_views_there_too() -> None:
    found = told(config(profile="scale", url="postgresql://saga@127.0.0.1/saga", vector={"backend": "sqlite"}))
    assert "storage.vector.backend is sqlite" in found and "use pgvector" in found


def test_pages_that_are_not_kept_are_not_looked_at() -> None:
    kept = {"server": {"workers": 2}, "storage": {"cache": {"backend": "memory"}}}
    assert "storage.cache.backend" in told(load_config(kept))
    check_workers(load_config({**kept, "md_cache": {"enabled": False}}))


def test_an_address_would_be_that_of_all() -> None:
    found = load_config({"server": {"workers": 2, "address": "http://10.0.0.1:8765"}})
    assert "server.address: each of server.workers has an address of its own" in told(found)


def test_where_sockets_cannot_be_passed_on_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    lite = config()
    monkeypatch.setattr(os, "name", "nt")
    assert "need Linux, macOS or another Unix" in told(lite)
