"""A short story for curators, and pages for caches."""

from __future__ import annotations

from saga_core.model import Delta, Entity, Kind, Turn, TurnKind, WorldState
from saga_core.stores import CurationView, Pages
from saga_core.values import PAGE_NAMES


def view() -> CurationView:
    """A story with a contradiction, long enough to be compressed."""
    people = {
        "e1": Entity("e1", Kind.CHARACTER, "아리아"),
        "e2": Entity("e2", Kind.CHARACTER, "크룩"),
        "e3": Entity("e3", Kind.LOCATION, "어둠의 숲"),
    }
    texts = [("숲으로 간다.", "크룩이 숲에서 죽었다."), ("크룩을 부른다.", "크룩이 웃으며 다가왔다.")]
    turns = tuple(
        Turn(f"t{n + 1}", "s", f"t{n}", n + 1, float(n), *texts[n % 2], Delta(), TurnKind.NARRATION) for n in range(12)
    )
    state = WorldState(turn="t12", depth=12, player="e1", entities=people, present=("e2",), met=("e2",))
    return CurationView("s", state, turns, since=0)


def empty_view() -> CurationView:
    """A view without turns and with an empty state."""
    return CurationView("s", WorldState(), ())


def pages(mark: str, watermark: str = "t1") -> Pages:
    """A generation of pages. Each page contains ``mark``, so every page identifies the generation."""
    return Pages({name: f"---\npage: {name}\n---\n\n# 상태 {mark}\n" for name in PAGE_NAMES}, watermark)
