"""The past turns of one path, as recall sees them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from typing import Protocol

from saga_core.model import Tree
from saga_core.recall.lexical import FUNCTION_SHARE, Fed, LexicalIndex
from saga_core.recall.particular import few


class Episodes(Protocol):
    """The remembered turns of a session, seen from one turn of it."""

    @property
    def last(self) -> int:
        """The number of the turn that they are seen from."""
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
        """The ``k`` turns of the path that answer ``query`` best by their words, and their scores; none of ``skip``.

        Also the turns up to ``reach`` before or after one of them that have a score of their own. ``feedback``: what
        words of the best turns count beside those of ``query``. ``told``: gives the parts of their texts whose words
        are meant, seldom ones only; the rarest of the whole texts without it. ``fed`` takes in what came of it.
        ``function``: what is left of the weight of function words.
        """
        ...

    def spread(self, term: str, most: int) -> int:
        """In how many turns of the path ``term`` stands; when they are more than ``most``, some number above it."""
        ...

    def having(self, term: str, most: int) -> Sequence[str]:
        """The turns of the path in which ``term`` stands, the latest first; none where they are more than ``most``."""
        ...

    def common(self, most: int) -> AbstractSet[str]:
        """Terms among which are all that stand in more than ``most`` turns of the path, and only these unless there
        are paths ``aside``."""
        ...

    @property
    def aside(self) -> bool:
        """Whether there are other paths beside this one."""
        ...

    def on_path(self, turn: str) -> bool:
        """Whether ``turn`` is remembered and stands on the path."""
        ...

    def at(self, depth: int) -> str | None:
        """The turn of the path with that number, if there is one and it is remembered."""
        ...

    def depth(self, turn: str) -> int:
        """The turn's number."""
        ...

    def text(self, turn: str) -> str:
        """What is remembered of it."""
        ...

    def present(self, turn: str) -> tuple[str, ...] | None:
        """Who was with the player then, by entity id; None when nobody noted it."""
        ...

    def since(self, moment: float) -> int:
        """The depth of the first turn of the path that was played at ``moment`` (seconds since the epoch) or later;
        one more than the last when there is none."""
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
        """The best turns of the path by BM25, and what stands beside them."""
        nodes, path = self._nodes, self._path

        def accept(turn: str) -> bool:  # as ``on_path``, in one call: it is asked for every candidate
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
        """By the index, which is asked for each turn only where there are other paths: a turn that was told five ways
        has its words five times."""
        return self._index.spread(term, most, self.on_path if self.aside else None)

    def having(self, term: str, most: int) -> Sequence[str]:
        """By the index. Of words that nearly every turn has, few turns are looked at."""
        found: list[str] = []
        for turn in self._index.having(term):
            if self.on_path(turn):
                if len(found) == most:
                    return ()
                found.append(turn)
        return found

    def common(self, most: int) -> AbstractSet[str]:
        """Those of the index."""
        return self._index.common(most)

    @property
    def aside(self) -> bool:
        """Whether more turns are indexed than the path has."""
        return len(self._index) > len(self._path)

    def on_path(self, turn: str) -> bool:
        """Whether ``turn`` has an episode and stands above the head, or is it."""
        node = self._nodes.get(turn)
        if node is None or not node.episode or node.depth >= len(self._path):
            return False
        return self._path[node.depth] == turn

    def at(self, depth: int) -> str | None:
        """The turn of that depth, unless it has no episode."""
        if not 0 <= depth < len(self._path):
            return None
        turn = self._path[depth]
        return turn if self._nodes[turn].episode else None

    def depth(self, turn: str) -> int:
        """The turn's depth in the tree."""
        return self._nodes[turn].depth

    def text(self, turn: str) -> str:
        """The turn's episode."""
        return self._nodes[turn].episode

    def present(self, turn: str) -> tuple[str, ...] | None:
        """As its node has it."""
        return self._nodes[turn].present

    def since(self, moment: float) -> int:
        """By bisection: turns of a path were played one after the other."""
        nodes = self._nodes
        return bisect_left(self._path, moment, key=lambda turn: nodes[turn].at)
