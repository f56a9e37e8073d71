"""Plays every play without each rule: ``python -m tests.ablate.run [--out FILE] [PATTERN ...]``.

A pattern names rules: ``ko.block.*``, ``naming.*``. Without one all rules are taken out, one by one, and the table is
written beside this module. See README.md there for how to read it.
"""

from __future__ import annotations

import argparse
import gc
import json
import logging
import os
import re
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from attrs import field, frozen

from tests.ablate.corpus import REAL, Staged, corpus
from tests.ablate.recording import Reading, matches, noted_readings, searchable
from tests.ablate.rules import ROOMS, Rule, rules, take_out

TABLE = Path(__file__).with_name("table.md")
ENOUGH = 2
"""After so many plays that lose something without a rule, it is not played further: it gains beside its own play."""
_AFFECTED = 8
"""After so many plays that are read differently, no more of them are searched."""
_BROKEN = 0.25
"""The share of a play's checks from which on the rule is no rule but something that everything stands on."""
_AT_ONCE = 2
_SHOWN_EVERY = 50


@frozen
class Worth:
    """What a rule is worth."""

    rule: Rule
    lost: dict[str, int] = field(factory=dict)
    """By play, how many checks do not hold without it that hold with it; negative if more hold."""
    affected: int = 0
    """The plays that may go differently without it."""
    stopped: bool = False
    broke: str = ""
    replies: int = 0
    """How many recorded replies of real models are understood differently without it."""

    @property
    def own(self) -> str:
        """The play that loses most without it, which is probably the one that it was made for."""
        return max(self.lost, key=lambda name: self.lost[name], default="")

    @property
    def in_own(self) -> int:
        """The checks lost in its own play."""
        return self.lost.get(self.own, 0)

    @property
    def elsewhere(self) -> int:
        """The checks lost in other plays."""
        return sum(self.lost.values()) - self.in_own


@frozen
class Base:
    """The plays as they go with all rules."""

    plays: Sequence[Staged]
    failed: dict[str, int]
    size: dict[str, int]
    readings: dict[str, list[Reading]]
    replies: list[str]
    understood: list[str]

    @classmethod
    def of(cls, plays: Sequence[Staged]) -> Base:
        """Play everything once."""
        failed, size, readings = dict[str, int](), dict[str, int](), dict[str, list[Reading]]()
        for play in plays:
            with noted_readings() as found:
                result = play.play()
            failed[play.name], size[play.name], readings[play.name] = result.failed, result.all.total(), found
        replies = _replies_of_real_models()
        return cls(plays, failed, size, readings, replies, _understood(replies))


def _replies_of_real_models() -> list[str]:
    """Each reply once; empty where the recording is absent."""
    if not REAL.is_file():
        return []
    rows = map(json.loads, REAL.read_text(encoding="utf-8").splitlines())
    return list(dict.fromkeys(row["reply"] for row in rows if row["kind"] in ("narration", "extraction")))


def _understood(replies: Sequence[str]) -> list[str]:
    from saga_core.state_block import read_reply

    return [repr(read_reply(reply)) for reply in replies]


def _forget(*packages: str) -> None:
    """Drop modules, so that they are imported anew."""
    for name in [each for each in sys.modules if any(each == one or each.startswith(f"{one}.") for one in packages)]:
        del sys.modules[name]


def weighed(rule: Rule, base: Base, searchables: dict[str, str]) -> Worth:
    """What a rule is worth. Call it in a process of its own, for it leaves the rule taken out."""
    logging.disable(logging.CRITICAL)
    plays = [play for play in _mixed(base.plays) if _may_fire(rule, play, searchables)]
    plays.sort(key=lambda play: play.language != rule.language)
    if rule.language:  # modules put patterns of tables together when they are imported
        _forget(*(f"saga_core.{room}" for room in ROOMS))
    replies = 0
    try:
        take_out(rule)
        if rule.reads_replies:
            replies = sum(one != other for one, other in zip(_understood(base.replies), base.understood, strict=True))
        affected = list(_affected(base, plays)) if rule.only_reads else plays
        if rule.language and affected:
            _forget("saga_core", "saga_backends", "tests.plays.checks", "tests.plays.stage", "tests.plays.run")
            take_out(rule)
        return _played(rule, base, affected, replies)
    except Exception as error:  # noqa: BLE001
        # Without what everything stands on, anything may fail; the table says so.
        return Worth(rule, {}, 0, True, type(error).__name__, replies)


def _mixed(plays: Sequence[Staged]) -> Iterator[Staged]:
    """The plays with the languages in turn, those of other authors first, because their judge checks more."""
    seen: Counter[str] = Counter()
    places = dict[str, tuple[int, str]]()
    for play in sorted(plays, key=lambda play: (not play.by_others, play.name)):
        seen[play.language] += 1
        places[play.name] = seen[play.language], play.language
    yield from sorted(plays, key=lambda play: places[play.name])


def _may_fire(rule: Rule, play: Staged, searchables: dict[str, str]) -> bool:
    if rule.words:
        return matches(rule.words, searchables[play.name])
    return rule.language in ("", play.language)


def _affected(base: Base, plays: Sequence[Staged]) -> Iterator[Staged]:
    """The plays in which a reply is read differently, but for some where there are many."""
    found = 0
    for play in plays:
        if not all(reading.is_the_same_now() for reading in base.readings[play.name]):
            yield play
            found += 1
            if found == _AFFECTED:
                return


def _played(rule: Rule, base: Base, affected: Sequence[Staged], replies: int) -> Worth:
    lost: dict[str, int] = {}
    for number, play in enumerate(affected, 1):
        result = play.play()
        size = base.size[play.name]
        more = result.failed - base.failed[play.name] + max(0, size - result.all.total())
        if more:
            lost[play.name] = more
        if more > _BROKEN * size:
            return Worth(rule, lost, len(affected), True, "everything stands on it", replies)
        if sum(each > 0 for each in lost.values()) >= ENOUGH and number < len(affected):
            return Worth(rule, lost, len(affected), True, "", replies)
    return Worth(rule, lost, len(affected), False, "", replies)


def main(patterns: Sequence[str], out: Path, least: int = 1) -> None:
    """Weigh the rules and write the table."""
    re._MAXCACHE = 100_000  # type: ignore[attr-defined]
    start = time.monotonic()
    base = Base.of(corpus())
    found = [rule for rule in rules() if rule.lines >= least]
    chosen = [rule for rule in found if not patterns or any(fnmatch(rule.name, each) for each in patterns)]
    chosen.sort(key=lambda rule: -rule.lines)
    searchables = {play.name: searchable(play.text) for play in base.plays}
    _report(f"{len(chosen)} rules, {len(base.plays)} plays: {time.monotonic() - start:.0f} s")
    gc.collect()
    gc.freeze()
    assert threading.active_count() == 1, "the processes are forked"
    done: list[Worth] = []
    with out.with_suffix(".jsonl").open("w", encoding="utf-8") as log:
        for worth in _in_processes(chosen, base, searchables):
            done.append(worth)
            log.write(json.dumps([worth.rule.name, worth.lost, worth.affected, worth.broke]) + "\n")
            log.flush()
            if len(done) % _SHOWN_EVERY == 0:
                _report(f"{len(done)} rules: {time.monotonic() - start:.0f} s")
    out.write_text(table(done, base), encoding="utf-8")
    times = os.times()
    _report(f"{out}: {time.monotonic() - start:.0f} s, {sum(times[:4]):.0f} s of CPU")


def _report(text: str) -> None:
    print(text, flush=True)


def _in_processes(chosen: Sequence[Rule], base: Base, searchables: dict[str, str]) -> Iterator[Worth]:
    """Each rule in a process of its own, two at a time."""
    context = get_context("fork")
    waiting = list(reversed(chosen))
    running: list[tuple[Any, Any, Rule]] = []

    def send(pipe: Any, rule: Rule) -> None:
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115
        pipe.send(weighed(rule, base, searchables))
        pipe.close()

    while waiting or running:
        while waiting and len(running) < _AT_ONCE:
            rule = waiting.pop()
            ours, theirs = context.Pipe(duplex=False)
            child = context.Process(target=send, args=(theirs, rule))
            child.start()
            theirs.close()
            running.append((child, ours, rule))
        for each in running[:]:
            child, ours, rule = each
            if not ours.poll(0.05):
                continue
            try:
                yield ours.recv()
            except EOFError:
                yield Worth(rule, {}, 0, True, "the process died")
            child.join()
            running.remove(each)


def table(done: Sequence[Worth], base: Base) -> str:
    """The table as Markdown: the rules that are worth nothing elsewhere first, the heaviest of them first."""
    rows = sorted(done, key=lambda each: (bool(each.broke), each.elsewhere, each.in_own, -each.rule.lines))
    whole = sum(base.size.values())
    held = whole - sum(base.failed.values())
    lines = [
        "# Rules, one by one",
        "",
        f"{len(rows)} rules, {len(base.plays)} plays; {held} of {whole} checks hold with all of them "
        f"({held / whole:.2%}).",
        "",
        "| rule | lines | own play | lost there | lost elsewhere | plays | replies |",
        "| --- | ---: | --- | ---: | ---: | ---: | ---: |",
    ]
    for each in rows:
        more = "≥ " if each.stopped else ""
        lost = f"{each.broke} | " if each.broke else f"{each.in_own} | {more}{each.elsewhere}"
        name = each.rule.name.replace("|", "\\|")
        lines.append(f"| `{name}` | {each.rule.lines} | {each.own} | {lost} | {each.affected} | {each.replies} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("patterns", nargs="*", metavar="PATTERN")
    parser.add_argument("--out", type=Path, default=TABLE)
    parser.add_argument("--least", type=int, default=1, help="leave out rules of fewer lines")
    asked = parser.parse_args()
    main(asked.patterns, asked.out, asked.least)
