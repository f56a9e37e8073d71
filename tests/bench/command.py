"""``python -m tests.bench``: measures what SAGA costs, for the tables in docs/."""

from __future__ import annotations

import json
import tempfile
from contextlib import ExitStack
from pathlib import Path

import click

from tests.bench.recall.embedder_choice import embedder_config

_LEAST = 30
"""Turns of the shortest play: a branch goes 20 turns back."""

_SMALLEST = 10
"""The least size of a graph, in nodes, or of a vector scope, in vectors."""

_HUNDREDS = 200
"""The least turns of the long play, whose first and last hundred are compared."""


@click.group()
def bench() -> None:
    """Measure what SAGA costs on this machine."""


def _lengths(_context: click.Context, _parameter: click.Parameter, value: str) -> list[int]:
    parts = [part.strip() for part in value.split(",")]
    if not all(part.isdecimal() and int(part) >= _LEAST for part in parts):
        raise click.BadParameter(f"{value!r}: give numbers of turns from {_LEAST} up, separated by commas")
    return sorted({int(part) for part in parts})


@bench.command()
@click.option(
    "--turns", callback=_lengths, default="100,1000,10000", show_default=True, help="Lengths of the plays, in turns."
)
@click.option(
    "--entities", type=click.IntRange(10, 10_000), default=200, show_default=True, help="Entities at the end of a play."
)
@click.option(
    "--lore", type=click.IntRange(8, 10_000), default=500, show_default=True, help="Lorebook entries of the world."
)
@click.option("--profile", default="lite", show_default=True, help="Storage profile, as in storage.profile.")
@click.option(
    "--lang", type=click.Choice(["ko", "en"]), default="ko", show_default=True, help="Main language of the text."
)
@click.option("--json", "as_json", is_flag=True, help="Print all measurements as JSON.")
@click.option("--markdown", "as_markdown", is_flag=True, help="Print the table as Markdown.")
@click.option(
    "--keep",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write the plays to this new or empty folder, and keep them.",
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
    """Measure reading, recording and loading, on generated plays of several lengths.

    Each play is written to disk as a real one would leave it, and then opened again. docs/performance.md explains the
    figures. Ten thousand turns take some minutes.
    """
    from saga_core.errors import SagaError
    from tests.bench.play import PlayOptions
    from tests.bench.processes import ProcessFailed
    from tests.bench.report import figures, markdown, print_table
    from tests.bench.run import run_bench

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
@click.option(
    "--turns", type=click.IntRange(100, 100_000), default=10_000, show_default=True, help="Turns of the session."
)
@click.option(
    "--sessions", type=click.IntRange(1, 10_000), default=200, show_default=True, help="Sessions in the data directory."
)
@click.option(
    "--messages", type=click.IntRange(20, 20_000), default=2_000, show_default=True, help="Messages of the history."
)
@click.option(
    "--lang", type=click.Choice(["ko", "en"]), default="ko", show_default=True, help="Main language of the text."
)
@click.option("--json", "as_json", is_flag=True, help="Print all measurements as JSON.")
def match(turns: int, sessions: int, messages: int, lang: str, as_json: bool) -> None:
    """Measure how long it takes to find the turn that a long history continues.

    Reports the milliseconds of CPU for reading the messages and matching them against the journal. docs/performance.md
    has the details.
    """
    from saga_core.errors import SagaError
    from tests.bench.matching import Shelf, rows, run_matching
    from tests.bench.processes import ProcessFailed

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
    "--file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Measure your own dialogues, from a JSON file.",
)
@click.option(
    "--seeds",
    type=click.IntRange(1, 100),
    default=8,
    show_default=True,
    help="Number of generated dialogues of each kind.",
)
@click.option("--tuning", is_flag=True, help="Use the seeds that the settings were chosen with, instead of the others.")
@click.option("--lang", type=click.Choice(["ko", "en", "ja", "zh"]), help="Only generated dialogues in this language.")
@click.option("--embedder", help="Embedder backend to use instead of the configuration's (ngram).")
@click.option(
    "--option", "options", multiple=True, metavar="NAME=VALUE", help="Option of that embedder. May be repeated."
)
@click.option(
    "--config",
    "settings",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Settings file whose embedder is measured.",
)
@click.option("--served", is_flag=True, help="Only measure served chats, not the parts of the ranking.")
@click.option(
    "--against",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Show the differences from an earlier --json output for the same questions.",
)
@click.option("--json", "as_json", is_flag=True, help="Print all measurements as JSON.")
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

    Measures generated talks and plays, or your own dialogues with known evidence, as served chats and for each part of
    the ranking. docs/recall.md explains the figures and the file format.
    """
    import asyncio

    from saga_core.errors import SagaError
    from tests.bench.recall.comparison import read_former, run_recall, table
    from tests.bench.recall.dialogue_set import MalformedSet, read_dialogues

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
@click.option("--engine", "engines", multiple=True, help="Only this engine (kuzu, lancedb, …). May be repeated.")
@click.option("--nodes", callback=_sizes, default="200,5000", show_default=True, help="Sizes of the graphs, in nodes.")
@click.option(
    "--vectors", callback=_sizes, default="300,5000", show_default=True, help="Sizes of the vector scopes, in vectors."
)
@click.option(
    "--growth", type=click.IntRange(0), default=400, show_default=True, help="Turns of the long play; 0 skips it."
)
@click.option(
    "--play",
    type=click.IntRange(0),
    default=100,
    show_default=True,
    help="Turns played before whole turns are measured; 0 skips them.",
)
@click.option("--json", "as_json", is_flag=True, help="Print all measurements as JSON.")
@click.option("--markdown", "as_markdown", is_flag=True, help="Print the tables as Markdown.")
def stores(
    engines: tuple[str, ...],
    nodes: tuple[int, ...],
    vectors: tuple[int, ...],
    growth: int,
    play: int,
    as_json: bool,
    as_markdown: bool,
) -> None:
    """Measure graph and vector engines, alone and in whole turns.

    Each engine runs in a process of its own, cold and warm, with and without the in-memory layer. The tables in
    docs/performance.md use --nodes 200,5000,50000 --vectors 300,5000,50000 --growth 2000 --markdown, which takes five
    minutes on a quiet machine.
    """
    from attrs import evolve

    from saga_core.errors import SagaError
    from tests.bench.processes import ProcessFailed
    from tests.bench.stores.measure import StoreOptions, check_engines, run_stores
    from tests.bench.stores.report import goal_lines, markdown, print_tables

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
    "--pairs",
    type=click.IntRange(2, 10_000),
    default=100,
    show_default=True,
    help="Pairs of requests: one through SAGA, one direct.",
)
@click.option("--streams", type=click.IntRange(1, 1_000), default=100, show_default=True, help="Concurrent streams.")
@click.option("--json", "as_json", is_flag=True, help="Print all measurements as JSON.")
def proxy(pairs: int, streams: int, as_json: bool) -> None:
    """Measure what SAGA adds to a streamed reply, compared with the same request made directly.

    Reports milliseconds of wall time. Other programs on the machine distort the figures. docs/performance.md has the
    details.
    """
    from tests.bench.processes import ProcessFailed
    from tests.bench.proxy import Ask, rows, run_proxy

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


def _peers(_context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]) -> list[tuple[str, str]]:
    peers = [value.partition("=") for value in values]
    if not all(name and url.startswith("http") for name, _, url in peers):
        raise click.BadParameter("write NAME=URL, such as litellm=http://127.0.0.1:4000/v1")
    return [(name, url.rstrip("/")) for name, _, url in peers]


@bench.command()
@click.option("--peer", "peers", multiple=True, callback=_peers, help="Another proxy: NAME=URL. May be repeated.")
@click.option("--pid", "pids", multiple=True, type=int, help="The process of each peer, in order, for CPU and memory.")
@click.option(
    "--provider-port", type=click.IntRange(1, 65_535), default=9901, show_default=True, help="Where peers find it."
)
@click.option("--rounds", type=click.IntRange(1), default=7, show_default=True)
def proxies(peers: list[tuple[str, str]], pids: tuple[int, ...], provider_port: int, rounds: int) -> None:
    """Measure SAGA beside other proxies, all before the same instant provider.

    Install and start the others yourself. Tell them that the model tick is at an OpenAI-compatible provider on this
    machine, at --provider-port. The benchmark waits two minutes for them.
    """
    from tests.bench.processes import ProcessFailed
    from tests.bench.proxies import Rounds, rows, run_proxies

    named = [(name, url, pids[at] if at < len(pids) else None) for at, (name, url) in enumerate(peers)]
    with tempfile.TemporaryDirectory(prefix="saga-bench-", ignore_cleanup_errors=True) as folder:
        try:
            sides = run_proxies(
                named, provider_port, Rounds(rounds), Path(folder), lambda line: click.echo(line, err=True)
            )
        except ProcessFailed as error:
            raise click.ClickException(str(error)) from error
    click.echo(f"| proxy | whole reply, ms | first word, ms | CPU, ms | streams/s | MB |\n{'| --- ' * 6}|")
    for row in rows(sides):
        click.echo(f"| {' | '.join(row)} |")


@bench.command()
@click.option("--case", "names", multiple=True, help="Only cases whose name contains this text. May be repeated.")
@click.option("--list", "only_list", is_flag=True, help="List the cases.")
@click.option("--json", "as_json", is_flag=True, help="Print all measurements as JSON.")
def cache(names: tuple[str, ...], only_list: bool, as_json: bool) -> None:
    """Measure how well provider caches work with SAGA's prompts, and what the prompts cost.

    Whole chats are played through the engine and billed by the providers' published rules. They are compared with a
    client that knows the future, and with the same chats without SAGA. docs/prompt-cache.md explains the figures.
    """
    from saga_core.errors import SagaError
    from tests.bench.cache.cases import CASES
    from tests.bench.cache.figures import run_cases

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
@click.option("--sessions", type=click.IntRange(1, 2_000), default=50, show_default=True, help="Concurrent chats.")
@click.option("--turns", type=click.IntRange(1, 2_000), default=20, show_default=True, help="Turns of each chat.")
@click.option(
    "--pieces",
    type=click.FloatRange(0),
    default=20.0,
    show_default=True,
    help="Pieces that the model sends a second; 0 sends the whole reply at once.",
)
@click.option(
    "--pause",
    type=click.FloatRange(0),
    default=1.0,
    show_default=True,
    help="Seconds that a player waits between turns.",
)
@click.option(
    "--idle",
    type=click.IntRange(0, 5_000),
    default=200,
    show_default=True,
    help="Idle chats that a second server keeps in memory; 0 for none.",
)
@click.option("--soak", type=click.IntRange(0), default=0, help="Turns that a third server plays as fast as it can.")
@click.option(
    "--entities", type=click.IntRange(10, 10_000), default=60, show_default=True, help="Entities at the end of a story."
)
@click.option(
    "--lore", type=click.IntRange(8, 10_000), default=60, show_default=True, help="Lorebook entries of the world."
)
@click.option(
    "--lang", type=click.Choice(["ko", "en"]), default="ko", show_default=True, help="Main language of the text."
)
@click.option("--json", "as_json", is_flag=True, help="Print all measurements as JSON.")
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
    """Play many streaming chats at once through one real server, and check that none is mixed up with another.

    A local process that knows the script of each chat plays the model's server. Exit code 1 means that a turn failed,
    or that a chat ended in another state than its script. docs/performance.md explains the figures.
    """
    import asyncio

    from saga_core.errors import SagaError
    from tests.bench.load.load import run_load
    from tests.bench.load.report import faults, rows
    from tests.bench.load.script import LoadOptions
    from tests.bench.processes import ProcessFailed

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
@click.option(
    "--players", type=click.IntRange(1, 1_000), default=50, show_default=True, help="Players during each attack."
)
@click.option(
    "--seconds", type=click.FloatRange(1), default=10.0, show_default=True, help="Length of each phase, in seconds."
)
def attacked(players: int, seconds: float) -> None:
    """Measure how long players wait while somebody attacks the server.

    For each attack, the players' turns are measured in four phases: in quiet, during the attack, during as many
    requests to another process on this machine, and in quiet again. Exit code 1 means that the 99th percentile during
    an attack is more than twice that of the quiet phases and more than twice that of the third phase.
    """
    import asyncio

    from saga_server.terminal import say
    from tests.bench.load.attacked import lines, run_attacked, too_slow

    with tempfile.TemporaryDirectory(prefix="saga-attacked-") as folder:
        rows = asyncio.run(run_attacked(Path(folder), players, seconds, lambda line: say(line, err=True)))
    for line in lines(rows):
        say(line)
    for line in (slow := too_slow(rows)):
        say(f"!!  {line}")
    raise SystemExit(1 if slow else 0)


@bench.command()
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

    from saga_server.terminal import say
    from tests.bench.pages import missed, rows, run_pages
    from tests.bench.processes import ProcessFailed

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
