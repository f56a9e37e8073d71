"""The matters in the long adventures of the recall benchmark, and how a player asks about them in character.

Slots are filled as in ``wording``. A matter whose text begins with ``>`` is told by the player. The narrator tells the
others in the middle of a long reply. A question has the answer at the same position, or the only answer.
"""

# ruff: noqa: E501 - Korean letters count twice
from __future__ import annotations

from collections.abc import Mapping

from tests.bench.recall.adventure_wording_ja import ADVENTURE_JA, IDLE_JA
from tests.bench.recall.adventure_wording_zh import ADVENTURE_ZH, IDLE_ZH
from tests.bench.recall.planted import Planted, planted

ADVENTURE_EN = (
    planted(
        "mark",
        "{a} turns the {thing} over and shows me the back of it. A sign is scratched there, small and old, and it is that of House {house}.",
        'I take out the {thing}. "Wasn\'t there something about this? Some sign on it?" / I hold the {thing} into the light. Whose house was that again, on the back?',
        "{house}",
    ),
    planted(
        "debt",
        '"{amount} crowns," {a} says and pushes a purse across the table without letting go of it. "I want them back by the {feast}, and I count slowly."',
        '"I have not forgotten what you lent me, {a}," I say, and try to remember how much it was. / "{a}, until when did you give me to pay you back?"',
        "{amount} crowns / {feast}",
    ),
    planted(
        "oath",
        '>I take {a} by both hands and wait until the others are out of hearing. "Listen. When all of this is over I will bring you {gift}. You have my word, and I have never broken it."',
        'I come back to {a} with empty hands. There was something I had sworn to bring, wasn\'t there? / "{a}, do you remember what I gave you my word on?"',
        "{gift}",
    ),
    planted(
        "word",
        '{a} bends down to my ear. "If they stop you at the gate, say {word} and nothing else. And do not smile when you say it."',
        'The guard lowers his spear and waits. There was a thing {a} told me to say, what was it? / "Which words were they, {a}? For the gate?"',
        "{word}",
    ),
    planted(
        "kin",
        "{a} hardly ever speaks of home. Tonight a name slips out all the same: {petname}, the {kin} who stayed behind in {city}.",
        '"You mentioned a {kin} once, {a}. I have forgotten the name." / "How far is it to your {kin}, {a}? Which town was it?"',
        "{petname} / {city}",
    ),
    planted(
        "hidden",
        "{a} waits until the last candle is out. Then, quick as a thief, the {thing} disappears {spot}, and {a} lies down as if nothing had happened.",
        'I shake {a} awake. "The {thing}. Where is it?" / We came all this way for the {thing}. Where had it been put?',
        "{spot}",
    ),
    planted(
        "wound",
        "The blade went in at the {limb}. {a} bites on a strap while I press {herb} into the cut and tie it up with my own sleeve.",
        '"Does it still hurt, {a}? Show me where they cut you." / "{a} is bleeding again. What did I use the other time? It helped."',
        "{limb} / {herb}",
    ),
    planted(
        "fear",
        '"I will fight whatever you like," {a} says and has gone white as chalk, "but not that. Not {scare}. I was shut in with it as a child."',
        'There is one thing that would make {a} run. What was it? / "{a}, what is it that you cannot bear?"',
        "{scare}",
    ),
    planted(
        "traitor",
        '"Somebody opened the gate from inside," {a} says, so low that I have to lean in. "I saw the hand on the bolt. It was {petname}."',
        '"Say the name once more, {a}. Who let them in that night?" / I think of the bolt and of what {a} saw. Who had it been?',
        "{petname}",
    ),
    planted(
        "meeting",
        '"Not here," says {a}. "{place}, on the night of the {feast}. If you bring anybody I will not be there."',
        '"Where did you want me to come, {a}?" / "And when was I to meet you, {a}? I lost count of the days."',
        "{place} / {feast}",
    ),
    planted(
        "price",
        "In the end {a} lets me have the {thing} for {gift}, spits into a palm and shakes on it.",
        'I turn the {thing} between my fingers. What did I give away for it, back then? / "You got a good price for the {thing}, {a}. What was it?"',
        "{gift}",
    ),
    planted(
        "knocks",
        "{a} shows it on the table top with a knuckle: {weeks} knocks, a breath, and one more. Nobody opens that door to any other.",
        'I stand before the door that {a} spoke of and raise my hand. How often was it? / "How many knocks, {a}?"',
        "{weeks} knocks",
    ),
    planted(
        "plan",
        '>"I have been thinking about what comes after," I say, and poke the fire so as not to look at anybody. "No more swords for me. I want to open a {shop} in {city}, a small one. Laugh if you like, {a}."',
        '"{a}, you know what I want to do when all this is over. Have I ever told you?" / "Where did I say I would settle down one day, {a}?"',
        "{shop} / {city}",
    ),
)

ADVENTURE_KO = (
    planted(
        "mark",
        "{a:이/가} {thing:을/를} 뒤집어 뒷면을 보여 준다. 작고 오래된 표시가 긁혀 있는데, {house} 가문의 것이다.",
        '{thing:을/를} 꺼내 든다. "이거 뭔가 있지 않았어? 무슨 표시 같은 거." / {thing:을/를} 불빛에 비춰 본다. 뒷면에 있던 게 어느 가문이었더라?',
        "{house}",
    ),
    planted(
        "debt",
        '"금화 {amount}닢이야." {a:이/가} 주머니를 밀어 주면서도 손을 떼지 않는다. "{feast}까지 갚아. 난 천천히 세거든."',
        '"{a}, 너한테 꾼 거 안 잊었어." 그게 얼마였는지 떠올려 본다. / "{a}, 언제까지 갚으라고 했더라?"',
        "금화 {amount}닢 / {feast}",
    ),
    planted(
        "oath",
        '>나는 다른 사람들이 멀어질 때까지 기다렸다가 {a:의/의} 두 손을 잡는다. "들어 봐. 이 일이 다 끝나면 {gift:을/를} 가져다줄게. 약속이야. 나 한 번 한 말은 지키는 거 알지."',
        '빈손으로 {a} 앞에 선다. 내가 가져오겠다고 한 게 있었지, 뭐였더라? / "{a}, 내가 너한테 맹세한 거 기억해?"',
        "{gift}",
    ),
    planted(
        "word",
        '{a:이/가} 귀에 대고 속삭인다. "성문에서 붙잡거든 \'{word:이/}라고만 해. 다른 말은 하지 말고, 웃지도 마."',
        '문지기가 창을 내리고 기다린다. {a:이/가} 일러 준 말이 있었는데 뭐였지? / "{a}, 성문에서 뭐라고 하랬지?"',
        "{word}",
    ),
    planted(
        "kin",
        "{a:은/는} 고향 이야기를 좀처럼 하지 않는다. 그래도 오늘 밤에는 이름 하나가 새어 나온다. {petname}, {city}에 두고 온 {kin}.",
        '"{a}, 전에 {kin} 이야기 했잖아. 이름이 뭐랬지?" / "{a}, 네 {kin:은/는} 여기서 멀어? 어느 고을이라고 했더라?"',
        "{petname} / {city}",
    ),
    planted(
        "hidden",
        "{a:은/는} 마지막 촛불이 꺼지기를 기다린다. 그러고는 도둑처럼 잽싸게 {thing:을/를} {spot}에 밀어 넣고 아무 일 없었다는 듯 눕는다.",
        '{a:을/를} 흔들어 깨운다. "{thing}. 어디 있어?" / {thing} 때문에 여기까지 왔다. 그걸 어디에 뒀더라?',
        "{spot}",
    ),
    planted(
        "wound",
        "칼날이 {limb:을/를} 파고들었다. {a:이/가} 가죽끈을 악무는 동안 나는 {herb:을/를} 상처에 눌러 대고 내 소매로 동여맨다.",
        '"아직 아파, {a}? 베인 데 좀 보여 줘." / "{a:이/가} 또 피를 흘려. 저번에 뭘 썼더라? 잘 들었는데."',
        "{limb} / {herb}",
    ),
    planted(
        "fear",
        '"뭐든 상대해 줄게." {a:의/의} 얼굴이 백지장 같다. "그것만 빼고. {scare:은/는} 안 돼. 어릴 때 같이 갇힌 적이 있어."',
        '{a:을/를} 달아나게 할 것이 딱 하나 있다. 뭐였지? / "{a}, 네가 도저히 못 견디는 게 뭐였지?"',
        "{scare}",
    ),
    planted(
        "traitor",
        '"누가 안에서 문을 열어 줬어." {a:이/가} 들릴 듯 말 듯 말한다. "빗장을 잡은 손을 봤거든. {petname:이었/였}어."',
        '"{a}, 그 이름 한 번만 더 말해 줘. 그날 밤 누가 그놈들을 들였다고?" / 빗장과 {a:이/가} 본 것을 생각한다. 그게 누구였더라?',
        "{petname}",
    ),
    planted(
        "meeting",
        '"여기선 안 돼." {a:이/가} 말한다. "{feast} 밤에 {place:으로/로} 와. 누굴 데려오면 난 거기 없을 거야."',
        '"{a}, 나더러 어디로 오랬지?" / "{a}, 언제 보자고 했더라? 날짜를 헤아리다 잊었어."',
        "{place} / {feast}",
    ),
    planted(
        "price",
        "결국 {a:은/는} {gift:을/를} 받고 {thing:을/를} 내주기로 하고, 손바닥에 침을 뱉어 악수를 청한다.",
        '{thing:을/를} 손가락 사이로 굴려 본다. 그때 이 값으로 뭘 내줬지? / "{a}, {thing} 팔아서 재미 좀 봤지? 뭘 받았더라?"',
        "{gift}",
    ),
    planted(
        "knocks",
        "{a:이/가} 손마디로 탁자를 두드려 보인다. {knocks} 번, 숨 한 번 쉬고, 다시 한 번. 그 문은 달리 두드리면 아무도 열지 않는다.",
        '{a:이/가} 말한 문 앞에 서서 손을 든다. 몇 번이었지? / "{a}, 몇 번 두드리라고 했지?"',
        "{knocks} 번",
    ),
    planted(
        "plan",
        '>"다 끝나면 뭘 할지 생각해 봤어." 나는 아무도 쳐다보지 않으려고 모닥불을 뒤적인다. "칼은 이제 그만 쥘래. {city}에 조그만 {shop:을/를} 차릴 거야. 웃어도 돼, {a}."',
        '"{a}, 내가 이 일 끝나면 뭐 할 건지 말한 적 있나?" / "{a}, 내가 나중에 어디에 자리 잡겠다고 했지?"',
        "{shop} / {city}",
    ),
)

ADVENTURES: Mapping[str, tuple[Planted, ...]] = {
    "en": ADVENTURE_EN,
    "ko": ADVENTURE_KO,
    "ja": ADVENTURE_JA,
    "zh": ADVENTURE_ZH,
}

TWO_STEPS: Mapping[str, tuple[str, str, str, str]] = {
    "en": (
        "In the end {a} lets me have the {thing} for {gift}, spits into a palm and shakes on it.",
        "By the fire the {thing} is turned over once more. A sign is scratched into its back, and it is that of House {house}.",
        '"{a}, the thing that you gave me for {gift}. Whose sign was on the back of it?"',
        "{house}",
    ),
    "ko": (
        "결국 {a:은/는} {gift:을/를} 받고 {thing:을/를} 내주기로 하고, 손바닥에 침을 뱉어 악수를 청한다.",
        "모닥불 가에서 {thing:을/를} 다시 뒤집어 본다. 뒷면에 표시가 긁혀 있는데, {house} 가문의 것이다.",
        '"{a}, {gift:을/를} 받고 나한테 준 거 있잖아. 뒷면에 어느 가문 표시가 있었지?"',
        "{house}",
    ),
}
"""By language: two texts for two turns, a question whose answer is in the second text, and the answer. The question only
leads to the second text through the thing that the first one names."""

_EN_THINGS = tuple(
    f"{kind} {thing}"
    for kind in ("silver", "black", "cracked", "bone", "gilded", "iron")
    for thing in ("seal", "ring", "locket", "watch", "bracelet", "compass", "flute", "key")
)
_KO_THINGS = tuple(
    f"{kind} {thing}"
    for kind in ("은", "검은", "금 간", "뼈", "금박", "무쇠")
    for thing in ("인장", "반지", "목걸이", "시계", "팔찌", "나침반", "피리", "열쇠")
)
_JA_THINGS = tuple(
    f"{kind}{thing}"
    for kind in ("銀の", "黒い", "ひび割れた", "骨の", "金箔の", "鉄の")
    for thing in ("印章", "指輪", "首飾り", "懐中時計", "腕輪", "羅針盤", "横笛", "鍵")
)
_ZH_THINGS = tuple(
    f"{kind}{thing}"
    for kind in ("银", "黑", "裂了缝的", "骨", "镀金", "铁")
    for thing in ("印章", "戒指", "吊坠", "怀表", "手镯", "罗盘", "笛子", "钥匙")
)
THINGS: Mapping[str, tuple[str, ...]] = {"en": _EN_THINGS, "ko": _KO_THINGS, "ja": _JA_THINGS, "zh": _ZH_THINGS}
"""Each matter of a play has a different one of these, because a question may name nothing else."""
MORE_FILLINGS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "en": {"house": ("Ravel", "Ashdown", "Morrow", "Keth", "Orlane", "Vey", "Brisk", "Tarn")},
    "ko": {
        "house": ("라벨", "애쉬다운", "모로우", "케스", "오를란", "베이", "브리스크", "타른"),
        "knocks": ("두", "세", "네", "다섯", "여섯", "일곱"),
    },
    "ja": {"house": ("ラヴェル", "アッシュダウン", "モロウ", "ケス", "オルレーン", "ヴェイ", "ブリスク", "ターン")},
    "zh": {"house": ("拉维尔", "阿什当", "莫罗", "凯斯", "奥兰", "维伊", "布里斯克", "塔恩")},
}

IDLE: Mapping[str, tuple[str, ...]] = {
    "en": (
        "I pull on my boots and follow the others outside.",
        "*shrugs* If you say so.",
        "I lean against the wall and wait until the rain stops.",
        '"Quiet now," I whisper and crouch.',
        "I eat the rest of the bread.",
        "I run, as fast as I can.",
        '"Well met," I say and bow a little.',
        "I close my eyes and try to sleep.",
        "I parry and push him back against the rail.",
        "I count to ten and push the door open.",
        "We ride until it gets dark.",
        'I grin. "After you."',
        "I tie my hair back and roll up my sleeves.",
        "I kneel down and touch the ground.",
        '"Not today," I say and shake my head.',
        "I pour myself another cup.",
    ),
    "ko": (
        "장화를 신고 모두를 따라 밖으로 나간다.",
        "*어깨를 으쓱한다* 그렇다면 그런 거지.",
        "벽에 기대어 비가 그치기를 기다린다.",
        '"쉿, 조용히." 속삭이며 몸을 낮춘다.',
        "남은 빵을 먹는다.",
        "있는 힘껏 달린다.",
        '"반갑군." 하고 가볍게 고개를 숙인다.',
        "눈을 감고 잠을 청한다.",
        "칼을 받아넘기고 난간 쪽으로 밀어붙인다.",
        "열까지 센 다음 문을 밀어 연다.",
        "해가 질 때까지 말을 달린다.",
        '씩 웃는다. "먼저 가시지."',
        "머리를 묶고 소매를 걷어붙인다.",
        "무릎을 꿇고 땅을 만져 본다.",
        '"오늘은 아니야." 고개를 젓는다.',
        "한 잔 더 따른다.",
    ),
    "ja": IDLE_JA,
    "zh": IDLE_ZH,
}
"""Words of the player for which no earlier turn matters. Any earlier turn in their context is useless."""
