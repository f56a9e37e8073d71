"""Translates filters of vector stores into SQL over a ``json`` column. ``saga_core.stores.filters`` defines filters.

The type of a field is that of its JSON value. Numbers are compared as decimals, since ``exact_json`` writes all digits.
Text is compared by bytes, which is the order of code points.
"""

from __future__ import annotations

from decimal import Decimal

from attrs import define, field

from saga_core.stores import And, Compare, Exists, Filter, Not, Scalar, Within

_OPERATORS = {"eq": "=", "ne": "<>", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


@define
class Where:
    """Builds conditions and collects the values of their parameters."""

    column: str
    values: dict[str, object] = field(factory=dict)

    def condition(self, filter_: Filter) -> str:
        """Return ``filter_`` as an SQL expression that is true or false, never null."""
        if isinstance(filter_, Compare):
            return self._compare(filter_)
        if isinstance(filter_, Within):
            return self._within(filter_)
        if isinstance(filter_, Exists):
            return f"(json_typeof({self._field(filter_.name)}) IS NOT NULL)"
        if isinstance(filter_, Not):
            return f"(NOT {self.condition(filter_.part)})"
        parts = [self.condition(part) for part in filter_.parts]
        if isinstance(filter_, And):
            return f"({' AND '.join(parts)})" if parts else "true"
        return f"({' OR '.join(parts)})" if parts else "false"

    def _bind(self, value: object) -> str:
        name = f"w{len(self.values)}"
        self.values[name] = value
        return f"%({name})s"

    def _field(self, name: str) -> str:
        return f"({self.column} -> {self._bind(name)}::text)"

    def _text(self, name: str) -> str:
        return f"({self.column} ->> {self._bind(name)}::text)"

    def _compare(self, filter_: Compare) -> str:
        kind, typed = _kind(filter_.value), f"json_typeof({self._field(filter_.name)})"
        if kind == "null":
            return f"({typed} IS NOT DISTINCT FROM 'null')" if filter_.op == "eq" else "false"
        same = f"{self._cast(filter_.name, kind)} {_OPERATORS[filter_.op]} {self._value(filter_.value)}"
        other = f"{typed} <> 'null'" if filter_.op == "ne" else "false"
        return f"coalesce(CASE {typed} WHEN '{kind}' THEN {same} ELSE {other} END, false)"

    def _within(self, filter_: Within) -> str:
        kinds: dict[str, list[Scalar]] = {}
        for value in filter_.values:
            kinds.setdefault(_kind(value), []).append(value)
        typed = f"json_typeof({self._field(filter_.name)})"
        cases = []
        for kind, values in kinds.items():
            if kind == "null":
                cases.append("WHEN 'null' THEN true")
                continue
            bound = self._bind([_plain(value) for value in values])
            cases.append(f"WHEN '{kind}' THEN {self._cast(filter_.name, kind)} = ANY({bound}::{_SQL[kind]}[])")
        among = f"(CASE {typed} {' '.join(cases)} ELSE false END)" if cases else "false"
        if filter_.negate:
            return f"({typed} IS NOT NULL AND NOT coalesce({among}, false))"
        return f"coalesce({among}, false)"

    def _cast(self, name: str, kind: str) -> str:
        found = self._text(name)
        return f'({found} COLLATE "C")' if kind == "string" else f"{found}::{_SQL[kind]}"

    def _value(self, value: Scalar) -> str:
        return f"{self._bind(_plain(value))}::{_SQL[_kind(value)]}"


_SQL = {"string": "text", "number": "numeric", "boolean": "boolean"}


def _kind(value: Scalar) -> str:
    """The JSON type of a value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    return "string" if isinstance(value, str) else "number"


def _plain(value: Scalar) -> object:
    return Decimal(value) if isinstance(value, int | float) and not isinstance(value, bool) else value
