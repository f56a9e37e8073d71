"""What a harness may claim, and where it is found."""

from __future__ import annotations

import pytest
from attrs import evolve

from conformance import load_harness
from saga_core.errors import BadInput
from tests.conformance.harnesses import HARNESSES


@pytest.mark.parametrize("deviations", [{"S-99": "why"}, {"S-1": " "}])
def test_deviations_need_a_clause_and_a_reason(deviations: dict[str, str]) -> None:
    with pytest.raises(BadInput, match=r"deviations"):
        evolve(HARNESSES["state-memory"], deviations=deviations)


@pytest.mark.parametrize("place", ["conformance", "no.such.module:X", "conformance:NOTHING", "conformance:run", ":X"])
def test_a_harness_that_is_none_is_refused(place: str) -> None:
    with pytest.raises(BadInput, match="harness"):
        load_harness(place)
