"""The matters that an adventure of the recall benchmark mentions, and how a player asks about them."""

from __future__ import annotations

from attrs import frozen


@frozen
class Planted:
    """One matter: its kind, the text that tells it, questions in character, and the answers to them."""

    group: str
    told: str
    questions: tuple[str, ...]
    answers: tuple[str, ...]

    @property
    def by_player(self) -> bool:
        """Whether it is told in the player's own words."""
        return self.told.startswith(">")


def planted(group: str, told: str, questions: str, answers: str) -> Planted:
    """A matter. The texts in ``questions`` and in ``answers`` are separated by " / "."""
    return Planted(group, told, tuple(questions.split(" / ")), tuple(answers.split(" / ")))
