"""Every room of the server has a face: other rooms import from it, and it lists what they may take."""

from __future__ import annotations

from importlib import import_module

import pytest

from tests.core.test_rooms import ROOT, imports

SERVER = ROOT / "saga_server"
ROOMS = sorted(path.parent.name for path in SERVER.glob("*/__init__.py") if path.parent.name not in ("bench", "demo"))
FILES = sorted(SERVER.rglob("*.py"))


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_is_entered_by_its_face(room: str) -> None:
    past = [
        f"{path.relative_to(ROOT)}: {module}.{name}"
        for path in FILES
        if SERVER / room not in path.parents
        for module, name in imports(path)
        if module.startswith(f"saga_server.{room}.")
    ]
    assert past == [], f"import from saga_server.{room} instead"


@pytest.mark.parametrize("room", ROOMS)
def test_a_face_lists_what_it_gives_and_somebody_takes(room: str) -> None:
    face = import_module(f"saga_server.{room}")
    assert face.__doc__
    inside = imports(SERVER / room / "__init__.py")
    given = getattr(face, "__all__", [name for module, name in inside if module.startswith(face.__name__)])
    for name in given:
        assert getattr(face, name) is not None
    with pytest.raises(AttributeError):
        face.nothing_of_that_name  # noqa: B018 - it is the reading that counts
    taken = {
        name
        for path in FILES
        if SERVER / room not in path.parents
        for module, name in imports(path)
        if module == face.__name__
    }
    for_programs = {"cli": {"main"}, "tools": {"Tool"}}
    assert sorted(given) == sorted(taken | for_programs.get(room, set()))
