"""Trace one turn in the middle of a recorded play: which files, rooms and functions of the core it enters.

``python -m tests.bench.turn_trace`` plays with the ``memory`` profile and prints, for the steps ``begin``, ``commit``
and ``drain`` of one turn, how many files, rooms and functions are entered, and which values are computed twice: the
functions that are called again with identical arguments. ``--files`` and ``--all`` list everything. Imports are not
counted. The play is the same in each run, so two versions of SAGA can be compared.
"""

from __future__ import annotations

import argparse
import asyncio
import inspect
import random
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from attrs import define, field

import saga_core
from saga_core import Saga
from saga_core.ports import Usage
from saga_core.state_block import BlockFields
from saga_core.world import WorldLibrary
from tests.blocks import render_block
from tests.replay.recorded_prompts import PLAYS, REPLIES, WORLDS, Chat, Counting, SmallModel, Ticking, config

STEPS = ("begin", "commit", "drain")
_CORE = str(Path(saga_core.__file__).parent) + "/"
_PACKAGES = (_CORE, str(Path(_CORE).parent / "saga_backends") + "/")
_RESUMED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_PLAIN = (str, bytes, int, float, bool, type(None))
_PLAYED = 24
"""Turns before the traced one, which is no swipe, branch, edit or continuation, and after which nothing is reviewed."""


@define
class Calls:
    """The calls of one function in one step."""

    code: CodeType
    counts: Counter[Any] = field(factory=Counter)
    """Calls by their arguments."""
    wasted: int = 0
    """Calls with the arguments of an earlier call, and the calls within these."""

    @property
    def file(self) -> str:
        """The file of the function, from the package's folder."""
        return str(Path(self.code.co_filename).relative_to(Path(_CORE).parent))

    @property
    def room(self) -> str:
        """The room of the core, or the package of a backend."""
        return "/".join(self.file.split("/")[:2])

    @property
    def again(self) -> int:
        """Calls with the arguments of an earlier call."""
        return sum(self.counts.values()) - len(self.counts)


@define
class Trace:
    """Everything that was entered in each step."""

    steps: dict[str, dict[CodeType, Calls]] = field(factory=dict)
    _kept: list[Any] = field(factory=list)
    """Keeps arguments alive, because they are compared by identity."""
    _frames: set[FrameType] = field(factory=set)
    """Generators and coroutines that were begun. Each resumption looks like a call."""

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Trace what is called meanwhile, in all threads that begin meanwhile."""
        calls = self.steps.setdefault(name, {})
        stacks: dict[int, list[Calls | None]] = {}

        def enter(frame: FrameType, event: str, _: Any) -> None:
            stack = stacks.setdefault(threading.get_ident(), [])
            if event == "return":
                if stack:
                    stack.pop()
                return
            if event != "call":
                return
            code = frame.f_code
            if not code.co_filename.startswith(_PACKAGES) or code.co_name in ("<module>", "<lambda>"):
                stack.append(None)
                return
            if code.co_flags & _RESUMED:
                if frame in self._frames:
                    stack.append(None)
                    return
                self._frames.add(frame)
            for above in stack:
                if above is not None:
                    above.wasted += 1
            known = calls.get(code)
            if known is None:
                known = calls[code] = Calls(code)
            given = self._given(frame)
            known.counts[given] += 1
            again = known.counts[given] > 1
            known.wasted += again
            stack.append(known if again else None)

        threading.setprofile(enter)
        sys.setprofile(enter)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    def _given(self, frame: FrameType) -> Any:
        code = frame.f_code
        count = code.co_argcount + code.co_kwonlyargcount
        count += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
        values = [frame.f_locals.get(name) for name in code.co_varnames[:count]]
        self._kept.append(values)
        return tuple(self._plain(value) for value in values)

    def _plain(self, value: Any) -> Any:
        if isinstance(value, _PLAIN):
            return value
        if isinstance(value, tuple):
            return tuple(self._plain(each) for each in value)
        if isinstance(value, frozenset) and all(isinstance(each, str) for each in value):
            return value
        return id(value)


async def traced(name: str = "", played: int = _PLAYED) -> Trace:
    """Play, and trace the turn after ``played`` turns."""
    play = next(each for each in PLAYS if name in ("", each.name) and each.model)
    clock, small = Ticking(), SmallModel(play.language)
    trace = Trace()
    async with Saga.open(config(play), extractor=small, curator=small, clock=clock, entropy=Counting()) as saga:
        chat = _Traced(saga, play, WorldLibrary((WORLDS,)).get(play.world), clock, random.Random(play.seed))
        chat.trace, chat.at = trace, played + 1
        with suppress(_DoneError):
            await chat.run()
    return trace


class _DoneError(Exception):
    """The traced turn is over."""


@define(eq=False)
class _Traced(Chat):
    trace: Trace = field(factory=Trace)
    at: int = 0

    async def turn(self, words: str | None, *, history: list[dict[str, str]] | None = None) -> str:
        if self.number != self.at:
            return await super().turn(words, history=history)
        messages = self.messages(self.history, words)
        given = {"owner": "k1", "world": self.play.world, "model": self.play.model, "provider": self.play.provider}
        with self.trace.step("begin"):
            begun = await self.saga.begin(messages, **given)
        assert begun.parent.depth == self.at - 1 and begun.context.pieces
        names = self._names()
        reply = REPLIES[self.play.language][0].format(**names)
        begun.replies[0].feed(reply + "\n\n" + render_block(BlockFields(**self._fields(names))))
        begun.replies[0].finish()
        begun.billed(Usage(6_900, 240), model=self.play.model, provider=self.play.provider)
        with self.trace.step("commit"):
            await begun.commit()
        with self.trace.step("drain"):
            await self.saga.drain(60)
        raise _DoneError


def _name(calls: Calls) -> str:
    return f"{calls.file.removeprefix('saga_core/')}:{calls.code.co_qualname}"


def table(trace: Trace) -> Iterator[str]:
    """The lines of the table: one for each step, and one for the whole turn."""
    yield f"{'step':8}{'files':>7}{'of core':>9}{'rooms':>7}{'functions':>11}{'calls':>9}{'again':>8}"
    whole = {code: calls for step in trace.steps.values() for code, calls in step.items()}
    for name, step in (*trace.steps.items(), ("turn", whole)):
        all_calls = list(step.values())
        files = {calls.file for calls in all_calls}
        core = {file for file in files if file.startswith("saga_core/")}
        rooms = {calls.room for calls in all_calls if calls.file in core}
        count = sum(sum(calls.counts.values()) for calls in all_calls)
        again = sum(calls.again for calls in all_calls)
        rest = f"{count:>9}{again:>8}" if name != "turn" else ""
        yield f"{name:8}{len(files):>7}{len(core):>9}{len(rooms):>7}{len(step):>11}{rest}"


def twice(trace: Trace, step: str, least: int) -> Iterator[str]:
    """The functions of a step that are called again with identical arguments, those that cost most calls first."""
    found = sorted(trace.steps[step].values(), key=lambda calls: -calls.wasted)
    for calls in found:
        if calls.wasted < least:
            return
        most = max(calls.counts.values())
        yield f"{calls.wasted:>7} {sum(calls.counts.values()):>6} {calls.again:>6} {most:>5}  {_name(calls)}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--play", default="", help="the name of a recorded play with a model")
    parser.add_argument("--files", action="store_true", help="list the files of each step")
    parser.add_argument("--all", action="store_true", help="list every function that is called again")
    given = parser.parse_args()
    trace = asyncio.run(traced(given.play))
    print("\n".join(table(trace)))
    for step in STEPS:
        if given.files:
            files = Counter[str]()
            for calls in trace.steps[step].values():
                files[calls.file] += 1
            print(f"\n{step}: files, with the functions entered in each")
            print("\n".join(f"{count:>7} {file}" for file, count in sorted(files.items())))
        print(f"\n{step}: called again with identical arguments")
        print("   cost  calls  again  most  function")
        print("\n".join(twice(trace, step, 1 if given.all else 8)))


if __name__ == "__main__":
    main()
