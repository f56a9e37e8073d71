"""The group of all commands: imports a command when it is used, and turns its errors into messages and exit codes."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from saga_core.errors import BadInput, ConfigError, NotFound, SagaError
from saga_server.terminal import say

USAGE = 2
"""Exit code for errors in the configuration or on the command line."""
SURROUNDINGS = 1
"""Exit code for other errors, such as a port in use, a folder that cannot be written, or damaged data."""


class SagaGroup(click.Group):
    """A group whose commands may be in modules of their own, so that a command does not wait for others' imports.

    ``places`` maps the name of such a command to ``module:attribute``.
    """

    def __init__(self, *arguments: Any, places: Mapping[str, str], **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.places = places

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return sorted({*self.places, *self.commands})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command."""
        if cmd_name in self.places:
            module, _, attribute = self.places[cmd_name].partition(":")
            found: click.Command = getattr(import_module(module), attribute)
            return found
        return self.commands.get(cmd_name)

    def invoke(self, ctx: click.Context) -> Any:
        """Invoke a command. An error is printed on stderr, with one line for each wrong setting."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise  # click ends the program quietly
        except (SagaError, OSError) as error:
            source = f"{error.source}: " if isinstance(error, ConfigError) else ""
            for problem in error.problems if isinstance(error, ConfigError) else [error]:
                say(f"saga: {source}{problem}", err=True)
            sys.exit(USAGE if isinstance(error, BadInput | NotFound) else SURROUNDINGS)
