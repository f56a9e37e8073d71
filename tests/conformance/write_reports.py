"""Our own engines' reports and their page: ``python -m tests.conformance.write_reports [NAME …]``."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from tests.conformance.harnesses import HARNESSES, IN_POSTGRES
from tests.postgres.shared_server import address

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "conformance"


def main(names: list[str]) -> int:
    """Each engine in a process of its own. The worst exit code is given."""
    FOLDER.mkdir(exist_ok=True)
    if IN_POSTGRES.keys() & set(names or HARNESSES):
        address()  # the processes of the engines inherit where it is
    worst = 0
    for name in names or list(HARNESSES):
        place = f"tests.conformance.harnesses:{name.upper().replace('-', '_')}"
        command = [sys.executable, "-m", "conformance", "run", place, "--report", str(FOLDER / f"{name}.json")]
        worst = max(worst, subprocess.run(command, check=False).returncode)
        _without_places(FOLDER / f"{name}.json")
    page = [sys.executable, "-m", "conformance", "matrix", str(FOLDER), "--out", str(FOLDER / "README.md")]
    return max(worst, subprocess.run(page, check=False).returncode)


def _without_places(report: Path) -> None:
    """Of what another process said before it broke off, a published report keeps the error: no paths of a machine."""
    text = report.read_text(encoding="utf-8")
    for detail in set(re.findall(r'"detail": ("(?:[^"\\]|\\.)*")', text)):
        head, colon, told = json.loads(detail).partition("]: ")
        if "Traceback" in told or "File " in told:
            error = re.sub(r"/[\w/.-]+/", "", told.strip().splitlines()[-1])
            text = text.replace(detail, json.dumps(head + colon + error, ensure_ascii=False))
    report.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
