"""Commands whose modules are imported on first use, so that a command does not wait for the imports of others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from importlib import import_module

import click
from attrs import define, field


@define(eq=False)
class Commands(MutableMapping[str, click.Command]):
    """The commands of a ``click.Group``, by name."""

    places: Mapping[str, str]
    """Maps a command's name to ``module:attribute``."""
    _known: dict[str, click.Command] = field(factory=dict, init=False)

    def __getitem__(self, name: str) -> click.Command:
        if name not in self._known and name in self.places:
            module, _, attribute = self.places[name].partition(":")
            self._known[name] = getattr(import_module(module), attribute)
        return self._known[name]

    def __setitem__(self, name: str, command: click.Command) -> None:
        self._known[name] = command

    def __delitem__(self, name: str) -> None:
        del self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter({**self.places, **self._known})

    def __len__(self) -> int:
        return len({**self.places, **self._known})
