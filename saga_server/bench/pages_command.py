"""``saga bench pages``."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click


@click.command()
@click.option(
    "--turns", type=click.IntRange(30, 100_000), default=10_000, show_default=True, help="Turns of the session."
)
@click.option(
    "--seconds", type=click.FloatRange(1), default=60.0, show_default=True, help="Seconds that a page stays open."
)
def pages(turns: int, seconds: float) -> None:
    """Open the pages on a long session in a real browser. Exit code 1 means that a goal was missed.

    Needs Chromium and playwright. docs/pages.md has the results.
    """
    import asyncio

    from saga_server.bench.pages import missed, rows, run_pages
    from saga_server.bench.processes import ProcessFailed
    from saga_server.terminal import say

    with tempfile.TemporaryDirectory(prefix="saga-bench-", ignore_cleanup_errors=True) as folder:
        try:
            found = asyncio.run(run_pages(Path(folder), turns, seconds, lambda line: say(line, err=True)))
        except ProcessFailed as error:
            raise click.ClickException(str(error)) from error
    for line in rows(found):
        say(line)
    wrong = missed(found)
    for line in wrong:
        say(line, err=True)
    if wrong:
        raise SystemExit(1)
