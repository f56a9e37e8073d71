"""A face whose names are imported when they are first asked for."""

from __future__ import annotations

import json

import pytest

from saga_core.lazy_face import lazy_face


def test_a_name_is_what_stands_in_its_module_or_the_module_itself() -> None:
    get = lazy_face({"loads": "json:loads", "json": "json"})
    assert get("loads") is json.loads and get("json") is json


def test_other_names_are_no_attributes_and_nothing_is_imported_before_it_is_asked_for() -> None:
    get = lazy_face({"gone": "no_module_of_that_name:x", "odd": "json:no_such_name"})
    for name in ("other", "odd"):
        with pytest.raises(AttributeError):
            get(name)
    with pytest.raises(ModuleNotFoundError):
        get("gone")


def test_a_package_says_where_its_names_are_in_the_imports_for_type_checkers() -> None:
    from saga_server import providers

    assert lazy_face("saga_server.providers")("Route") is providers.Route
    with pytest.raises(AttributeError):
        lazy_face("saga_server.providers")("nothing")
