"""TokenCounter ``auto``, which is exact if tiktoken's tables are on this machine, and otherwise an estimate."""

from __future__ import annotations

from saga_backends.tokens.tiktoken import open_exact
from saga_core.ports import TokenCounter
from saga_core.registry import Backend, OpenOptions


async def _open(options: OpenOptions) -> TokenCounter:
    return await open_exact(options, strict=False)


BACKEND = Backend("tokens", "auto", _open, "exact counts where tiktoken's tables are found, else the estimate; default")
