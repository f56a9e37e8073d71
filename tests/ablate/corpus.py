"""The plays: those of the library, those of strangers, and others beside the repository, if they are there."""

from __future__ import annotations

import ast
import asyncio
import importlib
import os
import re
import sys
from collections import Counter
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

import yaml
from attrs import define, field, frozen

from tests.plays.play import LIBRARY, Play, load

OTHERS = Path(os.environ.get("SAGA_PLAYS", Path(__file__).parents[3] / "shared" / "plays"))
"""Plays whose texts are not part of the repository. Without the folder they are left out."""
STRANGERS = LIBRARY.with_name("strangers")
"""Plays whose authors had not read the code, with the judge that they were written for."""
REAL = Path(
    os.environ.get("SAGA_REAL_NARRATORS", Path(__file__).parents[3] / "shared/fixtures/real-narrators/traffic.jsonl")
)
"""Recorded replies of real models, one JSON object a line."""


@frozen
class Result:
    """The checks of one play, by kind."""

    held: Counter[str]
    all: Counter[str]

    @property
    def failed(self) -> int:
        """How many do not hold."""
        return self.all.total() - self.held.total()


class Staged(Protocol):
    """A play that can be played."""

    name: str
    language: str
    text: str
    """All that is said in it."""
    by_others: bool

    def play(self) -> Result:
        """Play it in this process."""
        ...


@define
class OfTheLibrary:
    """A play of the library."""

    name: str
    language: str
    text: str
    script: Play
    by_others: bool = False

    def play(self) -> Result:
        """Play it in this process."""
        from tests.plays.run import played

        tally = asyncio.run(played(self.script))
        return Result(tally.held, tally.all)


@define
class OfOthers:
    """A play of another author, with the author's own judge."""

    name: str
    file: Path = field(repr=False)
    by_others: bool = True

    @cached_property
    def text(self) -> str:
        return "\n".join(_literals(self.file))

    @cached_property
    def language(self) -> str:
        return _language(self.text)

    def play(self) -> Result:
        """Play it in this process."""
        writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True  # the folder stays as it is
        try:
            judge, script = _judge(self.file), importlib.import_module(self.file.stem)
        finally:
            sys.dont_write_bytecode = writes
        return asyncio.run(_played(judge, script))


def corpus() -> list[Staged]:
    """All plays, those of the library first."""
    found: list[Staged] = []
    for folder in ("library", "last", "fresh"):
        for path in sorted(LIBRARY.with_name(folder).glob("*.yaml")):
            script = load(path)
            found.append(OfTheLibrary(path.stem, script.language[:2], _strings(path.read_text("utf-8")), script))
    return [*found, *strangers(STRANGERS), *(strangers(OTHERS) if OTHERS.is_dir() else ())]


def strangers(folder: Path) -> list[OfOthers]:
    """The plays of a folder that has their judge beside them."""
    sys.path.append(str(folder))
    return [OfOthers(path.stem, path) for path in sorted(folder.glob("p[0-9]_*.py"))]


def _strings(text: str) -> str:
    def walk(node: Any) -> list[str]:
        if isinstance(node, dict):
            return [each for value in node.values() for each in walk(value)]
        if isinstance(node, list):
            return [each for value in node for each in walk(value)]
        return [str(node)]

    return "\n".join(walk(yaml.load(text, yaml.CSafeLoader)))


def _literals(path: Path) -> list[str]:
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def _language(text: str) -> str:
    counts = {
        "ko": len(re.findall("[가-힣]", text)),
        "ja": 3 * len(re.findall("[ぁ-ヿ]", text)),
        "zh": len(re.findall("[一-鿿]", text)),
        "en": len(re.findall("[a-zA-Z]{3,}", text)),
    }
    return max(counts, key=lambda tag: counts[tag])


# -- plays of others, without the network ------------------------------------------------------------------------------


def _judge(file: Path) -> ModuleType:
    """The module that judges these plays, without the call that begins a server."""
    path = file.with_name("run.py")
    tree = ast.parse(path.read_text(encoding="utf-8"))
    tree.body = [node for node in tree.body if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call))]
    module = ModuleType("others_judge")
    module.__file__ = str(path)
    exec(compile(tree, str(path), "exec"), vars(module))
    return module


async def _played(judge: ModuleType, script: ModuleType) -> Result:
    from saga_core import Saga
    from tests.plays.run import CONFIG

    loop = asyncio.get_running_loop()
    async with Saga.open(CONFIG) as saga:

        class InThisProcess(judge.Play):  # type: ignore[name-defined, misc]
            """Asks the engine and not a server."""

            def get(self, path: str, post: bool = False) -> Any:
                return self._wait(self._get(path))

            async def _get(self, path: str) -> Any:
                if path.startswith("/api/drain"):
                    return await saga.drain(20)
                if "/state" in path:
                    return await saga.views.describe(self.session, path.partition("turn=")[2] or None)
                if path.endswith("/entities"):
                    return {"entities": await saga.memory.entities(self.session)}
                return await saga.views.graph(self.session)

            def ask(self, history: Any, reply: str, by: Any = None, nudge: Any = None) -> Any:
                return self._wait(self._ask(history, reply, by, nudge))

            async def _ask(self, history: Any, told: str, by: Any, nudge: Any) -> Any:
                self.requests += 1
                window = history[-judge.CUT :] if self.number >= judge.CUT_AT else history
                messages = self.system(by) + window
                if nudge:
                    messages = [*messages, {"role": "system", "content": nudge}]
                elif self.p.get("group"):
                    messages = [*messages, {"role": "system", "content": f"[Write the next reply only as {by}.]"}]
                begun = await saga.begin(messages, model="scripted", provider="openai")
                reply = begun.replies[0]
                shown = "".join(reply.feed(told[at : at + 7]) for at in range(0, len(told), 7)) + reply.finish()
                turn, *_ = await begun.commit(finish="stop")
                self.session = begun.session.id
                added = [block.text for block in begun.plan.blocks if block.origin.value in ("world", "pages")]
                now = begun.context.text
                return shown, turn.id, "\n".join([*added, now]), now, window

            def _wait(self, work: Any) -> Any:
                return asyncio.run_coroutine_threadsafe(work, loop).result()

        play = InThisProcess("", script, False)
        await asyncio.to_thread(play.play)
    return Result(Counter(play.right), Counter(play.all))
