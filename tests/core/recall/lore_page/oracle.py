"""Which entries are told at a turn, by the page and the manual: slow, plain, and in one place.

What neither says, and how it is taken here:

- Names before messages ("Include Names") and the global switches are settings of the tool, not fields of a file. The
  text is what was said, without names, and lore opens lore.
- In a round after the first, the chat and the texts of the lore told so far are one text. A round's entries do not see
  one another.
- A group is settled before the dice: whoever wins it may still fail. Then a later round has the group anew.
- Of overlapping groups, the one whose entry comes first in the order is settled first; who lost one is out of all.
- With nothing told that may open others, no round follows, except for levels beyond the lowest.
- Times: the manual's example (told at message 1 with sticky 3, then sticky at 2, 3, 4) is a message longer than the
  tool: there an effect is over once N messages have passed. A rest begins at the first request after the stickiness.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from dataclasses import replace as changed

from tests.core.recall.lore_page.matching import fits, hits
from tests.core.recall.lore_page.rule import Rule

Dice = Callable[[str], float]


@dataclass(frozen=True)
class Said:
    who: str  # "user" or "char"
    text: str


@dataclass
class Past:
    """What a chat remembers of its lore."""

    sticky: dict[str, tuple[int, int]] = field(default_factory=dict)  # from which count of messages to which
    rests: dict[str, tuple[int, int]] = field(default_factory=dict)
    told: set[str] = field(default_factory=set)

    def advance(self, rules: Sequence[Rule], count: int) -> None:
        """What is over ends; a stickiness that ends begins the entry's rest."""
        for rule in rules:
            if rule.name in self.sticky and count >= self.sticky[rule.name][1]:
                del self.sticky[rule.name]
                if rule.cooldown:
                    self.rests[rule.name] = (count - 1, count + rule.cooldown)
            if rule.name in self.rests and count >= self.rests[rule.name][1]:
                del self.rests[rule.name]

    def remember(self, rule: Rule, count: int) -> None:
        self.told.add(rule.name)
        if rule.sticky:
            self.sticky.setdefault(rule.name, (count, count + rule.sticky))
        if rule.cooldown:
            self.rests.setdefault(rule.name, (count, count + rule.cooldown))


@dataclass(frozen=True)
class Scene:
    """A request: the chat with the player's last words, who is played, and what kind of request it is."""

    chat: Sequence[Said]
    character: str = "Ysolde"
    user: str = "Mira"
    trigger: str = "normal"

    @property
    def count(self) -> int:
        return len(self.chat)

    @property
    def replies(self) -> int:
        return sum(said.who == "char" for said in self.chat)

    def text(self, depth: int) -> str:
        """The last messages as one text, the newest first: what ``^`` of a pattern means is no more than that."""
        last = list(self.chat)[max(0, self.count - depth) :]
        return "\n".join(said.text for said in reversed(last))


def even(_name: str) -> float:
    """Dice for books that leave nothing to chance: any roll will do."""
    return 50.0


@dataclass
class Room:
    """Letters that are left for lore. Once an entry did not fit, only those that need no room are told."""

    left: float = float("inf")

    def take(self, rule: Rule) -> bool:
        cost = len(rule.content.strip())
        if not rule.free and cost > self.left:
            self.left = -1
            return False
        if self.left >= 0:
            self.left = max(0, self.left - cost)
        return True


def tell(book: Sequence[Rule], scene: Scene, past: Past, dice: Dice = even, room: float = float("inf")) -> list[str]:
    """The names of the entries that are told, in the order in which they were found. ``past`` learns of them."""
    space = Room(room)
    rules = [_named(rule, scene) for rule in sorted(book, key=lambda rule: -rule.order)]
    past.advance(rules, scene.count)
    levels = sorted({rule.level for rule in rules if rule.level})
    level = levels.pop(0) if levels else 0
    told: list[Rule] = []
    failed: set[str] = set()
    opened = ""  # what told lore says aloud to other lore
    later = False
    while True:
        out = failed | {rule.name for rule in told}
        found = [r for r in rules if r.name not in out and _opens(r, scene, past, opened, level, later)]
        found = _one_of_each_group(found, told, scene, past, opened)
        fresh = [rule for rule in found if _lucky(rule, scene, past, dice)]
        failed |= {rule.name for rule in found} - {rule.name for rule in fresh}
        # The manual: constant entries first, then by order, the highest first; what other lore opened comes later.
        fresh = [
            rule for rule in sorted(fresh, key=lambda rule: not rule.constant and not rule.always) if space.take(rule)
        ]
        told += fresh
        aloud = [rule.content for rule in fresh if not rule.mute_to_lore]
        opened = "\n".join([opened, *aloud])
        if not aloud:
            if not levels:
                break
            level = levels.pop(0)
        later = True
    for rule in told:
        past.remember(rule, scene.count)
    return [rule.name for rule in told]


def _named(rule: Rule, scene: Scene) -> Rule:
    """The manual shows a key with a macro: names are put in before the key is looked for."""

    def put(keys: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(k.replace("{{char}}", scene.character).replace("{{user}}", scene.user) for k in keys)

    filters = tuple(changed(each, keys=put(each.keys)) for each in rule.filters)
    return changed(rule, keys=put(rule.keys), filters=filters)


def is_sticky(rule: Rule, scene: Scene, past: Past) -> bool:
    return rule.name in past.sticky and past.sticky[rule.name][0] < scene.count


def _rests(rule: Rule, scene: Scene, past: Past) -> bool:
    return rule.name in past.rests and past.rests[rule.name][0] < scene.count


def _opens(rule: Rule, scene: Scene, past: Past, opened: str, level: int, later: bool) -> bool:
    if not rule.enabled or not rule.content.strip():  # the specification: empty content adds nothing in any case
        return False
    if rule.triggers and scene.trigger not in rule.triggers:
        return False
    if rule.names and (scene.character in rule.names) == rule.names_excluded:
        return False
    if rule.not_after and rule.name in past.told:
        return False
    if rule.keep_after and rule.name in past.told:
        return True
    if scene.count < rule.delay or (_rests(rule, scene, past) and not is_sticky(rule, scene, past)):
        return False
    if scene.replies < rule.only_after or (rule.only_every and scene.replies % rule.only_every):
        return False
    if is_sticky(rule, scene, past):
        return True
    if rule.level and (not later or rule.level > level):
        return False
    if later and rule.shut_to_lore:
        return False
    if rule.never:
        return False
    text = scene.text(rule.depth) + "\n" + opened
    return rule.always or rule.constant or fits(rule, text)


def _lucky(rule: Rule, scene: Scene, past: Past, dice: Dice) -> bool:
    kept = rule.keep_after and rule.name in past.told
    return is_sticky(rule, scene, past) or kept or dice(rule.name) < rule.chance


def _one_of_each_group(found: list[Rule], told: Sequence[Rule], scene: Scene, past: Past, opened: str) -> list[Rule]:
    names = list(dict.fromkeys(name for rule in found for name in rule.groups))
    for name in names:
        members = [rule for rule in found if name in rule.groups]
        if any(name in rule.groups for rule in told):
            stay: list[Rule] = []
        else:
            stay = _best(members, scene, past, opened)
        found = [rule for rule in found if rule not in members or rule in stay]
    return found


def _best(members: list[Rule], scene: Scene, past: Past, opened: str) -> list[Rule]:
    sticky = [rule for rule in members if is_sticky(rule, scene, past)]
    if sticky:  # the manual: a sticky entry stays active
        return sticky
    if any(rule.scoring for rule in members):
        scores = {rule.name: hits(rule, scene.text(rule.depth) + "\n" + opened) for rule in members}
        best = max(scores.values())
        members = [rule for rule in members if not rule.scoring or scores[rule.name] == best]
    chosen = sorted((rule for rule in members if rule.override), key=lambda rule: -rule.order)
    if chosen:
        return chosen[:1]
    weighty = [rule for rule in members if rule.weight > 0]
    if len(members) > 1 and len(weighty) != 1:
        raise AssertionError(f"a lottery among {[rule.name for rule in members]}: not for these books")
    return weighty or members
