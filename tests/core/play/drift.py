"""How far a reply may drift on its way back: changes, played through the engine, and the table of what became of them.

``python -m tests.core.play.drift`` prints the table of docs/transcript.md.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence

from attrs import define, field, frozen

from saga_core import Saga
from saga_core.model.tree import TurnKind
from saga_core.state_block import BlockFields
from saga_core.stores.state_kv import Batch, Key
from tests.blocks import render_block

Change = Callable[[str], str]

SENTENCES = {
    "en": (
        '*The lamp gutters.* "You are late," she says 🙂 and does not look up from the ledger.',
        "Rain runs down the window in long grey lines while the harbour bell counts the hour.",
        "Somewhere below a door bangs twice, and a dog begins to bark at nothing in particular.",
        '"Sit," she adds, pushing a stool towards you with her foot, "and tell me about the road."',
        "The stool is damp and one of its legs is shorter than the other two, so you lean.",
        "She dips her pen, waits, and lets a single drop of ink fall back into the bottle.",
        "Outside a cart goes by with its lantern swinging, and for a moment the wall turns gold.",
        "Then it is dark again, and quieter than before, and she is still waiting for your answer.",
    ),
    "ko": (
        "*등불이 흔들린다.* “늦었군.” 그녀는 🙂 장부에서 눈을 떼지 않은 채 말한다.",
        "빗물이 창을 따라 길게 흘러내리고 항구의 종이 시각을 알린다.",
        "아래 어딘가에서 문이 두 번 쾅 닫히고 개 한 마리가 까닭 없이 짖기 시작한다.",
        "“앉게.” 그녀가 발끝으로 걸상을 밀어 주며 덧붙인다. “그리고 길 이야기를 들려주게.”",
        "걸상은 축축하고 다리 하나가 나머지보다 짧아서 몸이 저절로 기운다.",
        "그녀는 펜을 적시고 기다리다가 잉크 한 방울을 병 속으로 도로 떨어뜨린다.",
        "밖으로 수레 한 대가 등을 흔들며 지나가고 벽이 잠깐 금빛으로 물든다.",
        "이윽고 다시 어두워지고 전보다 더 고요한데 그녀는 여전히 대답을 기다린다.",
    ),
}
WORDS = {
    "en": ("I push the heavy door and step inside.", "I tell her about the river road and the toll."),
    "ko": (
        "무거운 문을 밀고 안으로 성큼성큼 들어가서 빈 의자를 찾는다.",
        "강길에서 만난 사람들과 통행세에 대해 천천히 이야기한다.",
    ),
}
OTHERS = {"en": "amber hollow seventh brittle".split(), "ko": "호박빛 일곱째 텅빈 부서진".split()}
TURNS = 7
LOST = 10
"""Hit points that each turn costs: what is missing tells which turns count."""


def reply(language: str, turn: int) -> str:
    """The reply of a turn: the same sentences, each time from another one on, with a number of their own."""
    sentences = SENTENCES[language]
    turned = [f"{sentence} {turn * 8 + at}." for at, sentence in enumerate(sentences)]
    return " ".join(turned[turn:] + turned[:turn])


def words(language: str, turn: int) -> str:
    """What the player says in a turn."""
    return f"{turn}. {WORDS[language][turn % 2]}"


def _sentences(text: str) -> list[str]:
    return re.findall(r"\S.*?\d\.(?=\s|$)", text, re.S)


def without_sentences(each: int) -> Change:
    """Each so-many-th sentence dropped."""
    return lambda text: " ".join(each_ for at, each_ in enumerate(_sentences(text)) if at % each != 1)


def replaced(each: int) -> Change:
    """Each so-many-th word replaced."""

    def change(text: str) -> str:
        others = OTHERS["ko" if re.search("[가-힣]", text) else "en"]
        told = text.split(" ")
        return " ".join(others[at % len(others)] if at % each == each - 1 else word for at, word in enumerate(told))

    return change


def cut(percent: int) -> Change:
    """Only the first so many percent kept."""
    return lambda text: text[: len(text) * percent // 100]


def translated(text: str) -> str:
    """The same in another language."""
    turn = int(re.search(r"(\d+)\.", text)[1]) // 8  # type: ignore[index]
    return reply("en" if re.search("[가-힣]", text) else "ko", turn)


CHANGES: dict[str, Change] = {
    "nothing": lambda text: text,
    "white space at the end, line breaks": lambda text: text.replace(". ", ".\n\n") + " \n",
    "other quotation marks": lambda text: text.translate(str.maketrans('“”"', '""«')),
    "emphasis dropped": lambda text: text.replace("*", ""),
    "a name in front": lambda text: f"Mina: {text}",
    "an emoji removed": lambda text: text.replace("🙂 ", ""),
    "a line added at the end": lambda text: text + "\n\n(HP 70/100)",
    "a line added in front": lambda text: "[04:17, rain]\n" + text,
    "each 20th word replaced": replaced(20),
    "each 10th word replaced": replaced(10),
    "each 5th word replaced": replaced(5),
    "each 3rd word replaced": replaced(3),
    "one sentence of eight dropped": without_sentences(8),
    "every second sentence dropped": without_sentences(2),
    "cut at 95 %": cut(95),
    "cut at 75 %": cut(75),
    "cut at 50 %": cut(50),
    "cut at 10 %": cut(10),
    "translated": translated,
}
HISTORIES = ("the last reply", "every reply", "every reply, the beginning cut off")

ITSELF = "the turn itself"
KEPT = "a sibling, changes kept"
BARE = "a sibling, changes unknown"
ANEW = "all siblings, changes unknown"
NEW = "a new session"


@frozen
class Outcome:
    """What a request with a changed history continues."""

    found: bool
    """Whether it is the story that was played."""
    itself: bool
    """Whether it is the very turn that was played last."""
    lost: int
    """How many turns' changes are not known any more."""

    def __str__(self) -> str:
        if not self.found:
            return NEW
        if self.itself:
            return ITSELF
        return KEPT if not self.lost else BARE if self.lost == 1 else ANEW


def history(lines: Sequence[tuple[str, str]], said: str, *, whole: bool = True) -> list[dict[str, str]]:
    """A request's messages; without the greeting if the beginning was cut off."""
    chat = [{"role": "assistant", "content": "…"}] if whole else []
    for player, narrator in lines:
        chat += [{"role": "user", "content": player}, {"role": "assistant", "content": narrator}]
    return [*chat, {"role": "user", "content": said}]


@define
class Played:
    """A chat that was played, and can be continued again and again as if for the first time."""

    saga: Saga
    language: str
    told: list[tuple[str, str]] = field(factory=list)
    last: str = ""
    session: str = ""
    _rows: dict[Key, bytes] = field(factory=dict)

    async def play(self) -> None:
        """Play the turns."""
        for turn in range(TURNS):
            said = words(self.language, turn)
            begun = await self.saga.begin(history(self.told, said))
            begun.replies[0].feed(f"{reply(self.language, turn)}\n\n{render_block(BlockFields(hp_change=-LOST))}")
            (made,) = await begun.commit()
            self.told.append((said, reply(self.language, turn)))
        self.last, self.session = made.id, made.session
        await self.saga.drain(10)
        self._rows = dict(await self.saga.stores.state.scan(()))

    async def outcome(self, change: Change, kind: str) -> Outcome:
        """What a history with ``change`` in it continues."""
        told = [(said, change(text)) for said, text in self.told]
        if kind == HISTORIES[0]:
            told[:-1] = self.told[:-1]
        whole = kind != HISTORIES[2]
        begun = await self.saga.begin(history(told if whole else told[-3:], words(self.language, TURNS), whole=whole))
        state = await self.saga.describe(begun.session.id, begun.parent.id)
        assert begun.parent.id == self.last or begun.parent.kind is TurnKind.ADOPTED
        await self._as_it_was(begun.session.id)
        return Outcome(
            begun.session.id == self.session, begun.parent.id == self.last, (state["hp"] - 100 + LOST * TURNS) // LOST
        )

    async def _as_it_was(self, session: str) -> None:
        saga = self.saga
        await saga.parts.supervisor.give_up(saga.background.views, session)
        now = dict(await saga.stores.state.scan(()))
        await saga.stores.state.commit(Batch(self._rows, frozenset(now) - frozenset(self._rows)))
        saga.parts.live.forget(session)


async def table() -> list[list[str]]:
    """A row for each change: what became of it in each kind of history, in both languages where they differ."""
    rows = [[name] for name in CHANGES]
    found: dict[str, list[list[str]]] = {}
    for language in SENTENCES:
        async with Saga.open({"storage": {"profile": "memory"}}) as saga:
            played = Played(saga, language)
            await played.play()
            found[language] = [
                [str(await played.outcome(change, kind)) for kind in HISTORIES] for change in CHANGES.values()
            ]
    for row, english, korean in zip(rows, found["en"], found["ko"], strict=True):
        row += [
            one if one == other else f"{one}; in Korean {other}" for one, other in zip(english, korean, strict=True)
        ]
    return rows


def markdown(rows: Sequence[Sequence[str]]) -> str:
    """The table as it stands in the docs."""
    head = ["change", *HISTORIES]
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows))


if __name__ == "__main__":
    print(markdown(asyncio.run(table())))
