"""Run the cache benchmark, and report its figures."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tests.bench.cache.cases import Case
from tests.bench.cache.play import Result, play

_HEAD = (
    f"{'':26}{'reuse':>8}{'bill':>8}{'read':>8}{'input $':>10}{'saved':>8}{'whole':>8}"
    f"{'auto':>8}{'3 marks':>9}{'context':>9}{'longest':>9}  pinned"
)
_MILLION = 1_000_000


def run_cases(cases: Sequence[Case], tell: Callable[[str], Any] | None = None) -> list[dict[str, Any]]:
    """Play the cases one after the other, and return their figures. ``tell`` receives a line for each."""
    found = []
    if tell is not None:
        tell(_HEAD)
    for case in cases:
        with tempfile.TemporaryDirectory(prefix="saga-bench-", ignore_cleanup_errors=True) as folder:
            result = asyncio.run(play(case, Path(folder)))
        row = figures(result)
        found.append(row)
        if tell is not None:
            tell(_line(row))
    if tell is not None:
        tell(
            "reuse: tokens read of those in the cache, from turn 3 on. bill: input cost beside a client that knows the"
            " future.\nread: of all input. saved: input dollars against the client's own prompt without a cache and"
            " without SAGA; whole: with\nthe output, and with extraction and curation where the case has them. auto and"
            " 3 marks: the input of that client in\nautomatic mode and with three breakpoints. context: tokens, on"
            " average. * is not reached."
        )
    return found


def figures(result: Result) -> dict[str, Any]:
    """The figures of a case, as data."""
    case = result.case
    plain, automatic, three = result.others
    price, output = result.price / _MILLION, result.output * result.output_price / _MILLION
    seen = result.visible * result.output_price / _MILLION
    behind = result.extraction + result.curation
    saved = 1.0 - (result.saga.cost * price + output + behind) / (plain.cost * price + seen)
    return {
        "case": case.name,
        "model": case.model,
        "turns": case.turns,
        "reuse": result.reuse,
        "reuse_wanted": case.reuse,
        "bill": result.beside_ideal,
        "bill_wanted": case.bill,
        "met": result.reuse >= case.reuse and result.beside_ideal <= case.bill and saved >= case.saved,
        "read_share": result.saga.read_share,
        "input_dollars": result.saga.cost * price,
        "output_dollars": output,
        "without_saga_dollars": plain.cost * price,
        "saved_input": 1.0 - result.saga.cost / plain.cost,
        "extraction_dollars": result.extraction,
        "curation_dollars": result.curation,
        "saved_whole": saved,
        "saved_wanted": case.saved,
        "saved_automatic": 1.0 - automatic.cost / plain.cost,
        "saved_three": 1.0 - three.cost / plain.cost,
        "context": sum(row.context for row in result.rows) / len(result.rows),
        "longest": max(row.charge.total for row in result.rows),
        "pinned": dict(result.pins),
    }


def _line(row: dict[str, Any]) -> str:
    reuse = f"{row['reuse']:.1%}{'' if row['reuse'] >= row['reuse_wanted'] else '*'}"
    bill = f"{row['bill']:.3f}{'' if row['bill'] <= row['bill_wanted'] else '*'}"
    whole = f"{row['saved_whole']:.1%}{'' if row['saved_whole'] >= row['saved_wanted'] else '*'}"
    pinned = ", ".join(f"{reason} {times}" for reason, times in row["pinned"].items())
    return (
        f"{row['case']:26}{reuse:>8}{bill:>8}{row['read_share']:>8.1%}{row['input_dollars']:>10.4f}"
        f"{row['saved_input']:>8.1%}{whole:>8}{row['saved_automatic']:>8.1%}{row['saved_three']:>9.1%}"
        f"{row['context']:>9.0f}{row['longest']:>9}  {pinned}"
    )
