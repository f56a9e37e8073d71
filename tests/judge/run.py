"""Plays the scenarios against a server, has judges rate the replies, and writes a report."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import aiohttp
import anthropic
import openai
from attrs import asdict, define, field, frozen

from tests.judge.judge import (
    Answers,
    Calibration,
    Grade,
    JudgeFailed,
    Material,
    Scenario,
    agreement,
    calibrated,
    grade,
    interval,
)

_REPORTED = ("ok", "partial")


@define
class OpenAIJudge:
    """A judge behind OpenAI's chat API, or a server that speaks it."""

    model: str
    provider: str = "openai"
    client: openai.AsyncOpenAI = field(factory=openai.AsyncOpenAI)

    async def __call__(self, system: str, question: str) -> str:
        answer = await self.client.chat.completions.create(
            model=self.model,
            messages=[{"role": "system", "content": system}, {"role": "user", "content": question}],
            temperature=0,
        )
        return answer.choices[0].message.content or ""


@define
class AnthropicJudge:
    """A judge behind Anthropic's Messages API."""

    model: str
    provider: str = "anthropic"
    client: anthropic.AsyncAnthropic = field(factory=anthropic.AsyncAnthropic)

    async def __call__(self, system: str, question: str) -> str:
        answer = await self.client.messages.create(
            model=self.model, max_tokens=1_500, system=system, messages=[{"role": "user", "content": question}]
        )
        return "".join(block.text for block in answer.content if block.type == "text")


@frozen
class Played:
    """A reply to the last words of a scenario, with what was said before."""

    talk: tuple[str, ...]
    reply: str
    session: str
    turn: str


@define
class Narrator:
    """A SAGA server."""

    http: aiohttp.ClientSession
    url: str
    key: str = ""

    @property
    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"} if self.key else {}

    async def providers(self) -> list[str]:
        """The names of the narrators, as the status tells them."""
        async with self.http.get(f"{self.url}/api/status", headers=self._headers) as answer:
            answer.raise_for_status()
            return [str(each) for each in (await answer.json())["narrators"]]

    async def play(self, card: str, turns: Sequence[str], session: str) -> Played:
        """Say all of ``turns`` in a new session, and return the last reply."""
        history: list[dict[str, str]] = [{"role": "system", "content": card}]
        headers = {**self._headers, "X-SAGA-Session": session}
        reply, turn, found = "", "", ""
        for words in turns:
            history.append({"role": "user", "content": words})
            async with self.http.post(
                f"{self.url}/v1/chat/completions", json={"messages": history}, headers=headers
            ) as answer:
                answer.raise_for_status()
                reply = (await answer.json())["choices"][0]["message"]["content"] or ""
                turn, found = answer.headers.get("X-SAGA-Turn", ""), answer.headers.get("X-SAGA-Session", "")
            history.append({"role": "assistant", "content": reply})
        return Played(tuple(each["content"] for each in history[1:-1]), reply, found, turn)

    async def reported(self, played: Played) -> str:
        """How the turn was reported: the status of its report, and its source."""
        await self.http.post(f"{self.url}/api/drain", params={"timeout": "60"}, headers=self._headers)
        async with self.http.get(f"{self.url}/api/sessions/{played.session}/turns", headers=self._headers) as answer:
            answer.raise_for_status()
            turns = (await answer.json())["turns"]
        delta: Mapping[str, Any] = next(each["delta"] for each in turns if each["turn_id"] == played.turn)
        return f"{delta.get('status')} ({delta.get('source')})"


async def judged(
    narrator: Narrator,
    judges: Sequence[Answers],
    materials: Sequence[Material],
    *,
    repeats: int = 1,
    run: str = "judge",
) -> dict[str, Any]:
    """The report. Judges that fail the calibration rate nothing. Raises ``JudgeFailed`` if none is left."""
    report: dict[str, Any] = {"narrators": await narrator.providers(), "languages": {}}
    for material in materials:
        usable, calibrations = list[Answers](), dict[str, Any]()
        for judge in judges:
            found = await calibrated(judge, material)
            calibrations[judge.model] = {**asdict(found), "usable": found.usable}
            if found.usable:
                usable.append(judge)
        if not usable:
            told = "; ".join(f"{name}: {each['bad']}" for name, each in calibrations.items())
            raise JudgeFailed(f"{material.language}: no judge rates bad replies below 3.0 ({told})")
        scenarios = {
            each.id: await _scenario(narrator, usable, material, each, repeats, f"{run}-{material.language}-{each.id}")
            for each in material.scenarios
        }
        report["languages"][material.language] = {"calibration": calibrations, "scenarios": scenarios}
    return report


async def _scenario(
    narrator: Narrator, judges: Sequence[Answers], material: Material, scenario: Scenario, repeats: int, session: str
) -> dict[str, Any]:
    plays = [await narrator.play(material.card, scenario.turns, f"{session}-{at}") for at in range(repeats)]
    if scenario.report:
        found = [await narrator.reported(each) for each in plays]
        return {"about": scenario.about, "reports": found, "passed": all(each.startswith(_REPORTED) for each in found)}
    grades: list[list[Grade]] = [
        [await grade(judge, material, each.talk, each.reply) for each in plays] for judge in judges
    ]
    every = [each for by_judge in grades for each in by_judge]
    mean, half = interval([each.mean for each in every])
    return {
        "about": scenario.about,
        "mean": round(mean, 2),
        "interval": round(half, 2),
        "agreement": agreement(grades),
        "criteria": {
            name: round(sum(each.ratings[name].points for each in every) / len(every), 2) for name in material.criteria
        },
        "grades": [{name: asdict(rating) for name, rating in each.ratings.items()} for each in every],
        "replies": [each.reply for each in plays],
    }


def same_provider(narrators: Sequence[str], judges: Sequence[Answers]) -> list[str]:
    """The judges that are of a narrator's own provider."""
    return [judge.model for judge in judges if any(judge.provider in each.casefold() for each in narrators)]


def markdown(report: Mapping[str, Any]) -> str:
    """The report as a page."""
    lines = [f"# Judged replies\n\nNarrators: {', '.join(report['narrators'])}\n"]
    if report.get("same_provider"):
        lines.append(
            f"**The judge is of the narrator's provider ({', '.join(report['same_provider'])}): it favours it.**\n"
        )
    for language, found in report["languages"].items():
        lines.append(f"## {language}\n")
        for name, each in found["calibration"].items():
            used = "used" if each["usable"] else "**not used: it rates bad replies as good**"
            bad = ", ".join(f"{criterion} {points}" for criterion, points in each["bad"].items())
            lines.append(
                f"- {name}: bad replies {bad}; padding {each['padded']:+.2f}, order ±{each['reversed']:.2f}; {used}"
            )
        lines.append("\n| scenario | mean (95 %) | " + " | ".join(_criteria(found)) + " |")
        lines.append("| --- | --- |" + " --- |" * len(_criteria(found)))
        for id_, each in found["scenarios"].items():
            if "mean" in each:
                points = " | ".join(f"{value:.2f}" for value in each["criteria"].values())
                lines.append(f"| {id_} {each['about']} | {each['mean']:.2f} ± {each['interval']:.2f} | {points} |")
            else:
                passed = "passed" if each["passed"] else "failed"
                lines.append(
                    f"| {id_} {each['about']} | {passed}: {', '.join(each['reports'])} |" + " |" * len(_criteria(found))
                )
        lines.append("")
    return "\n".join(lines)


def _criteria(found: Mapping[str, Any]) -> list[str]:
    return next((list(each["criteria"]) for each in found["scenarios"].values() if "criteria" in each), [])


def to_json(report: Mapping[str, Any]) -> str:
    """The report as JSON."""
    return json.dumps(report, ensure_ascii=False, indent=1)


__all__ = ["AnthropicJudge", "Calibration", "Narrator", "OpenAIJudge", "judged", "markdown", "same_provider", "to_json"]
