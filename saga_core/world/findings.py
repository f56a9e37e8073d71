"""What a parser collects while it reads on: problems that make a world unusable, and warnings that do not."""

from __future__ import annotations

from difflib import get_close_matches

from attrs import define, field

from saga_core.world.errors import WorldError, WorldProblem


@define
class Findings:
    """Problems and warnings of one world. ``where`` is the folder that stands before each file name."""

    where: str
    problems: list[WorldProblem] = field(factory=list)
    warnings: list[str] = field(factory=list)

    def problem(self, file: str, line: int, message: str, remedy: str) -> None:
        """Record a fault; reading goes on, so that all faults are reported at once."""
        self.problems.append(WorldProblem(self.path(file), line, message, remedy))

    def warn(self, file: str, line: int, message: str) -> None:
        """Record what may be a slip, but can be lived with."""
        self.warnings.append(f"{self.path(file)}:{line}: {message}")

    def path(self, file: str) -> str:
        """The file as it is shown to a human."""
        return f"{self.where}/{file}"

    def raise_problems(self) -> None:
        """Raise ``WorldError`` with all problems by file and line, if there are any."""
        if self.problems:
            raise WorldError(sorted(self.problems, key=lambda problem: (problem.file, problem.line)))


def meant(word: str, known: tuple[str, ...]) -> str | None:
    """The known word that a misspelt one probably stands for."""
    close = get_close_matches(word, known, n=1, cutoff=0.75)
    return close[0] if close else None
