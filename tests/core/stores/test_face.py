"""What a backend's author meets: protocols and values, and one version of the contract."""

from __future__ import annotations

import inspect
import re
from typing import Any

import attrs

import conformance
import saga_core
from saga_core import stores
from tests.docs.pages import ROOT, page


def test_the_face_of_the_stores_is_protocols_and_values() -> None:
    helpers = [name for name in stores.__all__ if inspect.isfunction(getattr(stores, name))]
    assert helpers == []
    classes: list[Any] = [each for name in stores.__all__ if inspect.isclass(each := getattr(stores, name))]
    odd = [each for each in classes if not getattr(each, "_is_protocol", False) and not attrs.has(each)]
    assert odd == []
    assert sum(getattr(each, "_is_protocol", False) for each in classes) == 12


def test_the_contract_has_one_version() -> None:
    version = saga_core.CONTRACT_VERSION
    assert version == conformance.CONTRACT_VERSION
    told = re.findall(r"contract (\d+\.\d+)", page("docs/write-a-backend.md").text)
    assert told and set(told) == {version}
    for package in ("saga_core", "saga_backends", "saga_server", "conformance"):
        for path in (ROOT / package).rglob("*.py"):
            named = re.findall(r"^CONTRACT_VERSION = ", path.read_text(encoding="utf-8"), re.MULTILINE)
            assert not named or path.parent.name == "saga_core", path
