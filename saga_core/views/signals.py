"""Adds details about the signals to an explained context: found words, the named time, and neighbouring turns."""

from __future__ import annotations

from typing import Any

from saga_core.recall import PathEpisodes, time_meant, turns_meant
from saga_core.sessions import LiveSession
from saga_core.views.wording import Wording, spoken_of

_BESIDE = 2
"""Distance at which a turn adds to the scores of its neighbours."""


async def with_signals(
    live: LiveSession, above: str, said: str, explained: dict[str, Any], *, now: float
) -> dict[str, Any]:
    """Return an explained context that was read after ``above`` for the words ``said``, as JSON-compatible data.

    Adds ``said``, and ``time``, the first and the last turn of the time that the words name, or None. Each piece has
    ``words``: the words of ``said`` that its whole turn or entry has in any form, even if the context left them out. A
    piece of a turn has its depth as ``turn``. If its neighbours added to its score, ``beside`` is the neighbouring turn
    with most of the words.
    """
    wording, state = Wording.of(said), await live.state(above)
    episodes = PathEpisodes(live.tree, live.episodes, above)
    entries = {entry.name: entry for entry in live.world.lore}

    def signals(row: dict[str, Any]) -> dict[str, Any]:
        kind, _, key = row["key"].partition(":")
        if kind == "turn" and episodes.on_path(key):
            depth = episodes.depth(key)
            row = {**row, "words": wording.sharing(spoken_of(episodes.text(key))), "turn": depth}
            beside = _beside(episodes, depth, wording) if row["why"].get("neighbours") else None
            return row if beside is None else {**row, "beside": beside}
        whole = row["text"]
        if kind == "lore" and key in entries:
            entry = entries[key]
            whole = " ".join((whole, entry.name, *entry.aliases, *entry.tags, entry.text, state.learned.get(key, "")))
        return {**row, "words": wording.typed(whole)}

    found = {name: [signals(row) for row in explained[name]] for name in ("pieces", "skipped")}
    return {
        **explained,
        **found,
        "said": said,
        "time": _time(said, episodes, [*found["pieces"], *found["skipped"]], now),
    }


def _beside(episodes: PathEpisodes, depth: int, wording: Wording) -> int | None:
    """Return the turn near ``depth`` that has most of the words, the nearest if several have as many."""
    found: dict[int, int] = {}
    for step in range(1, _BESIDE + 1):
        for near in (depth - step, depth + step):
            turn = episodes.at(near)
            if turn is not None and (count := len(wording.sharing(spoken_of(episodes.text(turn))))):
                found[near] = count
    return max(found, key=lambda near: found[near], default=None)


def _time(said: str, episodes: PathEpisodes, rows: list[dict[str, Any]], now: float) -> dict[str, int] | None:
    meant = time_meant(said)
    if meant is None or meant.latest:
        return None
    if meant.meeting:  # the scores show the turns, because the names are known only in the scene
        turns = [row["turn"] for row in rows if "turn" in row and row["why"].get("time")]
        return {"first": min(turns), "last": max(turns)} if turns else None
    then = turns_meant(meant, episodes, (), now)
    return {"first": then[0], "last": then[-1]} if then else None
