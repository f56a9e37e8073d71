"""Projections: the views of a state in the stores. They are pure functions of it, updated by minimal differences."""

from __future__ import annotations

from saga_core.projection.compare import Difference, compare_states, difference_words
from saga_core.projection.episodes import render_episode, spoken_day, witnesses
from saga_core.projection.graph_image import GraphImage, LoreGraph, difference, portions, render_graph
from saga_core.projection.lines import (
    CountedValue,
    StateLine,
    StateLineKey,
    counted_values,
    describe_state,
    due_lines,
    due_time,
    elsewhere_lines,
    fact_texts,
    graph_words,
    person_lines,
    render_kv,
    state_lines,
    touched,
)
from saga_core.projection.pages import render_pages, render_prefix, render_world
from saga_core.projection.story import BOND, DEATH, EVENT, MEETING, THING, clauses, named, people_in, weight
from saga_core.projection.title import BETWEEN, player_name, story_title, subject_of
