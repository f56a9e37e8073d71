"""Have a model judge the replies of a running server: ``python tests/eval_llm_judge.py --server URL``.

The eight scenarios and six criteria of the research note, in Korean and English. The judge is one of another provider
than the narrator's, and is used only if it rates replies that are bad on purpose below 3.0. ``SAGA_URL``,
``JUDGE_MODEL``, ``JUDGE_PROVIDER`` and ``SAGA_KEY`` set the defaults; the judge's own key is in ``OPENAI_API_KEY`` or
``ANTHROPIC_API_KEY``. See docs/judge.md.
"""

from __future__ import annotations

import asyncio
import sys
import uuid
from pathlib import Path
from typing import Any

import aiohttp
import anthropic
import click
import openai

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.judge.judge import JudgeFailed, material
from tests.judge.run import AnthropicJudge, Narrator, OpenAIJudge, judged, markdown, same_provider, to_json


def judge_of(provider: str, model: str, url: str | None) -> AnthropicJudge | OpenAIJudge:
    """The judge of a provider; ``url`` is another address with the same API."""
    if provider == "anthropic":
        return AnthropicJudge(model, client=anthropic.AsyncAnthropic(base_url=url))
    return OpenAIJudge(model, provider, openai.AsyncOpenAI(base_url=url))


@click.command(help=__doc__.split("\n\n", 1)[0])
@click.option("--server", envvar="SAGA_URL", default="http://127.0.0.1:8765", show_default=True)
@click.option("--key", envvar="SAGA_KEY", default="", help="SAGA's key. Better in SAGA_KEY.")
@click.option("--judge-model", "models", envvar="JUDGE_MODEL", multiple=True, default=("gpt-4.1",), show_default=True)
@click.option("--judge-provider", "provider", envvar="JUDGE_PROVIDER", default="openai", show_default=True)
@click.option("--judge-url", "url", help="Another address that speaks the provider's API, such as a local server.")
@click.option("--language", "languages", type=click.Choice(("en", "ko")), multiple=True, default=("ko", "en"))
@click.option("--repeats", default=1, show_default=True, help="How often each scenario is played.")
@click.option("--same-provider", "same", is_flag=True, help="Allow a judge of the narrator's provider, and say so.")
@click.option("--out", type=click.Path(path_type=Path), help="A folder for judge.json and judge.md.")
def main(**given: Any) -> None:
    """Judge, print the page, and write both files."""
    asyncio.run(_main(**given))


async def _main(
    server: str,
    key: str,
    models: tuple[str, ...],
    provider: str,
    url: str | None,
    languages: tuple[str, ...],
    repeats: int,
    same: bool,
    out: Path | None,
) -> None:
    server = server.rstrip("/")
    judges = [judge_of(provider, model, url) for model in models]
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=600)) as http:
        narrator = Narrator(http, server, key)
        biased = same_provider(await narrator.providers(), judges)
        if biased and not same:
            raise click.ClickException(
                f"{', '.join(biased)}: the narrator is of the same provider, and a judge favours its own; name another"
                " --judge-provider, or give --same-provider to have it anyway, and the report says so"
            )
        wanted = [material("ko" if each == "ko" else "en") for each in languages]
        try:
            report = await judged(narrator, judges, wanted, repeats=repeats, run=uuid.uuid4().hex[:8])
        except JudgeFailed as error:
            raise click.ClickException(str(error)) from error
        finally:
            for judge in judges:
                await judge.client.close()
    report["same_provider"] = biased
    page = markdown(report)
    click.echo(page)
    if out is not None:
        await asyncio.to_thread(_write, out, to_json(report), page)


def _write(out: Path, report: str, page: str) -> None:
    out.mkdir(parents=True, exist_ok=True)
    (out / "judge.json").write_text(report, encoding="utf-8")
    (out / "judge.md").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
