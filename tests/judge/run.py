"""Plays the scenarios against a server, and has judges rate the replies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import aiohttp
from attrs import asdict, define, frozen

from tests.judge.judge import (
    Answers,
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
class Tokens:
    """What was read and written, as the server counted it."""

    read: int = 0
    cached: int = 0
    """The part of ``read`` that came from a cache."""
    written: int = 0

    def add(self, usage: Mapping[str, Any]) -> None:
        """Add the usage of a reply."""
        self.read += usage.get("prompt_tokens") or 0
        self.cached += (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
        self.written += usage.get("completion_tokens") or 0


@frozen
class Played:
    """A reply to the last words of a scenario, with what was said before."""

    talk: tuple[str, ...]
    reply: str
    session: str
    turn: str
    tokens: Tokens


@define
class Narrator:
    """A SAGA server, or any server that speaks OpenAI's chat API."""

    http: aiohttp.ClientSession
    url: str
    key: str = ""
    model: str = ""
    """The model to ask for; the server's own if it is empty."""

    @property
    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"} if self.key else {}

    async def providers(self) -> list[str]:
        """The names of the narrators, as the status tells them."""
        async with self.http.get(f"{self.url}/api/status", headers=self._headers) as answer:
            answer.raise_for_status()
            return [str(each) for each in (await answer.json())["narrators"]]

    async def play(self, card: str, turns: Sequence[str], session: str, shown: int | None = None) -> Played:
        """Say all of ``turns`` in a new session, and return the last reply. The last ``shown`` messages are sent."""
        talk: list[dict[str, str]] = []
        headers = {**self._headers, "X-SAGA-Session": session}
        reply, turn, found, tokens = "", "", "", Tokens()
        for words in turns:
            talk.append({"role": "user", "content": words})
            sent = [{"role": "system", "content": card}, *(talk if shown is None else talk[-shown - 1 :])]
            body = {"messages": sent, **({"model": self.model} if self.model else {})}
            async with self.http.post(f"{self.url}/v1/chat/completions", json=body, headers=headers) as answer:
                answer.raise_for_status()
                plain = await answer.json()
                reply = plain["choices"][0]["message"]["content"] or ""
                tokens.add(plain.get("usage") or {})
                turn, found = answer.headers.get("X-SAGA-Turn", ""), answer.headers.get("X-SAGA-Session", "")
            talk.append({"role": "assistant", "content": reply})
        return Played(tuple(each["content"] for each in talk[:-1]), reply, found, turn, tokens)

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
        "interval": None if half is None else round(half, 2),
        "agreement": agreement(grades),
        "criteria": {
            name: round(sum(each.ratings[name].points for each in every) / len(every), 2) for name in material.criteria
        },
        "grades": [{name: asdict(rating) for name, rating in each.ratings.items()} for each in every],
        "replies": [each.reply for each in plays],
    }
