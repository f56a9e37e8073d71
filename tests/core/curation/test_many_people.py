"""A review of a story with many people looks through a long reply once, and not for each of them."""

from __future__ import annotations

import time

from saga_core.curation import rules

NAMES = [f"Wanderer {number}" for number in range(1_500)]


def test_a_long_reply_about_many_people_is_looked_through_once() -> None:
    reply = " ".join(f"{name} sits by the fire." for name in NAMES) + " Wanderer 7 dies."
    began = time.process_time()
    found = [name for name in NAMES if rules.dies(reply, [name])]
    assert time.process_time() - began < 2.5
    assert found == [], "what is told behind the first 20,000 characters is not looked at"
    assert rules.dies("It rains. Wanderer 7 dies. It stops.", ["Wanderer 7"]) == "Wanderer 7 dies."
