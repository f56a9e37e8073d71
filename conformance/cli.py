"""The command ``conformance``, which runs a harness, lists the clauses and makes the matrix."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

import click

from conformance.checks import registered
from conformance.isolated import run_isolated
from conformance.profiles import PROFILES
from conformance.report import (
    Outcome,
    Status,
    Verdict,
    error_of,
    matrix_page,
    not_verified,
    suite_digest,
    summary,
    to_json,
    to_junit,
)
from conformance.runner import DEFAULT_SEED
from conformance.spec import clauses
from saga_core.errors import BadInput

EXIT = {Verdict.CONFORMANT: 0, Verdict.PARTIAL: 0, Verdict.NONCONFORMANT: 1, Verdict.INVALID: 3}
"""Exit codes; 2 is for a wrong command line."""
_INTERRUPTED = 130


def _writable(_context: click.Context, _option: click.Parameter, file: Path | None) -> Path | None:
    """Refuse a file that cannot be written before the run, which may take hours."""
    if file is not None and not os.access(file.absolute().parent, os.W_OK):
        raise click.BadParameter(f"{file}: the folder {file.absolute().parent} is missing or cannot be written")
    return file


_BRIEF = 200
"""Characters of a failure that are printed at once. The summary has more."""
_FILE: Any = {"type": click.Path(dir_okay=False, writable=True, path_type=Path), "callback": _writable}


def _brief(line: str) -> str:
    """The beginning of a line, and its end, where the error stands behind a long call."""
    return line if len(line) <= _BRIEF else f"{line[: _BRIEF // 2]} … {line[-_BRIEF // 2 :]}"


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Check that a store keeps the contract of its protocol."""


@main.command("run")
@click.argument("harness")
@click.option("--profile", type=click.Choice(list(PROFILES)), default="default", show_default=True)
@click.option("--deep", is_flag=True, help="Run long searches, the same as --profile deep.")
@click.option("--runs", type=click.IntRange(1), default=1, show_default=True, help="Runs of checks that use the seed.")
@click.option("--strict", is_flag=True, help="Exit with code 3 if the verdict is partial.")
@click.option("--seed", type=int, default=DEFAULT_SEED, show_default=True, help="The seed of the random searches.")
@click.option("--only", multiple=True, metavar="CLAUSE", help="Run only this clause or check. Can be repeated.")
@click.option("--report", "json_file", **_FILE, help="Write a JSON report.")
@click.option("--junit", "junit_file", **_FILE, help="Write JUnit XML.")
@click.option("--verbose", "-v", is_flag=True, help="Print a line for each check.")
def run_command(
    harness: str,
    profile: str,
    deep: bool,
    runs: int,
    strict: bool,
    seed: int,
    only: tuple[str, ...],
    json_file: Path | None,
    junit_file: Path | None,
    verbose: bool,
) -> None:
    """Run the suite on HARNESS, given as package.module:NAME. Exit codes: 0 for conformant or partial, 1 for
    nonconformant, 2 if the harness cannot be loaded, 3 if the run is invalid, or partial with --strict, 130 if it was
    interrupted."""
    errors = set[str]()

    def watch(outcome: Outcome) -> None:
        known = error_of(outcome) in errors
        errors.add(error_of(outcome))
        if verbose or (outcome.status in (Status.FAIL, Status.STALE) and not known):
            about = f"{outcome.status:>12}  {outcome.check} ({', '.join(outcome.clauses[:4])})"
            why = f": {_brief(outcome.detail.splitlines()[0])}" if outcome.status is Status.FAIL else ""
            click.echo(about + why, err=True)

    def late(check: str, seconds: float, at: str) -> None:
        click.echo(f"{'running':>12}  {check} for {seconds:g} seconds{at and f', in {at}'}", err=True)

    ends = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    ends = {each: before for each, before in ends.items() if before is not signal.SIG_IGN}

    def stop(number: int, frame: object) -> None:
        for each in ends:  # a second one would disturb the killing of the other process, or end this one otherwise
            signal.signal(each, signal.SIG_IGN)
        raise KeyboardInterrupt

    try:
        for each in ends:
            signal.signal(each, stop)
        chosen = "deep" if deep else profile
        report = run_isolated(harness, profile=chosen, seed=seed, only=only, runs=runs, watch=watch, late=late)
    except BadInput as error:
        raise click.UsageError(str(error)) from error
    except KeyboardInterrupt as during:
        click.echo(f"interrupted during {during}; there is no verdict", err=True)
        sys.exit(_INTERRUPTED)
    finally:
        for each, before in ends.items():
            if signal.getsignal(each) is stop:
                signal.signal(each, before)
    click.echo(summary(report))
    if json_file is not None:
        json_file.write_text(to_json(report), encoding="utf-8")
    if junit_file is not None:
        junit_file.write_text(to_junit(report), encoding="utf-8")
    sys.exit(3 if strict and report.verdict is Verdict.PARTIAL else EXIT[report.verdict])


@main.command("clauses")
@click.argument("wanted", nargs=-1)
def clauses_command(wanted: tuple[str, ...]) -> None:
    """Print all clauses, or only the clauses WANTED, each with the places of its checks."""
    if unknown := [name for name in wanted if name not in clauses()]:
        raise click.UsageError(f"no clause {', '.join(unknown)}; `conformance clauses` lists them all")
    for name, clause in clauses().items():
        if not wanted or name in wanted:
            click.echo(f"{name} {clause.level}. {clause.text}")
            for each in registered():
                if name in (*each.clauses, *each.durable):
                    click.echo(f"  {each.id}  {each.place}")


@main.command("digest")
def digest_command() -> None:
    """Print the digest of the suite's own files. Every report contains it."""
    click.echo(suite_digest())


@main.command("matrix")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--out", **_FILE, help="The file for the page; default: stdout.")
def matrix_command(folder: Path, out: Path | None) -> None:
    """Make the Markdown matrix of the JSON reports in FOLDER. Exit code 1 if one is not as this suite writes it."""
    files = sorted(folder.glob("*.json"))
    try:
        doubts = [f"{file.name}: {doubt}" for file in files for doubt in not_verified(file)]
        text = matrix_page(files)
    except BadInput as error:
        raise click.UsageError(f"{folder}: {error}") from error
    if out is None:
        click.echo(text, nl=False)
    else:
        out.write_text(text, encoding="utf-8")
    for doubt in doubts:
        click.echo(doubt, err=True)
    sys.exit(1 if doubts else 0)
