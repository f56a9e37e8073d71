"""Opens stores that do not exist yet in a temporary folder, so that an examination creates nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from attrs import evolve, frozen

from saga_core.config import Config
from saga_core.storage import path_of

_KINDS = ("state", "graph", "vector", "cache")


@frozen
class AbsentStores:
    """A configuration that opens stores without files in a temporary folder."""

    config: Config
    places: Mapping[str, tuple[Path, Path]]
    """Kind of each such store -> its path in the temporary folder, and its own path."""

    def in_place(self, text: str) -> str:
        """Return a text with the stores' own paths instead of the temporary ones."""
        for temporary, own in self.places.values():
            text = text.replace(str(temporary), str(own))
        return text


@contextmanager
def absent_stores(config: Config) -> Iterator[AbsentStores]:
    """Yield ``config`` with temporary paths for the stores that have no files yet. Raises ``OSError``.

    The folder is in the data directory, or in the nearest parent that exists, so its rights and space are those that
    the stores will meet.
    """
    own = {kind: path for kind in _KINDS if (path := path_of(config, kind)) is not None and not path.exists()}
    if not own:
        yield AbsentStores(config, {})
        return
    parent = next(each for each in (config.data_dir, *config.data_dir.absolute().parents) if each.exists())
    with TemporaryDirectory(prefix=".saga-doctor-", dir=parent) as folder:
        places = {kind: (Path(folder).absolute() / path.name, path) for kind, path in own.items()}
        stores = {
            kind: evolve(getattr(config.storage, kind), path=str(temporary)) for kind, (temporary, _) in places.items()
        }
        yield AbsentStores(evolve(config, storage=evolve(config.storage, **stores)), places)
