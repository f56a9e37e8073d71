"""``saga bench``."""

from __future__ import annotations

import json
import tempfile
from contextlib import ExitStack
from pathlib import Path

import click

from saga_server.bench.pages_command import pages
from saga_server.bench.recall.embedder_choice import embedder_config

_LEAST = 30
"""Turns of the shortest play: a branch goes 20 turns back."""

_SMALLEST = 10
"""The least size of a graph, in nodes, or of a vector scope, in vectors."""

_HUNDREDS = 200
"""The least turns of the long play, whose first and last hundred are compared."""


@click.group()
def bench() -> None:
    """Measure what SAGA costs on this machine."""


bench.add_command(pages)


def _lengths(_context: click.Context, _parameter: click.Parameter, value: str) -> list[int]:
    parts = [part.strip() for part in value.split(",")]
    if not all(part.isdecimal() and int(part) >= _LEAST for part in parts):
        raise click.BadParameter(f"{value!r}: give numbers of turns from {_LEAST} up, separated by commas")
    return sorted({int(part) for part in parts})


@bench.command()
@click.option(
    "--turns", callback=_lengths, default="100,1000,10000", show_default=True, help="The lengths of the plays."
)
@click.option("--entities", type=click.IntRange(10, 10_000), default=200, show_default=True, help="At the end.")
@click.option("--lore", type=click.IntRange(8, 10_000), default=500, show_default=True, help="Entries of the world.")
@click.option("--profile", default="lite", show_default=True, help="The stores: storage.profile of a configuration.")
@click.option("--lang", type=click.Choice(["ko", "en"]), default="ko", show_default=True, help="Most of the text.")
@click.option("--json", "as_json", is_flag=True, help="Everything that was measured, as JSON on stdout.")
@click.option("--markdown", "as_markdown", is_flag=True, help="The table as Markdown on stdout.")
@click.option(
    "--keep",
    type=click.Path(file_okay=False, path_type=Path),
    help="Make the plays in this folder, new or empty, and leave them there.",
)
def turn(
    turns: list[int],
    entities: int,
    lore: int,
    profile: str,
    lang: str,
    as_json: bool,
    as_markdown: bool,
    keep: Path | None,
) -> None:
    """Measure reading, recording and loading on made-up plays of several lengths.

    Each play is written to disk as a real one would leave it, then opened afresh. docs/performance.md says what each
    figure means and how it is taken. Ten thousand turns take some minutes.
    """
    from saga_core.errors import SagaError
    from saga_server.bench.play import PlayOptions
    from saga_server.bench.processes import ProcessFailed
    from saga_server.bench.report import figures, markdown, print_table
    from saga_server.bench.run import run_bench

    if profile == "memory":
        raise click.BadParameter("memory keeps nothing that could be opened afresh", param_hint="--profile")
    if keep is not None and keep.exists() and any(keep.iterdir()):
        raise click.BadParameter(f"{keep} is not empty; name a new folder", param_hint="--keep")
    options = PlayOptions(0, entities, lore, profile, lang)
    with ExitStack() as stack:
        folder = keep or Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="saga-bench-", ignore_cleanup_errors=True))
        )
        try:
            result = run_bench(options, turns, folder.resolve(), lambda line: click.echo(line, err=True))
        except (SagaError, ProcessFailed) as error:
            raise click.ClickException(str(error)) from error
    if as_json:
        click.echo(json.dumps({**result, "figures": figures(result)}, ensure_ascii=False, indent=1))
    elif as_markdown:
        click.echo(markdown(result))
    else:
        print_table(result)


@bench.command()
@click.option("--turns", type=click.IntRange(100, 100_000), default=10_000, show_default=True, help="Of the session.")
@click.option("--sessions", type=click.IntRange(1, 10_000), default=200, show_default=True, help="In the directory.")
@click.option("--messages", type=click.IntRange(20, 20_000), default=2_000, show_default=True, help="Of the history.")
@click.option("--lang", type=click.Choice(["ko", "en"]), default="ko", show_default=True, help="Most of the text.")
@click.option("--json", "as_json", is_flag=True, help="Everything that was measured, as JSON on stdout.")
def match(turns: int, sessions: int, messages: int, lang: str, as_json: bool) -> None:
    """Measure how long it takes to find the place of a long history.

    Milliseconds of CPU for reading its messages and matching them against the journal. docs/performance.md says more.
    """
    from saga_core.errors import SagaError
    from saga_server.bench.matching import Shelf, rows, run_matching
    from saga_server.bench.processes import ProcessFailed

    if messages > 2 * turns:
        raise click.BadParameter(f"{turns} turns have {2 * turns} messages at most", param_hint="--messages")
    with tempfile.TemporaryDirectory(prefix="saga-bench-", ignore_cleanup_errors=True) as folder:
        try:
            found = run_matching(Shelf(turns, sessions, messages, lang), Path(folder))
        except (SagaError, ProcessFailed) as error:
            raise click.ClickException(str(error)) from error
    if as_json:
        click.echo(json.dumps(found, indent=1))
        return
    click.echo(f"{messages:,} messages of {found['bytes'] / 2**20:.2f} MB, {turns:,} turns, {sessions:,} sessions")
    for what, value in rows(found):
        click.echo(f"  {value:>7} ms  {what}")
    least, most = min(found["calibration"]), max(found["calibration"])
    click.echo(f"  {least:>7.1f} ms  a fixed loop, for comparison (later {most:.1f})")


@bench.command()
@click.option(
    "--file", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Your own dialogues, as JSON."
)
@click.option("--seeds", type=click.IntRange(1, 100), default=8, show_default=True, help="Made-up dialogues of a kind.")
@click.option("--tuning", is_flag=True, help="The seeds that settings were chosen with, instead of the others.")
@click.option("--lang", type=click.Choice(["ko", "en", "ja", "zh"]), help="Made-up dialogues of one language only.")
@click.option("--embedder", help="A backend's name, in place of the configuration's (ngram).")
@click.option(
    "--option", "options", multiple=True, metavar="NAME=VALUE", help="An option of that embedder; repeatable."
)
@click.option(
    "--config",
    "settings",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A configuration whose embedder is measured.",
)
@click.option("--served", is_flag=True, help="Only what is told when chats are served; not the parts of the method.")
@click.option(
    "--against",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="What --json gave before, of the same questions: tell the differences.",
)
@click.option("--json", "as_json", is_flag=True, help="Everything that was measured, as JSON on stdout.")
def recall(
    file: Path | None,
    seeds: int,
    tuning: bool,
    lang: str | None,
    embedder: str | None,
    options: tuple[str, ...],
    settings: Path | None,
    served: bool,
    against: Path | None,
    as_json: bool,
) -> None:
    """Measure how much of what a question needs is in its context.

    For made-up talks and plays, or for your own dialogues whose evidence is known, as chats that are served, and for
    each part of the method. docs/recall.md says what the figures
    mean, and what the file looks like.
    """
    import asyncio

    from saga_core.errors import SagaError
    from saga_server.bench.recall.comparison import read_former, run_recall, table
    from saga_server.bench.recall.dialogue_set import MalformedSet, read_dialogues

    chosen = [2 * number + (not tuning) for number in range(seeds)]
    try:
        dialogues = read_dialogues(file) if file is not None else []
        old = read_former(against) if against is not None else None
        languages = [lang] if lang else ["en", "ko", "ja", "zh"]
        config = embedder_config(settings, embedder, options)
        result = asyncio.run(
            run_recall(chosen, languages, dialogues, config, lambda line: click.echo(line, err=True), parts=not served)
        )
    except (MalformedSet, SagaError) as error:
        raise click.ClickException(str(error)) from error
    if as_json:
        click.echo(json.dumps(result, ensure_ascii=False, indent=1))
        return
    for line in table(result, old):
        click.echo(line)


def _sizes(_context: click.Context, parameter: click.Parameter, value: str) -> tuple[int, ...]:
    parts = [part.strip() for part in value.split(",")] if value else []
    if not all(part.isdecimal() and int(part) >= _SMALLEST for part in parts):
        raise click.BadParameter(f"{value!r}: give sizes from {_SMALLEST} up, separated by commas, or nothing")
    return tuple(sorted({int(part) for part in parts}))


@bench.command()
@click.option("--engine", "engines", multiple=True, help="Only this engine (kuzu, lancedb, …). May be given again.")
@click.option("--nodes", callback=_sizes, default="200,5000", show_default=True, help="Sizes of graphs.")
@click.option("--vectors", callback=_sizes, default="300,5000", show_default=True, help="Sizes of vector scopes.")
@click.option("--growth", type=click.IntRange(0), default=400, show_default=True, help="Turns of the long play.")
@click.option(
    "--play", type=click.IntRange(0), default=100, show_default=True, help="Turns before whole turns; 0: none."
)
@click.option("--json", "as_json", is_flag=True, help="Everything that was measured, as JSON on stdout.")
@click.option("--markdown", "as_markdown", is_flag=True, help="The tables as Markdown on stdout.")
def stores(
    engines: tuple[str, ...],
    nodes: tuple[int, ...],
    vectors: tuple[int, ...],
    growth: int,
    play: int,
    as_json: bool,
    as_markdown: bool,
) -> None:
    """Measure graph and vector engines, by themselves and under whole turns.

    Each in a process of its own, cold and warm, bare and with the layer in memory. The tables of docs/performance.md
    are made with --nodes 200,5000,50000 --vectors 300,5000,50000 --growth 2000 --markdown, which takes half an hour.
    """
    from attrs import evolve

    from saga_core.errors import SagaError
    from saga_server.bench.processes import ProcessFailed
    from saga_server.bench.stores.measure import StoreOptions, check_engines, run_stores
    from saga_server.bench.stores.report import goal_lines, markdown, print_tables

    if 0 < growth < _HUNDREDS or 0 < play < _LEAST:
        raise click.UsageError(f"give --growth 0 or at least {_HUNDREDS}, and --play 0 or at least {_LEAST}")
    options = StoreOptions(nodes, vectors, growth, play)
    with tempfile.TemporaryDirectory(prefix="saga-bench-", ignore_cleanup_errors=True) as folder:
        try:
            check_engines(engines)
            options = evolve(options, engines=engines) if engines else options
            result = run_stores(options, Path(folder), lambda line: click.echo(line, err=True))
        except (SagaError, ProcessFailed) as error:
            raise click.ClickException(str(error)) from error
    if as_json:
        click.echo(json.dumps({**result, "goals": goal_lines(result)}, ensure_ascii=False, indent=1))
    elif as_markdown:
        click.echo(markdown(result))
    else:
        print_tables(result)


@bench.command()
@click.option(
    "--pairs", type=click.IntRange(2, 10_000), default=100, show_default=True, help="Requests made both ways."
)
@click.option("--streams", type=click.IntRange(1, 1_000), default=100, show_default=True, help="At the same time.")
@click.option("--json", "as_json", is_flag=True, help="Everything that was measured, as JSON on stdout.")
def proxy(pairs: int, streams: int, as_json: bool) -> None:
    """Measure what SAGA adds to a streamed reply, beside the same request made directly.

    Milliseconds of wall time; another busy program on the machine shows in them. docs/performance.md says more.
    """
    from saga_server.bench.processes import ProcessFailed
    from saga_server.bench.proxy import Ask, rows, run_proxy

    with tempfile.TemporaryDirectory(prefix="saga-bench-", ignore_cleanup_errors=True) as folder:
        try:
            found = run_proxy(Ask(pairs, streams=streams), Path(folder), lambda line: click.echo(line, err=True))
        except ProcessFailed as error:
            raise click.ClickException(str(error)) from error
    if as_json:
        click.echo(json.dumps(found, ensure_ascii=False, indent=1))
        return
    click.echo("| ms | goal | directly | through SAGA |\n| --- | --- | --- | --- |")
    for row in rows(found):
        click.echo(f"| {' | '.join(row)} |")


@bench.command()
@click.option("--case", "names", multiple=True, help="Only cases whose name contains this; may be given several times.")
@click.option("--list", "only_list", is_flag=True, help="List the cases.")
@click.option("--json", "as_json", is_flag=True, help="Everything that was measured, as JSON on stdout.")
def cache(names: tuple[str, ...], only_list: bool, as_json: bool) -> None:
    """Measure what provider caches give of the prompts that SAGA makes, and what they cost.

    Whole chats are played through the engine and billed by the providers' documented rules, beside a client that knows
    the future and beside the same chat without SAGA. docs/performance.md says what each figure means.
    """
    from saga_core.errors import SagaError
    from saga_server.bench.cache.cases import CASES
    from saga_server.bench.cache.figures import run_cases

    chosen = [case for case in CASES if not names or any(name in case.name for name in names)]
    if not chosen:
        raise click.BadParameter(f"no case has {' or '.join(map(repr, names))} in its name", param_hint="--case")
    if only_list:
        click.echo("\n".join(case.name for case in chosen))
        return
    try:
        found = run_cases(chosen, None if as_json else click.echo)
    except SagaError as error:
        raise click.ClickException(str(error)) from error
    if as_json:
        click.echo(json.dumps(found, ensure_ascii=False, indent=1))
    if not all(row["met"] for row in found):
        raise click.exceptions.Exit(1)


@bench.command()
@click.option("--sessions", type=click.IntRange(1, 2_000), default=50, show_default=True, help="Chats at once.")
@click.option("--turns", type=click.IntRange(1, 2_000), default=20, show_default=True, help="Of each chat.")
@click.option(
    "--pieces",
    type=click.FloatRange(0),
    default=20.0,
    show_default=True,
    help="A model sends a second; 0: all at once.",
)
@click.option(
    "--pause", type=click.FloatRange(0), default=1.0, show_default=True, help="Seconds of a player between turns."
)
@click.option(
    "--idle",
    type=click.IntRange(0, 5_000),
    default=200,
    show_default=True,
    help="Chats that a second server holds and leaves alone; 0: none.",
)
@click.option("--soak", type=click.IntRange(0), default=0, help="Turns that a third server plays as fast as they go.")
@click.option("--entities", type=click.IntRange(10, 10_000), default=60, show_default=True, help="At a story's end.")
@click.option("--lore", type=click.IntRange(8, 10_000), default=60, show_default=True, help="Entries of the world.")
@click.option("--lang", type=click.Choice(["ko", "en"]), default="ko", show_default=True, help="Most of the text.")
@click.option("--json", "as_json", is_flag=True, help="Everything that was measured, as JSON on stdout.")
def load(
    sessions: int,
    turns: int,
    pieces: float,
    pause: float,
    idle: int,
    soak: int,
    entities: int,
    lore: int,
    lang: str,
    as_json: bool,
) -> None:
    """Play many chats at once through one real server, streaming, and mind that none becomes another's.

    The model's server is a local process that knows each chat's script. Exit code 1 when a turn failed, or a chat
    ended in another state than its script's. docs/performance.md says what each figure means.
    """
    import asyncio

    from saga_core.errors import SagaError
    from saga_server.bench.load.load import run_load
    from saga_server.bench.load.report import faults, rows
    from saga_server.bench.load.script import LoadOptions
    from saga_server.bench.processes import ProcessFailed

    options = LoadOptions(sessions, turns, pieces, pause, entities, lore, lang)

    def say(line: str) -> None:
        click.echo(line, err=True)

    with tempfile.TemporaryDirectory(prefix="saga-bench-", ignore_cleanup_errors=True) as folder:
        try:
            found = asyncio.run(run_load(options, Path(folder), say, idle=idle, soak=soak))
        except (SagaError, ProcessFailed) as error:
            raise click.ClickException(str(error)) from error
    if as_json:
        click.echo(json.dumps(found, ensure_ascii=False, indent=1))
    else:
        for what, value in rows(found):
            click.echo(f"  {value:>22}  {what}")
    wrong = faults(found)
    for line in wrong[:20]:
        say(line)
    if wrong:
        raise SystemExit(1)


@bench.command()
@click.option("--players", type=click.IntRange(1, 1_000), default=50, show_default=True, help="Who play meanwhile.")
@click.option("--seconds", type=click.FloatRange(1), default=10.0, show_default=True, help="Of each phase.")
def attacked(players: int, seconds: float) -> None:
    """Play at a server that somebody attacks, for each attack: in quiet, beside it, beside as many requests to somebody
    else on this machine, and in quiet again.

    Exit code 1 when the 99th percentile of the players' turns beside an attack is more than twice that of both others.
    """
    import asyncio

    from saga_server.bench.load.attacked import lines, run_attacked, too_slow
    from saga_server.terminal import say

    with tempfile.TemporaryDirectory(prefix="saga-attacked-") as folder:
        rows = asyncio.run(run_attacked(Path(folder), players, seconds, lambda line: say(line, err=True)))
    for line in lines(rows):
        say(line)
    for line in (slow := too_slow(rows)):
        say(f"!!  {line}")
    raise SystemExit(1 if slow else 0)
