"""Stories that are known: sessions in a real journal, in memory, told turn by turn."""

from __future__ import annotations

from typing import Any

from attrs import define, field

from saga_backends.memory import MemoryState
from saga_core.journal import Journal, TurnEntry, make_root
from saga_core.model import Session, Tree, Turn, TurnKind
from saga_core.transcript import Transcript, opening_key, read_transcript, words_key
from saga_core.transcript.matching import Matcher
from saga_core.world import World

KO = [
    "바람이 불어와 등불이 크게 흔들리고 누군가 문을 세게 두드린다.",
    "문이 열리자 젖은 외투를 입은 기사가 말없이 들어와 앉는다.",
]
EN = [
    "The wind comes in and the lamp gutters while somebody knocks.",
    "The door opens and a knight in a wet coat sits down.",
]
"""Replies long enough to prove a place by themselves."""


def user(*texts: str) -> list[dict[str, Any]]:
    """Messages of the player."""
    return [{"role": "user", "content": text} for text in texts]


def told(*texts: str) -> list[dict[str, Any]]:
    """Words and replies in turn, the player first."""
    return [{"role": "assistant" if at % 2 else "user", "content": text} for at, text in enumerate(texts)]


@define
class Shelf:
    """A journal with sessions, and who finds a place among them."""

    journal: Journal = field(factory=lambda: Journal(MemoryState()))
    sessions: dict[str, Session] = field(factory=dict)
    number: int = 0

    @property
    def matcher(self) -> Matcher:
        """Over the journal as it is."""
        return Matcher(self.journal, self.tree)

    async def tree(self, session: str) -> Tree:
        """A session's tree."""
        return await self.journal.tree(session)

    async def begin(self, session: str = "s1", *, owner: str = "", world: str = "ersia", greeting: str = "") -> str:
        """A session with its root alone. Gives the id of the root."""
        root = make_root(session, f"{session}-root", 0.0, greeting)
        self.sessions[session] = Session(session, root.id, owner, world=world, digest=world, head=root.id)
        await self.journal.create_session(self.sessions[session], root, World(world, world))
        return root.id

    async def tell(
        self, parent: str, words: str, reply: str, *, kind: TurnKind = TurnKind.NARRATION, opening: str = ""
    ) -> str:
        """A turn behind ``parent``. Gives its id; ids ascend."""
        self.number += 1
        session = self.sessions[parent.split("-")[0]]
        tree = await self.tree(session.id)
        above = tree.get(parent)
        turn = Turn(
            f"{session.id}-t{self.number:03}",
            session.id,
            parent,
            above.depth + 1,
            float(self.number),
            words,
            reply,
            kind=kind,
            jump=tree.jump_for(parent),
        )
        said = words_key(read_transcript(user(words)).words if words else ())
        self.sessions[session.id] = await self.journal.append(
            session, [TurnEntry(turn, said)], head=turn.id, opening=opening
        )
        return turn.id

    async def story(self, *texts: str, session: str = "s1", **options: str) -> list[str]:
        """A session in which words and replies follow one another. Gives the ids of its turns, the root first."""
        ids = [await self.begin(session, **options)]
        opened = opening_key(first_request(options.get("greeting", ""), texts[0])) if texts else ""
        for at in range(0, len(texts), 2):
            ids.append(await self.tell(ids[-1], texts[at], texts[at + 1], opening="" if at else opened))
        return ids


def first_request(greeting: str, words: str) -> Transcript:
    """A chat's first request."""
    before = [{"role": "assistant", "content": greeting}] if greeting else []
    return read_transcript([*before, *user(words)])
