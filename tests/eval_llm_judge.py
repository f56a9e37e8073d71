"""Have a model judge the replies of a running server: ``python tests/eval_llm_judge.py --server URL``.

The eight scenarios and six criteria of the research note, in Korean and English. The judge is one of another provider
than the narrator's, and is used only if it rates replies that are bad on purpose below 3.0. ``SAGA_URL``,
``JUDGE_MODEL``, ``JUDGE_PROVIDER`` and ``SAGA_KEY`` set the defaults; the judge's own key is in ``OPENAI_API_KEY``,
``ANTHROPIC_API_KEY`` or ``GEMINI_API_KEY``. See docs/judge.md.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import uuid
from pathlib import Path
from typing import Any

import aiohttp
import click

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.judge.judge import JudgeFailed, Language, material
from tests.judge.long import Prices, with_and_without
from tests.judge.models import NAMES, Judge, judge_of, same_provider
from tests.judge.page import html, markdown
from tests.judge.run import Narrator, judged


def _prices(_context: click.Context, _parameter: click.Parameter, value: str | None) -> Prices | None:
    if value is None:
        return None
    try:
        read, cached, written = map(float, value.split(","))
    except ValueError as error:
        raise click.BadParameter(f"{value!r}: give three numbers, such as 3,0.3,15") from error
    return Prices(read, cached, written)


@click.command(help=__doc__.split("\n\n", 1)[0])
@click.option("--server", envvar="SAGA_URL", default="http://127.0.0.1:8765", show_default=True)
@click.option("--key", envvar="SAGA_KEY", default="", help="SAGA's key. Better in SAGA_KEY.")
@click.option(
    "--judge-model",
    "models",
    envvar="JUDGE_MODEL",
    multiple=True,
    default=("gpt-4.1",),
    show_default=True,
    help="MODEL, or PROVIDER:MODEL for one of another provider. May be repeated.",
)
@click.option(
    "--judge-provider",
    "provider",
    envvar="JUDGE_PROVIDER",
    type=click.Choice(list(NAMES)),
    default="openai",
    show_default=True,
)
@click.option("--judge-url", "url", help="Another address that speaks the provider's API, such as a local server.")
@click.option("--language", "languages", type=click.Choice(("en", "ko")), multiple=True, default=("ko", "en"))
@click.option("--model", default="", help="The narrator's model; the server's own if it is not given.")
@click.option("--repeats", default=1, show_default=True, help="How often each scenario is played.")
@click.option("--same-provider", "same", is_flag=True, help="Allow a judge of the narrator's provider, and say so.")
@click.option(
    "--direct", metavar="URL", help="The narrator's own server: plays twelve scenarios with and without SAGA."
)
@click.option("--prices", callback=_prices, metavar="READ,CACHED,WRITTEN", help="Dollars for a million tokens there.")
@click.option("--out", type=click.Path(path_type=Path), help="A folder for judge.json, judge.md and judge.html.")
def main(**given: Any) -> None:
    """Judge, print the page, and write the files."""
    asyncio.run(judge_server(**given))


async def judge_server(
    server: str,
    key: str,
    models: tuple[str, ...],
    provider: str,
    url: str | None,
    languages: tuple[Language, ...],
    model: str,
    repeats: int,
    same: bool,
    direct: str | None,
    prices: Prices | None,
    out: Path | None,
) -> None:
    try:
        judges = [judge_of(each, provider, url) for each in models]
    except ValueError as error:
        raise click.ClickException(str(error)) from error
    run = uuid.uuid4().hex[:8]
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=600)) as http:
        narrator = Narrator(http, server.rstrip("/"), key, model)
        try:
            biased = same_provider(await narrator.providers(), judges)
        except aiohttp.ClientError as error:
            raise click.ClickException(
                f"--server {server}: cannot be reached ({error}); is `saga serve` on?"
            ) from error
        if biased and not same:
            raise click.ClickException(
                f"{', '.join(biased)}: the narrator is of the same provider, and a judge favours its own; name another"
                " --judge-provider, or give --same-provider to have it anyway, and the report says so"
            )
        try:
            report = await judged(narrator, judges, [material(each) for each in languages], repeats=repeats, run=run)
            if direct is not None:
                own = Narrator(http, direct.rstrip("/"), os.environ.get("DIRECT_KEY", ""), model)
                for language, found in report["languages"].items():
                    usable = _usable(judges, found)
                    found["long"] = await with_and_without(
                        narrator, own, usable, material(language), prices=prices, repeats=repeats, run=run
                    )
        except JudgeFailed as error:
            raise click.ClickException(str(error)) from error
        finally:
            for judge in judges:
                await judge.client.close()
    report["same_provider"] = biased
    page = markdown(report)
    click.echo(page)
    if out is not None:
        await asyncio.to_thread(_write, out, report, page)


def _usable(judges: list[Judge], found: dict[str, Any]) -> list[Judge]:
    return [judge for judge in judges if found["calibration"][judge.model]["usable"]]


def _write(out: Path, report: dict[str, Any], page: str) -> None:
    out.mkdir(parents=True, exist_ok=True)
    (out / "judge.json").write_text(json.dumps(report, ensure_ascii=False, indent=1), encoding="utf-8")
    (out / "judge.md").write_text(page, encoding="utf-8")
    (out / "judge.html").write_text(html(report), encoding="utf-8")


if __name__ == "__main__":
    main()
