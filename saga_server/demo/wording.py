"""The texts of the demo's output, in Korean and English."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen


@frozen(kw_only=True)
class Wording:
    """The texts in one language."""

    starting: str
    ready: str
    stores: str
    main: str
    stream: str
    swipe: str
    branch: str
    returned: str
    killed: str
    survived: str
    known: str
    changed: str
    unchanged: str
    tokens: str
    as_expected: str
    not_as_expected: str
    place: str
    mood: str
    event: str
    problem: str
    joined: str
    left: str
    died: str
    rose: str
    final: str
    inventory: str
    present: str
    met: str
    relations: str
    dead: str
    graph: str
    pages: str
    removed: str
    totals: str
    turns: str
    swipes: str
    branches: str
    kills: str
    context: str
    median: str
    lost: str
    nobody: str
    success: str
    failure: str
    more: str


_KO = Wording(
    starting="서버를 켠다",
    ready="준비됨",
    stores="저장소",
    main="턴",
    stream="스트리밍",
    swipe="스와이프",
    branch="분기",
    returned="원래 길",
    killed="강제 종료",
    survived="강제 종료 뒤 다시 켜짐, 잃은 턴 없음",
    known="SAGA가 알려 준 것",
    changed="바뀐 것",
    unchanged="바뀐 것 없음",
    tokens="토큰",
    as_expected="예상대로",
    not_as_expected="예상과 다름",
    place="위치",
    mood="기분",
    event="사건",
    problem="문제",
    joined="함께",
    left="헤어짐",
    died="사망",
    rose="살아남",
    final="마지막 상태",
    inventory="인벤토리",
    present="곁에 있는 인물",
    met="만난 인물",
    relations="관계",
    dead="죽은 인물",
    graph="그래프",
    pages="페이지",
    removed=" (끝나면 지워진다. --keep 폴더로 남길 수 있다)",
    totals="합계",
    turns="턴",
    swipes="스와이프",
    branches="분기",
    kills="강제 종료",
    context="넣은 컨텍스트 토큰",
    median="읽기 중앙값",
    lost="잃은 턴",
    nobody="없음",
    success="마지막 상태가 모험이 이끈 그대로다.",
    failure="예상과 다른 것",
    more="… 외 {count}",
)

_EN = Wording(
    starting="starting the server",
    ready="ready",
    stores="stores",
    main="turn",
    stream="streamed",
    swipe="swipe",
    branch="branch",
    returned="main path",
    killed="kill -9",
    survived="killed and started again, no turn lost",
    known="SAGA told the narrator",
    changed="changed",
    unchanged="nothing changed",
    tokens="tokens",
    as_expected="as expected",
    not_as_expected="not as expected",
    place="place",
    mood="mood",
    event="event",
    problem="problem",
    joined="joined by",
    left="parted from",
    died="died",
    rose="rose again",
    final="Final state",
    inventory="inventory",
    present="present",
    met="met",
    relations="relations",
    dead="dead",
    graph="Graph",
    pages="Pages",
    removed=" (removed at the end; --keep FOLDER keeps it)",
    totals="Totals",
    turns="turns",
    swipes="swipes",
    branches="branches",
    kills="kills",
    context="context tokens put in",
    median="median read",
    lost="lost turns",
    nobody="nobody",
    success="The final state is what the adventure leads to.",
    failure="Not as expected",
    more="… and {count} more",
)

WORDINGS: Mapping[str, Wording] = {"ko": _KO, "en": _EN}
