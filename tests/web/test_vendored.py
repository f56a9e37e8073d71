"""The libraries of the pages are those of their packages, byte for byte, but for what the list says was changed."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

from saga_server.web.serving import ROOT, Files

FOLDERS = [ROOT / "vendor", Path(__file__).parent / "vendor"]
ROWS = [
    pytest.param(folder, row, id=row["file"])
    for folder in FOLDERS
    for row in json.loads((folder / "vendored.json").read_text(encoding="utf-8"))
]
MOST, SENT = 30_000, 200_000


@pytest.mark.parametrize(("folder", "row"), ROWS)
def test_a_library_is_the_one_of_its_package(folder: Path, row: dict[str, Any]) -> None:
    text = (folder / row["file"]).read_text(encoding="utf-8")
    for was, now in row["changed"].items():
        assert text.count(now) == 1
        text = text.replace(now, was)
    assert hashlib.sha256(text.encode()).hexdigest() == row["sha256"]
    assert row["version"] and row["licence"] in ("MIT", "Apache-2.0", "MPL-2.0")


@pytest.mark.parametrize("folder", FOLDERS, ids=["pages", "tests"])
def test_every_library_is_listed_and_has_its_licence(folder: Path) -> None:
    rows = json.loads((folder / "vendored.json").read_text(encoding="utf-8"))
    assert {path.name for path in folder.glob("*.js")} == {row["file"] for row in rows}
    licences = {path.name.removesuffix(".LICENSE.txt") for path in folder.glob("*.LICENSE.txt")}
    assert licences == {row["package"].rpartition("/")[2].removesuffix("-core") for row in rows}


def test_the_pages_are_light() -> None:
    """All of them together, libraries included, as they lie there; what is sent is a third of it."""
    files = [path for path in ROOT.rglob("*") if path.is_file() and path.name != "vendored.json"]
    code = [path for path in files if not path.name.endswith(".LICENSE.txt")]
    assert sum(path.stat().st_size for path in code if path.parent.name == "vendor") < MOST
    assert sum(len(gzip.compress(path.read_bytes(), 9)) for path in code) < SENT


def test_the_hash_in_the_addresses_is_that_of_all_files(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("{version}")
    (tmp_path / "a.js").write_text("1")
    one = Files.read(tmp_path)
    assert one.index.plain == one.version.encode()
    (tmp_path / "a.js").write_text("2")
    two = Files.read(tmp_path)
    assert one.version != two.version
    assert "../a.js" not in two and "a.js" in two


def test_the_document_says_what_is_sent() -> None:
    """And every page is in it."""
    page = (ROOT.parents[2] / "docs" / "pages.md").read_text(encoding="utf-8")
    listed = re.findall(r'^    id: "(\w+)"', (ROOT / "pages" / "list.js").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(listed) == 12 and all(f"`{name}`" in page for name in listed)
    code = [path for path in ROOT.rglob("*") if path.is_file() and path.suffix in (".js", ".css", ".html", ".svg")]
    sent = sum(len(gzip.compress(path.read_bytes(), 9)) for path in code) / 1_000
    said = re.search(r"sent for all pages \| (\d+) KB \| (\d+) KB", page)
    assert said is not None and int(said[1]) == SENT / 1_000 and sent < int(said[2]) < SENT / 1_000
