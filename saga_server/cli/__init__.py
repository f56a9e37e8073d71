"""The command line: ``saga`` and its commands."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from saga_server.cli.saga_command import main

__all__ = ["main"]

_NEEDED = ("aiohttp", "click", "httpx2", "rich")
"""Packages of the extra ``server``, without which no command works."""


def __getattr__(name: str) -> Any:
    """Import the command at its first use. Without the extra, it says what to install."""
    if name != "main":
        raise AttributeError(name)
    if missing := [each for each in _NEEDED if find_spec(each) is None]:
        return lambda **_: sys.exit(
            f"saga: no {missing[0]} here; the command line needs: pip install 'saga-rp[server]'"
        )
    from saga_server.cli.saga_command import main

    return main
