"""The command ``conformance``: run a harness, list the clauses, make the matrix."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from conformance.profiles import PROFILES
from conformance.report import Outcome, Status, Verdict, matrix_page, suite_digest, summary, to_json, to_junit
from conformance.runner import DEFAULT_SEED, run_isolated
from conformance.spec import clauses
from saga_core.errors import BadInput

EXIT = {Verdict.CONFORMANT: 0, Verdict.PARTIAL: 0, Verdict.NONCONFORMANT: 1, Verdict.INVALID: 3}
"""Exit codes; 2 is for a wrong command line."""


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Prove that a store keeps the contract of its protocol."""


@main.command("run")
@click.argument("harness")
@click.option("--profile", type=click.Choice(list(PROFILES)), default="default", show_default=True)
@click.option("--deep", is_flag=True, help="The long searches: --profile deep.")
@click.option("--runs", type=click.IntRange(1), default=1, show_default=True, help="Repeat what draws from the seed.")
@click.option("--strict", is_flag=True, help="Exit code 3 for partial too: deviations, or checks that were not run.")
@click.option("--seed", type=int, default=DEFAULT_SEED, show_default=True, help="The searches begin with it.")
@click.option("--only", multiple=True, metavar="CLAUSE", help="Only this clause or check; may be given again.")
@click.option("--report", "json_file", type=click.Path(dir_okay=False, path_type=Path), help="Write a JSON report.")
@click.option("--junit", "junit_file", type=click.Path(dir_okay=False, path_type=Path), help="Write JUnit XML.")
@click.option("--verbose", "-v", is_flag=True, help="A line for each check.")
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
    """Run the suite on HARNESS, given as package.module:NAME. Exit code 0: conformant or partial, 1: nonconformant,
    2: the harness cannot be had, 3: the run says nothing, or --strict and it is partial."""

    def watch(outcome: Outcome) -> None:
        if verbose or outcome.status in (Status.FAIL, Status.STALE):
            click.echo(f"{outcome.status:>12}  {outcome.check} ({', '.join(outcome.clauses[:4])})", err=True)

    try:
        report = run_isolated(
            harness, profile="deep" if deep else profile, seed=seed, only=only, runs=runs, watch=watch
        )
    except BadInput as error:
        raise click.UsageError(str(error)) from error
    if json_file is not None:
        json_file.write_text(to_json(report), encoding="utf-8")
    if junit_file is not None:
        junit_file.write_text(to_junit(report), encoding="utf-8")
    click.echo(summary(report))
    sys.exit(3 if strict and report.verdict is Verdict.PARTIAL else EXIT[report.verdict])


@main.command("clauses")
@click.argument("wanted", nargs=-1)
def clauses_command(wanted: tuple[str, ...]) -> None:
    """Print the clauses, all of them or those WANTED."""
    for name, clause in clauses().items():
        if not wanted or name in wanted:
            click.echo(f"{name} {clause.level}. {clause.text}")


@main.command("digest")
def digest_command() -> None:
    """Print the digest of the suite's own files, which every report has."""
    click.echo(suite_digest())


@main.command("matrix")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Write the page there, not to stdout.")
def matrix_command(folder: Path, out: Path | None) -> None:
    """Make the Markdown matrix of the JSON reports in FOLDER."""
    text = matrix_page(sorted(folder.glob("*.json")))
    if out is None:
        click.echo(text, nl=False)
    else:
        out.write_text(text, encoding="utf-8")
