"""The worker process, which loads a harness and runs its checks. It reports outcomes and makes no verdict.

It reads one line of JSON for each requested check and answers with one line. The answers have their own pipe. Anything
that the harness or the engine prints goes to stderr.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from attrs import asdict

from conformance.catalog import registered
from conformance.harness import Harness, load_harness
from conformance.runner.canaries import CANARIES
from conformance.runner.in_process import engine_version, repeated
from conformance.runner.loaded_code import code_digest
from saga_core.errors import BadInput


def _claims(harness: Harness) -> dict[str, Any]:
    return {
        "name": harness.name,
        "kind": harness.kind,
        "provides": sorted(harness.provides),
        "limits": asdict(harness.limits),
        "deviations": dict(harness.deviations),
        "recall": harness.recall,
    }


def serve(place: str, profile: str, seed: int, runs: int, answers: int) -> None:
    """Load the harness at ``place`` and answer requests on the descriptor ``answers`` until stdin ends."""
    here = os.getcwd()  # noqa: PTH109 - the text for sys.path
    if here not in sys.path:
        sys.path.insert(0, here)
    checks = {found.id: found for found in registered()}
    with os.fdopen(answers, "w", encoding="utf-8") as out:

        def say(**fields: Any) -> None:
            out.write(json.dumps(fields, default=str) + "\n")
            out.flush()

        try:
            harness = load_harness(place)
        except BadInput as error:
            say(refused=str(error))
            return
        say(claims=_claims(harness), engine=engine_version(harness), code=code_digest())
        for line in sys.stdin:
            asked = json.loads(line)
            canary = asked.get("canary")
            found = CANARIES[canary][0] if canary else harness
            check = checks[CANARIES[canary][1] if canary else asked["check"]].of(found.provides)
            outcome = repeated(found, check, profile=profile, seed=seed, runs=1 if canary else runs)
            say(outcome=asdict(outcome), code=code_digest())
