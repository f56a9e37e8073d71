"""Hypothesis strategies for the model: states that folded from an opening, and deltas that may be nonsense."""

from __future__ import annotations

from hypothesis import strategies as st

from saga_core.model import deltas
from saga_core.model.entities import Kind, MemoryRecord
from saga_core.model.tree import Delta, ReportStatus, Source

NAMES = (
    "아리아",
    "크룩",
    "에르겐",
    "고블린왕 크룩",
    "어둠의 숲",
    "마을 광장",
    "치유 물약",
    "불꽃 검",
    "Mara",
    "the old mill",
    "rope",
)
IDS = tuple(f"{kind.value[0]}{number}" for kind in Kind for number in range(4))
ids = st.sampled_from((*IDS, "player", "nobody"))
words = st.sampled_from(NAMES) | st.text(max_size=8)
amounts = st.integers(-(2**70), 2**70) | st.integers(-200, 200)
quantities = st.integers(-3, 5) | st.just(10**30)
values = st.none() | st.booleans() | st.integers(-100, 100) | words | st.lists(words, max_size=3).map(tuple)
kinds = st.sampled_from(list(Kind))
depths = st.integers(0, 60)

events = st.one_of(
    st.builds(
        deltas.Introduced,
        ids,
        kinds,
        words,
        st.lists(words, max_size=2).map(tuple),
        st.dictionaries(st.sampled_from(("hp", "max_hp", "mood", "status")), values, max_size=3),
    ),
    st.builds(deltas.Renamed, ids, words),
    st.builds(deltas.Moved, ids, ids),
    st.builds(deltas.HpChanged, ids, amounts),
    st.builds(deltas.MoodChanged, ids, words),
    st.builds(deltas.StatusChanged, ids, st.sampled_from(("dead", "alive", "잠듦"))),
    st.builds(deltas.ItemGained, ids, ids, quantities),
    st.builds(deltas.ItemLost, ids, ids, quantities),
    st.builds(deltas.ItemTransferred, ids, ids, ids, quantities),
    st.builds(deltas.Met, ids),
    st.builds(deltas.Separated, ids),
    st.builds(deltas.RelationChanged, ids, ids, words, amounts),
    st.builds(deltas.RelationEnded, ids, ids, words),
    st.builds(deltas.EventTriggered, ids, words),
    st.builds(deltas.Noted, words),
    st.builds(deltas.Unnoted, st.integers(0, 60), words),
    st.builds(deltas.Mentioned, st.lists(words, max_size=3).map(tuple)),
    st.builds(deltas.AttributeSet, ids, words, values),
    st.builds(deltas.ValueSet, words, st.none() | words),
    st.builds(deltas.Merged, ids, ids),
    st.builds(deltas.Split, ids, words, ids),
    st.builds(deltas.Forgotten, ids),
    st.builds(deltas.Found, words, words, words, st.lists(words, max_size=2).map(tuple)),
    st.builds(deltas.Settled, words, words, words),
    st.builds(deltas.StoryTold, st.sampled_from(("scene", "chapter")), depths, depths, words | st.just("길다. " * 300)),
    st.builds(deltas.LoreLearned, words, words),
    st.builds(deltas.EventScheduled, ids, words, words, st.none() | depths, st.none() | depths, ids, ids),
    st.builds(deltas.EventClosed, ids),
    st.builds(deltas.BlockWritten, words, words),
    st.builds(
        deltas.Remembered,
        st.builds(
            MemoryRecord,
            ids,
            words,
            words,
            words,
            words,
            st.dictionaries(words, words, max_size=2),
            st.lists(words, max_size=2).map(tuple),
        ),
    ),
    st.builds(deltas.Unremembered, ids),
    st.builds(
        deltas.WorldSeen,
        words,
        st.integers(0, 9),
        st.lists(st.builds(deltas.Introduced, ids, kinds, words), max_size=2).map(tuple),
        st.lists(
            st.builds(
                deltas.Fact,
                st.sampled_from(("places", "people", "things", "clock", "events")),
                st.sampled_from(("name", "attribute", "place", "left", "held", "link", "count", "event", "")),
                ids | st.just(""),
                st.sampled_from(("", "status", "hp")) | ids,
                values | ids,
            ),
            max_size=3,
        ).map(tuple),
    ),
    st.builds(deltas.TextEdited, st.none() | words, st.none() | words),
    st.builds(
        deltas.AudienceSet,
        depths,
        st.sampled_from(("also", "only", "everybody", "present", "")),
        st.lists(ids, max_size=3).map(tuple),
        ids,
    ),
)

delta_values = st.builds(
    Delta,
    st.lists(events, max_size=12).map(tuple),
    st.sampled_from(list(Source)),
    st.sampled_from(list(ReportStatus)),
    st.lists(words, max_size=2).map(tuple),
)
