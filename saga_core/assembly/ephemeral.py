"""The engine of the ephemeral sessions: a second one with the same settings, whose stores are all in memory."""

from __future__ import annotations

from attrs import evolve

from saga_core.assembly.curators import ELSEWHERE
from saga_core.assembly.engine import assemble
from saga_core.assembly.parts import OpenArguments, Parts
from saga_core.config import Config, StorageConfig


def in_memory(config: Config) -> Config:
    """Return ``config`` with stores in memory, and without a curator whose own server keeps what it reads."""
    curator = config.curator
    if curator.backend in ELSEWHERE:
        curator = evolve(curator, backend=None, options={})
    return evolve(
        config,
        storage=StorageConfig(profile="memory", path=config.storage.path),
        md_cache=evolve(config.md_cache, cache_dir=None),
        curator=curator,
    )


async def assemble_ephemeral(parts: Parts, opening: OpenArguments) -> Parts:
    """Build the engine of the ephemeral sessions beside ``parts``, which were opened with ``opening``.

    Both share the embedder, the counters and what gives way to narrations. Quotas of sessions and write rights concern
    stores only, so it has none.
    """
    beside = evolve(
        opening,
        stores={},
        embedder=parts.stores.embedder,
        reviewer=None,
        hosting=None,
        resume=False,
        counters=parts.counters,
        foreground=parts.background.foreground,
    )
    return await assemble(in_memory(parts.settings.config), beside)
