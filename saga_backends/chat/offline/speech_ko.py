"""Parses the player's Korean words into intents.

A sentence is split at its verbs. In Korean, the objects of a verb precede it, in any order. Particles tell them apart:
을/를 marks the thing, 에게 the person, and 으로 the goal or the tool.
"""

from __future__ import annotations

import re

from attrs import evolve, frozen

from saga_backends.chat.offline.intent import Act, Amount, Intent
from saga_backends.chat.offline.scene import Scene, named_in, resolve
from saga_backends.chat.offline.sentences import QUOTED, quote, sentences, unquoted
from saga_backends.chat.offline.verbs import spoken
from saga_backends.chat.offline.verbs_ko import USING, VERBS
from saga_core.language import has_final, is_hangul, josa

_NEGATED = re.compile(r"\S*지\s*(?:않|못|말)")
_NEGATION = re.compile(r"(?:^|\s)(?:안|못)\s*$")

_ASKING = r"(?:뭐|뭘|무엇|무얼|뭔|있|확인|살펴|살핀|본다|보자|보여|뒤진|뒤져|열어|\?)"
_ASK_INVENTORY = re.compile(
    r"(?:인벤토리|소지품|가방|배낭|짐을|짐에|(?:가진|지닌|들고 있는|갖고 있는|가지고 있는)\s*(?:것|게|건|물건)).*"
    + _ASKING
    + r"|(?:뭘|무엇을|뭐를)\s*(?:가지고|갖고|지니고|들고)\s*있"
)
_ASK_PLACE = re.compile(
    r"(?:여기|이곳|지금)[가는은이]?\s*어디|내가\s*어디|어디에?\s*(?:와\s*)?있(?:지|나|는가|을까)|현재\s*위치|어디(?:지|야|인가|일까)"
)
_ASK_HP = re.compile(
    r"(?:체력|hp|상처|부상|몸\s*상태|몸은).*(?:\?|확인|어때|어떤|얼마|살핀|살펴|남았|괜찮)", re.IGNORECASE
)
_ASK_COMPANY = re.compile(r"누가\s*(?:있|곁|함께|같이|옆)|(?:곁|주변|옆|근처)에\s*누[가구]|누구와\s*함께|누구랑\s*같이")
_ASK_PAST = re.compile(
    r"(?:뭐라고|무슨\s*말을?|무슨\s*이야기를?|어떤\s*말을?|뭐라)\s*(?:했|말했|하셨|그랬|하였)|기억나|기억하|기억을\s*더듬|떠올린|떠올려"
)
_SPEAKER = re.compile(
    r"([가-힣A-Za-z]+?)(?:이|가|은|는|께서|께선|의)?\s+(?:내게|나에게|나한테|우리에게)?\s*(?:뭐라|무슨|어떤\s*말)"
)
_ASK_LORE = re.compile(
    r"에\s*(?:대해|대하여|관해|관하여|대한)|무엇인[가지]|무엇이(?:지|야)|뭐(?:지|야|예요|죠)|뭔[가지]|누구(?:지|야|인가|냐)|알려\s?[줘주달]|설명|가르쳐"
)
_ABOUT = re.compile(r"(\S.*?)(?:에\s*(?:대해|대하여|관해|관하여|대한)|(?:이란|란|이|가|은|는)?\s*(?:무엇|뭐|뭔|누구))")

_OBJECT, _TO, _WITH, _TOWARD, _AT, _FROM, _BARE = "object", "to", "with", "toward", "at", "from", "bare"
_PARTICLES: tuple[tuple[str, str, bool | None, int], ...] = (
    # particle, role, whether it follows a final consonant (None for either), minimum number of syllables before it
    ("에게서", _TO, None, 1), ("한테서", _TO, None, 1), ("에게", _TO, None, 1), ("한테", _TO, None, 1),
    ("이랑", _WITH, True, 2), ("하고", _WITH, None, 2), ("에서", _FROM, None, 1), ("으로", _TOWARD, True, 1),
    ("을", _OBJECT, True, 1), ("를", _OBJECT, False, 1), ("께", _TO, None, 2), ("와", _WITH, False, 2),
    ("과", _WITH, True, 2), ("랑", _WITH, False, 2), ("로", _TOWARD, None, 2), ("에", _AT, None, 1),
)  # fmt: skip
_FILLERS = frozenset(
    "나는 내가 나도 저는 제가 우리는 우리가 나 내 저 제 우리 그 이 저 그에게 그녀에게 그리고 그러자 이제 먼저 "
    "다시 또 더 함께 같이 천천히 조용히 곧장 바로 재빨리 얼른 힘껏 잠시 잠깐 한번 조심스럽게 정중하게 단숨에 "
    "마침내 다 모두 전부 크게 큰 소리로 있는 떨어진 놓인 버려진 주는 준 건네는 건넨 내민 들고 있던 속으로 앞으로 "
    "진심으로 정식으로 온 힘을 다해 다짜고짜 뒤 후 다음 하고 하며 한다 해서 한다고 라고 이라고".split()
)
_ONES = {
    "한": 1, "하나": 1, "두": 2, "둘": 2, "세": 3, "셋": 3, "네": 4, "넷": 4, "다섯": 5, "여섯": 6, "일곱": 7,
    "여덟": 8, "아홉": 9,
}  # fmt: skip
_TENS = {"열": 10, "스물": 20, "스무": 20, "서른": 30, "마흔": 40, "쉰": 50}
_NUMBERS = (
    _ONES | _TENS | {ten + one: ten_value + value for ten, ten_value in _TENS.items() for one, value in _ONES.items()}
)
_NUMBER = "|".join(sorted(_NUMBERS, key=len, reverse=True)) + r"|\d+"
_COUNTER = "개|병|자루|닢|장|권|벌|송이|뿌리|줄기|마리|알|방울|묶음|조각|통"
_TAIL_COUNT = re.compile(rf"^(|.*?\S)\s*(?:^|\s|[x×])({_NUMBER})\s*(?:{_COUNTER})?$")
_HEAD_COUNT = re.compile(rf"^({_NUMBER})\s*(?:{_COUNTER})의?\s+(.+)$")
_SUNG = frozenset(("노래", "콧노래", "이름", "휘파람", "자장가"))
_DIRECTION = re.compile(r"\s+(?:쪽|방향)$")
_BODY = re.compile(r"^(.+?)의\s*(?:숨통|목|심장|숨|급소|등|가슴|머리|팔|다리|옆구리|빈틈)?$")
_CONSUMABLE = re.compile(r"물약|포션|약초|약$|탕약|영약|연고|비약|빵|육포|사과|차$|술$|물$|음식|potion", re.IGNORECASE)


@frozen
class _Phrase:
    text: str
    role: str


def hear(words: str, scene: Scene) -> tuple[Intent, ...]:
    """Return the actions in the player's words, in order. Empty if nothing was understood."""
    found: list[Intent] = []
    for sentence in sentences(words):
        found += _sentence(sentence, scene, found)
    return tuple(found)


def consumable(item: str) -> bool:
    """Return whether an item of this name is used up when it is used."""
    return bool(_CONSUMABLE.search(item))


def _sentence(sentence: str, scene: Scene, before: list[Intent]) -> list[Intent]:
    question = _question(sentence, scene)
    if question is not None:
        return [question]
    outside = unquoted(sentence)
    last = next((intent.person for intent in reversed(before) if intent.person), "")
    found = _clauses(outside, scene, last)
    if found:
        return found
    known = named_in(sentence, _persons(scene))
    if known and QUOTED.search(sentence):
        return [Intent(Act.TALK, person=known[0])]
    return []


def _question(sentence: str, scene: Scene) -> Intent | None:
    persons = _persons(scene)
    if _ASK_PAST.search(sentence):
        known = named_in(sentence, persons)
        speaker = _SPEAKER.search(sentence)
        person = known[0] if known else speaker[1] if speaker else ""
        return Intent(Act.ASK_PAST, person=person, topic=_topic(sentence, scene, person))
    if _ASK_INVENTORY.search(sentence):
        return Intent(Act.ASK_INVENTORY)
    if _ASK_HP.search(sentence):
        return Intent(Act.ASK_HP)
    if _ASK_COMPANY.search(sentence):
        return Intent(Act.ASK_COMPANY)
    if _ASK_LORE.search(sentence):
        person = next((phrase.text for phrase in _phrases(sentence, scene) if phrase.role == _TO), "")
        topic = _topic(sentence, scene, person)
        if topic:
            return Intent(Act.ASK_LORE, person=person, topic=topic)
    if _ASK_PLACE.search(sentence):
        return Intent(Act.ASK_PLACE)
    return None


def _topic(sentence: str, scene: Scene, person: str) -> str:
    names = [*(name for name, _ in scene.lore), *scene.places, *(name for name, _ in scene.inventory), *_persons(scene)]
    spoken = resolve(person, names) or person
    known = [name for name in named_in(sentence, names, whole=True) if name != spoken]
    if known:
        return known[0]
    about = _ABOUT.search(quote(sentence) or sentence)
    if about is None:
        return ""
    phrases = [phrase for phrase in _phrases(about[1], scene) if phrase.role not in (_TO, _WITH)]
    return phrases[-1].text if phrases and phrases[-1].text != spoken else ""


def _clauses(text: str, scene: Scene, last: str) -> list[Intent]:
    found: list[Intent] = []
    start = 0
    for one in spoken(text, VERBS):
        segment = text[start : one.begin]
        start = one.end
        if _NEGATED.match(text, one.begin) or _NEGATION.search(segment):
            continue
        intent = _intent(one.verb.act, segment, text[one.begin : one.end], scene, last)
        last = intent.person or last
        found.append(evolve(intent, deadly=True) if one.verb.deadly else intent)
    return [intent for intent in _joined(found) if intent.complete]


def _intent(act: Act, segment: str, verb: str, scene: Scene, last: str) -> Intent:
    phrases = _phrases(segment, scene)
    one = {phrase.role: phrase.text for phrase in phrases}
    known = named_in(segment, _persons(scene))
    thing = one.get(_OBJECT, "")
    bare = one.get(_BARE, "")
    to = one.get(_TO) or one.get(_WITH) or ""
    match act:
        case Act.GO:
            if _TO in one and _TOWARD not in one:
                return Intent(Act.TALK, person=one[_TO])
            toward = thing if verb.startswith("향") else ""
            return Intent(act, place=_DIRECTION.sub("", one.get(_TOWARD) or one.get(_AT) or toward))
        case Act.ATTACK:
            return Intent(act, person=_victim(to, thing, bare, known, last), tool=one.get(_TOWARD, ""))
        case Act.TALK:
            called = verb.startswith(("만", "부르", "부른", "불")) and thing not in _SUNG
            meant = thing if called or resolve(thing, _persons(scene)) else ""
            return Intent(act, person=to or meant or (known[0] if known else ""))
        case Act.PART | Act.THANK | Act.INSULT:
            return Intent(act, person=to or (known[0] if known else "") or thing or last)
        case Act.TAKE | Act.BUY | Act.DRINK | Act.WIELD | Act.DROP | Act.GIVE:
            return _with_item(act, verb, one, scene, known)
        case _:
            return Intent(act)


def _with_item(act: Act, verb: str, one: dict[str, str], scene: Scene, known: list[str]) -> Intent:
    thing, bare = one.get(_OBJECT, ""), one.get(_BARE, "")
    person = one.get(_TO, "")
    if thing and resolve(thing, _persons(scene)) and not resolve(thing, dict(scene.inventory)):
        return Intent(Act.TALK if act is Act.TAKE else act, person=thing)
    amount = _amount(thing) if thing else _amount(bare) if bare and act is not Act.GIVE else None
    if thing and bare and amount and amount.quantity == 1 and (count := _TAIL_COUNT.match(bare)) and not count[1]:
        amount = evolve(amount, quantity=_number(count[2]))
    if act is Act.WIELD and amount and verb.startswith(USING) and consumable(amount.name):
        act = Act.DRINK
    price = None
    if act is Act.BUY:
        offered = _amount(one.get(_AT) or one.get(_TOWARD) or "")
        price = offered if offered and offered.quantity > 1 else None
    if act is Act.GIVE and not person and known and amount and resolve(amount.name, known) == "":
        person = known[0]
    return Intent(act, person=person, item=amount, price=price)


def _victim(to: str, thing: str, bare: str, known: list[str], last: str) -> str:
    if known:
        return known[0]
    for text in (to, thing, bare):
        if text:
            body = _BODY.match(text)
            return body[1] if body else text
    return last


def _joined(intents: list[Intent]) -> list[Intent]:
    """Merge two verbs for one action. Giving before buying is paying, and thanking may include a verb of speech."""
    found: list[Intent] = []
    for intent in intents:
        before = found[-1] if found else None
        if before and intent.act is Act.BUY and before.act is Act.GIVE:
            found[-1] = evolve(intent, price=before.item, person=intent.person or before.person)
        elif before and intent.act is Act.TALK and before.act in (Act.THANK, Act.INSULT):
            found[-1] = evolve(before, person=before.person or intent.person)
        else:
            found.append(intent)
    return found


def _persons(scene: Scene) -> tuple[str, ...]:
    return (*scene.around, *scene.dead)


def _phrases(text: str, scene: Scene) -> list[_Phrase]:
    """Return the noun phrases of ``text`` with their roles. A phrase without a particle is ``bare``."""
    found: list[_Phrase] = []
    held: list[str] = []
    for raw in text.split():
        word = raw.strip("\"'“”「」『』()[],.!?…·—-~:;")
        if not word or word in _FILLERS or _is_adverb(word):
            continue
        stem, role = _particle(word)
        if role:
            found.append(_Phrase(" ".join((*held, stem)), role))
            held = []
        elif _is_subject(word, scene):
            held = []
        else:
            held.append(word)
        if raw.endswith(",") and held:
            found.append(_Phrase(" ".join(held), _BARE))
            held = []
    if held:
        found.append(_Phrase(" ".join(held), _BARE))
    return found


def _particle(word: str) -> tuple[str, str]:
    for particle, role, final, least in _PARTICLES:
        stem = word.removesuffix(particle)
        if (
            stem != word
            and _long_enough(stem, particle, least)
            and (final is None or not is_hangul(stem[-1]) or has_final(stem) is final)
        ):
            return stem, role
    return word, ""


def _long_enough(stem: str, particle: str, least: int) -> bool:
    """Check the length of the stem. A single syllable before 로 must end in ㄹ.

    "칼로" is "with a knife", but "미로" is a maze.
    """
    return len(stem) >= least or (
        particle == "로" and len(stem) == 1 and josa(stem, "으로/로") == stem + "로" and has_final(stem)
    )


def _is_adverb(word: str) -> bool:
    return len(word) > 2 and word.endswith(("스럽게", "하게", "히", "롭게", "면서"))


def _is_subject(word: str, scene: Scene) -> bool:
    names = (*_persons(scene), scene.player)
    stem = word.rstrip("은는이가도만")
    return stem != word and bool(resolve(word[:-1], names) or resolve(stem, names))


def _amount(text: str) -> Amount | None:
    """Parse an item phrase with its count, such as "치유 물약 두 개", "두 병의 치유 물약" or "은화 3닢"."""
    if not text:
        return None
    head = _HEAD_COUNT.match(text)
    if head:
        return Amount(head[2], _number(head[1]))
    tail = _TAIL_COUNT.match(text)
    if tail and tail[1]:
        return Amount(tail[1], _number(tail[2]))
    return Amount(text)


def _number(text: str) -> int:
    return max(1, _NUMBERS[text] if text in _NUMBERS else int(text))
