"""Prose: who does what in a reply, told from words, in Korean and in English. Careful rather than complete."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from saga_core.curation.predicates import finite_en, finite_ko
from saga_core.language import is_hangul

_SENTENCE = re.compile(r"[^.!?。！？…\n]+(?:[.!?。！？…]+|\n|$)")
_QUOTED = re.compile(r"\"[^\"\n]*\"|“[^“”\n]*”|「[^「」\n]*」|『[^『』\n]*』|«[^«»\n]*»")

_ACTS_KO = (
    r"말했|말한다|말하며|말하고|외쳤|외친다|외치며|대답했|대답한다|웃었|웃는다|웃으며|웃음을 터|소리쳤|소리친다"
    r"|속삭였|속삭인다"
    r"|걸어[왔갔오나온간]|걸었|걷는다|다가[왔온오서섰선와]|달려[왔온들나든갔]|달렸|달린다|휘둘[렀러]|휘두[르른]"
    r"|공격[했한하]|일어[났나섰선]"
    r"|끄덕[였인이]|바라[보봤본]|쳐다[보봤본]|내밀[었며]|내민다|건넸|건넨다|건네[며주준]|앉았|앉는다|나타났"
    r"|나타난다|미소[를 지했]|노려[보봤본]"
    r"|비웃[었는으]|찔렀|찌른다|베었|벤다|벴다|쏘았|쐈다|쏜다|따라[왔온오나]|손을 흔들|문을 열|물었다|묻는다"
    r"|들어[왔온섰선]|가리[켰킨]"
    r"|뽑[았아는]|막아섰|막아선다|명령했|명령한다|중얼거[렸린]|투덜거[렸린]|한숨을 쉬|껴안|안아|마신다|마셨"
    r"|먹는다|먹었|맞이했|맞이한다"
    r"|고개를 (?:[^.!?\n]{0,6})?(?:저었|젓는|젓고|돌렸|돌린|돌리|들었|든다|들고|숙였|숙인|숙이)|히죽|피식|빙긋"
    r"|씩 웃|껄껄|킬킬|낄낄"
    r"|드러[냈낸]|치켜[들든]|덤[볐빈벼]|돌아[섰선봤본보서]|등을 돌|눈을 (?:떴|뜬|부라|가늘|굴)|팔짱|입을 (?:열"
    r"|뗐|뗀|연)|입술을"
    r"|손을 (?:뻗|들|내|잡|얹|올)|손짓|어깨를 으쓱"
    r"|뛰[었어쳐]|울부짖|고함|으르렁|찡그|찌푸|쓰다듬|집어[들던]|움켜|붙잡|잡아[당챘끌]"
    r"|막았|막는다|지나[갔간쳤친]|나왔|나온다|나섰|나선다|내려[왔온섰]|올라[왔온섰탔]|무릎을 꿇|재촉했|재촉한"
    r"|설명[했한]|덧붙[였인]"
    r"|불렀|부른다|부탁[했한]|제안[했한]|경고[했한]|위협[했한]|꾸짖|달랬|알려 ?[줬준]|보여 ?[줬준]|쫓아[왔온]"
    r"|피했|피한다|때[렸린]"
    r"|밀쳤|밀친|당겼|당긴|던졌|던진다|겨[눴눈누]|꺼냈|꺼낸다|챙겼|챙긴|골랐|고른다|닫았|닫는다|기대[섰어] "
    r"|기지개|하품|코웃음"
)
_ACTS_EN = (
    r"says?|said|replie[sd]|answer(?:s|ed)|ask(?:s|ed)|shout(?:s|ed)|whisper(?:s|ed)|smile[sd]|laugh(?:s|ed)"
    r"|grin(?:s|ned)"
    r"|nod(?:s|ded)|walk(?:s|ed)|run[s]?|ran|step(?:s|ped)|turn(?:s|ed)|look(?:s|ed) (?:at|up|down|away|back"
    r"|over|around|to|into|out|from)|stare[sd]|glare[sd]"
    r"|point(?:s|ed)|hand(?:s|ed)"
    r"|give[s]?|gave|draw[s]?|drew|swing[s]?|swung|attack(?:s|ed)|strike[s]?|struck|slash(?:es|ed)|lunge[sd]"
    r"|stab(?:s|bed)|charge[sd]"
    r"|appear(?:s|ed)|arrive[sd]|enter(?:s|ed)|sit[s]?|sat|stand[s]?|stood|rise[s]?|rose|wave[sd]|follow(?:s"
    r"|ed)|join(?:s|ed)"
    r"|greet(?:s|ed)|open(?:s|ed)|shrug(?:s|ged)|mutter(?:s|ed)|sigh(?:s|ed)|snarl(?:s|ed)|growl(?:s|ed)"
    r"|pour(?:s|ed)|offer(?:s|ed)"
    r"|shakes?|shook|lean(?:s|ed)|chuckle[sd]|crosse[sd]|lift(?:s|ed)|raise[sd]|lower(?:s|ed)|push(?:es|ed)"
    r"|pull(?:s|ed)"
    r"|throw[s]?|threw|toss(?:es|ed)|grab(?:s|bed)|catch(?:es)?|caught|kneel[s]?|knelt|bow(?:s|ed)|beckon(?:s"
    r"|ed)|frown(?:s|ed)"
    r"|scowl(?:s|ed)|wink(?:s|ed)|sp(?:its|at)|roar(?:s|ed)|yell(?:s|ed)|scream(?:s|ed)|call(?:s|ed) (?:out|to"
    r"|for)|climb(?:s|ed)"
    r"|jump(?:s|ed)|leap[s]?|leapt|hurrie[sd]|rush(?:es|ed)|limp(?:s|ed)"
    r"|stride[s]?|strode|pace[sd]|tie[sd]|row(?:s|ed)"
    r"|g(?:o|e)ts? (?:up|to)|got (?:up|to)|went|came|comes|goes|took|takes|sets?|puts?|held|brings?|brought"
    r"|began|begins|spoke|speaks|woke|wakes|told|tells"
    r"|reache[sd]|clap(?:s|ped)|whistle[sd]|hum(?:s|med)|drink[s]?|drank|eat[s]?|ate|insist(?:s|ed)|warn(?:s"
    r"|ed)|explain(?:s|ed)"
)
_FIGHTS_KO = (
    r"휘둘[렀러]|휘두[르른]|공격[했한하]|베었|벤다|벴다|찔렀|찌른다|쏘았|쐈다|쏜다|내리[쳤친찍]|돌격[했한]"
    r"|싸[웠운우]|맞서 싸|걷어찼|걷어찬다|내질렀|내지른다"
    r"|베어 ?[냈낸넘]|벴|찔러|꿰뚫|들이받|물어뜯|튕겨[냈낸]|막아[냈낸]|내려[쳤친]|후려[쳤친]|달려들[었어]"
    r"|달려든다|쓰러뜨[렸린]|처치[했한]|쳐[냈낸]|받아[쳤친]"
)
_FIGHTS_EN = (
    r"swing[s]?|swung|attack(?:s|ed)?|strike[s]?|struck|slash(?:es|ed)?|stab(?:s|bed)?|lunge[sd]?|charge[sd]?"
    r"|fight[s]?|fought"
    r"|parr(?:y|ies|ied)|shoot[s]?|shot|cut[s]? down|kick(?:s|ed)?|punch(?:es|ed)?|hack(?:s|ed)?|thrust[s]?"
    r"|smash(?:es|ed)?|hew[s]?|block(?:s|ed)?"
)
_UNREAL = re.compile(
    r"기억|추억|회상|꿈|악몽|유령|귀신|망령|혼령|영혼|환영|환상|환청|떠올[랐리렸]|옛날|예전에|생전|과거|초상"
    r"|동상|석상|흉내|변장|쌍둥이|편지|일기|노래|전설"
    r"|이야기 속|상상|초혼|강령"
    r"|\b(?:memor(?:y|ies)|remember\w*|recall\w*|dream\w*|nightmare|ghost\w*|spirit\w*|vision\w*|illusion\w*"
    r"|hallucinat\w*|flashback|once upon|years ago"
    r"|long ago|portrait|statue|imagin\w*|twin|disguise\w*|letter|diary|journal|song|legend|used to|back then"
    r"|echo\w*|apparition|seance)\b",
    re.I,
)
_BODY = re.compile(
    r"시체|시신|주검|무덤|묘비|유골|유해|장례|관 속|영정|차갑게 식|초점 없는|빈 눈|감지 못한 눈"
    r"|\b(?:corpse|body|bodies|grave\w*|tomb\w*|remains|coffin|funeral|carcass|buried|lifeless|cold hand"
    r"|empty eyes|unseeing|sightless|glassy|dead eyes)\b",
    re.I,
)
_REVIVED = re.compile(
    r"되살|부활|소생|살아 돌아|살아났|살려[냈낸내]|숨이 돌아|죽지 않[았은]|죽은 줄|죽은 척|가짜 죽음|불사"
    r"|언데드|좀비|강령술"
    r"|\b(?:resurrect\w*|reviv\w*|brought back|back from the dead|came back to life|alive after all|undead"
    r"|zombie\w*|necroman\w*|not dead|faked|survived"
    r"|still breath\w*|reanimat\w*)\b",
    re.I,
)
_UNTRUE_KO = re.compile(
    r"[가-힣]던(?=\s)|않|못[하했]|없었|없다|(?:했|었|았|였|하|웃|말하|걷)던|라면|였다면|한다면|것 같|듯했"
    r"|라고 들|[다라]고 (?:말|전|들|믿|생각|여|주장|속삭|외)"
    r"|다는 소문|다고 한다|것처럼"
)
_UNTRUE_EN = re.compile(
    r"\b(?:nobody|no one|none|never|no longer|cannot|can't|would|could|should|if|as if|as though|had|once|won't"
    r"|will not|didn't"
    r"|does not|rumou?r)\b",
    re.I,
)
_HELPLESS = re.compile(
    r"의식|기절|실신|혼절|정신을 잃|쓰러진 채|업[혀고]|들것|꿈|환상|환영|회복|치유|되살|부활|물약을 마|깨어"
    r"|눈을 [떴뜬]"
    r"|\b(?:unconscious|faint\w*|collaps\w*|carried|carries|dragged|dream\w*|vision\w*|heal\w*|recover\w*"
    r"|reviv\w*|wakes?|woke|awak\w*|potion|stretcher)\b",
    re.I,
)
_DIED_KO = (
    r"(?:[^,.!?\n]{0,16}?)(?:죽었다|죽는다|숨졌다|숨을 거두었다|숨을 거뒀다|숨을 거둔다"
    r"|사망했다|목숨을 잃었다|전사했다)[.!…\"”]*\s*$"
)
_DIED_EN = (
    r"(?:\s+\w+ly)?\s+(?:is dead|dies|died|is killed|was killed|is slain"
    r"|was slain|has died|breathes (?:his|her|their) last)\b"
)
_ALONE_EN = (
    r"(?<!named )(?<!called )(?<!of )(?<!by )(?<!than )(?<!like )(?<!about )"
    r"(?<!what )(?<!that )(?<!which )(?<!whom )(?<!how )"
)
_SUBJECT = re.compile(r"(?<!\w)[가-힣A-Za-z]{1,12}(?:이|가|은|는|께서)(?=\s)")
_YOU = r"(?:당신|너|그대|나|여러분)(?:은|는|이|가)|네가|내가|제가"


def narrated(text: str) -> Iterator[str]:
    """The sentences of a reply, without what is said in quotation marks."""
    for match in _SENTENCE.finditer(_QUOTED.sub(" ", text)):
        sentence = " ".join(match.group().split())
        if sentence:
            yield sentence


def unreal(text: str) -> bool:
    """Whether a text tells of dreams, memories, ghosts or the like."""
    return _UNREAL.search(_QUOTED.sub(" ", text)) is not None


def of_a_body(text: str) -> bool:
    """Whether a text tells of a corpse or a grave."""
    return _BODY.search(text) is not None


def revives(text: str) -> bool:
    """Whether a text says how the dead may be alive."""
    return _REVIVED.search(text) is not None


def helpless(text: str) -> bool:
    """Whether a text says that somebody is down, or gets up again."""
    return _HELPLESS.search(text) is not None


def acts(text: str, names: Iterable[str], *, fighting: bool = False) -> str:
    """The first sentence in which somebody of those names does something, "" for none; ``fighting``: fights."""
    found = [name for name in names if name]
    if not found:
        return ""
    subject = _subject(found)
    verbs = _verbs(subject, fighting)
    for sentence in narrated(text):
        if not _real(sentence):
            continue
        if verbs.search(sentence) or (not fighting and (finite_ko(sentence, found) or finite_en(sentence, found))):
            return sentence
    if not fighting:
        inverted = re.search(rf"[\"”]\s*(?:said|says|[a-z]+(?:ed|s))\s+(?:{'|'.join(map(re.escape, found))})\b", text)
        if inverted:
            return " ".join(inverted.group().split())
        line = re.compile(
            rf"^[ \t]{{0,40}}\**(?:{'|'.join(map(re.escape, found))})\**\s{{0,8}}[:：]\s{{0,8}}\**\s{{0,8}}[\"“「]",
            re.M,
        )
        spoken = line.search(text)
        if spoken:
            return " ".join(text[spoken.start() :].splitlines()[0].split())
    return ""


def you_fight(text: str, names: Iterable[str], said: str) -> str:
    """The first sentence in which the player's character fights, "" for none.

    Without a subject a sentence is the player's when the player's own words, ``said``, tell of fighting.
    """
    found = [name for name in names if name]
    named = "|".join(map(re.escape, found)) or r"(?!)"
    own = re.compile(
        rf"(?:{_YOU}|{_subject(found)})(?=\s)[^.!?\n]{{0,40}}?(?:{_FIGHTS_KO})"
        rf"|\b(?:you|{named})\b(?:\s+\w+ly)?\s+(?:{_FIGHTS_EN})\b",
        re.I,
    )
    wanted = re.compile(rf"{_FIGHTS_KO}|베[어고]|때[려린]|친다|찌르|\b(?:{_FIGHTS_EN})\b", re.I)
    alone = re.compile(_FIGHTS_KO)
    meant = wanted.search(said) is not None
    for sentence in narrated(text):
        if not _real(sentence):
            continue
        if own.search(sentence) or (meant and alone.search(sentence) and not _SUBJECT.search(sentence)):
            return sentence
    return ""


def dies(text: str, names: Iterable[str]) -> str:
    """The first sentence that says that somebody of those names dies, "" for none."""
    lowered = text.lower()
    found = [name for name in names if name and name.lower() in lowered]
    if not found:
        return ""
    subject = _subject(found)
    named = "|".join(map(re.escape, found))
    said = re.compile(rf"{subject}(?=\s){_DIED_KO}|\b(?:{named}){_DIED_EN}", re.I)
    for sentence in narrated(text):
        if said.search(sentence) and not unreal(sentence) and not _UNTRUE_KO.search(sentence):
            return sentence
    return ""


def stays_at(text: str, names: Iterable[str], places: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """(place, sentence) of each sentence in which somebody of those names is at a place. ``places``: ids and names."""
    lowered = text.lower()
    found = [name for name in names if name and name.lower() in lowered]
    # A pattern for each name of a large world takes seconds to compile.
    named = sorted((each for each in places if each[1].lower() in lowered), key=lambda place: -len(place[1]))
    if not found or not named:
        return
    subject, english = _subject(found), "|".join(map(re.escape, found))
    for sentence in narrated(text):
        if not _real(sentence) or unreal(sentence):
            continue
        for place, name in named:
            where = re.escape(name)
            korean = (
                rf"{subject}\s(?:[^.!?\n]{{0,12}}\s)?{where}(?:에서|에)\s[^.!?\n]{{0,24}}"
                r"(?:있[다었]|기다[리린렸]|앉아|서 있|머[물문무]|자고|잠들)"
            )
            if re.search(korean, sentence) or re.search(
                rf"\b(?:{english})\s+(?:is|was|waits?|waited|sits?|sat|stands?|stood|stays?|stayed|sleeps?"
                rf"|remains?)\b"
                rf"[^.!?\n]{{0,16}}\b(?:in|at|inside|outside)\s+(?:the\s+)?{where}\b",
                sentence,
                re.I,
            ):
                yield place, sentence
                break


def korean(text: str) -> bool:
    """Whether a text has Korean letters in it."""
    return any(map(is_hangul, text))


def _subject(names: list[str]) -> str:
    """The names as the subject of a Korean sentence."""
    return rf"(?<!\w)(?:{'|'.join(map(re.escape, names))})(?:이|가|은|는|께서|도)" if names else r"(?!)"


def _verbs(subject: str, fighting: bool) -> re.Pattern[str]:
    korean_verbs, english_verbs = (_FIGHTS_KO, _FIGHTS_EN) if fighting else (_ACTS_KO, _ACTS_EN)
    named = subject.removesuffix("(?:이|가|은|는|께서|도)")
    return re.compile(
        rf"{subject}(?=\s|,)(?:(?!{_SUBJECT.pattern})[^.!?\n]){{0,40}}?(?:{korean_verbs})"
        rf"|{_ALONE_EN}{named}(?:\s+\w+ly)?(?:\s+then)?\s+(?:{english_verbs})\b",
        re.I,
    )


def _real(sentence: str) -> bool:
    """Whether a sentence tells what happens, and not what does not, would, or is like something."""
    return not (_UNTRUE_KO.search(sentence) or _UNTRUE_EN.search(sentence) or _BODY.search(sentence))
