"""Decides by grammar, without a list of verbs, whether a Korean sentence says that a character does something.

The name must be the only subject of the sentence. The final verb must not express a state, a trait or something that
happens to the dead. Sentences about earlier events look the same, so verbs that mostly describe those are excluded.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from saga_core.language.ko.particles import is_hangul

_SUBJECTS = re.compile(r"(?<!\w)[가-힣A-Za-z]{1,12}(?:이|가|은|는|께서|도|들이|들은)(?=\s)")
_NO_NOUNS = frozenset(
    "없이 같이 많이 깊이 높이 멀리 굳이 일이 길이 더는 다시는 이제는 지금은 결국은 사실은 어느새는 때는 곳은 "
    "아직도 그래도 아무도 조금도 하나도 그리고도 또는 혹은 붉은 검은 젊은 늙은 낡은 작은 깊은 높은 많은 좋은 굳은 짙은 "
    "얇은 두꺼운 "
    "같은 하는 있는 없는 오는 가는 보는 웃는 우는 죽은 남은 앉은 젖은 묵은 밝은 맑은 넓은 좁은 굵은 얕은".split()
)
_SAFE = re.compile(
    r"죽|숨[을이]|쓰러|누[워웠운]|식[었어는]|굳[었어]|잠[들든]|묻[혔힌히]|없|사라|움직이지|있[다었는]|이었|이다"
    r"|였다|아니|됐|되[었는]|남[았겼겨는]"
    r"|잊|보[였인이]|썩|흘[렸린리렀]|흐[른르]|강했|약했|사랑했|미워했|원했|알[았고]|믿[었는]|두려워|바랐|싫어"
    r"|좋아|아꼈|맡겼|가르[쳤친]"
    r"|약속했|살[았던]|태어|자랐|지냈|지켰|이끌었|만들었|지었|썼었|했었|었었|았었|때문|뿐|터였|것이|셈이|듯"
    r"|법이|마련|모양|만하|당했|맞았"
    r"|무너[졌진]|떨어[졌진지]|가라앉|떠[올내오]|불[탔탄]|매달|걸[렸려린]|끌려|실[렸려린]|갇[혔혀힌]|생각나|그[립리]"
)
_JOINT = re.compile(r"[가-힣](?:고|며|자|더니|지만|는데)\s|,\s")
_SAYING = re.compile(r"[다라냐자]고(?:도|만|는)?\s")


def does(sentence: str, names: Sequence[str]) -> bool:
    """Whether a character with one of ``names`` does something in a Korean sentence."""
    named = "|".join(map(re.escape, (name for name in names if any(map(is_hangul, name)))))
    if not named or _SAYING.search(sentence):
        return False
    subject = re.search(rf"(?<!\w)(?:{named})(?P<particle>이|가|은|는|께서|도)(?=\s)", sentence)
    if subject is None:
        return False
    rest = sentence[subject.end() :].strip()
    joints = [each.end() for each in _JOINT.finditer(sentence, 0, subject.start())]
    clause = sentence[joints[-1] if joints else 0 :]
    others = [each.group() for each in _SUBJECTS.finditer(clause) if each.group() not in _NO_NOUNS]
    if len(others) > 1 or not rest.rstrip(".!?。！？… \"”'").endswith("다"):
        return False
    words = rest.split()
    if subject["particle"] in "이가" and _adnominal(words[0]):
        return False
    return _SAFE.search(" ".join(words[-2:])) is None


def _adnominal(word: str) -> bool:
    """Whether a Korean word may be a verb that modifies the noun after it."""
    last = word[-1]
    if last in "을를" and len(word) > 1:
        return False  # an object, marked by its particle
    return last in "던는" or (is_hangul(last) and (ord(last) - 0xAC00) % 28 in (4, 8))
