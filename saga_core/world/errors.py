"""The problems of a world, with file and line: gathered while a parser keeps reading, and raised together."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from attrs import define, field, frozen

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
        self.in_short = f'there is no world "{name}"'
        """The message without the names and the problems of other worlds."""
        for error in broken:
            text += f"\nnot readable: {error.problems[0]}"
        super().__init__(text)


_MOST = 100
"""Problems, and warnings, that are listed. The rest are only counted."""
_LONG = 600
"""Longest message, in characters."""


@define
class ParseFindings:
    """Problems and warnings of one world. ``where`` is the folder that is shown before each file name."""

    where: str
    problems: list[WorldProblem] = field(factory=list)
    warnings: list[str] = field(factory=list)
    _more_problems: int = field(default=0, init=False)
    _more_warnings: int = field(default=0, init=False)

    def problem(self, file: str, line: int, message: str, remedy: str) -> None:
        """Record a problem. Reading goes on, so that all problems are reported at once."""
        if len(self.problems) < _MOST:
            self.problems.append(WorldProblem(self.path(file), line, _short(message), remedy))
        else:
            self._more_problems += 1

    def warn(self, file: str, line: int, message: str) -> None:
        """Record a possible mistake that does not make the world unusable."""
        if len(self.warnings) < _MOST:
            self.warnings.append(f"{self.path(file)}:{line}: {_short(message)}")
        else:
            self._more_warnings += 1

    def all_warnings(self) -> tuple[str, ...]:
        """The warnings, and a line with the number of those that are not listed."""
        more = (f"{self.where}: {self._more_warnings:,} more warnings",) if self._more_warnings else ()
        return (*self.warnings, *more)

    @property
    def warned_enough(self) -> bool:
        """Whether no further warning would be listed."""
        return len(self.warnings) >= _MOST

    def path(self, file: str) -> str:
        """The file as it is shown in messages."""
        return f"{self.where}/{file}"

    def raise_problems(self) -> None:
        """Raise ``WorldError`` with all problems by file and line, if there are any."""
        if self.problems:
            found = sorted(self.problems, key=lambda problem: (problem.file, problem.line))
            if self._more_problems:
                last = found[-1]
                message = f"{self._more_problems:,} more problems are not listed"
                found.append(WorldProblem(last.file, last.line, message, "mend those above first"))
            raise WorldError(found)


def _short(message: str) -> str:
    """Shorten a message, which may quote a text as long as a file."""
    return message if len(message) <= _LONG else f"{message[: _LONG // 2]}…{message[-_LONG // 4 :]}"


def meant(word: str, known: tuple[str, ...]) -> str | None:
    """The known word that a misspelt one probably means; None if there is none."""
    close = get_close_matches(word, known, n=1, cutoff=0.75)
    return close[0] if close else None
