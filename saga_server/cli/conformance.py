"""``saga conformance``: runs the command line of the conformance suite, which is imported only then."""

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
    """Check that a store fulfils its contract. The subcommands are run, clauses and matrix."""
    try:
        import hypothesis  # noqa: F401 - the suite needs it; an extra installs it

        from conformance.cli import main
    except ImportError as error:
        say(f"saga: {error}; install it: pip install 'saga-rp[conformance]'", err=True)
        sys.exit(1)
    main.main(args=list(arguments) or ["--help"], prog_name="saga conformance")
