"""``saga verify`` and ``saga jobs``: check the views against the journal, and list unfinished background work."""

from __future__ import annotations

from typing import Any

import click

from saga_server.cli.data.data_access import Asking, as_json, has_server, reached
from saga_server.cli.data.kept import lost_by
from saga_server.cli.settings import SURROUNDINGS, Place, server_settings
from saga_server.terminal import counted, say, say_json


@click.command()
@click.argument("session", required=False)
@click.option("--repair", "mending", is_flag=True, help="Render from the journal again whatever differs from it.")
@server_settings
@as_json
def verify(place: Place, session: str | None, mending: bool, plain: bool) -> None:
    """Check the journal, and compare graph, values, pages and vectors with it.

    SESSION is an id or a name. Without it, every session is checked. Exit code 0 means that everything matches, if
    necessary after the repair. Exit code 1 means that something differs.
    """
    method, path = ("POST", "/api/repair") if mending else ("GET", "/api/verify")
    query = {"session": session}
    answer = reached(place, Asking(method, path, query))
    if mending and answer["found"] and not has_server(place):
        # Opened again, an engine shows whether it kept what was mended.
        answer |= reached(place, Asking("GET", "/api/verify", query))
    if plain:
        say_json(answer)
    else:
        _tell(place, answer, mending)
    raise SystemExit(0 if answer["equal"] else SURROUNDINGS)


def _tell(place: Place, answer: dict[str, Any], mending: bool) -> None:
    left = answer["findings"]
    if mending:
        for finding in answer["found"]:
            say(f"{'left' if finding in left else 'repaired'}  {_line(finding)}")
        for finding in left:
            if finding not in answer["found"]:
                say(f"left  {_line(finding)}")
        if place.url is None:
            for line in lost_by(place.config(), {finding["store"] for finding in left if finding["mendable"]}):
                say(line)
    else:
        for finding in left:
            say(f"!!  {_line(finding)}")
        if any(finding["mendable"] for finding in left):
            say("saga verify --repair mends what can be made anew from the journal")
    if answer["waiting"]:
        say(f"{answer['waiting']} turns wait for their background work; saga jobs tells why")
    count = counted(answer["sessions"], "session")
    say(f"{count}: {'equal to the journal' if answer['equal'] else counted(len(left), 'finding')}")


def _line(finding: dict[str, Any]) -> str:
    owner = f"{finding['session']}  " if finding["session"] else ""
    return f"{owner}{finding['store']}: {finding['what']}"


@click.command()
@click.argument("session", required=False)
@click.option("--retry", "again", is_flag=True, help="Retry the jobs now.")
@server_settings
@as_json
def jobs(place: Place, session: str | None, again: bool, plain: bool) -> None:
    """List unfinished background jobs and why they are unfinished, or retry them.

    SESSION is an id or a name. A job that failed repeatedly is stuck, and stays in the journal until it succeeds. Exit
    code 1 means that a job is stuck. While no server is running, --retry renders the views itself. Jobs that call a
    model run when the server starts.
    """
    query = {"session": session}
    retrying = [Asking("POST", "/api/jobs/retry", query), Asking("POST", "/api/drain", {"timeout": "60"})]
    answer = reached(place, *(retrying if again else ()), Asking("GET", "/api/jobs", query))
    if plain:
        say_json(answer)
    else:
        for job in answer["jobs"]:
            state = "stuck" if job["stuck"] else "waits"
            why = f"  after {job['tries']} tries: {job['reason']}" if job["reason"] else ""
            say(f"{state}  {job['session']}  {job['turn']}  {job['kind']}{why}")
        say(f"{counted(len(answer['jobs']), 'job')}, {answer['stuck']} stuck")
    raise SystemExit(SURROUNDINGS if answer["stuck"] else 0)
