"""Reads YAML from a file that may be somebody else's: no deeper, and no more values, than any such file needs.

A text of YAML may refer to its own parts, and merge them (``<<``), so that a few lines unfold to any number of values.
Values are counted while the text is parsed, at each reference, before any of them is made.
"""

from __future__ import annotations

from typing import Any

import yaml

_DEEPEST = 64
_MOST_VALUES = 10_000
_LONGEST_NUMBER = 100
"""Characters of a whole number. Python writes none of more than 4,300 digits."""


class BoundedLoader(yaml.SafeLoader):
    """Makes plain values. Refuses a text whose values are too deep or too many once its references are unfolded."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._depth = 0
        self._values = 0
        self._sizes: dict[int, int] = {}
        """The values in each node, by its identity. An alias is the node that it refers to."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        before = self._values
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self._refusal(event, f"nested deeper than {_DEEPEST} levels")
        node: yaml.Node | None = super().compose_node(parent, index)
        if isinstance(event, yaml.AliasEvent) and id(node) not in self._sizes:
            raise self._refusal(event, "a value refers to itself")
        self._values += self._sizes[id(node)] if isinstance(event, yaml.AliasEvent) else 1
        if self._values > _MOST_VALUES:
            raise self._refusal(event, f"its values, references unfolded, are more than {_MOST_VALUES:,}")
        self._depth -= 1
        self._sizes[id(node)] = self._values - before
        return node

    def construct_yaml_int(self, node: yaml.ScalarNode) -> int:
        if len(node.value) > _LONGEST_NUMBER:
            raise yaml.MarkedYAMLError(problem="a number is too long", problem_mark=node.start_mark)
        found: int = super().construct_yaml_int(node)
        return found

    @staticmethod
    def _refusal(event: Any, problem: str) -> yaml.MarkedYAMLError:
        return yaml.MarkedYAMLError(problem=problem, problem_mark=event.start_mark)


BoundedLoader.add_constructor("tag:yaml.org,2002:int", BoundedLoader.construct_yaml_int)


def problem_of(error: yaml.MarkedYAMLError) -> str:
    """Return what is wrong with a text that is no YAML, with the remedy for a tab."""
    told = error.problem or "it cannot be read"
    return f"{told}; indent with spaces, not with tabs" if r"'\t'" in told else told
