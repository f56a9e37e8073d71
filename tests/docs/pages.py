"""The project's pages as data: their code blocks, links, headings and tables."""

from __future__ import annotations

import re
from pathlib import Path

from attrs import frozen

ROOT = Path(__file__).resolve().parents[2]

NOT_RUN = "<!-- not run -->"
"""Stands on the line above a block that is shown and not executed."""

_FENCE = re.compile(r"(?P<indent> *)(?P<ticks>`{3,})(?P<info>[^`]*)$")
_HEADING = re.compile(r"#{1,6} +(.+?) *#*$")
_LINK = re.compile(r"(?<!!)\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^()\s]+)\)")
_CODE = re.compile(r"(`+)(.+?)\1")
_ROW = re.compile(r"\|(.+)\|\s*$")
_NOT_IN_ANCHOR = re.compile(r"[^\w\- ]")


@frozen
class Block:
    """A fenced code block."""

    page: Page
    line: int
    """The line of the opening fence, counted from 1."""
    language: str
    text: str
    marks: tuple[str, ...] = ()
    """HTML comments on the lines right above it."""

    @property
    def runs(self) -> bool:
        """Whether it is meant to be executed as it stands."""
        return NOT_RUN not in self.marks

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


@frozen
class Page:
    """One markdown file."""

    path: Path

    def __str__(self) -> str:
        return self.path.relative_to(ROOT).as_posix()

    @property
    def text(self) -> str:
        """All of it."""
        return self.path.read_text(encoding="utf-8")

    @property
    def blocks(self) -> list[Block]:
        """The fenced blocks, in order."""
        found: list[Block] = []
        marks: list[str] = []
        lines = self.text.split("\n")
        at = 0
        while at < len(lines):
            fence = _FENCE.match(lines[at])
            if fence is None:
                marks = [*marks, lines[at].strip()] if lines[at].startswith("<!--") else []
                at += 1
                continue
            end = next(i for i in range(at + 1, len(lines)) if lines[i].strip() == fence["ticks"])
            indent = len(fence["indent"])
            text = "\n".join(line[indent:] for line in lines[at + 1 : end]) + "\n"
            found.append(Block(self, at + 1, fence["info"].strip(), text, tuple(marks)))
            marks, at = [], end + 1
        return found

    @property
    def prose(self) -> str:
        """The text with its fenced blocks blanked out, line for line."""
        lines = self.text.split("\n")
        for block in self.blocks:
            for at in range(block.line - 1, block.line + block.text.count("\n") + 1):
                lines[at] = ""
        return "\n".join(lines)

    @property
    def links(self) -> list[str]:
        """The targets of its links."""
        return _LINK.findall(_CODE.sub("", self.prose))

    @property
    def code(self) -> list[str]:
        """What stands in backticks in the running text."""
        return [found[1].strip() for found in _CODE.findall(self.prose)]

    @property
    def anchors(self) -> set[str]:
        """What a link can name behind ``#``, as GitHub makes it of the headings."""
        titles = (_HEADING.match(line) for line in self.prose.split("\n"))
        plain = (title[1].replace("`", "").lower() for title in titles if title)
        return {_NOT_IN_ANCHOR.sub("", title).replace(" ", "-") for title in plain}

    @property
    def rows(self) -> list[list[str]]:
        """The cells of every table row, heads and rules included; a ``\\|`` inside a cell is a bar."""
        found = (_ROW.match(line) for line in self.prose.split("\n"))
        return [[cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", row[1])] for row in found if row]


def pages() -> list[Page]:
    """The README files and everything in docs."""
    return [Page(path) for path in (*sorted(ROOT.glob("README*.md")), *sorted((ROOT / "docs").rglob("*.md")))]


def page(name: str) -> Page:
    """The page at ``name``, relative to the project."""
    return Page(ROOT / name)
