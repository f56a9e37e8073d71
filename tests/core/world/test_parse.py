"""What the parser accepts, in both languages, and how it refuses the rest."""

from __future__ import annotations

import pytest

from saga_core.errors import BadInput
from saga_core.language import known
from saga_core.world import (
    CharacterSheet,
    ItemStack,
    LoreEntry,
    SheetRelation,
    World,
    WorldError,
    parse_world,
)

# The files as the research note has them: no front matter, no field beyond its own.
OLD_WORLD = "# 에르시아\n\n장르: 판타지. 화폐는 은화.\n"
OLD_CHARACTERS = """# 캐릭터

## 아리아
- player: true
- hp: 100
- max_hp: 100
- 위치: 마을 광장
- 성격: 용감함, 호기심, 다정함
- 기분: neutral
- 직업: 모험가
- 배경: 변방에서 자란 검사

## 에르겐
- player: false
- 위치: 마을 광장
- 성격: 신중함
- 직업: 약초상
"""
OLD_LOREBOOK = """## 마을 광장
- 타입: location
- 레이어: A2
- 태그: 마을, 광장

우물이 있는 광장.

둘째 문단.

## 에르겐의 비밀
- 타입: event
- 레이어: A4
- 태그: 에르겐, 비밀

그는 숨기는 것이 있다.
"""


def lore(text: str) -> LoreEntry:
    world, _ = parse_world({"LOREBOOK.md": text}, "w")
    return world.lore[0]


def sheet(text: str) -> CharacterSheet:
    world, _ = parse_world({"CHARACTERS.md": text}, "w")
    return world.characters[0]


def faults(**files: str) -> list[str]:
    with pytest.raises(WorldError) as caught:
        parse_world({f"{file}.md": text for file, text in files.items()}, "ersia")
    assert isinstance(caught.value, BadInput)
    assert str(caught.value) == "\n".join(str(problem) for problem in caught.value.problems)
    return [str(problem) for problem in caught.value.problems]


def warnings(**files: str) -> tuple[str, ...]:
    return parse_world({f"{file}.md": text for file, text in files.items()}, "ersia")[1]


def test_files_with_only_the_notes_fields_load() -> None:
    files = {"WORLD.md": OLD_WORLD, "CHARACTERS.md": OLD_CHARACTERS, "LOREBOOK.md": OLD_LOREBOOK}
    world, said = parse_world(files, "my_world")
    assert said == ()
    assert world == World(
        name="my_world",
        title="에르시아",
        language="ko",
        description="# 에르시아\n\n장르: 판타지. 화폐는 은화.",
        characters=(
            CharacterSheet(
                name="아리아",
                player=True,
                hp=100,
                max_hp=100,
                location="마을 광장",
                traits=("용감함", "호기심", "다정함"),
                mood="neutral",
                occupation="모험가",
                background="변방에서 자란 검사",
            ),
            CharacterSheet(name="에르겐", location="마을 광장", traits=("신중함",), occupation="약초상"),
        ),
        lore=(
            LoreEntry(
                name="마을 광장",
                type="location",
                layer="A2",
                tags=("마을", "광장"),
                text="우물이 있는 광장.\n\n둘째 문단.",
            ),
            LoreEntry(
                name="에르겐의 비밀",
                type="event",
                layer="A4",
                tags=("에르겐", "비밀"),
                text="그는 숨기는 것이 있다.",
            ),
        ),
    )
    assert world.player is world.characters[0]


KOREAN = """## 크룩
- 플레이어: 아니오
- 체력: 60
- 최대 체력: 80
- 위치: 숲
- 성격: 교활함
- 기분: 의심
- 직업: 왕
- 배경: 굴에서 자랐다
- 상태: 부상
- 별칭: 고블린왕
- 소지품: 치유 물약 x2, 낡은 왕관 (장착), 돌 × 3 (장착)
- 관계: 아리아: hostile -2, 숲: 주인
- 무게: 90kg
"""
ENGLISH = """## 크룩
- player: no
- hp: 60
- Max HP: 80
- location: 숲
- Traits: 교활함
- mood: 의심
- occupation: 왕
- background: 굴에서 자랐다
- status: 부상
- aliases: 고블린왕
- items: 치유 물약 x2, 낡은 왕관 (equipped), 돌 X3 (Equipped)
- relations: 아리아: hostile -2, 숲: 주인
- 무게: 90kg
"""


def test_korean_and_english_keys_say_the_same() -> None:
    assert sheet(KOREAN) == sheet(ENGLISH)
    assert sheet(KOREAN) == CharacterSheet(
        name="크룩",
        hp=60,
        max_hp=80,
        location="숲",
        traits=("교활함",),
        mood="의심",
        occupation="왕",
        background="굴에서 자랐다",
        status="부상",
        aliases=("고블린왕",),
        items=(ItemStack("치유 물약", 2), ItemStack("낡은 왕관", 1, True), ItemStack("돌", 3, True)),
        relations=(SheetRelation("아리아", "hostile", -2), SheetRelation("숲", "주인", 0)),
        extra=(("무게", "90kg"),),
    )


def test_lore_fields_in_both_languages() -> None:
    korean = lore(
        "## 숲\n- 타입: 장소\n- 레이어: a1\n- 태그: 나무\n- 별칭: 큰 숲\n- 상시: 예\n- 인접: 광장\n- 관련: 붕괴\n"
        "- 장소: 유적\n- 아이템: 검\n- 아는 이: 크룩\n- 비밀: true\n\n글"
    )
    english = lore(
        "## 숲\n- type: Location\n- layer: A1\n- tags: 나무\n- aliases: 큰 숲\n- constant: yes\n- neighbors: 광장\n"
        "- related: 붕괴\n- places: 유적\n- items: 검\n- known by: 크룩\n- secret: TRUE\n\n글"
    )
    assert korean == english
    assert korean == LoreEntry(
        name="숲",
        type="location",
        layer="A1",
        tags=("나무",),
        aliases=("큰 숲",),
        text="글",
        constant=True,
        neighbours=("광장",),
        related=("붕괴",),
        places=("유적",),
        items=("검",),
        known_by=("크룩",),
        secret=True,
    )


def test_an_indented_list_stands_for_a_line_with_commas() -> None:
    nested = "## a\n- items:\n  - rope x2\n  - lamp (equipped)\n\n- relations:\n\n\t* b: kin +1\n- mood: calm\n\nText."
    flat = "## a\n- items: rope x2, lamp (equipped)\n- relations: b: kin +1\n- mood: calm\n\nText."
    assert sheet(nested) == sheet(flat)
    assert sheet(flat).body == "Text."


def test_loose_bold_and_fullwidth_fields_are_read() -> None:
    text = "## a\n\n- **hp**: 3\n\n* **mood:** calm\n\n+ 위치：숲\n- **성격: 밝음\n\n본문"
    assert sheet(text) == CharacterSheet(name="a", hp=3, mood="calm", location="숲", traits=("밝음",), body="본문")


def test_an_escaped_comma_stays_in_its_name() -> None:
    assert sheet("## a\n- traits: slow\\, but kind, loud").traits == ("slow, but kind", "loud")


def test_text_keeps_lists_headings_and_escapes() -> None:
    entry = lore(
        "## a\n- type: item\n- layer: A1\n\n\\- first: x\n- second: y\n### part\n\\## not an entry\n\\# nor this"
    )
    assert entry.text == "- first: x\n- second: y\n### part\n## not an entry\n# nor this"


def test_bullets_without_a_key_are_text() -> None:
    assert sheet("## a\n- mood: calm\n- just words\n- hp: 3").body == "- just words\n- hp: 3"


def test_names_are_found_by_alias_whatever_the_spacing() -> None:
    world, _ = parse_world(
        {
            "CHARACTERS.md": "## 고블린왕 크룩\n- 별칭: 크룩, 아리아\n## 아리아 2",
            "LOREBOOK.md": "## 어둠의 숲\n- 타입: location\n- 레이어: A1\n- 별칭: Dark Wood",
        },
        "w",
    )
    assert world.character("고블린왕크룩") is world.character("크룩") is world.characters[0]
    assert world.entry("어둠의숲") is world.entry("dark wood") is world.lore[0]
    assert world.character("숲") is None
    assert world.entry("") is None


FRONT = """---
# what frontends see
title: "SAGA: a \\"tale\\"\\nin two lines"   # quoted
language: en
aliases: [my_world, 'it''s', "a, b"]
match:
  - Ersia
# a comment between
  - 에르시아   # and one behind
선택: 없음
greeting: Hello there # hidden
start_events: rain
---
# 에르시아

- title: not a field
"""


def test_front_matter() -> None:
    world, said = parse_world({"WORLD.md": FRONT}, "w")
    assert world == World(
        name="w",
        title='SAGA: a "tale" in two lines',
        language="en",
        aliases=("my_world", "it's", "a, b"),
        match=("Ersia", "에르시아"),
        greeting="Hello there",
        start_events=("rain",),
        description="# 에르시아\n\n- title: not a field",
    )
    assert len(said) == 1
    assert said[0].startswith('worlds/w/WORLD.md:10: key "선택" is ignored; known are title, language')


def test_defaults_come_from_the_text() -> None:
    world, _ = parse_world({"WORLD.md": "Rain."}, "wet")
    assert (world.title, world.language) == ("wet", "en")
    world, _ = parse_world({"WORLD.md": "A land.", "CHARACTERS.md": "## 아리아"}, "wet")
    assert world.language == "ko"
    world, _ = parse_world({"WORLD.md": "---\ntitle:\naliases:\n---\n# Heading"}, "wet")
    assert (world.title, world.aliases) == ("", ())


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("---\ntitle: x\n", 1, "has no end"),
        ("---\ntitle: x\n  y: z\n---", 3, "mapping values are not allowed here"),
        ("---\nmatch: x\ntitle: {a: b}\n---", 3, "neither a text nor a list of texts"),
        ("---\ntitle: &a b\n---", 2, "neither a text nor"),
        ("---\ntitle: *a\n---", 2, "neither a text nor"),
        ("---\ntitle: !!str b\n---", 2, "neither a text nor"),
        ("---\n? [a, b]\n: c\n---", 2, "neither a text nor"),
        ("---\ntitle: a: b\n---", 2, "mapping values are not allowed here; put the value into double quotes"),
        ("---\ntitle: b:\n---", 2, "mapping values are not allowed here"),
        ('---\ntitle: "a\n---', 2, "while scanning a quoted scalar"),
        ("---\ntitle: 'a\nmatch: x\n---", 2, "while scanning a quoted scalar"),
        ('---\ntitle: "a" b\n---', 2, "while parsing a block mapping"),
        ("---\ntitle: @you\n---", 2, "cannot start any token"),
        ("---\ntitle: a\x07b\n---", 2, "sign U+0007 is not read here"),
        ("---\nmatch: [a, b\n---", 2, "while parsing a flow sequence"),
        ("---\nmatch: [a, [b]]\n---", 2, "neither a text nor"),
        ("---\nmatch: [a,, b]\n---", 2, "while parsing a flow"),
        ("---\nmatch: [a] b\n---", 2, "while parsing a block mapping"),
        ("---\nmatch:\n- a: b\n---", 2, "neither a text nor"),
        ("---\ntitle: [a]\n---", 2, "is a list"),
        ("---\ntitle: a\n--- #\ntitle: b\n---", 3, "more than one YAML document"),
        ("---\ntitle: a\ntitle: b\n---", 3, "stands twice"),
        ("---\ntitle: a\n제목: b\n---", 3, "stands twice"),
        ("---\njust words\n---", 2, 'is not "key: value"'),
        ("---\n- a\n---", 2, 'is not "key: value"'),
        ("---\ntitle:x\n---", 2, 'is not "key: value"'),
        ("---\nlanguage: xx\n---", 2, f"use one of {', '.join(known())}"),
    ],
)
def test_other_yaml_is_refused_with_its_line(text: str, line: int, words: str) -> None:
    found = faults(WORLD=text)
    assert found[0].startswith(f"worlds/ersia/WORLD.md:{line}: ")
    assert words in found[0]


def test_one_refusal_does_not_hide_the_next() -> None:
    text = "---\ntitle: {x: y}\nlanguage: xx\nmatch:\n  - {a}\n  - b\naliases: [c\n---"
    assert sorted(problem.split(":")[1] for problem in faults(WORLD=text)) == ["2", "3", "4", "7"]


def test_front_matter_may_use_what_yaml_has_for_texts() -> None:
    text = (
        "---\ntitle: >-\n  The long\n  way home\nmatch:\n  - \"\\u0041nsel\"\n  - 'it''s'\n# no\nyes: no\n---\nA land."
    )
    world, said = parse_world({"WORLD.md": text}, "w")
    assert (world.title, world.match, world.description) == ("The long way home", ("Ansel", "it's"), "A land.")
    assert 'key "yes" is ignored' in said[0]


def test_the_message_names_file_line_field_value_and_remedy() -> None:
    assert faults(LOREBOOK="## 숲\n- 타입: location\n- 레이어: A9\n") == [
        'worlds/ersia/LOREBOOK.md:3: field "레이어" is "A9"; use one of A1, A2, A3, A4'
    ]


@pytest.mark.parametrize(
    ("file", "text", "line", "words"),
    [
        ("CHARACTERS", "## a\n- hp: many", 2, '"hp" is "many"; use a whole number'),
        ("CHARACTERS", "## a\n- 체력: -3", 2, '"체력" is "-3"'),
        ("CHARACTERS", "## a\n- max_hp: 9999999999", 2, "whole number"),
        ("CHARACTERS", "## a\n- hp: 12\n- max_hp: 10", 1, "above max_hp 10"),
        ("CHARACTERS", "## a\n- player: true\n\n## b\n- player: true", 4, "second player"),
        ("CHARACTERS", "## a\n- player: maybe", 2, "use one of true, false"),
        ("CHARACTERS", "## 어둠 왕\n\n## 어둠왕", 3, "stands twice, first on line 1"),
        ("CHARACTERS", "## a\n- aliases: c\n## b\n- aliases: C", 3, 'alias "C" of "b" also means "a"'),
        ("CHARACTERS", "## a\n- aliases: b\n## b", 1, 'alias "b" of "a" also means "b"'),
        ("CHARACTERS", "## a\n- hp: 3\n- 체력: 3", 3, '"체력" stands twice, first on line 2'),
        ("CHARACTERS", "## a\n- 참고: x\n- 참고: y", 3, "stands twice"),
        ("CHARACTERS", "## a\n- items: rope x0", 2, 'has "rope x0"; use a quantity'),
        ("CHARACTERS", "## a\n- relations: b", 2, "write name: kind strength"),
        ("CHARACTERS", "## a\n- relations: b: +2", 2, "write name: kind strength"),
        ("CHARACTERS", "##  \n- hp: 3", 1, "a heading has no name"),
        ("CHARACTERS", "# 인물\n- hp: 3", 2, 'field "hp" stands under no heading'),
        ("CHARACTERS", "# 인물\n아무 말", 2, "no heading in the file"),
        ("LOREBOOK", "\n그냥 글", 2, "no heading in the file"),
        ("LOREBOOK", "## a\n- type: place\n- layer: A1", 2, "use one of location, item, character"),
        ("LOREBOOK", "## a\n- type: item\n- layer: 1", 3, "use one of A1, A2, A3, A4"),
        ("LOREBOOK", "## a\n- 비밀: 아마", 2, "use one of true, false"),
    ],
)
def test_broken_sections_name_file_and_line(file: str, text: str, line: int, words: str) -> None:
    found = faults(**{file: text})
    assert len(found) == 1
    assert found[0].startswith(f"worlds/ersia/{file}.md:{line}: ")
    assert words in found[0]


def test_all_problems_come_together() -> None:
    found = faults(WORLD="---\nx", CHARACTERS="## a\n- hp: x\n- max_hp: y", LOREBOOK="## b\n- layer: A0")
    assert [problem.split(":")[0] for problem in found] == [
        "worlds/ersia/CHARACTERS.md",
        "worlds/ersia/CHARACTERS.md",
        "worlds/ersia/LOREBOOK.md",
        "worlds/ersia/WORLD.md",
    ]


def test_references_that_lead_nowhere_are_warnings() -> None:
    said = warnings(
        CHARACTERS="## 아리아\n- 위치: 없는 곳\n- 소지품: 검\n- 관계: 에르겐: knows\n## 크룩\n- 위치: 큰 숲",
        LOREBOOK=(
            "## 숲\n- 타입: location\n- 레이어: A1\n- 별칭: 큰 숲\n- 인접: 에르겐의 비밀, 숲\n\n"
            "## 에르겐의 비밀\n- 타입: concept\n- 레이어: A4\n- 인접: 숲\n- 관련: 숲, 크룩\n- 장소: 바다\n"
            "- 아이템: 검, 방패\n- 아는 이: 크룩, 숲"
        ),
    )
    assert said == (
        'worlds/ersia/CHARACTERS.md:2: "아리아" names "없는 곳", which is no location of this world',
        'worlds/ersia/CHARACTERS.md:4: "아리아" names "에르겐", which is no character of this world',
        'worlds/ersia/LOREBOOK.md:5: "숲" names "에르겐의 비밀", which is no location of this world',
        'worlds/ersia/LOREBOOK.md:12: "에르겐의 비밀" names "바다", which is no location of this world',
        'worlds/ersia/LOREBOOK.md:11: "에르겐의 비밀" names "크룩", which is no lore entry of this world',
        'worlds/ersia/LOREBOOK.md:13: "에르겐의 비밀" names "방패", which is no item of this world',
        'worlds/ersia/LOREBOOK.md:14: "에르겐의 비밀" names "숲", which is no character of this world',
        'worlds/ersia/LOREBOOK.md:10: "에르겐의 비밀" is no location, so it has no neighbours',
    )


def test_slips_are_warnings() -> None:
    assert warnings(CHARACTERS="## a\n- locaton: x\n- weight: 3") == (
        'worlds/ersia/CHARACTERS.md:2: field "locaton" is not known; was "location" meant?',
    )
    assert warnings(LOREBOOK="## a") == (
        'worlds/ersia/LOREBOOK.md:1: "a" has no type; read as concept',
        'worlds/ersia/LOREBOOK.md:1: "a" has no layer; read as A3',
    )
    one, two = ("\n".join((f"## {name}", "- type: item", "- layer: A1", "")) for name in "ab")
    text = f"# 머리말\n소개 글\n{one}# 다음\n잃어버릴 글\n둘째 줄\n{two}"
    assert warnings(LOREBOOK=text) == (
        'worlds/ersia/LOREBOOK.md:7: text under a "#" heading is not read; inside an entry use "###"',
    )


@pytest.mark.parametrize("row", ["hp: 3", "**HP:** 3", "체력： 3"])
def test_a_field_without_its_dash_is_a_warning(row: str) -> None:
    message = f'worlds/ersia/CHARACTERS.md:3: "{row}" has no dash and is read as text; write "- {row}"'
    assert warnings(CHARACTERS=f"## a\n- 기분: x\n{row}") == (message,)
    assert warnings(CHARACTERS=f"## a\n- 기분: x\n\n{row}") == (), "behind a blank line it is text"
    assert warnings(CHARACTERS=f"## a\n- 기분: x\n\\{row}") == ()


def test_an_empty_field_says_nothing() -> None:
    assert sheet("## a\n- hp:\n- 위치:\n- 성격:\n- 참고:") == CharacterSheet(name="a", extra=(("참고", ""),))


def test_other_files_are_refused() -> None:
    with pytest.raises(BadInput, match=r"NOTES\.md.*a world has WORLD\.md, CHARACTERS\.md, LOREBOOK\.md"):
        parse_world({"WORLD.md": "", "NOTES.md": ""}, "w")
    with pytest.raises(BadInput):
        parse_world({}, "w")


def test_messages_show_the_folder_they_are_given() -> None:
    with pytest.raises(WorldError) as caught:
        parse_world({"LOREBOOK.md": "## a\n- layer: A9"}, "w", "data/worlds/w")
    assert (caught.value.file, caught.value.line) == ("data/worlds/w/LOREBOOK.md", 2)
    assert caught.value.message == 'field "layer" is "A9"'
    assert caught.value.remedy == "use one of A1, A2, A3, A4"


def test_values_are_checked_when_made_in_code() -> None:
    with pytest.raises(BadInput, match=r'LoreEntry.type is "place"; use one of location'):
        LoreEntry(name="a", type="place", layer="A1")
    with pytest.raises(BadInput, match=r'LoreEntry.layer is "1"; use one of A1'):
        LoreEntry(name="a", type="item", layer="1")
    with pytest.raises(BadInput, match=f'World.language is "xx"; use one of {", ".join(known())}'):
        World(name="a", title="b", language="xx")
    with pytest.raises(BadInput, match=r"CharacterSheet.name is empty"):
        CharacterSheet(name=" ")
    with pytest.raises(ValueError, match="at least one problem"):
        WorldError([])
