"""The choice of the embedder that the recall benchmark measures, from the options of its command."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from saga_core.config import Config


def embedder_config(settings: Path | None, name: str | None, options: tuple[str, ...]) -> Config:
    """The configuration of ``settings``, with the embedder ``name`` if given, and ``options`` over its own options."""
    from attrs import evolve

    from saga_core.config import load_config, scalar

    config = load_config(settings)
    given: dict[str, Any] = dict(config.recall.options) if name in (None, config.recall.embedder) else {}
    for option in options:
        key, equals, value = option.partition("=")
        if not key or not equals:
            raise click.BadParameter(
                f"{option!r}: give a name and a value, such as dimension=384", param_hint="--option"
            )
        given[key] = scalar(value)
    recall = evolve(config.recall, embedder=name or config.recall.embedder, options=given)
    return evolve(config, recall=recall)
