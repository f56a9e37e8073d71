"""Korean titles, honorifics and family names."""

from __future__ import annotations

from saga_core.language.names import NameWords

NAMES = NameWords(
    player=frozenset("플레이어 당신 나 너 유저 주인공".split()),
    titles_around=frozenset(
        "왕 여왕 대왕 공주 왕자 공작 백작 남작 족장 대장 단장 장로 영감 할아버지 할머니 아저씨 아주머니 아줌마 "
        "노인 소년 소녀 선생 스승 사부 기사 마법사 상인 약초상 대장장이 사제 신부 수녀 용병 선장 형 누나 언니 "
        "오빠 님 씨 양 군 경 공 전하 폐하 각하 어르신 누님 형님 녀석 꼬마 마녀 교수 박사 사령관 황제 황후 황자 "
        "황녀 후작 자작 영주 장군 제독 검성 아가씨 하녀장 시녀장 시종장 집사 의사 의원 간호사 촌장 이장 길드장 "
        "상단주 교장 학장 부관 참모 재상 승상 대신 도사 도인 스님 무사 검사 검객 궁수 사냥꾼 시인 음유시인 "
        "암살자 도적 병사 정찰병 경비병 경비대장 수비대장 요리사 하녀 시녀 시종 하인 광대 주교 대주교 추기경 "
        "교황 현자 예언자 감독관 조사관 수사관 형사 소장 중위 대위 소위 중사 상사 하사 병장 대령 중령 소령".split()
    ),
    title_suffixes=("님",),
    honorifics=("님", "씨", "양", "군", "공", "경", "옹"),
    many=frozenset(
        "궁수 병사 정찰병 경비병 도적 무사 검사 검객 사냥꾼 시인 용병 상인 하녀 하인 광대 소년 소녀 노인 꼬마 "
        "녀석 시녀 시종 아저씨 아주머니 아줌마 할머니 할아버지".split()
    ),
    women=frozenset("여왕 공주 할머니 아주머니 아줌마 소녀 수녀 누나 언니 누님 마녀 황후 황녀".split()),
    men=frozenset("대왕 왕자 할아버지 영감 아저씨 소년 형 오빠 형님 황자".split()),
    families=frozenset(
        "김이박최정강조윤장임한오서신권황안송류유홍전고문양손배백허남심노하곽성차주우구민진지엄채원방공현함변염여추"
    ),
    between=frozenset("폰 반 드 데 디 다 라 르".split()),
    ordinal=r"\d{1,2}세",
    joint=r"\s+및\s+|(?<=[가-힣])(?:과|와|하고|이랑|랑)\s+",
    letters="[가-힣]",
)
