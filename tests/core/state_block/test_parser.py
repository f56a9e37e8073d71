"""From replies to fields: which block counts, how much of it, and that nothing raises or runs away."""

from __future__ import annotations

import time
import unicodedata

import pytest
from attrs import asdict
from hypothesis import example, given
from hypothesis import strategies as st

from saga_core.language import clean_name
from saga_core.state_block import (
    BlockFields,
    BlockStatus,
    ItemAmount,
    RawBlock,
    hide,
    parse_block,
    read_hidden,
    read_reply,
)
from saga_core.trackers import Tracker, Trackers
from tests.blocks import render_block
from tests.core.state_block.written_fields import fields as block_fields

OK, PARTIAL, FALLBACK = BlockStatus.OK, BlockStatus.PARTIAL, BlockStatus.FALLBACK

PIECES = (
    *(
        "location",
        "location_moved",
        "hp_change",
        "items_gained",
        "items_transferred",
        "npc_met",
        "relationship_changes",
    ),
    *(
        "mood",
        "notes",
        "status_changes",
        "위치",
        "획득",
        "관계 변화",
        "state",
        "from",
        "to",
        "item",
        "name",
        "quantity",
    ),
    *(":", "：", "=", ": ", ", ", ",", "，", "[", "]", "{", "}", "｛", "(", ")", '"', "'", "\\", '\\"', "\\u00", "“"),
    *(
        "\n",
        "\n\n",
        "\n  ",
        "\n- ",
        "\n    - ",
        "\r\n",
        " ",
        "  #",
        "//",
        "|",
        ">",
        "**",
        "`",
        "->",
        "→",
        "<->",
        "<",
        "x2",
    ),
    *("숲", "불꽃 검", "none", "없음", "true", "-15", "15 피해", "1e30", "2개", "...", "0", "\x00", "\ud800", "９"),
)
soups = st.lists(st.sampled_from(PIECES) | st.text(max_size=2), max_size=40).map("".join)


@given(soups, st.booleans())
def test_no_body_raises_and_what_is_read_is_clean(body: str, closed: bool) -> None:
    parsed = parse_block(body, closed=closed)
    assert (parsed.status is FALLBACK) <= (parsed.fields == BlockFields())
    assert parsed.status is not OK or (closed and not parsed.invalid)
    assert bool(parsed.invalid) <= bool(parsed.problems)
    assert len(set(parsed.invalid)) == len(parsed.invalid)
    for text in _texts(asdict(parsed.fields)):
        assert text == clean_name(text)


def _texts(value: object) -> list[str]:
    if isinstance(value, dict):
        return [text for item in value.values() for text in _texts(item)]
    if isinstance(value, list | tuple):
        return [text for item in value for text in _texts(item)]
    return [value] if isinstance(value, str) else []


@given(block_fields)
def test_normalisation_forms_do_not_matter(stated: BlockFields) -> None:
    block = unicodedata.normalize("NFD", render_block(stated))
    assert read_reply(block).fields == stated


@given(block_fields, st.data())
def test_a_cut_block_says_nothing_that_the_whole_block_does_not(stated: BlockFields, data: st.DataObject) -> None:
    block = render_block(stated)
    cut = data.draw(st.integers(0, len(block) - 3))
    reading = read_reply(block[:cut])
    whole = asdict(stated, recurse=False)
    assert all(
        value in (None, ()) or value == whole[name] for name, value in asdict(reading.fields, recurse=False).items()
    )
    assert reading.status is not OK


def test_a_reply_without_a_block() -> None:
    reading = read_reply("그녀는 걸었다.  \n")
    assert reading.visible == "그녀는 걸었다.  \n"
    assert (reading.status, reading.fields) == (FALLBACK, BlockFields())
    assert reading.problems == ("there is no state block",)


@pytest.mark.parametrize("body", ["", "\n\n", "---\n", "{}\n", "none\n", "no changes\n", "변화 없음\n"])
def test_an_empty_block_says_that_nothing_changed(body: str) -> None:
    reading = read_reply(f"말\n```state\n{body}```")
    assert (reading.visible, reading.status, reading.fields, reading.problems) == ("말", OK, BlockFields(), ())


def test_a_block_of_comments_is_no_report() -> None:
    assert read_reply("말\n```state\n...\n```").status is FALLBACK
    reading = read_reply("말\n```state\n# x\n```")
    assert (reading.visible, reading.status, reading.problems) == ("말", FALLBACK, ("the block is empty",))


@pytest.mark.parametrize(
    "body", ["그녀는 숲으로 갔다", "weather: rain", "hp_change: 많이", "[]", "[", "@@@", "숲, 마을"]
)
def test_a_block_in_which_nothing_can_be_read(body: str) -> None:
    reading = read_reply(f"```state\n{body}\n```")
    assert (reading.status, reading.fields) == (FALLBACK, BlockFields())
    assert reading.problems


def test_what_states_no_field_is_reported_and_costs_nothing() -> None:
    parsed = parse_block("location: 숲\n그녀는 걸었다\nweather: rain\n  strong\nmood: calm\n")
    assert (parsed.status, parsed.fields) == (OK, BlockFields(location="숲", mood="calm"))
    assert parsed.problems == ("a line that states no field: '그녀는 걸었다'", "an unknown field: 'weather'")
    assert parse_block(unicodedata.normalize("NFD", "그녀는 걸었다\nmood: x")).problems == parsed.problems[:1]


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ('{"location": "숲", "weather": "rain"}', "an unknown field: 'weather'"),
        ('{"location": "숲", "뭔가"}', "a value that states no field: '뭔가'"),
        ("{location: 숲} 그녀는 걸었다", "a value that states no field: '그녀는 걸었다'"),
        (f'{{"location": "숲", "{"키" * 70}": 1}}', f"an unknown field: '{'키' * 60}'"),
        ("location: 숲\n현재 mood: x", "an unknown field: '현재 mood'"),
        ("location: 숲\n  (어둡다)", "a line that states no field: '(어둡다)'"),
        ("location: 숲\n],", "a line that states no field: '],'"),
    ],
)
def test_what_else_states_no_field(body: str, problem: str) -> None:
    parsed = parse_block(body)
    assert (parsed.status, parsed.fields, parsed.problems) == (OK, BlockFields(location="숲"), (problem,))


def test_the_last_of_several_blocks_counts() -> None:
    reading = read_reply("하나\n```state\nlocation: 숲\nmood: x\n```\n둘\n```state\nlocation: 마을\n```")
    assert reading.visible == "하나\n둘"
    assert reading.fields == BlockFields(location="마을")
    assert (reading.status, reading.problems) == (OK, ("there are 2 state blocks; the last counts",))


def test_a_draft_in_the_thinking_does_not_count() -> None:
    draft = "<think>\n```state\nlocation: 초안\n```\n</think>\n"
    reading = read_reply(draft + "말\n```state\nlocation: 숲\n```")
    assert (reading.visible, reading.fields.location, reading.problems) == ("<think>\n</think>\n말", "숲", ())
    reading = read_reply(draft + "말")
    assert (reading.visible, reading.status, reading.fields) == ("<think>\n</think>\n말", FALLBACK, BlockFields())
    assert reading.problems == ("the only state block is inside the thinking",)


def test_an_open_draft_does_not_swallow_the_reply() -> None:
    reading = read_reply("<think>\n```state\nlocation: 초안\n</think>\n말\n\n```state\nlocation: 숲\n```")
    assert (reading.visible, reading.fields.location, reading.status) == ("<think>\n</think>\n말", "숲", OK)


def test_a_reply_whose_blocks_are_hidden_already() -> None:
    text = "말\n```state\nlocation: 숲"
    assert read_hidden(hide(text)) == read_reply(text)


@pytest.mark.parametrize(
    ("body", "fields", "invalid"),
    [
        ("location: 숲\nmood: ten", BlockFields(location="숲"), ("mood",)),
        ("location: 숲\nmood: tense\n", BlockFields(location="숲", mood="tense"), ()),
        ("location: 숲\nmood: tense\n``", BlockFields(location="숲", mood="tense"), ()),
        ("location: 숲\nitems_gained: [검, 방", BlockFields(location="숲"), ("items_gained",)),
        (
            "location: 숲\nitems_gained:\n  - 검\n  - 방",
            BlockFields(location="숲", items_gained=(ItemAmount("검"),)),
            ("items_gained",),
        ),
        (
            "location: 숲\nitems_gained: [\n  검,\n  방",
            BlockFields(location="숲", items_gained=(ItemAmount("검"),)),
            ("items_gained",),
        ),
        ("location: 숲\nrelation", BlockFields(location="숲"), ()),
        ("mood: x, location: 어둠의", BlockFields(mood="x"), ("location",)),
        ('{\n  "location": "숲",\n  "mood": "te', BlockFields(location="숲"), ("mood",)),
        (
            '{\n  "location": "숲",\n  "npc_met": [\n    "크룩",\n    "라',
            BlockFields(location="숲", npc_met=("크룩",)),
            ("npc_met",),
        ),
        (
            '{\n"mood": "x",\n"npc_met": [{"name": "크룩"},\n{"name"',
            BlockFields(mood="x", npc_met=("크룩",)),
            ("npc_met",),
        ),
        (
            '{\n"mood": "x",\n"hp_change": -5,\n"status_changes": {"크룩":\n"de',
            BlockFields(mood="x", hp_change=-5),
            ("status_changes",),
        ),
        ("mood: ten", BlockFields(), ("mood",)),
        ("", BlockFields(), ()),
    ],
)
def test_of_a_cut_block_the_whole_lines_count(body: str, fields: BlockFields, invalid: tuple[str, ...]) -> None:
    reading = read_reply(f"말\n```state\n{body}")
    assert reading.visible == "말"
    assert (reading.fields, reading.invalid) == (fields, invalid)
    assert reading.status is (FALLBACK if fields == BlockFields() else PARTIAL)
    assert reading.problems[0] == "the block is not closed"
    dropped = body.rpartition("\n")[2].strip("`")
    assert not dropped or any(dropped.strip() in problem for problem in reading.problems)


def test_too_many_entries_are_bounded() -> None:
    parsed = parse_block("items_gained: [" + ", ".join(f"검{n}번" for n in range(2_000)) + "]\nmood: x")
    assert len(parsed.fields.items_gained) == 100
    assert parsed.fields.items_gained[-1] == ItemAmount("검99번")
    assert (parsed.status, parsed.invalid) == (PARTIAL, ("items_gained",))


IN_LINES = "\n".join(f"items_gained: [i{n}]" for n in range(600))
IN_DATA = "{" + ", ".join(f'"items_gained": ["i{n}"]' for n in range(600)) + "}"


@pytest.mark.parametrize("body", [IN_LINES, IN_DATA], ids=["lines", "data"])
def test_a_repeated_field_has_no_more_entries_than_a_list(body: str) -> None:
    parsed = parse_block(body)
    assert len(parsed.fields.items_gained) == 100
    assert parsed.problems == ("items_gained: more than 100 entries; the first 100 count",)


def test_a_repeated_tracker_has_no_more_entries_than_a_list() -> None:
    own = Trackers((Tracker(name="mana"), Tracker(name="luck")))
    parsed = parse_block("\n".join(f"mana: {{m{n}: 1}}\nluck: {{m{n}: 1}}" for n in range(150)), own=own)
    assert len(parsed.fields.counts) == 200
    assert parsed.invalid == ("mana", "luck")


@pytest.mark.parametrize("unit", ["a:\n", "{a, ", '"---, ', "# a\n", "present: [a]\n"])
def test_what_a_block_costs_has_an_end(unit: str) -> None:
    """Each key, value and line is looked at many times over, so 64 KB of them took a second."""

    def taken(size: int) -> float:
        body = "location: Yard\nrelations: " + unit * (size // len(unit))
        began = time.thread_time()
        parse_block(body)
        return time.thread_time() - began

    taken(1_000)
    assert min(taken(64_000) / taken(16_000) for _ in range(3)) < 2


def test_a_body_that_is_too_long_is_cut() -> None:
    parsed = parse_block("location: 숲\n" + "notes: " + "x" * 300_000)
    assert (parsed.status, parsed.fields, parsed.invalid) == (PARTIAL, BlockFields(location="숲"), ("notes",))


def test_problems_are_bounded() -> None:
    parsed = parse_block("mood: x\n" + "뜻 모를 말\n" * 2_000)
    assert len(parsed.problems) == 51
    assert parsed.problems[-1] == "and 1950 more problems"
    assert all(len(problem) < 200 for problem in parsed.problems)


@pytest.mark.parametrize(
    "unit",
    [
        *("[", "{", "(", '"', "'", "“", '"a ', "[(", "{a:", "**", "<", "x2 ", "\\", ", ", "->", "a -> ", "1,000", " 1"),
        *("\n- ", "\nnotes: |\n  ", "items_gained: [", "mood: ", "from: ", "#", "  ", "한 ", "(a", "검 x", "x 검"),
    ],
)
@pytest.mark.parametrize("start", ["", "items_gained: ", "relationship_changes: a -> b: ", "hp_change: ", "notes: "])
def test_no_body_takes_long(start: str, unit: str) -> None:
    began = time.process_time()
    parse_block(start + unit * (30_000 // len(unit)))
    assert time.process_time() - began < 1


def test_blocks_are_values() -> None:
    assert hide("```state\na\n```") == hide("```state\na\n```")
    assert hash(read_reply("```state\nlocation: 숲\n```")) == hash(read_reply("```state\nlocation: 숲\n```"))
    assert RawBlock("a") == RawBlock("a", closed=True, thinking=False)


@given(soups)
@example("\r")
def test_line_ends_do_not_matter(body: str) -> None:
    body = body.replace("\r\n", "\n").replace("\r", "\n")
    assert parse_block(body.replace("\n", "\r\n")) == parse_block(body)


@pytest.mark.parametrize(
    "body",
    [
        '--- {"location": "hall", "location_moved": !!null "null",\r\n    "present":    ["Mina", "Joon"],\r\n'
        '    "items_gained": ["old\\\r\n        \\ map"], "mood": "calm"}\r\n',
        "'location': hall\n'present':\n- 'Mina'\n- 'Joon'\n'items_gained': [old\n      map]\n\"\\u006dood\": calm\n",
        "block\n{'location': 'hall', 'present': ['Mina', 'Joon'], 'items_gained': ['old map'], 'mood': 'calm'}\n",
        "\u2212 `location:` hall\n\u2212 `present:` [Mina, Joon]\n"
        "\u2212 `items_gained:` [old map]\n\u2212 `mood:` calm\n",
    ],
)
def test_yaml_in_quotes_and_braces_is_read_as_yaml_is(body: str) -> None:
    reading = parse_block(body)
    assert (reading.status, reading.problems) == (BlockStatus.OK, ())
    assert (reading.fields.location, reading.fields.present, reading.fields.mood) == ("hall", ("Mina", "Joon"), "calm")
    assert [each.name for each in reading.fields.items_gained] == ["old map"]
