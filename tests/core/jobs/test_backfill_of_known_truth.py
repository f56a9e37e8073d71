"""A chat whose truth is known is imported and read in windows: what the state says of each field at every turn."""

from __future__ import annotations

import random
import re
from copy import deepcopy

import pytest
from attrs import define, field

from saga_core import Saga
from saga_core.config import load_config
from saga_core.maintenance import ImportOptions
from saga_core.state_block import BlockFields
from tests.blocks import render_block
from tests.core.extraction.test_plays_of_known_truth import FIELDS, Truth, seen
from tests.core.imports import samples
from tests.core.jobs.test_backfill import FACTS, Reader


@define(eq=False, kw_only=True)
class Answering(Reader):
    """Tells of each turn what is true; now and then a turn of a window is left out, told twice or told as no block."""

    truths: dict[str, str] = field(factory=dict)
    careless: float = 0.1
    dice: random.Random = field(factory=lambda: random.Random(5))

    def answer(self, text: str) -> str:
        turns = text.split("## 턴 ")[1:] or text.split("## Turn ")[1:]
        if not turns:
            return f"```state\n{self.truth(text)}\n```"
        return "\n\n".join(self.block(each.split()[0], self.truth(each)) for each in turns)

    def truth(self, text: str) -> str:
        mark = re.search(r"제(\d+)장이 열린다", text)
        assert mark is not None
        return self.truths[mark[0]]

    def block(self, number: str, told: str) -> str:
        whole = f"```state\nturn: {number}\n{told}\n```"
        if self.dice.random() >= self.careless:
            return whole
        return self.dice.choice(("", f"{whole}\n{whole}", "이번에는 별일이 없었다.", whole.replace("turn", "턴")))


async def read_whole(turns: int, seed: int) -> None:
    dice, truth = random.Random(seed), Truth()
    reader = Answering()
    rows = [samples.HEADER, samples.message("에르겐", "먼 길이 앞에 놓여 있다.")]
    expected = []
    for number in range(turns):
        told = render_block(BlockFields(**truth.turn(dice)))
        stated = [line for line in told.split("\n")[1:-1] if not line.endswith((": []", ": null"))]
        mark = f"제{number:03d}장이 열린다"
        reader.truths[mark] = "\n".join(stated)
        reply = f"{mark}. 바람이 불고 비가 내리며 길은 끝이 보이지 않는다."
        if truth.present:
            reply += f" {', '.join(truth.present)}도 함께 있다."
        other = f"제{number:03d}장의 다른 이야기. 모두가 쓰러지고 아무도 남지 않았다."
        rows.append(samples.message("나그네", f"{number}번째로 나아간다.", user=True))
        rows.append(samples.message("에르겐", reply, swipes=[other, reply], swipe_id=1))
        expected.append(deepcopy(truth))
    config = load_config({"storage": {"profile": "memory"}, "models": {"extraction": "small", "facts": FACTS}})
    async with Saga.open(config, extractor=reader) as saga:
        found = await saga.maintenance.import_files([("one.jsonl", samples.jsonl(*rows))], ImportOptions())
        session = found.things[0].session
        assert session is not None
        live = await saga.parts.live.get(session)
        opening = await live.state(live.tree.root)
        carried = frozenset(opening.name(each) for each in opening.belongings.get(opening.player, {}))
        first = state = await saga.background.backfill.estimate(session)
        while state.left:
            state = await saga.background.backfill.step(session, 64)
            assert state.read
        live = await saga.parts.live.get(session)
        path = live.tree.path(live.head)[1:]
        right = dict.fromkeys(FIELDS, 0)
        for node, wanted in zip(path, expected, strict=True):
            for name, fits in seen(await live.state(node.id), wanted, carried).items():
                right[name] += fits
        assert min(right.values()) >= 0.97 * turns, right
        at_end = seen(await live.state(live.head), expected[-1], carried)
        assert all(at_end.values()), at_end
        assert state.spent == pytest.approx(first.dollars, rel=0.25), "some were asked about twice"


async def test_nearly_all_of_the_state_is_right_though_answers_lack_turns() -> None:
    await read_whole(40, 1)


@pytest.mark.deep
@pytest.mark.parametrize("seed", [2, 3])
async def test_nearly_all_of_the_state_is_right_after_500_turns(seed: int) -> None:
    await read_whole(500, seed)
