"""The vector scopes: named once, and made anew with another embedder or another form of passages."""

from __future__ import annotations

from saga_backends.embedder.ngram import NgramEmbedder
from saga_core.recall.episodes import PASSAGES, episodes_scope, lore_scope, spec_of


def test_sessions_and_worlds_have_scopes_of_their_own() -> None:
    assert (episodes_scope("s1"), lore_scope("d1")) == ("episodes:s1", "lore:d1")
    assert episodes_scope("x") != lore_scope("x")


def test_episodes_depend_on_the_form_of_passages_and_lore_does_not() -> None:
    embedder = NgramEmbedder()
    episodes, lore = spec_of(episodes_scope("s1"), embedder), spec_of(lore_scope("d1"), embedder)
    assert (lore.embedder, lore.dimension) == (embedder.id, embedder.dimension)
    assert (episodes.embedder, episodes.dimension) == (f"{embedder.id} passages-{PASSAGES}", embedder.dimension)
