"""Parses the scene, which is what the prompt says about the world, from SAGA's own block.

The narrator knows nothing else. Without the block, the scene is not ``told``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from attrs import field, frozen

from saga_core.language import fold_name, is_hangul, mentions

_BLOCK = re.compile(
    r"^\[SAGA: (?:what is true now|지금 사실인 것)\]$(.*?)^\[/SAGA\]$", re.DOTALL | re.MULTILINE | re.IGNORECASE
)
_HEADING = re.compile(r"^\[([^\]]+)\]\s*$")
_ENTRY = re.compile(r"^-\s*(.+?)\s*:\s*(.*)$")
_COUNT = re.compile(r"^(|.*\S)\s*[×x]\s*(\d+)$")
_HP = re.compile(r"(-?\d+)(?:\s*/\s*(\d+))?")
_SINCE = re.compile(r"(?<!\s)\s*\([^()]*\)$")
_PAGED_DEAD = re.compile(r"^- \*\*(?:Dead|죽은 인물):\*\* (.+)$", re.MULTILINE)
_NOTHING = frozenset({"", "-", "—", "none", "nothing", "nobody", "empty", "없음", "비어 있음", "아무도 없음"})

_SECTIONS = {
    "now": ("now", "최신 변경"),
    "related": ("related", "관련 연결"),
    "lore": ("lore", "관련 로어북"),
    "earlier": ("earlier", "지난 일"),
    "events": ("events", "이벤트"),
}
_FIELDS = {
    "place": ("place", "위치"),
    "hp": ("hp", "체력"),
    "inventory": ("inventory", "인벤토리"),
    "mood": ("mood", "기분"),
    "player": ("player", "플레이어"),
    "present": ("present", "곁에 있는 인물"),
    "nearby": ("nearby", "근처 인물"),
    "ways": ("ways", "갈 수 있는 곳"),
    "dead": ("dead", "죽은 인물", "사망"),
}
_SECTION_OF = {name: section for section, names in _SECTIONS.items() for name in names}
_FIELD_OF = {name: key for key, names in _FIELDS.items() for name in names}


@frozen
class Scene:
    """The current scene of the story, as far as the prompt describes it."""

    told: bool = False
    """Whether the prompt contained SAGA's block."""
    place: str = ""
    hp: int | None = None
    max_hp: int | None = None
    inventory: tuple[tuple[str, int], ...] = ()
    """Pairs of an item and its quantity."""
    mood: str = ""
    player: str = ""
    present: tuple[str, ...] = ()
    """Characters with the player."""
    nearby: tuple[str, ...] = ()
    """Characters at the place who are not with the player."""
    ways: tuple[str, ...] = ()
    dead: tuple[str, ...] = ()
    lore: tuple[tuple[str, str], ...] = ()
    """Pairs of an entry's name and its text."""
    earlier: tuple[str, ...] = ()
    """Remembered turns, one line each."""
    related: tuple[str, ...] = ()
    events: tuple[str, ...] = ()
    said: tuple[str, ...] = field(default=(), repr=False)
    """The earlier messages of the chat, oldest first. Without the block, nothing else is known."""

    @property
    def around(self) -> tuple[str, ...]:
        """All living characters who can be addressed, first those with the player, then those nearby."""
        return tuple(dict.fromkeys(name for name in (*self.present, *self.nearby) if name not in self.dead))

    @property
    def places(self) -> tuple[str, ...]:
        """The current place, followed by the places to which ways lead."""
        return tuple(name for name in (self.place, *self.ways) if name)

    def count(self, item: str) -> int:
        """Return how many of ``item`` the player carries."""
        return dict(self.inventory).get(item, 0)


def read_scene(text: str, said: tuple[str, ...] = ()) -> Scene:
    """Parse the last SAGA block in ``text``. ``said`` are the earlier messages of the chat."""
    blocks = _BLOCK.findall(text)
    if not blocks:
        return Scene(dead=_dead(text, ()), said=said)
    sections: dict[str, list[str]] = {name: [] for name in _SECTIONS}
    current = "now"
    for line in blocks[-1].splitlines():
        heading = _HEADING.match(line.strip())
        if heading:
            current = _SECTION_OF.get(heading[1].strip().casefold(), "")
        elif line.strip() and current:
            sections[current].append(line.strip())
    told = _fields(sections["now"])
    hp = _HP.search(told.get("hp", ""))
    return Scene(
        told=True,
        place=told.get("place", ""),
        hp=int(hp[1]) if hp else None,
        max_hp=int(hp[2]) if hp and hp[2] else None,
        inventory=tuple(_counted(item) for item in _listed(told.get("inventory", ""))),
        mood=told.get("mood", ""),
        player=told.get("player", ""),
        present=_listed(told.get("present", "")),
        nearby=_listed(told.get("nearby", "")),
        ways=_listed(told.get("ways", "")),
        dead=_dead(text, _listed(told.get("dead", ""))),
        lore=tuple((entry[1], entry[2]) for line in sections["lore"] if (entry := _ENTRY.match(line))),
        earlier=tuple(line.lstrip("- ") for line in sections["earlier"]),
        related=tuple(line.lstrip("- ") for line in sections["related"]),
        events=tuple(line.lstrip("- ") for line in sections["events"]),
        said=said,
    )


def without_block(text: str) -> str:
    """Return ``text`` without any SAGA block."""
    return _BLOCK.sub("", text).strip()


def resolve(phrase: str, names: Iterable[str]) -> str:
    """Return the one of ``names`` that ``phrase`` means, or "".

    A name matches if it is equal except for spacing and case. Otherwise it matches if it is the only name that contains
    all words of the phrase ("크룩" for "고블린왕 크룩", "Captain Vey" for "Captain Lucan Vey").
    """
    wanted = fold_name(phrase)
    if not wanted:
        return ""
    known = list(dict.fromkeys(names))
    for name in known:
        if fold_name(name) == wanted:
            return name
    words = {fold_name(word) for word in phrase.split()}
    partial = [name for name in known if words <= {fold_name(word) for word in name.split()}]
    return partial[0] if len(partial) == 1 else ""


def named_in(text: str, names: Iterable[str], *, whole: bool = False) -> list[str]:
    """Return the ``names`` that ``text`` mentions, in order of appearance, and the longest first at the same position.

    One word of a longer name is enough ("크룩" for "고블린왕 크룩"), unless ``whole`` is true.
    """
    found: dict[str, tuple[int, int]] = {}
    for name in dict.fromkeys(names):
        for form in (name,) if whole else _forms(name):
            if mentions(text, form):
                found[name] = (text.casefold().find(form.casefold()), -len(form))
                break
    return sorted(found, key=lambda name: (found[name], name))


def _forms(name: str) -> list[str]:
    """Return the name, then those of its words that can stand for it.

    These are words of two letters or more that end in Hangul or begin with a capital.
    """
    words = [word for word in name.split() if len(word) >= 2 and (is_hangul(word[-1]) or word[:1].isupper())]
    return [name, *reversed(words)] if len(words) > 1 or " " in name else [name]


def _dead(text: str, told: tuple[str, ...]) -> tuple[str, ...]:
    """Return the dead from the block and from the pages earlier in the prompt. Death is permanent."""
    paged = (name for line in _PAGED_DEAD.findall(text) for name in _listed(line))
    return tuple(dict.fromkeys(_SINCE.sub("", name) for name in (*told, *paged)))


def _fields(lines: Iterable[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in lines:
        for part in line.split(" | "):
            name, colon, value = part.partition(":")
            key = _FIELD_OF.get(name.strip().casefold())
            if colon and key:
                found[key] = "" if value.strip().casefold() in _NOTHING else value.strip()
    return found


def _listed(value: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in value.split(",") if name.strip())


def _counted(text: str) -> tuple[str, int]:
    match = _COUNT.match(text)
    return (match[1], int(match[2])) if match else (text, 1)
