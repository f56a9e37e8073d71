"""The entry of a card that a name belongs to."""

from __future__ import annotations

import pytest

from saga_core.model.entities import Entity, Kind, Placement
from saga_core.model.world_state import WorldState
from saga_core.naming import Evidence, Names
from saga_core.naming.cast import entries_of, entry_of, stands_in_text_of

ROZ = (
    'Write a reply.\n[Roz\'s description: Rosalind Okonkwo-Hale, "Roz" to everyone but her aunt, who calls her Rosie. '
    'Her ex-boyfriend, Dr. Finn Aldous ("Doc"), is the vet.]\n[Scenario: Jules has rented a room from Roz.]'
)
LADY = "Lady Evangeline Thorne"
CARDS = {
    "in quotation marks": ('[Wren: Wren Calloway, 24. On the bills she is "The Sparrow".]', "The Sparrow", "Wren"),
    "within the name": ('Edwin "Ned" Marsh, 40, sexton.', "Ned", "Edwin Marsh"),
    "where her name stands within": ("林采薇，十九岁，绣娘。\n在绣坊里，林采薇只有一个名号：青鸾。", "青鸾", "林采薇"),
    "by pronoun, in the next sentence": (
        "林采薇，十九岁。\n在坊里，林采薇只有一个名号：青鸾；市集上，人们叫她林姑娘。",
        "林姑娘",
        "林采薇",
    ),
    "behind a pronoun": ("Wren: rope walker. Old Tobias calls her Birdie.", "Birdie", "Wren"),
    "in a sentence": ("Desmond Okafor, whom everybody knows as the cook, goes by Dez.", "Dez", "Desmond Okafor"),
    "as a sheet": ("Full name: Desmond Okafor\nNickname: Dez, Des\nAge: 24", "Des", "Desmond Okafor"),
    "a word of the full name": ("Wren: Wren Calloway, 24.", "Calloway", "Wren"),
    "behind the name": ("- 도윤(강도윤): 24세, 짐꾼.", "강도윤", "도윤"),
    "before a verb": ("하린: 길드 사람들은 '까마귀'라고 부른다.", "까마귀", "하린"),
    "as a nickname": ("- 서지완: 22세, 탱커. 별명은 '곰탱이'.", "곰탱이", "서지완"),
    "a sheet in Korean": ("이름: 강도윤\n별명: 까마귀\n나이: 24", "까마귀", "강도윤"),
    "under a false name": ("【久世蓮】二十九歳。乗客名簿では「黒田一郎」と名乗っている。", "黒田", "久世蓮"),
    "the full name first": ("【阿沅】沈知沅，十七岁，新入宫。", "沈知沅", "阿沅"),
    "in another's entry": ("【三田村】車掌。蓮を「先生」と呼ぶ。\n【久世蓮】探偵。", "先生", "久世蓮"),
    "a stage name in two scripts": ("이레, 22세, 보컬. 활동명은 '레이'(RAY).", "RAY", "이레"),
    "by all, with her own name": ("柏木夏生、二十歳。宿の者は誰もが夏生を「なつ坊」と呼ぶ。", "なつ坊", "柏木夏生"),
    "by pronoun": ("沈砚秋，字墨卿，侦探。旧同僚称他墨卿，小六子叫他三爷。", "三爷", "沈砚秋"),
    "an alias with a title": (
        "Tobias Crane, burglar. He has signed under the alias Mr. Alder.",
        "Mr. Alder",
        "Tobias Crane",
    ),
    "of a father": (
        "顾维桐，二十二岁。父亲顾鸿年，字云亭，人称顾老爷；账房孙伯庸，人称孙先生。",
        "顾老爷",
        "父亲顾鸿年",
    ),
    "of a servant": ("顾维桐，二十二岁。拉洋车的马长福，街坊叫他小六子，是帮手。", "小六子", "拉洋车的马长福"),
    "of a cook": ("藤堂静江、女将。板長は権田源三、通称「源さん」。", "源さん", "板長は権田源三"),
    "of a daughter": ("강무진, 종사관. 딸 윤채령은 아씨라 불린다.", "아씨", "딸 윤채령"),
    "of a rapper": ("한서진, 리더. 멤버는 래퍼 오세나(활동명 제로), 막내 하늘.", "제로", "멤버는 래퍼 오세나"),
    "of an aunt": ("周屿，三十岁，少东家。林晚晴的二姨叫陈玉芬，外婆叫陈秀兰。", "陈玉芬", "林晚晴的二姨"),
    "of a gambler": ("Ezekiel Rudd, 44. He leads Tobias Fenn, called Two-Bit.", "Two-Bit", "Tobias Fenn"),
    "of a brother-in-law": ("Ewan Teague, bosun. Cornelius Pryce (Mr. Pryce) is lost.", "Mr. Pryce", "Cornelius Pryce"),
    "of a pilot": (
        "Wren Calloway, rope walker. Brannick Sole flies; the dockers call him the Ox.",
        "the Ox",
        "Brannick Sole",
    ),
    "of an uncle": ("Tam, 29, baker. Her uncle is Perran Coe, whom everyone calls Mr Coe.", "Mr Coe", "Perran Coe"),
    "to everybody": ("Ilse Harrow, teacher. Bartholomew Finch is Barty to everybody.", "Barty", "Bartholomew Finch"),
    "a form of address": ("Sister Ilvane is formal: Master Deepvault for Brannoch.", "Master Deepvault", "Brannoch"),
    "a short name": ("Pim, halfling. Everybody has a short name: Ilvane is Ilvy.", "Ilvy", "Ilvane"),
    "what people say": ("Ysolde Oyelaran, 58, owns the tug. Everybody aboard says Cap.", "Cap", "Ysolde Oyelaran"),
    "what people say of another": (
        "Glass, 26. Her aunt, Lita Reyes, runs a clinic; everybody says Doc Reyes.",
        "Doc Reyes",
        "Lita Reyes",
    ),
    "the name by day": ("Vesper has fangs. By day she is Ada Lisle.", "Ada Lisle", "Vesper"),
    "of one with the same family": (
        "Edmund Lisle, 29. His aunt, Agnes Lisle, rules; everyone says Miss Lisle.",
        "Miss Lisle",
        "Agnes Lisle",
    ),
    "with more in parentheses": (
        "Edmund, 29. He lives with Loveday Coe (Granny; the only Coe left).",
        "Granny",
        "Loveday Coe",
    ),
    "with a word of kinship": ("한서진, 주장. 후배들은 서진 언니라고 부른다.", "서진 언니", "한서진"),
    "told to the model": ('You are Anna Vey, a sailor. Her crew calls her "Nines".', "Nines", "Anna Vey"),
    "behind a label": (ROZ, "Rosie", "Rosalind Okonkwo-Hale"),
    "behind a label, by her nickname and the family name": (ROZ, "Roz Okonkwo-Hale", "Rosalind Okonkwo-Hale"),
    "of one whom a label's text tells of, with his title": (ROZ, "Dr. Aldous", "Dr. Finn Aldous"),
    "behind a label, with a verb": ('About the heroine: Ada Lisle is a thief, "Vesper" to all.', "Vesper", "Ada Lisle"),
    "a title and the given name": ('Lady Evangeline "Evie" Thorne: 26, widow.', "Lady Evangeline", LADY),
    "a title and the nickname": ('Lady Evangeline "Evie" Thorne: 26, widow.', "Lady Evie", LADY),
    "a title and the family name": ('Lady Evangeline "Evie" Thorne: 26, widow.', "Lady Thorne", LADY),
    "a childhood name": ("【阿沅】沈知沅，小名“圆圆”，新入宫。", "圆圆", "阿沅"),
}


@pytest.mark.parametrize(("card", "name", "head"), CARDS.values(), ids=CARDS)
def test_a_name_belongs_to_the_entry_that_marks_it(card: str, name: str, head: str) -> None:
    found = entry_of(card, name)
    assert found is not None
    assert found.head == head


@pytest.mark.parametrize(
    ("card", "name"),
    [
        ("Wren: rope walker. She has a sister, Nell.", "Nell"),
        ('Sam: the boy.\nSam Pruitt: the captain, "Sam" to her crew.', "Pruit"),
        ('[Mara: "the Fox"]\n[Tobin: "the Fox" to his men]', "the Fox"),
        ("Rudd: preacher. The brothers Anders and Nils Lund, called Big Swede and Little Swede.", "Big Swede"),
        ('Mara and Tobin: twins, "the Pair".', "Mara"),
        ("Vesper, 30. Two women called Ruth matter to the story.", "Ruth"),
        ('[Roz\'s rival: Hattie Brand, 40, who calls her "Rosie".]', "Rosie"),
        ('Her dearest friends: Hattie, "the Duchess", and Doc.', "the Duchess"),
        ("Her favourite things: Rain, and tea, which she calls Gold.", "Gold"),
        ('Lady Evangeline "Evie" Thorne: 26, widow.', "Mrs. Thorne"),
        ('Lady Evangeline "Evie" Thorne: 26, widow.', "Lord Evangeline"),
        ('Captain Jonathan "Jack" Ashby: a rake.', "Mr. Ashby"),
        ("Captain Jonathan Ashby: a rake.\nCaptain James Ashby: his father.", "Captain Ashby"),
        ("두꺼비 영감: 상인. 본명은 아무도 모른다.", "아무도"),
        ("", "Wren"),
    ],
)
def test_a_name_that_no_entry_marks_or_several_do_belongs_to_none(card: str, name: str) -> None:
    assert entry_of(card, name) is None


def test_a_name_that_heads_an_entry_is_not_another_persons_nickname() -> None:
    card = 'Sam: a deckhand.\nSam Pruitt: the captain, "Sam" to her crew.'
    assert entry_of(card, "Sam") == entries_of(card)[0]


@pytest.mark.parametrize(
    ("card", "name", "known", "stands"),
    [
        (
            "志乃、女将。誰も篠田湊を名前で呼ばない。灯を守る家なので、ただ「灯台」と呼ぶ。町で灯台といえば篠田湊ひとりだ。",
            "灯台",
            "篠田湊",
            True,
        ),
        ("志乃、女将。灯を守る家なので、父を「灯台」と呼ぶ。篠田湊は船大工だ。", "灯台", "篠田湊", False),
        ("Desmond Okafor, 30, whom everybody calls Dez; his mother calls him Desi.", "Desi", "Dez", True),
        ("Desmond Okafor, 30, whom everybody calls Dez.\nMara: his sister, Mags.", "Mags", "Dez", False),
    ],
)
def test_a_nickname_stands_in_the_text_about_its_owner(card: str, name: str, known: str, stands: bool) -> None:
    assert stands_in_text_of(card, name, [known]) is stands


def test_the_player_is_known_by_the_nickname_that_only_the_persona_tells() -> None:
    player = Entity("p", Kind.CHARACTER, "Desmond", (), {"persona": "Desmond"})
    crew = Entity("n", Kind.CHARACTER, "Nico")
    state = WorldState(player="p", entities={"p": player, "n": crew}, whereabouts={"p": Placement("s")})
    card = 'Desmond Okafor, whom the crew calls "Dez", cuts hulls.\nNico: pilot, "Nines" to the crew.'
    names = Names(state, evidence=Evidence(card=card))
    assert [names.find(Kind.CHARACTER, each) for each in ("Dez", "Nines", "Okafor", "Rask")] == ["p", "n", "p", None]
    assert names.ensure(Kind.CHARACTER, "Dez") == "p"


@pytest.mark.parametrize("text", ["Dario loves Ines.", "Dario married Ines, his cousin."])
def test_a_sentence_about_two_is_no_name_of_one(text: str) -> None:
    assert entry_of(text, "Ines") is None


def test_particles_are_written_small_within_a_name() -> None:
    assert entry_of("Ludwig von der Au: a count.", "Ludwig") is not None
