"""The fields of a state block: their values, and the names by which a model may call them."""

from __future__ import annotations

import unicodedata
from enum import Enum

from attrs import frozen


@frozen
class ItemAmount:
    """An item and how many of it, at least 1."""

    name: str
    quantity: int = 1


@frozen
class ItemTransfer:
    """An item that went from one hand to another; None for a hand that the block does not name."""

    item: str
    giver: str | None
    receiver: str | None
    quantity: int = 1


@frozen
class RelationChange:
    """How ``source`` stands to ``target`` now. ``type`` is "" and ``delta`` 0 where the block does not say."""

    source: str
    target: str
    type: str
    delta: int


@frozen
class StatusChange:
    """What has become of ``name``, in a word: "dead", "captured"."""

    name: str
    status: str


@frozen
class BlockFields:
    """What one block says. None and () mean that it says nothing about the field.

    All text is NFC on one line, as ``clean_name`` gives it. ``hp_change`` is signed: negative is harm.
    """

    location: str | None = None
    location_moved: bool | None = None
    hp_change: int | None = None
    items_gained: tuple[ItemAmount, ...] = ()
    items_lost: tuple[ItemAmount, ...] = ()
    items_transferred: tuple[ItemTransfer, ...] = ()
    npc_met: tuple[str, ...] = ()
    npc_separated: tuple[str, ...] = ()
    relationship_changes: tuple[RelationChange, ...] = ()
    mood: str | None = None
    event_trigger: str | None = None
    notes: str | None = None
    status_changes: tuple[StatusChange, ...] = ()


class Kind(Enum):
    """How a field is read and written."""

    NAME = "one name"
    TEXT = "one line of text"
    FLAG = "true or false"
    CHANGE = "a signed whole number"
    ITEMS = "a list of items"
    NAMES = "a list of names"
    TRANSFERS = "a list of {item, from, to}"
    RELATIONS = "a list of {from, to, type, delta}"
    STATUSES = "a list of {name, status}"


LIST_KINDS = frozenset({Kind.ITEMS, Kind.NAMES, Kind.TRANSFERS, Kind.RELATIONS, Kind.STATUSES})


@frozen
class Field:
    """One field: its name in the block and in ``BlockFields``, its kind, the other names it is known by, and the
    words that stand in templates where a value should be."""

    name: str
    kind: Kind
    aliases: str
    templates: str = ""


FIELDS: tuple[Field, ...] = (
    Field(
        "location",
        Kind.NAME,
        "loc place where currentlocation newlocation 위치 장소 현재위치 현재장소 현위치 새위치 새로운위치",
        "location place placename 위치 장소 현재위치 장소명 장소이름",
    ),
    Field(
        "location_moved",
        Kind.FLAG,
        "moved haslocationmoved locationchanged locationchange 이동 이동여부 위치이동 위치이동여부 장소이동 "
        "위치변경 위치변경여부 장소변경 이동함",
    ),
    Field(
        "hp_change",
        Kind.CHANGE,
        "hp hpchanges hpdelta hpdiff health healthchange 체력 체력변화 체력변화량 체력변동 체력증감 hp변화 hp변화량 "
        "hp변동 hp증감 생명력 생명력변화 생명력변동",
    ),
    Field(
        "items_gained",
        Kind.ITEMS,
        "itemgained gaineditems gaineditem gained itemsacquired itemacquired acquireditems acquired "
        "itemsobtained obtaineditems obtained itemsreceived newitems loot 획득 획득물 획득품 획득아이템 획득한아이템 "
        "아이템획득 얻은아이템 얻은물건 습득 습득물 습득아이템 입수 입수아이템 추가된아이템",
        "item items itemname 아이템 아이템명 아이템이름 물건",
    ),
    Field(
        "items_lost",
        Kind.ITEMS,
        "itemlost lostitems lostitem lost itemsremoved removeditems itemsused useditems itemsconsumed "
        "consumeditems 소실 소실아이템 아이템소실 잃은아이템 잃은물건 잃어버린아이템 잃음 상실 상실아이템 분실 "
        "분실아이템 소모 소모아이템 소모한아이템 사용아이템 사용한아이템 아이템손실 아이템소모",
        "item items itemname 아이템 아이템명 아이템이름 물건",
    ),
    Field(
        "items_transferred",
        Kind.TRANSFERS,
        "itemtransferred transferreditems transferreditem transferred transfers itemtransfers itemtransfer "
        "itemsgiven givenitems 이전 양도 아이템이전 아이템양도 이전아이템 이전된아이템 양도아이템 양도한아이템 "
        "건넨아이템 전달 전달아이템 아이템전달 주고받은아이템",
        "item items itemname 아이템 아이템명 아이템이름 물건",
    ),
    Field(
        "npc_met",
        Kind.NAMES,
        "npcsmet metnpc metnpcs met npcmeet npcencountered npcsencountered npc npcs 만남 만난npc 만난인물 만난사람 "
        "npc만남 조우 조우npc 조우한npc 등장npc 등장인물 npc등장",
        "npc npcname name npc이름 이름 인물 인물이름",
    ),
    Field(
        "npc_separated",
        Kind.NAMES,
        "npcsseparated separatednpc separatednpcs separated npcleft npcsleft leftnpcs 헤어짐 헤어진npc 헤어진인물 "
        "헤어진사람 npc헤어짐 이별 이별npc 떠난npc 떠난인물 퇴장npc 퇴장인물 npc퇴장",
        "npc npcname name npc이름 이름 인물 인물이름",
    ),
    Field(
        "relationship_changes",
        Kind.RELATIONS,
        "relationshipchange relationchanges relationchange relationshipschanged relationships relationship "
        "relations relation 관계 관계변화 관계변동 관계변경 관계변화들 호감도변화",
        "name relationship 이름 관계",
    ),
    Field(
        "status_changes",
        Kind.STATUSES,
        "statuschange statuses characterstatus characterstatuses npcstatus 상태변화 상태변경 인물상태 인물상태변화 "
        "캐릭터상태 npc상태 생사",
        "name 이름 인물",
    ),
    Field(
        "mood",
        Kind.TEXT,
        "atmosphere tone 기분 분위기 무드 감정 감정상태",
        "mood 분위기 기분",
    ),
    Field(
        "event_trigger",
        Kind.TEXT,
        "event events eventtriggered triggeredevent trigger "
        "이벤트 이벤트트리거 이벤트발생 발생이벤트 발생한이벤트 사건",
        "event eventname 이벤트 이벤트명 사건",
    ),
    Field(
        "notes",
        Kind.TEXT,
        "note memo memos remark remarks comment comments summary 메모 비고 노트 참고 참고사항 기타 요약 특이사항",
        "note notes memo 메모 비고",
    ),
)

# Keys inside the records of the composite kinds.
_RECORD_KEYS: dict[str, str] = {
    "name": "name 이름 명칭 npc npcname character who 인물 캐릭터",
    "item": "item itemname 아이템 아이템명 아이템이름 물건 물품 품목",
    "quantity": "quantity qty count amount number num 수량 개수 갯수 수",
    "from": "from source giver subject sender fromnpc 주체 출처 준사람 주는사람 주는이 준이 보낸사람 누가 부터",
    "to": "to target receiver recipient object tonpc 대상 상대 받은사람 받는사람 받는이 받은이 누구에게 에게",
    "type": "type relation relationship relationtype kind status newtype 유형 종류 관계 관계유형 타입 상태",
    "status": "status state condition 상태 생사",
    "delta": "delta change strength strengthchange strengthdelta value amount affinity "
    "변화 변화량 수치 증감 강도 호감도",
}
RECORD_KEYS_OF: dict[Kind, tuple[str, ...]] = {
    Kind.ITEMS: ("name", "item", "quantity"),
    Kind.NAMES: ("name",),
    Kind.TRANSFERS: ("item", "from", "to", "quantity", "name"),
    Kind.RELATIONS: ("from", "to", "type", "delta"),
    Kind.STATUSES: ("name", "status"),
}


def squash(text: str) -> str:
    """``text`` as keys and words are compared: NFKC, case folded, letters and digits only."""
    return "".join(char for char in unicodedata.normalize("NFKC", text).casefold() if char.isalnum())


_BY_ALIAS: dict[str, Field] = {
    alias: field for field in FIELDS for alias in (squash(field.name), *field.aliases.split())
}
_HEADERS = frozenset({"state", "상태", "stateblock", "상태블록", "statusupdate", "stateupdate"})
# Beside these an unsigned number may just as well be what is left, and not what changed.
_LEVELS = frozenset({"hp", "health", "체력", "생명력"})
_MAX_KEY = 60


def _spellings(key: str) -> tuple[str, ...]:
    """A key as it is, and for ``위치 (location)`` the two parts of it."""
    if len(key) > _MAX_KEY:
        return ()
    head, _, tail = unicodedata.normalize("NFKC", key).partition("(")
    return tuple(squash(part) for part in (key, head, tail))


def field_of(key: str) -> Field | None:
    """The field that ``key`` names, however it is spelled; None if it names none."""
    return next((_BY_ALIAS[spelling] for spelling in _spellings(key) if spelling in _BY_ALIAS), None)


def names_level(key: str) -> bool:
    """Whether ``key`` names hit points as such, and not a change of them."""
    return next((spelling for spelling in _spellings(key) if spelling in _BY_ALIAS), "") in _LEVELS


def is_header(key: str) -> bool:
    """Whether ``key`` names the block as a whole."""
    return squash(key) in _HEADERS


def record_key(kind: Kind, key: str) -> str | None:
    """The name of ``key`` inside a record of ``kind``: "from" for "주는 사람"; None if there is none."""
    spellings = _spellings(key)
    for name in RECORD_KEYS_OF.get(kind, ()):
        if any(spelling in _RECORD_KEYS[name].split() for spelling in spellings):
            return name
    return None
