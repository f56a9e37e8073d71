"""The library of world folders: names, aliases, choosing, changes on disk, and what stays out of reach."""

from __future__ import annotations

import logging
import os
import threading
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import saga_core.world.library
from saga_core.errors import BadInput
from saga_core.world import (
    EMPTY_WORLD,
    UnknownWorld,
    WorldError,
    WorldLibrary,
    default_roots,
    listed,
    world_files,
)


def put(root: Path, name: str, front: Mapping[str, str] | None = None, characters: str = "") -> Path:
    folder = root / name
    folder.mkdir(parents=True, exist_ok=True)
    rows = "".join(f"{key}: {value}\n" for key, value in (front or {}).items())
    (folder / "WORLD.md").write_text(f"---\n{rows}---\n{name}\n", encoding="utf-8")
    if characters:
        (folder / "CHARACTERS.md").write_text(characters, encoding="utf-8")
    return folder


@pytest.fixture
def library(tmp_path: Path) -> WorldLibrary:
    put(tmp_path, "ersia", {"match": "[에르시아, Ersia]", "aliases": "[my_world]"})
    put(tmp_path, "harrow", {"match": "[Harrow Staithe, Ersia North]"})
    put(tmp_path, "빈 들", {"match": "[들]"})
    (tmp_path / "notes").mkdir()
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "WORLD.md").write_text("x", encoding="utf-8")
    (tmp_path / "WORLD.md").write_text("x", encoding="utf-8")
    return WorldLibrary([tmp_path])


def test_names_are_the_folders_that_hold_a_world(library: WorldLibrary) -> None:
    assert library.names() == ["ersia", "harrow", "빈 들"]


def test_a_list_reads_what_has_changed_alone(library: WorldLibrary, monkeypatch: pytest.MonkeyPatch) -> None:
    put(library.roots[0], "spoilt", characters="# Nobody\n- hp: many\n")
    (library.roots[0] / "spoilt" / "LOREBOOK.md").write_bytes(b"\xff")
    read: list[str] = []
    parse = saga_core.world.library.parse_world

    def parsed(texts: Mapping[str, str], name: str, shown: str) -> Any:
        read.append(name)
        return parse(texts, name, shown)

    monkeypatch.setattr(saga_core.world.library, "parse_world", parsed)
    first = listed(library)
    assert [each.name for each, _ in first] == ["ersia", "harrow", "spoilt", "빈 들"] and len(read) == 4
    broken = first[2][0]
    assert broken.files == ("WORLD.md", "CHARACTERS.md") and broken.problems == 2
    assert broken.problems == len(world_files(library, "spoilt").problems), "as the world itself says"
    read.clear()
    assert listed(library) == first and not read
    put(library.roots[0], "harrow", {"match": "[Harrow]"})
    listed(library)
    assert read == ["harrow"]


def test_a_world_is_found_by_name_or_alias(library: WorldLibrary) -> None:
    assert library.get("ersia").name == "ersia"
    assert library.get("my_world") is library.get("ersia")
    assert library.get("Ersia") is library.get("ersia")
    assert library.get("빈들").name == "빈 들"
    assert library.get(unicodedata.normalize("NFD", "빈 들")).name == "빈 들"


def test_a_folder_beats_an_alias(library: WorldLibrary, tmp_path: Path) -> None:
    put(tmp_path, "my_world")
    assert library.get("my_world").name == "my_world"


def test_the_first_root_wins(tmp_path: Path) -> None:
    put(tmp_path / "one", "ersia", {"title": "mine"})
    put(tmp_path / "two", "ersia", {"title": "theirs"})
    put(tmp_path / "two", "harrow")
    library = WorldLibrary([tmp_path / "absent", tmp_path / "one", tmp_path / "two"])
    assert library.names() == ["ersia", "harrow"]
    assert library.get("ersia").title == "mine"


def test_an_unknown_name_lists_what_there_is(library: WorldLibrary, tmp_path: Path) -> None:
    with pytest.raises(UnknownWorld) as caught:
        library.get("nowhere")
    assert isinstance(caught.value, BadInput)
    assert caught.value.known == ("ersia", "harrow", "빈 들")
    assert str(caught.value) == 'there is no world "nowhere"; choose one of: ersia, harrow, 빈 들'
    with pytest.raises(UnknownWorld, match=r"none .add a folder"):
        WorldLibrary([tmp_path / "absent"]).get("x")


COMMON = "You I the user Narrator {{char}} Assistant 당신 이야기꾼 あなた 语 旁白"


@pytest.mark.parametrize("name", [*COMMON.split(), "The Narrator"])
def test_a_name_that_any_prompt_has_chooses_no_world(tmp_path: Path, name: str) -> None:
    put(tmp_path, "trap", {"match": f'["{name}"]'})
    prompt = f"You are the narrator, I am the user and an Assistant. {name}. 당신은 이야기꾼이다."
    library = WorldLibrary([tmp_path])
    assert library.choose(None, prompt, None).name == ("trap" if name == "语" else "empty")
    assert library.get("trap").name == "trap"
    assert ("chooses no world" in "".join(library.warnings("trap"))) == (name != "语")


def test_of_equal_matches_the_first_name_wins(tmp_path: Path) -> None:
    put(tmp_path, "b", {"match": "[moor]"})
    put(tmp_path, "a", {"match": "[moss]"})
    assert WorldLibrary([tmp_path]).choose(None, "moor and moss", None).name == "a"


@pytest.mark.parametrize("default", [None, ""])
def test_without_a_default_the_world_is_empty(library: WorldLibrary, default: str | None) -> None:
    assert library.choose(None, "nothing here", default) is EMPTY_WORLD
    with pytest.raises(UnknownWorld):
        library.choose(None, "nothing here", "nowhere")


def test_a_changed_file_is_read_again_and_an_unchanged_one_is_not(tmp_path: Path) -> None:
    folder = put(tmp_path, "ersia", {"title": "one"})
    library = WorldLibrary([tmp_path])
    first = library.get("ersia")
    assert library.get("ersia") is first
    os.utime(folder / "WORLD.md", ns=(1, 1))
    assert library.get("ersia") is first  # touched, but it says the same
    put(tmp_path, "ersia", {"title": "two"})
    os.utime(folder / "WORLD.md", ns=(2, 2))
    assert library.get("ersia").title == "two"
    assert library.get("ersia").digest != first.digest
    (folder / "CHARACTERS.md").write_text("## 아리아\n- player: true", encoding="utf-8")
    assert library.get("ersia").player is not None
    (folder / "CHARACTERS.md").unlink()
    assert library.get("ersia").player is None


def test_a_broken_world_stops_only_those_who_ask_for_it(
    library: WorldLibrary, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    put(tmp_path, "bad", {"match": "[Ersia]", "aliases": "[worse]"}, "## 크룩\n- hp: 많음")
    with caplog.at_level(logging.WARNING):
        assert library.choose(None, "Ersia", None).name == "ersia"
        assert library.get("my_world").name == "ersia"
    assert len([record for record in caplog.records if "CHARACTERS.md:2" in record.getMessage()]) == 1
    assert list(library.broken()) == ["bad"]
    for _ in range(2):
        with pytest.raises(WorldError, match=r"bad/CHARACTERS\.md:2: field \"hp\" is \"많음\""):
            library.get("bad")
    with pytest.raises(UnknownWorld, match=r"(?s)choose one of: bad, .*not readable: .*CHARACTERS\.md:2"):
        library.get("worse")
    put(tmp_path, "bad", {"match": "[Ersia]"}, "## 크룩\n- hp: 40")
    assert library.get("bad").characters[0].hp == 40
    assert library.broken() == {}


def test_text_that_is_not_utf8_names_its_line(tmp_path: Path) -> None:
    folder = put(tmp_path, "old")
    (folder / "LOREBOOK.md").write_bytes("## a\n- 타입: item".encode("cp949"))
    with pytest.raises(WorldError) as caught:
        WorldLibrary([tmp_path]).get("old")
    assert caught.value.line == 2
    assert caught.value.file.endswith("old/LOREBOOK.md")
    assert "UTF-8" in caught.value.remedy


def test_a_file_that_cannot_be_opened_is_a_problem_of_its_world(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, "locked")

    def refuse(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(WorldError, match=r"locked/WORLD\.md:1: the file cannot be read .Permission denied"):
        WorldLibrary([tmp_path]).get("locked")


def test_a_root_that_cannot_be_listed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "iterdir", refuse)
    with pytest.raises(BadInput, match=r"cannot be listed .Permission denied.; check"):
        WorldLibrary([tmp_path]).names()


def test_warnings_are_kept_with_their_world(tmp_path: Path) -> None:
    put(tmp_path, "w", characters="## 아리아\n- 위치: 바다")
    library = WorldLibrary([tmp_path])
    assert library.warnings("w")[0].endswith(
        'w/CHARACTERS.md:2: "아리아" names "바다", which is no location of this world'
    )


def test_messages_are_relative_to_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "worlds", "w", characters="## a\n- hp: x")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(WorldError) as caught:
        WorldLibrary([tmp_path / "worlds"]).get("w")
    assert caught.value.file == "worlds/w/CHARACTERS.md"


def test_default_roots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "checkout" / "saga_core"
    monkeypatch.setattr(saga_core.world.library, "__file__", str(package / "world" / "library.py"))
    own = [tmp_path / "worlds", tmp_path / "data" / "worlds"]
    assert default_roots(tmp_path) == [*own, tmp_path / "checkout" / "worlds"]
    assert default_roots(tmp_path / "checkout") == [package.parent / "worlds", package.parent / "data" / "worlds"]
    (package / "_packaged_worlds").mkdir(parents=True)
    assert default_roots(tmp_path) == [*own, package / "_packaged_worlds"]


def test_a_file_whose_name_has_small_letters_is_told_of(tmp_path: Path) -> None:
    folder = tmp_path / "w"
    folder.mkdir()
    (folder / "WORLD.md").write_text("# 방앗간\n", encoding="utf-8")
    (folder / "lorebook.md").write_text("## 마당\n- layer: A1\n- type: concept\n", encoding="utf-8")
    (folder / "notes.md").write_text("이건 아무것도 아니다.\n", encoding="utf-8")
    library = WorldLibrary([tmp_path])
    if library.get("w").lore:  # this system does not tell the names apart
        assert library.warnings("w") == ()
        return
    (told,) = library.warnings("w")
    assert told.endswith("w/lorebook.md: is not read; rename it to LOREBOOK.md")
    (folder / "lorebook.md").rename(folder / "LOREBOOK.md")
    assert library.warnings("w") == () and len(library.get("w").lore) == 1


def test_a_look_at_all_worlds_looks_at_each_file_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(20):
        put(tmp_path, f"w{number}", {"match": f"[Place {number}]"})
    library, looked = WorldLibrary([tmp_path]), list[str]()
    library.read_all()
    real = os.lstat

    def lstat(path: str) -> os.stat_result:
        looked.append(path)
        return real(path)

    monkeypatch.setattr(os, "lstat", lstat)
    assert library.choose(None, "You stand in Place 7.", None).name == "w7"
    assert len(looked) == len(set(looked)) == 3 * 20
    looked.clear()
    library.read(tmp_path / "w3")
    assert len(looked) == 3, "reading one world looks at no other"


async def test_many_worlds_are_looked_through_beside_the_event_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(70):
        put(tmp_path, f"w{number}", {"match": f"[Place {number}]"})
    library, threads = WorldLibrary([tmp_path]), set[int]()
    library.read_all()
    real = os.lstat

    def lstat(path: str) -> os.stat_result:
        threads.add(threading.get_ident())
        return real(path)

    monkeypatch.setattr(os, "lstat", lstat)
    assert (await library.chosen(None, "You stand in Place 7.", None)).name == "w7"
    await library.read_changes()
    assert threads and threading.get_ident() not in threads
