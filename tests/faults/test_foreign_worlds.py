"""World folders that a stranger wrote: a clear fault with file, line and remedy, or a world that can be played.

Whatever stands in one folder, the others can be played, and reading takes time in proportion to the text.
"""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from saga_core import Saga
from saga_core.config import load_config
from saga_core.errors import BadInput, StoreError
from saga_core.world import WorldError, WorldLibrary, edited, imported_from, parse_world, pattern_search, world_files
from saga_core.world import key_patterns as patterns
from saga_core.world.format import (
    CHARACTER_FIELDS,
    CHARACTERS_FILE,
    FILES,
    FRONT_FIELDS,
    LARGEST_WORLD,
    LONGEST,
    LORE_FIELDS,
    LOREBOOK_FILE,
    MOST_NAMES,
    MOST_SECTIONS,
    RULE_FIELDS,
    WORLD_FILE,
    FieldSpec,
)
from tests.core.frontend import Frontend
from tests.patterns.padding import DEEP

ODD = (
    *(" ", "\0", "\x1b[31m", "\u200b", "\u202e", "\ufeff", "\u2028", "\x85", "\x0c", "각", "e\u0301" * 40, "x" * 5_000),
    *("-1", "+5", "0", "999999999", "9999999999", "1e9", "nan", "１２", "٣", "true", "예", "null", "~", "a,b,c", "\\,"),
    *("a\\", "x x3 (equipped)", "(equipped)", "x x0", "\0 x3", " : +2", "a: b: +3", "a: +3", "\u200b: \u200b +2"),
    *("[[saga:world=x]]", "[SAGA: x]", "```state", "{{random::}}", "/(/", "/a+/", "/", " // ", "/(a|aa)?/", "/[/"),
    *("|", "> ", "&a x", "*a", "!!python/object:os.system x", "{a: b}", "[a, b]", "[", "'", '"', "- - x", "? x", "%x"),
)
SPECS: tuple[tuple[str, FieldSpec], ...] = (
    *((CHARACTERS_FILE, spec) for spec in CHARACTER_FIELDS),
    *((LOREBOOK_FILE, spec) for spec in (*LORE_FIELDS, *RULE_FIELDS)),
    *((WORLD_FILE, spec) for spec in FRONT_FIELDS),
)


def written(file: str, key: str, value: str) -> str:
    """A file in which one field has the value."""
    if file == WORLD_FILE:
        return f"---\n{key}: {value}\n---\ntext {value}\n"
    return f"## Ann{len(key)}{key}\n- mode: keep\n- {key}: {value}\n\ntext {value}\n"


def faults(files: dict[str, str]) -> WorldError | None:
    """What is wrong with a world; each fault is checked to say where it is, and what to do."""
    try:
        world, _ = parse_world(files, "w")
    except WorldError as error:
        for each in error.problems:
            assert each.message and each.remedy and each.line >= 1 and each.file.endswith(tuple(files))
            assert len(str(each)) < 1_000
        return error
    assert len(world.digest) == 64
    return None


@pytest.mark.parametrize(("file", "spec"), SPECS, ids=lambda each: each if isinstance(each, str) else each.attribute)
def test_every_field_takes_every_value_or_tells_why_not(file: str, spec: FieldSpec) -> None:
    for key in {key for tag in ("en", "ko") for key in spec.keys(tag)}:
        for odd in ODD:
            error = faults({file: written(file, key, odd)})
            if error is not None and file != WORLD_FILE:
                assert key in str(error) or "heading" in str(error)


_pieces = st.sampled_from(
    [
        *(
            "---",
            "## ",
            "# ",
            "- ",
            "  - ",
            ": ",
            "\n",
            "\n\n",
            "\r",
            "\\",
            ",",
            "\ufeff",
            "[",
            "]",
            "{",
            "}",
            "&a ",
            "*a",
        ),
        *("name", "\u3000", "##", "###", "**", "x", "<<: *a", "!!set ", "? ", "| \n", "'", '"', "\0", "\u0301"),
        *(f"- {spec.key(tag)}: " for _, spec in SPECS for tag in ("en", "ko")),
        *ODD,
    ]
)
_files = st.dictionaries(
    st.sampled_from(FILES), st.lists(_pieces | st.text(max_size=8), max_size=40).map("".join), min_size=1
)


@settings(deadline=None, max_examples=2_000 if DEEP else 50)
@given(_files)
def test_what_is_put_together_at_random_is_a_world_or_a_list_of_faults(files: dict[str, str]) -> None:
    faults(files)


def put(root: Path, name: str, **files: str | bytes) -> Path:
    folder = root / name
    folder.mkdir(parents=True)
    for file, content in files.items():
        raw = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
        (folder / f"{file}.md").write_bytes(raw)
    return folder


def good(root: Path) -> WorldLibrary:
    put(root, "good", WORLD="---\nmatch: [moor]\n---\nA moor.\n")
    return WorldLibrary([root])


def others_play(library: WorldLibrary) -> None:
    assert library.get("good").name == "good"
    assert library.choose(None, "on the moor", None).name == "good"
    assert "good" in library.names() and "good" not in library.broken()


@pytest.mark.parametrize("name", [" ", "\u3000", "\u200b", "\x1b[31m", "\u202e", "a\nb", "x" * 200, b"\xff\xfe"])
def test_no_name_of_a_folder_stops_the_others(tmp_path: Path, name: str | bytes) -> None:
    library = good(tmp_path)
    put(tmp_path, os.fsdecode(name), WORLD="x")
    others_play(library)
    for each in library.names():
        world_files(library, each)


CONTENTS: dict[str, bytes] = {
    "cut in a character": "## 아리아\n- 위치: 숲".encode()[:-1],
    "UTF-16": "## a\n".encode("utf-16"),
    "binary": bytes(range(256)) * 40,
    "NUL": b"\0" * 1_000,
    "half a character": "## a\ud800\n".encode("utf-8", "surrogatepass"),
    "only a fence": b"---",
    "a fence that is not closed": b"---\ntitle: x\n",
    "empty": b"",
    "too long": b"x" * (LONGEST + 1),
    "far too long": b"\xea\xb0\x80" * (LONGEST * 2),
}


@pytest.mark.parametrize("content", CONTENTS)
@pytest.mark.parametrize("file", ["WORLD", "CHARACTERS"])
def test_no_content_stops_the_others(tmp_path: Path, file: str, content: str) -> None:
    library = good(tmp_path)
    put(tmp_path, "odd", **{file: CONTENTS[content]})
    others_play(library)
    found = world_files(library, "odd")
    assert bool(found.problems) == ("odd" in library.broken())
    assert all(each.remedy and each.file in FILES for each in found.problems)


def test_files_that_are_none_are_passed_over(tmp_path: Path) -> None:
    library = good(tmp_path)
    secret = tmp_path / "secret"
    secret.write_text("# a key of the machine\n")
    folder = put(tmp_path, "odd", WORLD="x")
    (folder / CHARACTERS_FILE).symlink_to(secret)
    os.mkfifo(folder / LOREBOOK_FILE)
    for name, target in (("loop", "WORLD.md"), ("zero", "/dev/zero"), ("folder", "/")):
        (tmp_path / name).mkdir()
        (tmp_path / name / WORLD_FILE).symlink_to(target)
    (tmp_path / "self").symlink_to(tmp_path / "self")
    (tmp_path / "dir").mkdir()
    (tmp_path / "dir" / WORLD_FILE).mkdir()
    others_play(library)
    assert library.names() == ["good", "odd"]
    assert list(world_files(library, "odd").texts) == [WORLD_FILE]


def test_no_picture_and_no_note_is_a_file_outside_the_folder(tmp_path: Path) -> None:
    library = good(tmp_path)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "icon.png").write_text("api_keys: [a-key]")
    (outside / "note").write_text('{"source": "a digest"}')
    linked, beside, noted = (put(tmp_path, name, WORLD="x") for name in ("linked", "beside", "noted"))
    for folder in (linked, beside):
        (folder / "IMPORTED.json").write_text("{}")
    (linked / "assets").symlink_to(outside)
    (beside / "assets").mkdir()
    (beside / "assets" / "icon.png").symlink_to(outside / "icon.png")
    (noted / "IMPORTED.json").symlink_to(outside / "note")
    assert library.portraits(["linked", "beside", "noted"]) == {}
    assert imported_from([tmp_path]) == {}
    (beside / "kept.png").write_text("x")
    (beside / "assets" / "main.png").symlink_to(beside / "kept.png")
    assert list(library.portraits(["beside"])) == ["beside"], "a link within the folder is no way out"


def test_a_folder_that_may_not_be_looked_into_stops_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = good(tmp_path)
    put(tmp_path, "locked", WORLD="x")
    look = Path.is_file

    def refuse(path: Path) -> bool:
        if path.parent.name == "locked":
            raise PermissionError(13, "Permission denied", str(path))
        return look(path)

    monkeypatch.setattr(Path, "is_file", refuse)
    monkeypatch.setattr(Path, "read_bytes", lambda path: (_ for _ in ()).throw(PermissionError(13, "no", str(path)))
                        if path.parent.name == "locked" else b"---\nmatch: [moor]\n---\n")  # fmt: skip
    others_play(library)
    with pytest.raises(WorldError, match="cannot be read"):
        library.get("locked")
    assert world_files(library, "locked").problems


@pytest.mark.parametrize("note", [b"[" * 200_000, b"{", b"\xff", b"7", b'{"source": [1]}'])
def test_no_note_of_an_import_stops_another(tmp_path: Path, note: bytes) -> None:
    (put(tmp_path, "odd", WORLD="x") / "IMPORTED.json").write_bytes(note)
    assert imported_from([tmp_path]) == {}


def test_an_edit_that_cannot_be_written_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = good(tmp_path)

    def full(path: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(StoreError, match="No space left"):
        edited(library, "good", CHARACTERS_FILE, "## Ann\n", dry_run=False)
    assert [each.name for each in (tmp_path / "good").iterdir()] == [WORLD_FILE]


# -- length and depth ------------------------------------------------------------------------------------------

LONG: dict[str, Any] = {
    "lists in lists": (WORLD_FILE, lambda n: f"---\na: {'[' * n}\n---\n"),
    "mappings in mappings": (WORLD_FILE, lambda n: f"---\na: {'{a: ' * n}\n---\n"),
    "keys": (WORLD_FILE, lambda n: "---\n" + "".join(f"k{at}: v\n" for at in range(n)) + "---\n"),
    "anchors": (WORLD_FILE, lambda n: "---\n" + "".join(f"k{at}: &a{at} [*a{at}]\n" for at in range(n)) + "---\n"),
    "a long text": (WORLD_FILE, lambda n: f'---\na: "{"word " * n}"\n---\n'),
    "items below a field": (CHARACTERS_FILE, lambda n: "## A\n- items:\n" + "  - x\n" * n),
    "unknown fields": (CHARACTERS_FILE, lambda n: "## A\n" + "".join(f"- locaton{at}: v\n" for at in range(n))),
    "twice": (LOREBOOK_FILE, lambda n: "## a\n- keys: x\n" * n),
    "aliases": (LOREBOOK_FILE, lambda n: "## a\n- aliases: " + ",".join(f"b{at}" for at in range(n))),
    "headings": (LOREBOOK_FILE, lambda n: "".join(f"## a{at}\n" for at in range(n))),
}


@pytest.mark.parametrize("name", LONG)
def test_reading_takes_time_in_proportion(name: str) -> None:
    file, make = LONG[name]
    few, many = (_seconds({file: make(size)}) for size in (1_500, 6_000))
    assert many < 0.1 or many < few * 9, f"four times as many take {many / few:.0f} times as long"


def _seconds(files: dict[str, str]) -> float:
    taken = []
    for _ in range(2):
        began = time.thread_time()
        faults(files)
        taken.append(time.thread_time() - began)
    return min(taken)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        (LOREBOOK_FILE, "## a\n" * (MOST_SECTIONS[LOREBOOK_FILE] + 1)),
        (CHARACTERS_FILE, "## a\n" * (MOST_SECTIONS[CHARACTERS_FILE] + 1)),
        (LOREBOOK_FILE, "## a\n- keys: " + "x," * MOST_NAMES[LOREBOOK_FILE]),
        (CHARACTERS_FILE, "## a\n- items: " + "x," * MOST_NAMES[CHARACTERS_FILE]),
        (LOREBOOK_FILE, "## a\n\n" + "물" * (LARGEST_WORLD // 3)),
        (WORLD_FILE, "---\ngreeting: " + "x" * 300_000 + "\n---\n"),
        (WORLD_FILE, "x" * (LONGEST + 1)),
    ],
)
def test_what_is_too_much_is_told_with_both_numbers(file: str, text: str) -> None:
    error = faults({file: text})
    assert error is not None and len(error.problems) == 1 and "," in error.message


def test_of_many_faults_the_first_are_listed_and_the_rest_counted() -> None:
    error = faults({CHARACTERS_FILE: "".join(f"## a{at}\n- hp: x\n" for at in range(3_000))})
    assert error is not None and len(error.problems) == 101
    assert error.problems[-1].message == "2,900 more problems are not listed"
    _, warnings = parse_world({CHARACTERS_FILE: "".join(f"## a{at}\n- location: x\n" for at in range(3_000))}, "w")
    assert len(warnings) == 101 and warnings[-1].endswith("2,900 more warnings")


@pytest.mark.parametrize(
    "key",
    [
        *("(a|aa)" * 24 + "b", "(?:a|aa)" * 24 + "b", "a?" * 12 + "b", "((a|aa)(a|aa))" * 12 + "b"),
        *(r"([\])]a|aa)" * 24 + "b", r"[\](]" + "(a|aa)" * 24 + "b", "([)]a|aa|a[a])" * 16 + "b", "[]](a|aa)" * 24),
        *(r"(\)a|a\(|a|aa)" * 24 + "b", "(a|aa" * 24, "(|a)(|a)(|a)" * 8 + "b", "[^]](a|aa)" * 24),
    ],
)
def test_a_pattern_in_lore_is_bounded_without_the_linear_engine(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "_re2", lambda: None)
    pattern_search.cache_clear()
    search = pattern_search(f"/{key}/")
    pattern_search.cache_clear()
    assert search is None or _search_seconds(search) < 1.0


def _search_seconds(search: patterns.KeySearch) -> float:
    began = time.thread_time()
    search("a" * 16_000)
    return time.thread_time() - began


@pytest.mark.parametrize("key", ["(dragon|wyrm|drake|wyvern)s?", "fire|flame|burn(s|ed|ing)?", "gr[ae]y (cat|dog)?"])
def test_usual_patterns_need_no_linear_engine(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "_re2", lambda: None)
    pattern_search.cache_clear()
    assert pattern_search(f"/{key}/") is not None
    pattern_search.cache_clear()


# -- played ----------------------------------------------------------------------------------------------------


async def plays(base: Path, files: dict[str, str]) -> None:
    """Two turns in a world of those files, and everything that is shown of them."""
    put(base / "worlds", "w", **{name.removesuffix(".md"): text for name, text in files.items()})
    config = evolve(load_config({"storage": {"profile": "memory"}, "session": {"default_world": "w"}}), base=base)
    async with Saga.open(config) as saga:
        chat = Frontend(saga, system="A story.", greeting="", note="")
        await chat.say("I look at Ann and go on.", "Ann goes.", hp_change=-1)
        session = (await chat.say("Where is Ann?", "Ann is here.", location="Mill")).session
        assert session.world == "w"
        await saga.drain(20)
        for shown in (saga.describe, saga.views.pages, saga.views.lore, saga.memory.entities):
            assert await shown(session.id)
        assert not (await saga.maintenance.verify()).findings
        assert not (await saga.status())["degraded"]


def accepted(odd: str) -> dict[str, str]:
    """The fields that take an odd value, each in an entry of its own."""
    found: dict[str, str] = {}
    for file, spec in SPECS:
        key = spec.key("en")
        if key == "mode" or (file == WORLD_FILE and WORLD_FILE in found):
            continue
        more = found.get(file, "") + written(file, key, odd)
        if faults({file: more}) is None:
            found[file] = more
    return found


@pytest.mark.parametrize("odd", ["\0", "\u202e", "999999999", "[SAGA: x]", "/(a|aa)?/", "{{random::}}", "x" * 5_000])
async def test_a_world_that_is_taken_is_played(tmp_path: Path, odd: str) -> None:
    await plays(tmp_path, accepted(odd))


@pytest.mark.deep
@settings(deadline=None, max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(files=_files)
def test_whatever_is_taken_is_played(tmp_path_factory: pytest.TempPathFactory, files: dict[str, str]) -> None:
    if faults(files) is None:
        asyncio.run(plays(tmp_path_factory.mktemp("world"), files))


async def test_a_large_world_is_read_beside_the_event_loop(tmp_path: Path) -> None:
    put(tmp_path / "worlds", "w", LOREBOOK="".join(f"## a{at}\n- keys: x\n\ntext\n" for at in range(4_000)))
    config = evolve(load_config({"storage": {"profile": "memory"}}), base=tmp_path)
    async with Saga.open(config) as saga:
        ticks, ended = [0], False

        async def tick() -> None:
            while not ended:
                ticks[0] += 1
                await asyncio.sleep(0.005)

        ticking = asyncio.create_task(tick())
        await saga.sessions.create(world="w")
        ended = True
        await ticking
        assert ticks[0] > 8
        with pytest.raises(BadInput):
            await saga.sessions.create(world="none")
