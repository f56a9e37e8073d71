"""``saga demo``: plays an adventure through the real proxy, over HTTP and on real stores, without a model."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Mapping
from pathlib import Path

import click

from saga_server.spoken import spoken


@click.command()
@click.option(
    "--profile",
    type=click.Choice(["lite", "full", "full-lance"]),
    default="lite",
    show_default=True,
    help="Storage profile.",
)
@click.option("--graph", help="Graph engine, instead of the profile's: kuzu, ladybug, networkx.")
@click.option("--vector", help="Vector engine, instead of the profile's: chroma, lancedb, sqlite.")
@click.option(
    "--lang",
    type=click.Choice(["ko", "en"]),
    help="Adventure to play: Ersia (ko) or Harrow Staithe (en). Default: your locale's language, or English.",
)
@click.option("--plain", is_flag=True, help="Print without colour, in lines of 100 characters.")
@click.option(
    "--keep",
    type=click.Path(file_okay=False, path_type=Path),
    help="Keep the data in this new or empty folder. Without it, they are deleted at the end.",
)
def demo(profile: str, graph: str | None, vector: str | None, lang: str | None, plain: bool, keep: Path | None) -> None:
    """Play an adventure and show what SAGA remembers.

    Starts the real server with the built-in offline narrator and plays it as a chat frontend would, with a swipe, a
    branch and a kill -9 on the way. Exit code 0 means that nothing was lost, that the final state is the one that the
    story leads to, and that the requested stores were used. Every difference is named.
    """
    lang = lang or spoken(("en", "ko"))
    stores = {kind: name for kind, name in (("graph", graph), ("vector", vector)) if name is not None}
    if keep is None:
        with tempfile.TemporaryDirectory(prefix="saga-demo-", ignore_cleanup_errors=True) as folder:
            succeeded = _run(Path(folder), profile, stores, lang, plain, kept=False)
    else:
        if keep.exists() and any(keep.iterdir()):
            raise click.BadParameter(f"{keep} is not empty; name a new folder", param_hint="--keep")
        keep.mkdir(parents=True, exist_ok=True)
        succeeded = _run(keep.resolve(), profile, stores, lang, plain, kept=True)
    raise SystemExit(0 if succeeded else 1)


def _run(folder: Path, profile: str, stores: Mapping[str, str], lang: str, plain: bool, *, kept: bool) -> bool:
    # Imported here so that other commands start quickly.
    from saga_server.demo.adventure import adventure
    from saga_server.demo.frontend import FrontendError
    from saga_server.demo.play import play
    from saga_server.demo.screen import Screen, make_console
    from saga_server.demo.server_process import ServerFailed, ServerProcess

    story = adventure(lang)
    server = ServerProcess(folder, profile, story.world, stores=stores)
    try:
        screen = Screen(make_console(plain=plain), story.screen)
        return asyncio.run(play(story, server, screen, kept=kept))
    except ServerFailed as error:
        raise click.ClickException(str(error)) from error
    except FrontendError as error:
        raise click.ClickException(f"{error}\n{server.log}") from error
