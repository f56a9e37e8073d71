"""Combines the metrics of all worker processes into one text, so that any of them can answer a scrape."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping

from saga_core.errors import SagaError
from saga_server.hosting.leases import Leases
from saga_server.process import call_api

OWN_METRICS = "X-SAGA-Own-Metrics"
"""Header of a request for the metrics of one process only."""
_SECONDS = 3.0
_MOST = 16 << 20
UP = "saga_worker_up"
_SAMPLE = re.compile(r"([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (.+)")


async def metrics_of_all(own: bytes, leases: Leases, headers: Mapping[str, str]) -> bytes:
    """Return ``own`` and the metrics of the other processes in Prometheus' text format.

    Each sample gets the label ``worker``. ``saga_worker_up`` says which processes answered. ``headers`` are sent to the
    other processes, for authentication.
    """
    name, _, _ = leases.name.rpartition(".")
    others = {
        each["server"].rpartition("#")[0].rpartition(".")[2]: each["address"]
        for each in leases.status()["others"]
        if each["alive"] and each["server"].startswith(f"{name}.w")
    }
    texts: dict[str, str | None] = {leases.name.rpartition(".")[2]: own.decode()}
    asked = await asyncio.gather(*(_ask(address, headers) for address in others.values()))
    texts.update(zip(others, asked, strict=True))
    return together(texts).encode()


async def _ask(address: str, headers: Mapping[str, str]) -> str | None:
    asked_with = {**headers, OWN_METRICS: "1"}
    try:
        raw: bytes = await call_api(address, "/metrics", "GET", asked_with, _MOST, _SECONDS)
    except SagaError:
        return None  # saga_worker_up reports it
    return raw.decode("utf-8", "replace")


def together(texts: Mapping[str, str | None]) -> str:
    """Combine the texts of several workers, by the worker's name. A text is None if its worker did not answer."""
    heads: dict[str, list[str]] = {}
    samples: dict[str, list[str]] = {}
    for worker, text in texts.items():
        family = ""
        for line in (text or "").splitlines():
            if line.startswith("# "):
                family = line.split(" ", 3)[2]
                known = heads.setdefault(family, [])
                if line.split(" ", 2)[1] not in {each.split(" ", 2)[1] for each in known}:
                    known.append(line)
            elif found := _SAMPLE.fullmatch(line):
                metric, labels, value = found.groups()
                mark = f'worker="{worker}"' + (f",{labels}" if labels else "")
                samples.setdefault(family, []).append(f"{metric}{{{mark}}} {value}")
    lines = [line for family in heads for line in (*heads[family], *samples.get(family, ()))]
    return "\n".join([*lines, *_up(texts)]) + "\n"


def _up(texts: Mapping[str, str | None]) -> Iterable[str]:
    yield f"# HELP {UP} Whether a process of the server answered"
    yield f"# TYPE {UP} gauge"
    for worker, text in texts.items():
        yield f'{UP}{{worker="{worker}"}} {0 if text is None else 1}'
