"""The errors of a world: all of its problems, each with file and line, raised together."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

from saga_core.errors import BadInput


@frozen
class WorldProblem:
    """One problem: its place (``line`` counts from 1), its description, and how to fix it."""

    file: str
    line: int
    message: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}; {self.remedy}"


class WorldError(BadInput):
    """A world cannot be used. ``problems`` lists each problem by file and line, and is never empty.

    ``file``, ``line``, ``message`` and ``remedy`` are those of the first problem. ``str()`` has one line per problem.
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
    """No world has ``name`` as name or alias. The message lists the existing worlds and the broken ones."""

    def __init__(self, name: str, known: Iterable[str], broken: Iterable[WorldError] = ()) -> None:
        self.name = name
        self.known: tuple[str, ...] = tuple(known)
        listed = ", ".join(self.known) or "none (add a folder with WORLD.md, CHARACTERS.md, LOREBOOK.md)"
        text = f'there is no world "{name}"; choose one of: {listed}'
        self.in_short = text
        """The message without the problems of other worlds, which quote from their files."""
        for error in broken:
            text += f"\nnot readable: {error.problems[0]}"
        super().__init__(text)
