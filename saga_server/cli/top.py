"""``saga top``: shows the state of a server in the terminal, which it polls from the admin API."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from saga_backends.http_client import is_local
from saga_server.cli.settings import SURROUNDINGS, Place, server_address, settings
from saga_server.process import address_of
from saga_server.terminal import harmless, say

if TYPE_CHECKING:
    from rich.table import Table

_SECONDS = 5.0
_MOST = 16 << 20
"""Limit of an answer, in bytes."""
_SHOWN = 8


@click.command()
@click.option("--url", callback=server_address, help="Server to ask, instead of the one that uses the data directory.")
@click.option(
    "--key",
    envvar="SAGA_KEY",
    help="API key with the role admin, instead of the first one in the settings. Also read from SAGA_KEY.",
)
@settings
@click.option(
    "--every", type=click.FloatRange(0.2, 3_600), default=2.0, show_default=True, help="Seconds between updates."
)
@click.option("--once", is_flag=True, help="Print once, and exit.")
def top(place: Place, url: str | None, key: str | None, every: float, once: bool) -> None:
    """Show what a running server does: requests, times, pending work and degraded modes."""
    from rich.console import Console
    from rich.live import Live

    config = place.config()
    if url is None:
        ours = address_of(config)
        url = ours or f"http://127.0.0.1:{config.server.port}"
        # The configured key goes to our own server only, not to a program that took its port after a crash.
        key = key or (next(iter(config.server.api_keys), None) if ours else None)
    try:
        if once:
            Console().print(render(*look(url, key)))
            return
        with Live(render(*look(url, key)), auto_refresh=False, screen=True) as live:
            while True:
                time.sleep(every)
                live.update(render(*look(url, key)), refresh=True)
    except KeyboardInterrupt:
        return
    except (OSError, ValueError) as error:
        say(f"saga: {url}: {error}", err=True)
        raise SystemExit(SURROUNDINGS) from None


def look(url: str, key: str | None) -> tuple[Mapping[str, Any], Mapping[str, float]]:
    """Return the server's status, and its metrics by name and labels. Raises ``OSError`` and ``ValueError``."""
    status = json.loads(_get(f"{url}/api/status", key))
    text = _get(f"{url}/metrics", key).decode("utf-8", "replace")
    return status, _by_name(text)


def _by_name(text: str) -> dict[str, float]:
    """Return metrics by name and labels.

    Metrics of several processes are also combined: as their maximum if "longest" is in the name, else as their sum.
    """
    from prometheus_client.parser import text_string_to_metric_families

    metrics: dict[str, float] = {}
    for sample in (sample for family in text_string_to_metric_families(text) for sample in family.samples):
        labels = dict(sample.labels)
        metrics[_key(sample.name, labels)] = sample.value
        if labels.pop("worker", None) is not None:
            key, longest = _key(sample.name, labels), "longest" in sample.name
            before = metrics.get(key, 0.0)
            metrics[key] = max(before, sample.value) if longest else before + sample.value
    return metrics


def _key(name: str, labels: Mapping[str, str]) -> str:
    told = ",".join(f'{label}="{value}"' for label, value in labels.items())
    return f"{name}{{{told}}}"


def _get(url: str, key: str | None) -> bytes:
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {key}"} if key else {})
    local = [urllib.request.ProxyHandler({})] if is_local(url) else []
    try:
        with urllib.request.build_opener(*local).open(request, timeout=_SECONDS) as answer:
            found: bytes = answer.read(_MOST + 1)
    except urllib.error.HTTPError as error:
        with error:
            wanted = "it wants a key; give one of its server.api_keys with --key"
            raise OSError(wanted if error.code == 401 else f"it answered {error.code}") from None
    except urllib.error.URLError as error:
        raise OSError(f"it cannot be reached ({error.reason}); is the server running?") from None
    if len(found) > _MOST:
        raise OSError(f"it answered with more than {_MOST >> 20} MB")
    return found


def render(status: Mapping[str, Any], metrics: Mapping[str, float]) -> Table:
    """Return the view as a table."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title=f"SAGA {status['version']}, up {_span(status['uptime_seconds'])}", show_header=False)
    table.add_column(style="cyan", no_wrap=True)
    table.add_column(overflow="fold")
    for name, text in rows(status, metrics):
        table.add_row(name, Text(harmless(text)))  # as text, because a reason may look like markup
    return table


def rows(status: Mapping[str, Any], metrics: Mapping[str, float]) -> list[tuple[str, str]]:
    """Return the rows of the view: a name and a text each."""
    ended = {
        end: metrics.get(f'saga_chat_requests_total{{end="{end}"}}', 0.0) for end in ("finished", "aborted", "failed")
    }
    found = [
        *_processes(metrics),
        ("sessions", str(status["active_sessions"])),
        (
            "requests",
            f"{metrics.get('saga_chat_open{}', status['open_requests']):g} open; "
            + ", ".join(f"{count:g} {end}" for end, count in ended.items()),
        ),
        ("context", _mean(metrics, "saga_context_ms", "", "ms")),
        ("provider begins", _mean(metrics, "saga_upstream_first_seconds", "", "s")),
        ("loop", _loop(metrics)),
        ("blocks", _blocks(status["counters"])),
        ("silent", "\n".join(_silent(each) for each in status.get("silent", ())[:_SHOWN]) or "nobody"),
        (
            "work",
            ", ".join(f"{name} {value}" for name, value in status["work"].items() if isinstance(value, int | float))
            or "none",
        ),
        ("late", ", ".join(f"{name} {value}" for name, value in _late(status["counters"])) or "nothing"),
    ]
    degraded = status["degraded"]
    lines = [f"{name}: {reason}" for name, reason in degraded.items()] if isinstance(degraded, Mapping) else degraded
    return [*found, ("degraded", "\n".join(map(str, lines[:_SHOWN])) or "nothing")]


def _processes(metrics: Mapping[str, float]) -> list[tuple[str, str]]:
    """Return a row with the open chats of each process, when several processes serve."""
    told = []
    for key, up in metrics.items():
        if key.startswith("saga_worker_up{w"):
            worker = key.split('"')[1]
            chats = metrics.get(f'saga_chat_open{{worker="{worker}"}}', 0.0)
            told.append(f"{worker} {chats:g} open" if up else f"{worker} does not answer")
    return [("processes", ", ".join(told))] if told else []


def _late(counters: Mapping[str, int]) -> list[tuple[str, int]]:
    return [(name.removeprefix("late."), count) for name, count in counters.items() if name.startswith("late.")]


def _blocks(counters: Mapping[str, int]) -> str:
    """Return how many state blocks of replies could be read since the start."""
    named = {"ok": "read", "partial": "read in part", "fallback": "missing"}
    return (
        ", ".join(f"{counters[f'block.{name}']} {told}" for name, told in named.items() if f"block.{name}" in counters)
        or "-"
    )


def _silent(chat: Mapping[str, Any]) -> str:
    """Describe a chat whose narrator writes no state blocks, and what is or can be done about it."""
    told = (
        f"{chat['model'] or 'the narrator'}: no block in {chat['replies']} replies in a row (session {chat['session']})"
    )
    return f"{told}; {chat['read_by']} reads them" if chat["read_by"] else f"{told}; {chat['remedy']}"


def _mean(metrics: Mapping[str, float], name: str, labels: str, unit: str) -> str:
    count = metrics.get(f"{name}_count{{{labels}}}", 0.0)
    return f"{metrics[f'{name}_sum{{{labels}}}'] / count:.1f} {unit} on average, of {count:g}" if count else "-"


def _loop(metrics: Mapping[str, float]) -> str:
    longest = metrics.get('saga_loop_longest_ms{clock="wall"}')
    return "-" if longest is None else f"longest round {longest:.0f} ms"


def _span(seconds: float) -> str:
    minutes, left = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{left:02}"
