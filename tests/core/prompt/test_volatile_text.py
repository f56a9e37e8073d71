from __future__ import annotations

from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from saga_core.messages import Block
from saga_core.prompt.plan import client_blocks
from saga_core.prompt.prefix import VolatileText, _units

RULES = "\n".join(f"Rule {n}: the narrator keeps to what was said before, and says it well." for n in range(40))


def request(system: list[str], dialogue: list[tuple[str, str]], words: str = "Go on.") -> tuple[Block, ...]:
    messages = [
        *({"role": "system", "content": text} for text in system),
        *({"role": role, "content": text} for role, text in dialogue),
        {"role": "user", "content": words},
    ]
    return client_blocks(messages)


def talk(turns: int) -> list[tuple[str, str]]:
    return [(role, f"{role} {turn}") for turn in range(turns) for role in ("user", "assistant")]


def leading(blocks: Iterable[Block]) -> list[str]:
    return [block.text for block in blocks if block.is_system]


def test_the_time_of_day_leaves_the_prefix() -> None:
    volatile = VolatileText()
    seen = []
    for minute in range(5):
        system = f"{RULES}\nIt is 12:{minute:02d} now.\nNever speak for the player."
        found = volatile.arrange(request([system], talk(minute)), len)
        seen.append((leading(found.blocks), found.relocated))
    assert seen[0][1] == ""
    assert [relocated for _, relocated in seen[1:]] == [f"It is 12:{minute:02d} now." for minute in range(1, 5)]
    assert len({tuple(system) for system, _ in seen[1:]}) == 1
    assert "It is" not in seen[1][0][0] and "Never speak for the player." in seen[1][0][0]


def test_an_entry_that_comes_and_goes_is_carried_while_it_is_there() -> None:
    volatile = VolatileText()
    entry = "The brass key opens the flooded archive."
    for turn in range(8):
        system = [RULES, entry, "Be brief."] if turn in (3, 4) else [RULES, "Be brief."]
        found = volatile.arrange(request(system, talk(turn)), len)
        assert leading(found.blocks) == [RULES, "Be brief."]
        assert found.relocated == (entry if turn in (3, 4) else "")


def test_a_note_at_a_depth_is_carried_and_a_line_of_the_history_is_not() -> None:
    volatile = VolatileText()
    note, scene = ("system", "[It is raining salt.]"), ("system", "[Chapter two]")
    for turn in range(2, 8):
        dialogue = talk(turn)
        dialogue.insert(2, scene)
        dialogue.insert(len(dialogue) - 1, note)
        found = volatile.arrange(request([RULES], dialogue), len)
        assert scene[1] in leading(found.blocks)
        if turn > 2:
            assert found.relocated == note[1]
            assert note[1] not in leading(found.blocks)


def test_what_passes_the_place_of_a_note_and_stays_is_history() -> None:
    volatile = VolatileText()
    for turn in range(2, 10):
        dialogue = talk(turn)
        dialogue.insert(len(dialogue) - 1, ("system", f"[Rain {turn}]"))
        if turn >= 5:
            dialogue.insert(9, ("system", "[Somebody leaves the room.]"))
        found = volatile.arrange(request([RULES], dialogue), len)
        if turn > 6:
            assert found.relocated == f"[Rain {turn}]"
            assert "[Somebody leaves the room.]" in leading(found.blocks)


def test_a_swipe_does_not_make_a_note_stand_still() -> None:
    volatile = VolatileText()
    for turn in (2, 3, 3, 3, 4, 4):
        dialogue = talk(turn)
        dialogue.insert(len(dialogue) - 1, ("system", "[Rain]"))
        found = volatile.arrange(request([RULES], dialogue), len)
        assert found.relocated == ("[Rain]" if turn > 2 else "")


def test_another_prompt_is_taken_as_it_is() -> None:
    volatile = VolatileText()
    volatile.arrange(request([RULES], talk(1)), len)
    other = "\n".join(f"Now the {n}th thing is quite another one." for n in range(40))
    found = volatile.arrange(request([other], talk(2)), len)
    assert leading(found.blocks) == [other] and found.relocated == ""


def test_what_settled_goes_into_a_prefix_that_is_written_anyway() -> None:
    volatile = VolatileText()
    volatile.arrange(request([RULES], talk(1)), len)
    entry = "The archive is flooded."
    for turn in range(2, 5):
        assert volatile.arrange(request([RULES, entry], talk(turn)), len).relocated == entry
    found = volatile.arrange(request([RULES, entry], talk(5)), len, fold=True)
    assert found.relocated == "" and leading(found.blocks) == [RULES, entry]


def test_a_line_is_carried_with_what_says_what_it_is() -> None:
    volatile = VolatileText()
    for hour in (1, 2):
        system = f"{RULES}\n<time>\n{hour}:00\n</time>"
        found = volatile.arrange(request([system], talk(hour)), len)
    assert found.relocated == "<time>\n2:00"


@given(st.text(alphabet="ab .!?\n가。", max_size=900))
def test_units_are_the_text_again(text: str) -> None:
    assert "".join(_units(text)) == text


pieces = st.lists(st.sampled_from([f"Line {n} of the story's rules, as it is.\n" for n in range(12)]), max_size=12)


@given(st.lists(pieces, min_size=1, max_size=6), st.booleans())
def test_no_text_is_lost_and_none_added(prompts: list[list[str]], fold: bool) -> None:
    """Whatever the client sends: what stays and what is relocated are its own lines, each as often as it sent them."""
    volatile = VolatileText()
    for turn, lines in enumerate(prompts):
        text = "".join(dict.fromkeys(lines))
        found = volatile.arrange(request([RULES + "\n" + text], talk(turn)), len, fold=fold)
        kept = "".join(leading(found.blocks)).splitlines() + found.relocated.splitlines()
        assert sorted(line for line in kept if line) == sorted(
            line for line in (RULES + "\n" + text).splitlines() if line
        )
