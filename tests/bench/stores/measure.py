"""Measure every engine alone, and whole turns over them, each in a process of its own."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from attrs import frozen

from saga_core import registry
from saga_core.errors import BadInput
from tests.bench.play import CONFIG, PlayOptions, write_play
from tests.bench.processes import run_python
from tests.bench.run import machine
from tests.bench.stores.data import DIMENSION

Say = Callable[[str], None]

GRAPHS = ("networkx", "kuzu", "ladybug")
VECTORS = ("sqlite", "chroma", "lancedb")
TOGETHER = (
    ("networkx", "sqlite"),
    ("ladybug", "sqlite"),
    ("ladybug", "chroma"),
    ("ladybug", "lancedb"),
    ("kuzu", "chroma"),
    ("kuzu", "lancedb"),
)
"""Pairs of graph and vector engines that whole turns are measured with."""

_LAYER_MB = 64
"""The layer's memory, as in ``storage.<store>.resident_mb``. A large scope gets three times its own size instead."""
_NODE_BYTES = 4_000
_IN_MEMORY = frozenset({"networkx"})
"""Engines that keep data in memory alone. They need no layer, and are empty when opened again."""
_LARGE = 5_000
_MB = 2**20


@frozen
class StoreOptions:
    """The options of the benchmark."""

    nodes: tuple[int, ...] = (200, 5_000)
    vectors: tuple[int, ...] = (300, 5_000)
    growth: int = 400
    """Turns written to each vector engine."""
    play: int = 100
    """Turns of the play that whole turns are measured on."""
    reads: int = 60
    turns: int = 40
    repeats: int = 60
    engines: tuple[str, ...] = GRAPHS + VECTORS
    lang: str = "ko"


def check_engines(names: Sequence[str]) -> None:
    """Raise ``BadInput`` for a name that is no engine."""
    known = {*registry.names("graph"), *registry.names("vector")} - {"memory"}
    for name in names:
        if name not in known:
            raise BadInput(f"--engine {name}: is no graph or vector engine; give some of: {', '.join(sorted(known))}")


def run_stores(options: StoreOptions, folder: Path, say: Say) -> dict[str, Any]:
    """Measure everything, and return the results, ready for JSON. Raises ``ProcessFailed``."""
    graphs = [name for name in options.engines if name in registry.names("graph")]
    vectors = [name for name in options.engines if name in registry.names("vector")]
    rows = []
    for kind, names, sizes in (("graph", graphs, options.nodes), ("vector", vectors, options.vectors)):
        for name in names:
            for size in sizes:
                say(f"{kind} {name}: {size}")
                rows += _measure(kind, name, size, options.repeats, folder)
    growth = []
    for name in vectors if options.growth else ():
        for resident_mb in (_LAYER_MB, 0):
            say(f"{name}: {options.growth} turns{'' if resident_mb else ', without the layer in memory'}")
            growth.append(_grow(name, options.growth, resident_mb, folder))
    pairs = [pair for pair in TOGETHER if pair[0] in graphs and pair[1] in vectors] if options.play else []
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine(),
        "options": {"nodes": list(options.nodes), "vectors": list(options.vectors), "growth": options.growth,
                    "play": options.play, "dimension": DIMENSION},
        "stores": rows,
        "growth": growth,
        "turns": _together(pairs, options, folder, say) if pairs else [],
    }  # fmt: skip


def _child(**task: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run_python(["-m", "tests.bench.stores.child", json.dumps(task)]))
    return found


def _measure(kind: str, name: str, size: int, repeats: int, folder: Path) -> list[dict[str, Any]]:
    """Measure a store alone, and with the layer in memory. Calls on large scopes are repeated less often."""
    filled, place = folder / "filled", folder / "one"
    task: dict[str, Any] = {"what": kind, "backend": name, "size": size}
    task["repeats"] = repeats if size <= _LARGE else max(10, repeats // 4)
    filled.mkdir()
    rows = []
    try:
        filling = None if name in _IN_MEMORY else _child(**task, folder=str(filled), fill=True)
        for layer in (0,) if name in _IN_MEMORY else (0, _layer_mb(kind, size)):
            shutil.copytree(filled, place)
            found = _child(**task, folder=str(place), resident_mb=layer)
            shutil.rmtree(place)
            if filling is not None:
                found["figures"]["fill"] = filling["figures"]["fill"]
            rows.append({"kind": kind, "engine": name, "size": size, "layer_mb": layer, **found})
    finally:
        shutil.rmtree(filled)
    return rows


def _layer_mb(kind: str, size: int) -> int:
    needed = size * (_NODE_BYTES if kind == "graph" else DIMENSION * 4 + 1_000)
    return max(_LAYER_MB, 3 * needed // _MB)


def _grow(name: str, turns: int, layer: int, folder: Path) -> dict[str, Any]:
    place = folder / "growing"
    place.mkdir()
    try:
        found = _child(what="growth", backend=name, folder=str(place), size=turns, resident_mb=layer)
    finally:
        shutil.rmtree(place)
    return {"engine": name, "layer_mb": layer, "turns": turns, **found}


def _together(pairs: list[tuple[str, str]], options: StoreOptions, folder: Path, say: Say) -> list[dict[str, Any]]:
    say(f"a play of {options.play} turns")
    told = folder / "play"
    told.mkdir()
    play = PlayOptions(options.play, entities=200, lore=300, lang=options.lang)
    asyncio.run(write_play(told, play))
    found = []
    for graph, vector in pairs:
        say(f"{graph} and {vector}: reading and playing on")
        place = folder / "together"
        shutil.copytree(told, place)
        try:
            config = json.loads((place / CONFIG).read_text(encoding="utf-8"))
            config["storage"].update(graph={"backend": graph}, vector={"backend": vector})
            (place / CONFIG).write_text(json.dumps(config), encoding="utf-8")
            arguments = ["-m", "tests.bench.stores.turns", str(place), str(options.reads), str(options.turns)]
            found.append({"graph": graph, "vector": vector, **json.loads(run_python(arguments))})
        finally:
            shutil.rmtree(place)
    return found
