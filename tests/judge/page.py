"""The report of the judge: as Markdown, and as a page with plots that needs no network."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

_WIDTH, _ROW, _LEFT, _STEP = 760, 26, 330, 80


def markdown(report: Mapping[str, Any]) -> str:
    """The report as a page."""
    lines = [f"# Judged replies\n\nNarrators: {', '.join(report['narrators'])}\n"]
    if report.get("same_provider"):
        lines.append(
            f"**The judge is of the narrator's provider ({', '.join(report['same_provider'])}): it favours it.**\n"
        )
    for language, found in report["languages"].items():
        lines += [f"## {language}\n", *(f"- {_calibration(*each)}" for each in found["calibration"].items())]
        lines.append("\n| scenario | mean (95 %) | judges apart | " + " | ".join(_criteria(found)) + " |")
        lines.append("| --- | --- | --- |" + " --- |" * len(_criteria(found)))
        for id_, each in found["scenarios"].items():
            if "mean" in each:
                points = " | ".join(f"{value:.2f}" for value in each["criteria"].values())
                apart = "–" if each["agreement"] is None else f"{each['agreement']:.2f}"
                lines.append(f"| {id_} {each['about']} | {_mean(each)} | {apart} | {points} |")
            else:
                passed = "passed" if each["passed"] else "failed"
                told = f"{passed}: {', '.join(each['reports'])}"
                lines.append(f"| {id_} {each['about']} | {told} |" + " |" * (1 + len(_criteria(found))))
        if found.get("long"):
            lines += ["\n| 40 turns | mean (95 %) | read | cached | written | dollars |", "| --- |" + " --- |" * 5]
            for name, way in found["long"].items():
                cost = "–" if way["dollars"] is None else f"{way['dollars']:.4f}"
                lines.append(
                    f"| {name} | {_mean(way)} | {way['read']:,} | {way['cached']:,} | {way['written']:,} | {cost} |"
                )
            lines.append("\nTokens are means of a turn, and dollars those of a whole chat.")
        lines.append("")
    return "\n".join(lines)


def html(report: Mapping[str, Any]) -> str:
    """The report with its plots: the mean of each scenario with its interval, and of each criterion."""
    parts = []
    for language, found in report["languages"].items():
        judged = {f"{id_} {each['about']}": each for id_, each in found["scenarios"].items() if "mean" in each}
        criteria = {
            name: {"mean": sum(each["criteria"][name] for each in judged.values()) / len(judged), "interval": None}
            for name in _criteria(found)
        }
        parts.append(f"<h2>{escape(language)}</h2>")
        parts += (f"<p>{escape(_calibration(*each).replace('**', ''))}</p>" for each in found["calibration"].items())
        plots = {"Scenarios": judged, "Criteria": criteria, "With and without SAGA, 40 turns": found.get("long", {})}
        parts += (f"<h3>{title}</h3>{_plot(rows)}" for title, rows in plots.items() if rows)
    warning = report.get("same_provider") and "The judge is of the narrator's provider: it favours it."
    head = f"<p>Narrators: {escape(', '.join(report['narrators']))}</p>" + (
        f"<p><b>{warning}</b></p>" if warning else ""
    )
    style = "body{font:15px sans-serif;margin:2em;max-width:52em}svg text{font:13px sans-serif}"
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Judged replies</title><style>{style}</style>'
        f"<h1>Judged replies</h1>{head}{''.join(parts)}</html>\n"
    )


def _plot(rows: Mapping[str, Mapping[str, Any]]) -> str:
    """Points from 1 to 5: a dot for each mean, and a line for its interval if there is one."""
    height = _ROW * len(rows) + 24
    drawn = [
        f'<line x1="{_x(points)}" x2="{_x(points)}" y1="0" y2="{height - 20}" stroke="#ddd"/>'
        f'<text x="{_x(points)}" y="{height - 4}" text-anchor="middle">{points}</text>'
        for points in range(1, 6)
    ]
    for at, (name, row) in enumerate(rows.items()):
        y, mean, half = at * _ROW + _ROW // 2, row["mean"], row["interval"]
        if half is not None:
            low, high = _x(max(1, mean - half)), _x(min(5, mean + half))
            drawn.append(f'<line x1="{low}" x2="{high}" y1="{y}" y2="{y}" stroke="#36c" stroke-width="3"/>')
        drawn.append(
            f'<circle cx="{_x(mean)}" cy="{y}" r="5" fill="#36c"><title>{mean:.2f}</title></circle>'
            f'<text x="{_LEFT - 12}" y="{y + 4}" text-anchor="end">{escape(name)}</text>'
        )
    return f'<svg viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}">{"".join(drawn)}</svg>'


def _x(points: float) -> int:
    return round(_LEFT + (points - 1) * _STEP) + 8


def _mean(row: Mapping[str, Any]) -> str:
    half = row["interval"]
    return f"{row['mean']:.2f}" if half is None else f"{row['mean']:.2f} ± {half:.2f}"


def _calibration(name: str, found: Mapping[str, Any]) -> str:
    used = "used" if found["usable"] else "**not used: it does not tell bad replies from good ones**"
    points = ", ".join(f"{each} {bad} / {found['good'][each]}" for each, bad in found["bad"].items())
    swayed = f"padding {found['padded']:+.2f}, order of criteria ±{found['reversed']:.2f}"
    pairs = (
        f"of pairs, it prefers the good reply in {found['preferred']:.0%}, another one when they are swapped in "
        f"{found['swayed']:.0%}, and the padded one in {found['longer']:.0%}"
    )
    return f"{name}: bad / good replies {points}; {swayed}; {pairs}; {used}"


def _criteria(found: Mapping[str, Any]) -> list[str]:
    return next((list(each["criteria"]) for each in found["scenarios"].values() if "criteria" in each), [])
