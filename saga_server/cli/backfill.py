"""``saga backfill``: have the extraction model read the turns for which no changes were reported."""

from __future__ import annotations

from typing import Any

import click

from saga_core.errors import BadInput
from saga_server.cli.data.data_access import Asking, reached, segment
from saga_server.cli.settings import Place, server_settings
from saga_server.terminal import counted, say


@click.command()
@click.argument("session")
@click.option("--head", help="Read the path to this turn, or to the end of this timeline, instead of the active path.")
@click.option("--budget", type=float, metavar="DOLLARS", help="Stop before the calls cost more than this.")
@click.option(
    "--step", "turns", type=click.IntRange(1, 64), default=24, show_default=True, help="Turns to read in one step."
)
@click.option("--estimate", is_flag=True, help="Print the expected cost, and do nothing.")
@click.option(
    "--review",
    type=click.Choice(["auto", "ask"]),
    help="With ask, changes take effect once you accept them. Default: extraction.review of the settings.",
)
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@server_settings
def backfill(
    place: Place,
    session: str,
    head: str | None,
    budget: float | None,
    turns: int,
    estimate: bool,
    review: str | None,
    yes: bool,
) -> None:
    """Extract what happened in turns without a state block, with the extraction model.

    SESSION is an id or a name. Only the active path is read, or the path that --head names, so replies that were swiped
    away cost nothing. You can stop it at any time (Ctrl-C); the next run continues. The server must be running, because
    it makes the calls. One call reads several turns.
    """
    path = f"/api/sessions/{segment(session)}/backfill"

    def stepped(again: bool) -> dict[str, Any]:
        query = {"turns": str(turns), "head": head, "again": "1" if again else None, "review": review}
        found: dict[str, Any] = reached(place, Asking("POST", path, query))
        return found

    state = reached(place, Asking("GET", path, {"head": head}))
    say(f"{counted(state['left'], 'turn')} to read with {state['model']}: {_cost(state)}")
    failed = state["failed"]
    if failed:
        say(f"{counted(failed, 'more turn')} could not be read before; asking again tries them again")
    if estimate or not state["left"] + failed:
        return
    if budget is not None and state["dollars"] is None:
        raise BadInput(f"--budget: the prices of {state['model']} are not known; set them in models.facts")
    if not yes:
        click.confirm("Read them?", abort=True)
    begun, total = state["spent"] or 0.0, state["left"] + failed
    while state["left"] + failed:
        each = (state["dollars"] or 0.0) / max(1, state["left"])
        spent = (state["spent"] or 0.0) - begun
        if budget is not None and spent + each * min(turns, state["left"]) > budget:
            say(f"stopped: {spent:.4f} of {budget:.4f} dollars are spent, and the next step may cost more than is left")
            return
        state, failed = stepped(bool(failed)), 0
        say(f"{total - state['left']} of {total} read; left: {_cost(state)}")
        if not state["read"]:
            say("nothing could be read; `saga jobs` says why")
            return


def _cost(state: dict[str, Any]) -> str:
    dollars = "price not known" if state["dollars"] is None else f"about {state['dollars']:.4f} dollars"
    calls, minutes = counted(state["calls"], "call"), state["seconds"] / 60
    return f"{dollars}, {calls}, {state['input_tokens']:,} tokens in, {minutes:.0f} minutes"
