"""``Draft``: a state under construction, which ``fold`` changes event by event."""

from __future__ import annotations

from typing import Any

from attrs import define, evolve, field

from saga_core.model.entities import Entity, Kind, Problem, Stack
from saga_core.model.world_state import MAX_PROBLEMS, WorldState


@define
class Draft:
    """A state under construction: each map is copied at its first change."""

    base: WorldState
    turn: str
    depth: int
    changed: dict[str, Any] = field(factory=dict)
    _hands: dict[str, dict[str, Stack]] = field(factory=dict, init=False)
    """The belongings that are the draft's own, by owner."""
    _listed: dict[str, tuple[tuple[str, ...], set[str]]] = field(factory=dict, init=False)
    """Lists of ids, each with its ids as a set, so that a list of thousands is not searched for each of them."""

    def map(self, name: str) -> dict[Any, Any]:
        """The map ``name``, own and writable."""
        if name not in self.changed:
            self.changed[name] = dict(getattr(self.base, name))
        own: dict[Any, Any] = self.changed[name]
        return own

    def view(self, name: str) -> Any:
        """``name`` as it stands now, for reading."""
        return self.changed.get(name, getattr(self.base, name))

    def problem(self, text: str) -> None:
        kept = (*self.view("problems"), Problem(self.depth, self.turn, text))
        self.changed["problems"] = kept[-MAX_PROBLEMS:]

    def entity(self, id_: str, *kinds: Kind) -> Entity | None:
        """The entity, or None with a problem recorded. It has to be of one of ``kinds``, if there are any."""
        found: Entity | None = self.view("entities").get(id_)
        if found is None:
            self.problem(f"unknown id {id_!r}")
        elif kinds and found.kind not in kinds:
            self.problem(f"{found.name!r} is of kind {found.kind.value}, not {kinds[0].value}")
            return None
        return found

    def put(self, entity: Entity) -> None:
        self.map("entities")[entity.id] = entity

    def attribute(self, entity: Entity, **values: Any) -> None:
        self.put(evolve(entity, attributes={**entity.attributes, **values}))

    def append(self, name: str, id_: str) -> None:
        """Add an id to the list ``name``, unless it is there."""
        now: tuple[str, ...] = self.view(name)
        listed, ids = self._listed.get(name, ((), set[str]()))
        if listed is not now:
            ids = set(now)
        if id_ not in ids:
            ids.add(id_)
            self.changed[name] = now = (*now, id_)
        self._listed[name] = now, ids

    def hands(self, owner: str) -> dict[str, Stack]:
        """The belongings of ``owner``, own and writable."""
        belongings: dict[str, dict[str, Stack]] = self.map("belongings")
        own = self._hands.get(owner)
        if own is None or belongings.get(owner) is not own:
            own = dict(belongings.get(owner, {}))
            belongings[owner] = self._hands[owner] = own
        return own

    def finish(self) -> WorldState:
        return evolve(self.base, turn=self.turn, depth=self.depth, **self.changed)
