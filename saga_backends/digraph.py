"""networkx's ``DiGraph``, imported without the rest of networkx.

``import networkx`` imports 280 modules of algorithms, generators and file formats: 13 MB and 0.3 s of CPU. The graph
store needs one class. So this module runs networkx's own start up to where it imports those, which takes 26 modules.
They are a copy for this module alone, and leave ``sys.modules`` again: whoever imports networkx gets all of it.
"""

from __future__ import annotations

import ast
import importlib
import logging
import sys
import threading
from collections.abc import Sequence
from importlib.abc import InspectLoader, Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import networkx

    Digraph: TypeAlias = networkx.DiGraph[str]

_NAME = "networkx"
_REST = {"convert_matrix", "relabel", "generators", "readwrite", "algorithms", "linalg", "drawing"}
"""What networkx imports after its classes. None of it is needed to build or to read a graph."""

log = logging.getLogger("saga.stores")


class _Part(MetaPathFinder, Loader):
    """Imports the start of networkx, takes the class, and lets the import fail.

    The import is that of ``networkx`` itself, so its lock makes other threads wait that import networkx at this moment.
    Because it fails, they then import the whole package.
    """

    digraph: Any = None

    def __init__(self) -> None:
        self._thread = threading.get_ident()
        self._loader: InspectLoader | None = None

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name != _NAME or threading.get_ident() != self._thread:
            return None
        whole = PathFinder.find_spec(name)
        if whole is None or not isinstance(whole.loader, InspectLoader):
            return None
        self._loader = whole.loader
        part = ModuleSpec(name, self, origin=whole.origin, is_package=True)
        part.submodule_search_locations = whole.submodule_search_locations
        return part

    def exec_module(self, module: ModuleType) -> None:
        assert self._loader is not None
        source = ast.parse(self._loader.get_source(_NAME) or "")
        rest = next((at for at, line in enumerate(source.body) if _imports_rest(line)), 0)
        source.body = source.body[:rest]
        try:
            exec(compile(source, f"{_NAME}/__init__.py", "exec"), module.__dict__)
            self.digraph = module.__dict__["DiGraph"]
        finally:
            for name in [name for name in sys.modules if name.startswith(_NAME + ".")]:
                del sys.modules[name]
        raise ImportError("only a part of networkx was wanted", name=_NAME)


def _imports_rest(line: ast.stmt) -> bool:
    return isinstance(line, ast.ImportFrom) and any(alias.name in _REST for alias in line.names)


def _taken() -> Any:
    if _NAME not in sys.modules:
        part = _Part()
        sys.meta_path.insert(0, part)
        try:
            importlib.import_module(_NAME)
        except Exception as error:  # noqa: BLE001 - another version of networkx may begin in any other way
            if part.digraph is not None:
                return part.digraph
            log.info("networkx is imported as a whole: its start alone does not do (%r)", error)
        finally:
            sys.meta_path.remove(part)
    return importlib.import_module(_NAME).DiGraph


DiGraph: type[Digraph] = _taken()
