"""The scene: what the prompt says about the world, parsed back from SAGA's own block.

The narrator knows nothing else. A prompt without the block gives a scene that is not ``told``.
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
    """One moment of the story, as far as the prompt tells it."""

    told: bool = False
    """Whether the prompt held SAGA's block."""
    place: str = ""
    hp: int | None = None
    max_hp: int | None = None
    inventory: tuple[tuple[str, int], ...] = ()
    """(item, quantity)."""
    mood: str = ""
    player: str = ""
    present: tuple[str, ...] = ()
    """Characters with the player."""
    nearby: tuple[str, ...] = ()
    """Characters at the place who are not with the player."""
    ways: tuple[str, ...] = ()
    dead: tuple[str, ...] = ()
    lore: tuple[tuple[str, str], ...] = ()
    """(entry, text)."""
    earlier: tuple[str, ...] = ()
    """Remembered turns, a line each."""
    related: tuple[str, ...] = ()
    events: tuple[str, ...] = ()
    said: tuple[str, ...] = field(default=(), repr=False)
    """The earlier messages of the chat, oldest first: all that is known without the block."""

    @property
    def around(self) -> tuple[str, ...]:
        """Everybody who can be spoken to: those with the player, then those near."""
        return tuple(dict.fromkeys(name for name in (*self.present, *self.nearby) if name not in self.dead))

    @property
    def places(self) -> tuple[str, ...]:
        """The places named: this one, and where ways lead."""
        return tuple(name for name in (self.place, *self.ways) if name)

    def count(self, item: str) -> int:
        """How many of ``item`` the player carries."""
        return dict(self.inventory).get(item, 0)


def read_scene(text: str, said: tuple[str, ...] = ()) -> Scene:
    """The scene told by the last SAGA block in ``text``; ``said`` are the chat's earlier messages."""
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
    """``text`` without any SAGA block: the player's own words."""
    return _BLOCK.sub("", text).strip()


def resolve(phrase: str, names: Iterable[str]) -> str:
    """The one of ``names`` that ``phrase`` means, or "".

    The same name but for spacing and case; else a name that has all of its words ("크룩" for "고블린왕 크룩",
    "Captain Vey" for "Captain Lucan Vey"), when no other name does.
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
    """Those of ``names`` that ``text`` mentions, in the order in which they stand there, longest name first.

    One word of a longer name counts too ("크룩" for "고블린왕 크룩"), unless the ``whole`` name is asked for.
    """
    found: dict[str, tuple[int, int]] = {}
    for name in dict.fromkeys(names):
        for form in (name,) if whole else _forms(name):
            if mentions(text, form):
                found[name] = (text.casefold().find(form.casefold()), -len(form))
                break
    return sorted(found, key=lambda name: (found[name], name))


def _forms(name: str) -> list[str]:
    """The name, then the words of it that may stand for it: proper-looking ones of two letters or more."""
    words = [word for word in name.split() if len(word) >= 2 and (is_hangul(word[-1]) or word[:1].isupper())]
    return [name, *reversed(words)] if len(words) > 1 or " " in name else [name]


def _dead(text: str, told: tuple[str, ...]) -> tuple[str, ...]:
    """The dead of the block and of the pages that stand earlier in the prompt: nobody comes back."""
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
