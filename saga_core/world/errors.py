"""What is wrong with a world: every problem with its file and line, raised together."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

from saga_core.errors import BadInput


@frozen
class WorldProblem:
    """One fault: where it stands (``line`` counts from 1), what it is, and how to mend it."""

    file: str
    line: int
    message: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}; {self.remedy}"


class WorldError(BadInput):
    """A world that cannot be used. ``problems`` holds each fault by file and line, never empty.

    ``file``, ``line``, ``message`` and ``remedy`` are those of the first. ``str()`` has a line for each.
    """

    def __init__(self, problems: Iterable[WorldProblem]) -> None:
        self.problems: tuple[WorldProblem, ...] = tuple(problems)
        if not self.problems:
            raise ValueError("a WorldError needs at least one problem")
        first = self.problems[0]
        self.file, self.line = first.file, first.line
        self.message, self.remedy = first.message, first.remedy
        super().__init__("\n".join(str(problem) for problem in self.problems))


class UnknownWorld(BadInput):
    """No world answers to ``name``; the message lists those there are, and those that are broken."""

    def __init__(self, name: str, known: Iterable[str], broken: Iterable[WorldError] = ()) -> None:
        self.name = name
        self.known: tuple[str, ...] = tuple(known)
        listed = ", ".join(self.known) or "none (add a folder with WORLD.md, CHARACTERS.md, LOREBOOK.md)"
        text = f'there is no world "{name}"; choose one of: {listed}'
        self.in_short = text
        """Without what is wrong with others: that quotes their files."""
        for error in broken:
            text += f"\nnot readable: {error.problems[0]}"
        super().__init__(text)
