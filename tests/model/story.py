"""The pure model: chats as a frontend keeps them, and what must be true on each path. Shares no code with SAGA."""

from __future__ import annotations

from attrs import define, evolve, field, frozen

START_HP = 100


@frozen
class Change:
    """What one reply changed: hit points, and an item with a name of its own."""

    damage: int = 0
    item: str = ""
    place: str = ""


@define(eq=False)
class Beat:
    """A reply that exists: its text, what it changed, and the beat before it."""

    text: str
    user: str
    change: Change
    parent: Beat | None
    begun: str = ""
    """The text that it goes on with, if a "continue" made it longer."""

    def path(self) -> list[Beat]:
        found: list[Beat] = []
        beat: Beat | None = self
        while beat is not None:
            found.append(beat)
            beat = beat.parent
        return found[::-1]


@frozen
class Truth:
    """What must be true after a beat."""

    hp: int
    items: frozenset[str]
    place: str
    depth: int


def truth(beat: Beat | None) -> Truth:
    """Fold the path of ``beat``."""
    hp, items, place, depth = START_HP, set(), "", 0
    for step in beat.path() if beat else []:
        hp = max(0, min(START_HP, hp - step.change.damage))
        if step.change.item:
            items.add(step.change.item)
        place = step.change.place or place
        depth += 1
    return Truth(hp, frozenset(items), place, depth)


@define(eq=False)
class Line:
    """A user message and the reply to it, as a chat shows them. ``beats``: the reply's swipes."""

    user: str
    beat: Beat
    text: str
    """The reply as it stands in the chat, which a person may have edited."""
    hidden: bool = False
    swipes: list[Beat] = field(factory=list)
    under: int | None = None
    """Of a reply that was stopped: how many replies were shown above it."""

    @property
    def edited(self) -> bool:
        return self.text != self.beat.text


@define(eq=False)
class Chat:
    """A chat file."""

    greeting: str
    lines: list[Line] = field(factory=list)

    def visible(self) -> list[Line]:
        return [line for line in self.lines if not line.hidden]

    def copy(self, count: int) -> Chat:
        """A branch: another file with the first lines."""
        lines = [evolve(line, swipes=list(line.swipes)) for line in self.lines[:count]]
        return Chat(self.greeting, lines)

    def messages(self, words: str | None, skip: int = 0, note: str = "") -> list[dict[str, str]]:
        """What the frontend sends; ``skip`` lines fell out of the window, and the greeting with them."""
        found = [{"role": "system", "content": "You are the narrator of this story."}]
        if not skip:
            found.append({"role": "assistant", "content": self.greeting})
        for line in self.visible()[skip:]:
            found += [{"role": "user", "content": line.user}, {"role": "assistant", "content": line.text}]
        if words is not None:
            found.append({"role": "user", "content": words})
        if note:
            found.append({"role": "system", "content": note})
        return found

    def readable(self) -> str:
        """The chat for a failure's report."""
        rows = [f"  A: {self.greeting}"]
        for line in self.lines:
            mark = " (hidden)" if line.hidden else ""
            edit = f"  [edited, was: {line.beat.text}]" if line.edited else ""
            rows += [f"  U: {line.user}{mark}", f"  A: {line.text}{edit}  {line.beat.change}"]
        return "\n".join(rows)


def settle(lines: list[Line], resembles: float) -> Beat | None:
    """The beat that the shown lines prove, new ones made where a reply was edited.

    The deepest unedited reply names its beat. Edited ones after it become beats of their own: with the change of what
    they were if they still resemble it, with none if they do not. ``resembles`` says how a line's edit was made.
    Where only hidden lines stand between, a line that resembles what it was stays behind them. So does one that still
    goes on with a reply which was there before a "continue". Where lines are hidden behind a reply that was written
    anew, its words must say what a line was.
    """
    deepest = max((index for index, line in enumerate(lines) if not line.edited), default=-1)
    beat = above = lines[deepest].beat if deepest >= 0 else None
    anew = False
    for line in lines[deepest + 1 :]:
        found = line.user == line.beat.user or line.beat.parent is above or not anew
        above, anew = line.beat, not _small_edit(line, resembles)
        if found and not anew:
            goes_on = line.beat.begun and line.text.startswith(line.beat.begun)
            parent = line.beat.parent if goes_on or _is_below(line.beat, beat) else beat
            beat = Beat(line.text, line.user, line.beat.change, parent)
        else:
            beat = Beat(line.text, line.user, Change(), beat)
        line.beat = beat
        line.swipes = [beat]
    return beat


def _is_below(beat: Beat, above: Beat | None) -> bool:
    step: Beat | None = beat
    while step is not None and step is not above:
        step = step.parent
    return step is above


def _small_edit(line: Line, resembles: float) -> bool:
    old, new = line.beat.text, line.text
    same = sum(one == other for one, other in zip(old, new, strict=False))
    return same >= resembles * max(len(old), len(new))
