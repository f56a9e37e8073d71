"""``saga conformance``: the suite's own command line, loaded when it is asked for."""

from __future__ import annotations

import sys

import click

from saga_server.terminal import say


@click.command(
    "conformance",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    add_help_option=False,
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def conformance(arguments: tuple[str, ...]) -> None:
    """Prove that a store keeps its contract: run, clauses, matrix."""
    try:
        import hypothesis  # noqa: F401 - the searches need it, and it comes with an extra

        from conformance.cli import main
    except ImportError as error:
        say(f"saga: {error}; install it: pip install 'saga-rp[conformance]'", err=True)
        sys.exit(1)
    main.main(args=list(arguments) or ["--help"], prog_name="saga conformance")
