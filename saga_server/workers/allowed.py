"""Checks that the settings allow several worker processes."""

from __future__ import annotations

import os
from collections.abc import Mapping

from saga_core.config import Config
from saga_core.errors import ConfigError
from saga_core.storage import backend_of

_TOGETHER: tuple[Mapping[str, frozenset[str]], ...] = (
    {
        "state": frozenset({"sqlite"}),
        "graph": frozenset({"networkx"}),
        "vector": frozenset({"sqlite"}),
        "cache": frozenset({"files"}),
    },
    {
        "state": frozenset({"postgres"}),
        "graph": frozenset({"networkx", "postgres"}),
        "vector": frozenset({"pgvector"}),
        "cache": frozenset({"postgres"}),
    },
)
"""The backends that several processes can share, one mapping for each kind of journal.

A graph in memory is not shared: each process has its own.
"""


def check_workers(config: Config) -> None:
    """Raise ``ConfigError`` when ``config`` does not allow ``server.workers`` processes. It says what to change."""
    workers = config.server.workers
    if workers == 1:
        return
    problems = []
    if os.name != "posix":
        problems.append(
            f"server.workers: {workers} processes on one port need Linux, macOS or another Unix; set it to 1 here"
        )
    if config.server.address is not None:
        problems.append("server.address: each of server.workers has an address of its own; leave it out")
    kinds = [kind for kind in ("state", "graph", "vector", "cache") if kind != "cache" or config.md_cache.enabled]
    named = {kind: backend_of(config, kind) for kind in kinds}
    fitting = next((each for each in _TOGETHER if named["state"] in each["state"]), _TOGETHER[0])
    problems += [
        f"server.workers: storage.{kind}.backend is {named[kind]}, whose data only one process may open; use "
        f"{' or '.join(sorted(fitting[kind]))} (storage.profile lite or scale), or set server.workers to 1"
        for kind in kinds
        if named[kind] not in fitting[kind]
    ]
    if problems:
        raise ConfigError("config", tuple(problems))
