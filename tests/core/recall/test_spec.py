"""The rules of lorebook, recall and budget, sentence by sentence, each with the tests that hold it.

``CLAUSES`` quotes the rules; a test that is named there and does not exist fails, so that none is lost. The tests of
this file hold what no other does, and what malformed lore does.
"""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from saga_core.config.model import Config, LorebookConfig, TokenBudget
from saga_core.context import Piece, Section, default_reader
from saga_core.context.scene import Scene
from saga_core.context.sources import Lorebook
from saga_core.ids import entity_id
from saga_core.projection.graph_image import render_graph
from saga_core.recall.episodes import DECAY, REACH, SPEAKER_BOOST
from saga_core.recall.graph_walk import walk
from saga_core.recall.lorebook import SIMILAR, LoreIndex, LoreSituation, rank_lore
from saga_core.stores.vector import Hit
from saga_core.world.errors import WorldError
from saga_core.world.model import LoreEntry, World
from saga_core.world.parse import parse_world
from tests.core.context.reading_stage import (
    ARIA,
    ERGEN,
    FOREST,
    KRUK,
    MARA,
    CannedVectors,
    EdgeGraph,
    OneVector,
    WordCounter,
    ask,
    edges_of,
    ko_state,
    path_episodes,
    scene_of,
)

TESTS = Path(__file__).resolve().parents[2]

LORE = "core/recall/test_lorebook.py"
SPEC = "core/recall/test_spec.py"
FUSION = "core/recall/test_fusion.py"
LEXICAL = "core/recall/test_lexical.py"
MENTIONS = "core/recall/test_mentions.py"
READER = "core/context/test_reader.py"
LORE_GRAPH = "core/projection/test_lore_graph.py"
SOURCES = "core/context/test_sources.py"
BUDGET = "core/context/test_budget.py"
RENDER = "core/context/test_render.py"
SETTINGS = "core/config/test_load.py"
WORLDS = "core/world/test_world_parse.py"

CLAUSES: dict[str, tuple[tuple[str, str], ...]] = {
    # -- budget and deadline
    "Budgets are ceilings inside dynamic_context_max": (
        (BUDGET, "test_neither_the_whole_nor_a_section_exceeds_its_ceiling"),
        (READER, "test_the_budget_is_kept"),
    ),
    "the config is refused when they cannot fit": (
        (SETTINGS, "test_a_ceiling_above_the_whole_is_refused"),
        (SETTINGS, "test_the_dynamic_context_fits_into_the_total"),
    ),
    "unused room flows to whoever can use it": (
        (BUDGET, "test_room_that_one_section_leaves_is_there_for_the_others"),
        (BUDGET, "test_room_that_lines_together_do_not_need_is_given_to_what_was_skipped"),
    ),
    "Each source has a deadline": ((READER, "test_what_is_slow_costs_only_what_it_would_have_brought"),),
    "a late source is left out and counted": ((READER, "test_a_source_that_hangs_is_left_out"),),
    "Rank by one documented score": ((SPEC, "test_every_score_lies_where_its_source_may_score"),),
    "drop duplicates": ((BUDGET, "test_the_better_of_two_pieces_with_one_key_counts"),),
    "pack greedily, skipping what does not fit": (
        (BUDGET, "test_what_does_not_fit_is_skipped_and_smaller_pieces_follow"),
        (SPEC, "test_an_entry_of_5000_tokens_is_skipped_and_the_next_goes_in"),
    ),
    "Same input, same bytes": (
        (READER, "test_the_same_request_gives_the_same_bytes"),
        (READER, "test_no_order_in_which_the_state_was_built_matters"),
    ),
    # -- lorebook
    "candidates are the vector top 30": ((SPEC, "test_the_thirty_nearest_are_candidates"),),
    "every entry mentioned in the last two messages": ((SPEC, "test_a_mention_counts_in_the_last_two_messages_only"),),
    "every entry opened by a gate; gates before the cut": ((SPEC, "test_gates_are_opened_before_the_cut"),),
    "and constants": ((LORE, "test_constant_beats_decay_and_is_always_a_candidate"),),
    "location equal to name, alias or tag +3.0": (
        (LORE, "test_the_place_itself_is_worth_5"),
        (LORE, "test_name_alias_or_tag_equal_to_the_place_count_once"),
    ),
    "a tag that is a whole word of it +1.5, Korean particles stripped, never substring": (
        (LORE, "test_a_tag_must_be_a_whole_word_of_the_place"),
    ),
    "a nearby NPC +2.0 once": ((LORE, "test_somebody_near_counts_once_however_often_he_matches"),),
    "graph distance 1: +1.0, 2: +0.5": (
        (LORE, "test_graph_distance"),
        (LORE, "test_propagation_depth_limits_the_distance_that_counts"),
        (LORE, "test_graph_distance_alone_opens_nothing"),
    ),
    "mention +2.5": (
        (SPEC, "test_a_mention_is_worth_2_and_a_half"),
        (LORE, "test_mentions_are_by_name_and_alias_not_by_tag"),
    ),
    "similarity +2·cos, the embedder's own baseline subtracted": (
        (LORE, "test_similarity_counts_above_the_baseline_only"),
    ),
    "layer A1 2.0, A2 1.5, A3 0.5, A4 0.0": ((LORE, "test_layers"),),
    "decay by turns since the last mention: A3 beyond 7, A4 beyond 3; A4 never mentioned stays out": (
        (LORE, "test_decay_counts_from_the_last_mention"),
    ),
    "never since injection": ((SPEC, "test_being_in_the_prompt_is_no_mention"),),
    "an open gate, a mention or constant beats decay": (
        (LORE, "test_a_gate_or_a_mention_beats_decay"),
        (LORE, "test_constant_beats_decay_and_is_always_a_candidate"),
    ),
    "deterministic order": (
        (LORE, "test_order_is_score_then_layer_then_name"),
        (LORE, "test_the_order_of_the_entries_does_not_matter"),
    ),
    "every entry in the prompt can say why it is there": (
        (LORE, "test_scores_are_the_sum_of_their_parts_and_never_below_0"),
        (SPEC, "test_every_line_of_lore_says_why_it_is_there"),
    ),
    "per-layer settings; decay_threshold accepted with a warning that says what replaces it": (
        (LORE, "test_layers_that_are_not_configured_stay_out"),
        (SPEC, "test_each_layer_decays_as_it_is_set"),
        (SETTINGS, "test_the_old_files_idle_keys_are_named_with_what_replaces_them"),
    ),
    "a burned village's entry is superseded (a delta, path-dependent), not just damped": (
        (SOURCES, "test_lore_that_play_has_overtaken_tells_what_is_so_now"),
        (LORE_GRAPH, "test_a_burned_place_is_told_as_burned_on_its_path_and_whole_on_another"),
    ),
    # -- what must never change a score
    "adding an unrelated entry changes no score": (
        (LORE, "test_an_unrelated_entry_changes_no_score"),
        (SPEC, "test_an_unrelated_entry_changes_no_line_of_the_prompt"),
    ),
    "a mention never lowers a rank": ((LORE, "test_a_mention_never_lowers_a_rank"),),
    "'성' does not fire in '여성'": (
        (LORE, "test_a_tag_must_be_a_whole_word_of_the_place"),
        (SPEC, "test_seong_is_not_mentioned_by_yeoseong"),
        (MENTIONS, "test_a_name_is_no_part_of_another_word"),
    ),
    "NFC and NFD agree": (
        (LORE, "test_both_normal_forms_of_the_scene_agree"),
        (MENTIONS, "test_both_normal_forms_agree"),
        (SPEC, "test_lore_that_was_written_decomposed_is_the_same_lore"),
    ),
    "order of insertion is irrelevant": (
        (LORE, "test_the_order_of_the_entries_does_not_matter"),
        (LEXICAL, "test_the_order_of_adding_does_not_matter"),
        (FUSION, "test_no_order_of_input_matters"),
        (BUDGET, "test_the_order_of_the_pieces_does_not_matter"),
    ),
    # -- recall
    "lexical and dense, fused on z-scores": (
        (FUSION, "test_z_scores_have_mean_0_and_deviation_1"),
        (FUSION, "test_what_both_find_stands_above_what_one_finds"),
    ),
    "the score smoothed over neighbouring turns (±2, decay 0.4)": (
        (SPEC, "test_the_constants_of_recall"),
        (FUSION, "test_smoothing_adds_what_the_neighbours_have"),
    ),
    "character names kept out of the dense query, lifted lexically": (
        (SOURCES, "test_characters_are_kept_out_of_the_dense_query_and_lifted_in_the_lexical_one"),
        (FUSION, "test_lifting_names"),
    ),
    "Korean is indexed by syllable bigrams": (
        (LEXICAL, "test_korean_and_english_are_found_in_other_inflections"),
    ),
    "without an embedder, lexical alone": ((READER, "test_without_an_embedder_words_alone_do"),),
    "numbers in words": (("core/recall/test_tokens.py", "test_numbers_in_words_are_those_in_digits"),),
    "time words": (("core/recall/test_time_words.py", "test_days_are_counted"),),
    "no duplicate of what the history already shows": (
        (SOURCES, "test_turns_that_the_history_shows_are_never_recalled"),
    ),
    # -- graph, and who knows what
    "typed walks from the player, the place, those present and those named": (
        (SPEC, "test_the_walk_begins_at_player_place_present_and_named"),
    ),
    "the heaviest edges": (("core/recall/test_graph_walk.py", "test_the_heaviest_edges_are_kept"),),
    "an episode records who was present": (("core/play/test_witnesses.py", "test_a_turn_notes_who_was_there"),),
    "a secret says who knows it": ((SOURCES, "test_a_secret_says_who_knows_it"),),
    "the narrator is told": (
        ("core/play/test_witnesses.py", "test_the_narrator_is_told_who_was_not_there"),
        (SOURCES, "test_who_was_not_there_does_not_know"),
    ),
    # -- malformed lore
    "empty tags": ((SPEC, "test_empty_tags_open_nothing"),),
    "5,000-token entries": (
        (SPEC, "test_an_entry_of_5000_tokens_is_skipped_and_the_next_goes_in"),
        (SPEC, "test_an_entry_that_never_has_room_is_told_to_its_author"),
    ),
    "duplicate names": (
        (SPEC, "test_two_entries_of_one_name_are_refused_with_both_lines"),
        (LORE, "test_of_two_entries_with_one_name_the_last_counts"),
    ),
    "unknown layers": ((SPEC, "test_an_unknown_layer_is_refused_with_the_known_ones"),),
    "cycles": ((SPEC, "test_lore_that_leads_back_to_itself_is_walked_once"),),
}  # fmt: skip


@pytest.mark.parametrize("clause", CLAUSES)
def test_each_sentence_has_a_test(clause: str) -> None:
    assert CLAUSES[clause]
    for file, name in CLAUSES[clause]:
        text = (TESTS / file).read_text(encoding="utf-8")
        assert f"def {name}(" in text, f"{clause}: {file} has no {name}"


# -- what no other test holds --------------------------------------------------------------------------------------


def entry(name: str, layer: str = "A1", **extra: Any) -> LoreEntry:
    return LoreEntry(name, "concept", layer, **extra)


def scene(request: Any, **options: Any) -> Scene:
    return scene_of(request, **options)


async def lore_of(lore: list[LoreEntry], words: str, hits: list[Hit] = [], **request: Any) -> list[Piece]:  # noqa: B006
    world = World("w", "w", language="ko", lore=tuple(lore))
    asked = ask(words, world=world, lore=LoreIndex(lore), **request)
    vectors: Any = CannedVectors({f"lore:{world.digest}": hits})
    return list(await Lorebook().gather(scene(asked, vectors=vectors, embedder=OneVector())))


async def test_the_thirty_nearest_are_candidates() -> None:
    assert SIMILAR == 30
    lore = [entry(f"표제 {number:02}") for number in range(40)]
    hits = [Hit(each.name, 0.9, "", {}) for each in lore]
    assert len(await scene_hits(lore, hits)) == 30


async def scene_hits(lore: list[LoreEntry], hits: list[Hit]) -> dict[str, float]:
    world = World("w", "w", language="ko", lore=tuple(lore))
    asked = ask("무엇인가", world=world, lore=LoreIndex(lore))
    vectors: Any = CannedVectors({f"lore:{world.digest}": hits})
    return await scene(asked, vectors=vectors, embedder=OneVector()).similar_lore()


async def test_a_mention_counts_in_the_last_two_messages_only() -> None:
    lore = [entry("은빛 검"), entry("붉은 문")]
    pieces = await lore_of(lore, "은빛 검을 든다.", recent=("그는 말이 없다.", "은빛 검을 든다."))
    assert [piece.key for piece in pieces] == ["lore:은빛 검"]
    pieces = await lore_of(lore, "간다.", recent=("붉은 문이 열린다.", "간다."))
    assert [piece.key for piece in pieces] == ["lore:붉은 문"]
    assert await lore_of(lore, "간다.", recent=("그는 말이 없다.", "간다.")) == []


def test_gates_are_opened_before_the_cut() -> None:
    near = [entry(f"비슷한 {number}") for number in range(30)]
    lore = [*near, entry("숲"), entry("에르겐", "A3"), entry("검은 개", tags=("숲",))]
    similar = {each.name: 0.99 for each in near}
    situation = LoreSituation(depth=99, place=("숲",), nearby=("에르겐",), similar=similar)
    names = {scored.entry.name for scored in rank_lore(LoreIndex(lore), situation, LorebookConfig())}
    assert {"숲", "에르겐", "검은 개"} < names and len(names) == 33


def test_a_mention_is_worth_2_and_a_half() -> None:
    (scored,) = rank_lore(LoreIndex([entry("검", "A4")]), LoreSituation(mentioned=("검",)), LorebookConfig())
    assert (scored.score, scored.why) == (2.5, {"mention": 2.5})


def test_each_layer_decays_as_it_is_set() -> None:
    config = LorebookConfig(decay={"A2": 1, "A4": 20})
    lore = [entry(name, layer) for name, layer in (("가나", "A2"), ("다라", "A3"), ("마바", "A4"))]
    situation = LoreSituation(
        depth=10, last_mention=dict.fromkeys(("가나", "다라", "마바"), 5), similar={each.name: 0.5 for each in lore}
    )
    assert [scored.entry.name for scored in rank_lore(LoreIndex(lore), situation, config)] == ["다라", "마바"]


async def test_being_in_the_prompt_is_no_mention() -> None:
    lore = [entry("옛 맹세", "A3", text="지켜야 한다.")]
    world = World("w", "w", language="ko", lore=tuple(lore))
    vectors: Any = CannedVectors({f"lore:{world.digest}": [Hit("옛 맹세", 0.95, "", {})]})
    reader = default_reader(Config(), WordCounter(), vectors=vectors, embedder=OneVector())
    shown = []
    for depth in (6, 7, 8, 9):
        state = ko_state(depth=depth, mentioned={})
        asked = ask(
            "무엇을 지켜야 하지?", state=state, world=world, lore=LoreIndex(lore), recent=("…", "무엇을 지켜야 하지?")
        )
        shown.append("옛 맹세" in (await reader.read(asked)).text)
    await reader.aclose()
    assert shown == [True, True, False, False], "it was in the prompt at 7, and still was never mentioned"


async def test_every_line_of_lore_says_why_it_is_there() -> None:
    lore = [entry("어둠의 숲", tags=("숲",)), entry("에르겐"), entry("대붕괴", constant=True), entry("검")]
    pieces = await lore_of(lore, "검을 든다.", [Hit("검", 0.8, "", {})])
    assert {piece.key for piece in pieces} == {"lore:어둠의 숲", "lore:에르겐", "lore:대붕괴", "lore:검"}
    for piece in pieces:
        assert piece.score == pytest.approx(sum(piece.why.values())) and piece.why


async def test_every_score_lies_where_its_source_may_score() -> None:
    """The scale of ``saga_core.context.model``."""
    past = ["", *(f"Turn {at}\n열쇠를 {at}번 보았다. 크룩이 웃었다." for at in range(1, 13))]
    vectors: Any = CannedVectors({"episodes:s": [Hit("t2", 0.7, "", {"depth": 2})]})
    reader = default_reader(Config(), WordCounter(), vectors=vectors, embedder=OneVector())
    limits = {
        "deaths": (130, 130),
        "briefing": (6, 120),
        "lorebook": (0, 12.5),
        "recollection": (1, 6),
        "connections": (0.3, 6.5),
        "events": (1, 6),
    }
    seen = set()
    for words in ("크룩에게 열쇠를 묻는다", "크룩이 열쇠를 어떻게 했지?", "대붕괴와 은빛 성채와 고블린 습격"):
        found = await reader.read(
            ask(words, episodes=path_episodes(past), graph=EdgeGraph(edges_of(ko_state())), due=("오늘 장이 선다",))
        )
        for piece in (*found.pieces, *found.skipped):
            low, high = limits[piece.source]
            assert low <= piece.score <= high, piece
            seen.add(piece.source)
    await reader.aclose()
    assert seen == {"briefing", "lorebook", "recollection", "connections", "events"}


@given(st.text(alphabet="가나다라마바사", min_size=3, max_size=6))
async def test_an_unrelated_entry_changes_no_line_of_the_prompt(name: str) -> None:
    lore = [entry("어둠의 숲", tags=("숲",)), entry("은빛 검", "A2"), entry("대붕괴", constant=True)]
    words = "은빛 검을 든다."
    hits = [Hit("은빛 검", 0.8, "", {})]
    before = await lore_of(lore, words, hits)
    assert await lore_of([*lore, entry(name, "A4"), entry(f"{name} 터", "A1")], words, hits) == before


def test_seong_is_not_mentioned_by_yeoseong() -> None:
    index = LoreIndex([entry("성"), entry("성주", aliases=("성",))])
    assert index.mentioned_in("여성 둘이 성문과 성벽 이야기를 한다.") == ()
    assert index.mentioned_in("성에 들어간다.") == ("성", "성주")


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKD"])
def test_lore_that_was_written_decomposed_is_the_same_lore(form: Any) -> None:
    text = "## 어둠의 숲\n- 타입: location\n- 레이어: A1\n- 태그: 숲, 위험\n- 별칭: 검은 숲\n\n변방의 숲.\n"
    world, said = parse_world({"LOREBOOK.md": unicodedata.normalize(form, text)}, "w")
    assert said == ()
    index = LoreIndex(world.lore)
    assert (
        index.mentioned_in("어둠의 숲에서")
        == index.mentioned_in(unicodedata.normalize("NFD", "검은 숲으로"))
        == ("어둠의 숲",)
    )
    assert index.keyed([unicodedata.normalize("NFD", "위험")]) == {"어둠의 숲"}


def test_the_constants_of_recall() -> None:
    assert (REACH, DECAY, SPEAKER_BOOST) == (2, 0.4, 1.3)


async def test_the_walk_begins_at_player_place_present_and_named() -> None:
    asked = ask("크룩에게 간다.", state=ko_state())
    assert set(scene(asked).seeds) == {ARIA, FOREST, ERGEN, MARA, KRUK}
    assert KRUK not in scene(ask("간다.", state=ko_state(), recent=("…", "간다."))).seeds


# -- malformed lore ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tags", ["- tags:\n", "- tags: , ,\n", "- 태그:\n", ""])
def test_empty_tags_open_nothing(tags: str) -> None:
    world, said = parse_world({"LOREBOOK.md": f"## Moor\n- type: location\n- layer: A1\n{tags}\nFog."}, "w")
    (moor,) = world.lore
    assert (moor.tags, moor.aliases, said) == ((), (), ())
    index = LoreIndex(world.lore)
    assert index.tagged_in(["The Old Mill", ""]) == index.keyed([""]) == set()


async def test_an_entry_of_5000_tokens_is_skipped_and_the_next_goes_in() -> None:
    long, short = entry("긴 노래", text="라 " * 10_000), entry("짧은 노래", "A2", text="끝.")
    world = World("w", "w", language="ko", lore=(long, short))
    reader = default_reader(Config(token_budget=TokenBudget()), WordCounter())
    found = await reader.read(ask("긴 노래와 짧은 노래를 부른다.", world=world, lore=LoreIndex(world.lore)))
    await reader.aclose()
    assert WordCounter().count(long.text) == 5_000
    assert "짧은 노래: 끝." in found.text and "긴 노래" not in found.text
    (skipped,) = [piece for piece in found.skipped if piece.section is Section.LORE]
    assert skipped.key == "lore:긴 노래" and skipped.tokens > 5_000, "what was skipped says so, with what it would cost"


def test_an_entry_that_never_has_room_is_told_to_its_author() -> None:
    text = "## Song\n- type: concept\n- layer: A1\n\n" + "la " * 5_000
    world, said = parse_world({"LOREBOOK.md": text}, "w")
    assert len(world.lore) == 1
    (warning,) = said
    assert warning.startswith(
        'worlds/w/LOREBOOK.md:1: "Song" has 14,999 characters of text, more than there is room for'
    )
    assert warning.endswith("split it")


def test_two_entries_of_one_name_are_refused_with_both_lines() -> None:
    head = "- type: concept\n- layer: A1\n"
    with pytest.raises(WorldError) as caught:
        parse_world({"LOREBOOK.md": f"## 어둠의 숲\n{head}\n## 어둠의숲\n{head}"}, "w")
    assert str(caught.value) == (
        'worlds/w/LOREBOOK.md:5: "어둠의숲" stands twice, first on line 1; join the two entries or rename one'
    )


def test_an_unknown_layer_is_refused_with_the_known_ones() -> None:
    with pytest.raises(WorldError, match=r'LOREBOOK\.md:3: field "layer" is "B7"; use one of A1, A2, A3, A4'):
        parse_world({"LOREBOOK.md": "## a\n- type: item\n- layer: B7\n"}, "w")


async def test_lore_that_leads_back_to_itself_is_walked_once() -> None:
    text = "".join(
        f"## {name}\n- type: location\n- layer: A2\n- neighbours: {others}\n- related: {others}\n\n"
        for name, others in (("마당", "마당, 우물"), ("우물", "다리, 마당"), ("다리", "마당, 우물"))
    )
    world, said = parse_world({"LOREBOOK.md": text}, "w")
    assert said == (), "ways that lead back are no mistake"
    state = ko_state()
    for lore in (world.lore, world.lore[::-1]):
        turned = evolve(world, lore=lore)
        graph = render_graph(state, turned)
        around = scene(ask("우물을 본다.", state=state, world=turned, lore=LoreIndex(lore), graph=graph))
        named = {entity_id("lore", name): name for name in ("마당", "우물", "다리")}
        found = await walk(graph, "", [entity_id("lore", "마당")], hops=9)
        assert {named[id_]: hops for id_, hops in found.distance.items()} == {"마당": 0, "우물": 1, "다리": 1}
        assert [piece.key for piece in await Lorebook().gather(around)] == ["lore:우물"]
