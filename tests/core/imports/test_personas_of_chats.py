"""Personas of SillyTavern, imported beside the chats that name them."""

from __future__ import annotations

from saga_core import Saga
from saga_core.extraction import read_delta
from saga_core.maintenance import ImportOptions
from saga_core.model import ReportStatus, Source, deltas
from saga_core.state_block import read_reply
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
        taken = await saga.maintenance.import_files(list(files), ImportOptions())
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


async def players(*rows: dict[str, object], head: dict[str, object] | None = None) -> list[str]:
    """Whom the player plays at each turn of a chat."""
    raw = samples.jsonl(head or {"chat_metadata": {}, "user_name": "unused", "character_name": "unused"}, *rows)
    async with Saga.open({"storage": {"profile": "memory"}}) as saga:
        taken = await saga.maintenance.import_files([("a.jsonl", raw)], ImportOptions())
        live = await saga.parts.live.get(taken.things[0].session or "")
        states = [await live.state(node.id) for node in live.tree.path(live.head)]
        assert all(node.status is ReportStatus.FALLBACK for node in live.tree.path(live.head)[1:]), (
            "nothing was reported"
        )
        return [state.name(state.player) for state in states][1:]


async def test_a_chat_says_under_which_name_its_player_plays() -> None:
    said = [samples.message("Ysolde", "Come in."), samples.message("Haru", "I come in.", user=True)]
    said += [samples.message("Ysolde", "Sit down."), samples.message("Haru", "I sit.", user=True)]
    said += [samples.message("Ysolde", "Drink."), samples.message("Tam", "I drink.", user=True)]
    said += [samples.message("Ysolde", "And who are you?"), samples.message("Haru", "Never mind.", user=True)]
    said += [samples.message("Ysolde", "Good.")]
    assert await players(*said) == ["Haru", "Haru", "Tam", "Haru"]


async def test_words_for_players_are_no_names() -> None:
    unnamed = await players(samples.message("", "I come in.", user=True), samples.message("Ysolde", "Sit down."))
    for name in ("You", "User", "{{user}}", "x" * 60):
        said = [samples.message(name, "I come in.", user=True), samples.message("Ysolde", "Sit down.")]
        assert await players(*said) == unnamed, name
    head = {"user_name": "Haru", "character_name": "Ysolde", "create_date": "2024-1-1", "chat_metadata": {}}
    said = [samples.message("", "I come in.", user=True), samples.message("Ysolde", "Sit down.")]
    assert await players(*said, head=head) == ["Haru"]


async def test_what_is_read_of_a_chat_is_said_of_its_player() -> None:
    """A model that reads the turns calls her by her name, and means nobody else."""
    said = [samples.message("Haru", "I come in.", user=True), samples.message("Ysolde", "Haru takes the lamp.")]
    async with Saga.open({"storage": {"profile": "memory"}}) as saga:
        taken = await saga.maintenance.import_files(
            [("a.jsonl", samples.jsonl({"chat_metadata": {}}, *said))], ImportOptions()
        )
        live = await saga.parts.live.get(taken.things[0].session or "")
        state = await live.state(live.head)
        reading = read_reply("Haru takes the lamp.\n```state\npresent: [Haru, Ysolde]\n```")
        delta = read_delta(reading, state, source=Source.EXTRACTION)
        introduced = [event.name for event in delta.events if isinstance(event, deltas.Introduced)]
        assert introduced == ["Ysolde"]
