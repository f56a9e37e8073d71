"""Personas of SillyTavern, imported beside the chats that name them."""

from __future__ import annotations

from saga_core import Saga
from saga_core.maintenance import TakeIn
from tests.core.imports import samples

PERSONAS = samples.plain(
    {
        "personas": {"mira.png": "Mira", "tam.png": "Tam"},
        "persona_descriptions": {"mira.png": {"description": "A miller."}},
        "default_persona": "tam.png",
    }
)


def chat(persona: str, name: str = "") -> bytes:
    """A newer chat, whose header says nothing of who plays."""
    head = {"chat_metadata": {"persona": persona}, "user_name": "unused", "character_name": "unused"}
    return samples.jsonl(
        head,
        samples.message("Ysolde", "Come in."),
        samples.message(name, "I come in.", user=True),
        samples.message("Ysolde", "Sit down, {{user}}, by the fire."),
    )


async def reply(*files: tuple[str, bytes]) -> str:
    async with Saga.open({"storage": {"profile": "memory"}}) as saga:
        taken = await saga.maintenance.take_in(list(files), TakeIn())
        (session,) = {thing.session for thing in taken.things} - {None}
        assert session is not None
        live = await saga.parts.live.get(session)
        (turn,) = await saga.parts.journal.turns(session, [live.head])
        return turn.reply


async def test_a_chat_has_its_players_name_from_its_persona() -> None:
    personas = ("personas.json", PERSONAS)
    assert await reply(personas, ("a.jsonl", chat("mira.png"))) == "Sit down, Mira, by the fire."
    assert await reply(("a.jsonl", chat("tam.png")), personas) == "Sit down, Tam, by the fire."
    assert await reply(personas, ("a.jsonl", chat("mira.png", "Ada"))) == "Sit down, Ada, by the fire."
    for files in ([("a.jsonl", chat("mira.png"))], [personas, ("a.jsonl", chat("nobody.png"))]):
        assert await reply(*files) == "Sit down, {{user}}, by the fire."
