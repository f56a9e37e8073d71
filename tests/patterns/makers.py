"""Calls what makes patterns at run time, so that ``found`` sees them. A test tells which place is missing here."""

from __future__ import annotations

import inspect
import re
from types import ModuleType

from saga_backends.chat import lessons, offline
from saga_backends.embedder import known_models
from saga_backends.importers import kobold
from saga_backends.provider_error import Blame
from saga_core.context import as_note, recollection, scene, sources
from saga_core.curation import rules
from saga_core.extraction import answer, edited, here_and_now, other_names, parting, player, statuses, window
from saga_core.imports import Losses, texts
from saga_core.imports.fields import Fields
from saga_core.language import debts, every, normal_forms, tokens
from saga_core.language.en import grammar as english
from saga_core.language.ko import grammar as korean
from saga_core.model import curated
from saga_core.model.entities import StoryPart
from saga_core.naming import cast, evidence, forms, names
from saga_core.naming.doubts import _linking
from saga_core.projection import story
from saga_core.recall import episodes, questions
from saga_core.state_block import amounts as quantities
from saga_core.state_block import by_names, parser, read_reply, records
from saga_core.state_block import filter as echoes
from saga_core.text_prompt import read_prompt, reading
from saga_core.text_prompt.templates import TEMPLATES
from saga_core.trackers import Tracker, TrackerKind, Trackers, clock, genres, read_value
from saga_core.transcript import dialogue, persona, read_transcript, request_kind
from saga_core.world import key_patterns
from saga_server.process.masking import Mask

_NAMES = ["Mara", "Old Tom", "마라", "수아", "真理", "玛拉"]


def call_all() -> None:
    """Make them all, for every language, with names as worlds have them."""
    for fighting in (True, False):
        rules.acts("Nobody is here.", _NAMES, fighting=fighting)
    rules.you_fight("You strike.", _NAMES, "I strike")
    rules.dies(" ".join(_NAMES), _NAMES)
    list(rules.stays_at("Mara 마라 Mill.", _NAMES, [("mill", "Mill")]))
    english.does("Nobody is here.", _NAMES)
    korean.does("아무도 없다.", _NAMES)
    tokens._unspaced()
    normal_forms._long_run()
    tokens._letters()
    tokens._runs()
    tokens._picking()
    texts._usual()
    evidence.Evidence(card="Mara Rudd and Tom Rudd").is_family_of_several("Rudd")
    story._weighty(every())
    curated.taken_back((), (StoryPart("scene", 1, 2, "Tom left."),), (1, "Tom left."))
    episodes._corrected("turn 2 | event: Tom left", ["Tom left"], "en")
    key_patterns.is_valid("a(?<b>c)")
    forms._joined()
    rules._of()
    forms._honorifics()
    _linking("Mara", "Agnes")
    player.is_addressed("Mara", "“Mara, come.”")
    window._number()
    answer._spelled_numbers()
    answer._composed_numbers()
    tags = {"chatname": "Ann", "instruct_starttag": "<u>", "instruct_endtag": "<a>"}
    for mode in (2, 3, 4):
        kobold._in_mode("Ann: Hello.\n> wait", Fields({"opmode": mode, **tags}, Losses()))
    other_names._same()
    other_names._since()
    other_names._nicknaming()
    player._noted()
    parting._parting(tuple(_NAMES), own=True)
    for name in ("also", "truly", "alias", "identity", "nicknaming", "unmasks", "called"):
        forms.patterns_of(name)
    request_kind._asks_for_a_line_of("Mara", "x")
    statuses._told_dead()
    statuses._supposed()
    statuses._of_body()
    sources._confided()
    sources._buried()
    sources._called_animal(tuple(_NAMES))
    parser._goes_on("with Mara")
    for sort in ("learning", "confessing", "among_few", "telling_to_few"):
        debts._with_names(sort, tuple(_NAMES))
    debts._negation()
    debts._confided()
    debts._guarded()
    debts._deadlines()
    debts._who_really()
    debts._owned("Mara")
    debts._done_by("Mara")
    debts.is_subject("Mara의 동생 미나는 있다", "미나", False)
    debts.staying(tuple(_NAMES), "mill")
    debts.names_herself("Mara says that she swims", ("Mara",))
    sources._denied()
    for name in ("unreal", "remote", "calling", "absent", "unaware"):
        here_and_now._remarks(name)
    evidence._mine()
    evidence._titles_given("마라 교장", "마라")
    scene._definite()
    names._heads()
    cast._called()
    for name in ("subject", "pronoun", "object", "topic", "calls", "naming", "group", "role"):
        forms.pattern_of(name)
    cast._cue()
    cast._naming_next()
    list(cast._first("Old Tom", " Mr. Tom"))
    debts._patterns(every())
    quantities._amounts()
    quantities._quantities()
    texts._usual()
    records._labels()
    records._gives()
    records._ended()
    records._supposed()
    records._statuses_alone()
    read_reply("It rains.\n<state>\nlocation: Mill\nhp: 3\nhp_change: 0\n</state>")
    questions._patterns(every())
    questions._asking(every())
    questions._other_story(every())
    questions._of_now(every())
    recollection._aside()
    for sentence, name in (
        ("In the mill he stops.", "mill"),
        ("우리는 옥상에서 쉰다.", "옥상"),
        ("屋上で話した。", "屋上"),
    ):
        edited._around(sentence, name)
    reading._any_of(_NAMES)
    questions._languages()
    questions._hints()
    for text in ("it is late", "at three o'clock", "three days later", "Friday 8:30", "2일 5:00"):
        clock.read_time(text, 0, 0, ())
    gold = Tracker(name="gold", kind=TrackerKind.MONEY, steps=((1, "copper"), (10, "silver")))
    list(by_names.read_by_names("gold: Mara 1", Trackers((gold,)), _NAMES))
    for text in ("silver: 2", "two silver", "silver 2 spent"):
        read_value(gold, text)
    for text in ('"rope" lost', "rope (lost)"):
        read_value(Tracker(name="clues", kind=TrackerKind.LIST), text)
    read_value(Tracker(name="sky", kind=TrackerKind.CHOICE, steps=((0, "clear"), (1, "rain"))), "from clear to rain")
    genres.guessed_profile("a card")
    Mask.of(["sk-a long key"])("Nobody said sk%2Da long key.")
    as_note("Mara is here.", "en")
    echoes._note()
    echoes._begun_note()
    echoes._begun_note(0.5)
    asked = {"role": "system", "content": "[Write the next reply only as Mara.]"}
    request_kind.next_member(read_transcript([{"role": "user", "content": "Hm."}, asked]))
    for language in every():
        names._sorts(language.names.apart)
        questions._dated(language.past.date)
    for name in _named_in(questions):
        questions._any(name)
    for name in _named_in(request_kind):
        request_kind._any(name, re.I | re.S)
        request_kind._any(name)
    persona._of_system("강도윤과 리아의 가상 채팅에서 리아의 다음 답변을 작성하세요.")
    persona._own(every())
    persona._claims(every())
    key_patterns._without_engine("(?i)gr[ae]y (cat|dog)?", 1)
    dialogue._notes(every())
    for template in TEMPLATES:
        assert template.pattern and template.openers
    read_prompt("Rain.\n@@Q@@ Hello.\n@@A@@ Hm.\n@@Q@@ Go.\n@@A@@", ["@@Q@@", "@@A@@"])
    read_prompt("Rain.\nMara: Hello.\nOld Tom:", ["\nMara:"])
    offline._script()
    offline._values("[SAGA: what is true now]\nPlace: Mill\n[/SAGA]", "Mara")
    lessons._names("no such field", "temperature")
    known_models.facts_of_model("a model that nobody knows")
    Blame("p", "host", 60.0, ("short", "a-secret-that-is-long-enough")).hide("said")


def _named_in(module: ModuleType) -> list[str]:
    """With which names a module calls its ``_any``."""
    return sorted(set(re.findall(r'\b_any\("(\w+)"', inspect.getsource(module))))
