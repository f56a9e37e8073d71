"""Lists the registered backends, and whether the engine of each is installed. Imports no engine."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, requires, version
from typing import cast

from attrs import frozen

from saga_core import registry
from saga_core.errors import BadInput, SagaError

_DISTRIBUTION = "saga-rp"
_EXTRA = re.compile(r"""extra\s*==\s*['"]([^'"]+)['"]""")
_NAME = re.compile(r"[A-Za-z0-9._-]+")


@frozen
class Installed:
    """A registered backend."""

    name: str
    summary: str = ""
    engines: tuple[str, ...] = ()
    """The packages of its engine with versions. Empty for a backend that needs only SAGA."""
    missing: str = ""
    """What to do if the engine is missing; empty if it is installed."""
    wrong: bool = False
    """Whether what is missing is no engine: its entry point names something else."""

    def __str__(self) -> str:
        return f"{self.name} ({', '.join(self.engines)})" if self.engines else self.name


def installed(kind: str) -> list[Installed]:
    """Return all registered backends of ``kind``, sorted by name."""
    return [_look(kind, name) for name in registry.names(kind)]


def _look(kind: str, name: str) -> Installed:
    try:
        backend = registry.load(cast(registry.Kind, kind), name)
    except SagaError as error:
        return Installed(name, missing=str(error), wrong=isinstance(error, BadInput))
    engines = []
    for package in _packages(backend.extra) if backend.extra else ():
        try:
            engines.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            return Installed(name, backend.summary, missing=f"pip install 'saga-rp[{backend.extra}]'")
    return Installed(name, backend.summary, tuple(engines))


def _packages(extra: str) -> list[str]:
    """Return the packages that an extra of SAGA requires, or nothing for another extra."""
    try:
        lines = requires(_DISTRIBUTION) or []
    except PackageNotFoundError:  # not installed as a package; opening a store reports what is missing
        return []
    found = []
    for line in lines:
        about, _, condition = line.partition(";")
        name = _NAME.match(about.strip())
        if name is not None and (asked := _EXTRA.search(condition)) and asked[1] == extra and "[" not in about:
            found.append(name[0])
    return found
