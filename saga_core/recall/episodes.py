"""The past turns of one path, as recall sees them, and the scopes of their vectors."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from typing import Protocol

from saga_core.language import particular_terms
from saga_core.model import Tree
from saga_core.ports import Embedder
from saga_core.recall.excerpts import PASSAGES, few
from saga_core.recall.lexical import FUNCTION_SHARE, Fed, LexicalIndex
from saga_core.stores import ScopeSpec


class Episodes(Protocol):
    """The remembered turns of a session, as seen from one of its turns."""

    @property
    def last(self) -> int:
        """The depth of the last turn of the path."""
        ...

    def search(
        self,
        query: str,
        k: int,
        skip: frozenset[str],
        reach: int = 0,
        feedback: float = 0.0,
        function: float = FUNCTION_SHARE,
        told: Callable[[Sequence[str]], Sequence[str]] | None = None,
        fed: Fed | None = None,
    ) -> dict[str, float]:
        """Return the ``k`` turns of the path whose words match ``query`` best, with their scores.

        Turns in ``skip`` are left out. Turns up to ``reach`` before or after a found turn are included if they have a
        score. ``feedback`` is the weight of words from the best turns relative to those of ``query``. ``told`` selects
        the parts of the turns' texts from which feedback takes uncommon words; without ``told``, feedback takes the
        rarest words of the whole texts. ``fed`` receives the results of the feedback. ``function`` is the factor for
        the weight of function words.
        """
        ...

    def spread(self, term: str, most: int) -> int:
        """Return the number of turns of the path that contain ``term``, or any number above ``most`` if more do."""
        ...

    def having(self, term: str, most: int) -> Sequence[str]:
        """Return the turns of the path that contain ``term``, latest first; none if more than ``most`` turns do."""
        ...

    def common(self, most: int) -> AbstractSet[str]:
        """Return all terms that occur in more than ``most`` turns of the path, and possibly more terms if there are
        other paths (``aside``)."""
        ...

    @property
    def aside(self) -> bool:
        """Whether the session has turns on other paths."""
        ...

    def on_path(self, turn: str) -> bool:
        """Whether ``turn`` is remembered and on the path."""
        ...

    def at(self, depth: int) -> str | None:
        """Return the turn of the path at ``depth``, or None if there is none or it is not remembered."""
        ...

    def depth(self, turn: str) -> int:
        """Return the depth of the turn."""
        ...

    def text(self, turn: str) -> str:
        """Return the remembered text of the turn."""
        ...

    def present(self, turn: str) -> tuple[str, ...] | None:
        """Return the ids of the entities with the player in that turn, or None if this was not recorded."""
        ...

    def since(self, moment: float) -> int:
        """Return the depth of the first turn of the path played at or after ``moment`` (seconds since the epoch), or
        the last depth plus one if there is none."""
        ...


class PathEpisodes:
    """``Episodes`` of the path to ``head``, over a session's tree and the index of all its episodes."""

    def __init__(self, tree: Tree, index: LexicalIndex, head: str) -> None:
        self._nodes = tree.nodes
        self._index = index
        self._path = tree.followed(head)

    @property
    def last(self) -> int:
        """The head's depth."""
        return len(self._path) - 1

    def search(
        self,
        query: str,
        k: int,
        skip: frozenset[str],
        reach: int = 0,
        feedback: float = 0.0,
        function: float = FUNCTION_SHARE,
        told: Callable[[Sequence[str]], Sequence[str]] | None = None,
        fed: Fed | None = None,
    ) -> dict[str, float]:
        """Return the best turns of the path by BM25, and their neighbours that have a score."""
        nodes, path = self._nodes, self._path

        def accept(turn: str) -> bool:  # inlined ``on_path``: called for every candidate
            node = nodes.get(turn)
            if node is None or turn in skip or node.depth >= len(path):
                return False
            return bool(node.episode) and path[node.depth] == turn

        def beside(turns: Sequence[str]) -> list[str]:
            depths = {nodes[turn].depth for turn in turns}
            around = {depth + step for step in range(-reach, reach + 1) for depth in depths} - depths
            others = [path[depth] for depth in sorted(around) if 0 <= depth < len(path)]
            return [other for other in others if other not in skip]

        found = self._index.search(
            query,
            k=k,
            accept=accept,
            beside=beside if reach else None,
            feedback=feedback,
            function=function,
            text=self.text,
            told=told,
            seldom=few(self.last)[1] if told else 0,
            fed=fed,
        )
        return dict(found)

    def spread(self, term: str, most: int) -> int:
        """Count by the index. It holds all swipes of a turn, so turns are checked against the path if there are other
        paths."""
        return self._index.spread(term, most, self.on_path if self.aside else None)

    def having(self, term: str, most: int) -> Sequence[str]:
        """Look up by the index, which gives only the latest turns of a frequent term."""
        nodes, path, found = self._nodes, self._path, list[str]()
        for turn in self._index.having(term):
            node = nodes.get(turn)  # ``on_path``, inlined
            if node is None or node.depth >= len(path) or path[node.depth] != turn or not node.episode:
                continue
            if len(found) == most:
                return ()
            found.append(turn)
        return found

    def common(self, most: int) -> AbstractSet[str]:
        """Return the common terms of the index."""
        return self._index.common(most)

    @property
    def aside(self) -> bool:
        """Whether more turns are indexed than the path has."""
        return len(self._index) > len(self._path)

    def on_path(self, turn: str) -> bool:
        """Whether ``turn`` has an episode and is the head or one of its ancestors."""
        node = self._nodes.get(turn)
        if node is None or not node.episode or node.depth >= len(self._path):
            return False
        return self._path[node.depth] == turn

    def at(self, depth: int) -> str | None:
        """Return the turn at ``depth``, or None if there is none or it has no episode."""
        if not 0 <= depth < len(self._path):
            return None
        turn = self._path[depth]
        return turn if self._nodes[turn].episode else None

    def depth(self, turn: str) -> int:
        """Return the turn's depth in the tree."""
        return self._nodes[turn].depth

    def text(self, turn: str) -> str:
        """Return the turn's episode."""
        return self._nodes[turn].episode

    def present(self, turn: str) -> tuple[str, ...] | None:
        """Return the ids recorded in the turn's node."""
        return self._nodes[turn].present

    def since(self, moment: float) -> int:
        """Find the turn by bisection, because the turns of a path are in chronological order."""
        nodes = self._nodes
        return bisect_left(self._path, moment, key=lambda turn: nodes[turn].at)


_ENOUGH = 2
"""Number of uncommon terms that count as much as one rare term."""


def bearing(words: str, episodes: Episodes) -> frozenset[str]:
    """Return the turns that share one rare term or two uncommon terms with ``words``.

    For example, "the silver seal" finds turns and "I walk on" does not. ``words`` must be in NFC and lower case.
    """
    rare, seldom = few(episodes.last)
    times: Counter[str] = Counter()
    for term in dict.fromkeys(particular_terms(words)):
        if len(term) == 1 and not term.isdigit():  # a single syllable or letter is too ambiguous
            continue
        turns = episodes.having(term, seldom)
        part = _ENOUGH if len(turns) <= rare else 1
        for turn in turns:
            times[turn] += part
    return frozenset(turn for turn, count in times.items() if count >= _ENOUGH)


_EPISODES = "episodes:"


def episodes_scope(session_id: str) -> str:
    """Return the vector scope of a session's episodes."""
    return f"{_EPISODES}{session_id}"


def session_of_episodes(scope: str) -> str | None:
    """Return the session whose episodes ``scope`` holds, or None for any other scope."""
    return scope.removeprefix(_EPISODES) if scope.startswith(_EPISODES) else None


def lore_scope(world_digest: str) -> str:
    """Return the vector scope of a world's lore."""
    return f"lore:{world_digest}"


def spec_of(scope: str, embedder: Embedder) -> ScopeSpec:
    """Return the required spec of ``scope``: this embedder, and for episodes the current version of passages."""
    form = f" passages-{PASSAGES}" if scope.startswith(_EPISODES) else ""
    return ScopeSpec(f"{embedder.id}{form}", embedder.dimension)
