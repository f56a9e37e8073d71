"""Makes files of older SAGA versions private to their user, once.

Newer versions create all files and folders as private. If the user gives others access afterwards, it is kept: the
change is recorded in the journal and not repeated.
"""

from __future__ import annotations

import asyncio
import logging
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from saga_core import codec
from saga_core.config import Config
from saga_core.storage.opening import Stores, path_of
from saga_core.stores import Batch, Key

log = logging.getLogger("saga.stores")

NOTED: Key = ("meta", "private")
_KINDS = ("state", "graph", "vector", "cache")
_BESIDE = ("backups", "backups.json", "forgotten.json", "replaced-*", "*.damaged-*")


async def make_private_once(stores: Stores, config: Config) -> None:
    """Remove the access of other users to the data and log it. Do nothing if this was done before.

    Files of other owners stay as they are and are logged with the remedy. Raises ``StoreError``.
    """
    if os.name != "posix" or (await stores.state.get([NOTED])):
        return
    await asyncio.to_thread(_make_private, config)
    await stores.state.commit(Batch({NOTED: codec.dumps(True)}))


def _make_private(config: Config) -> None:
    changed: list[Path] = []
    for path in _ours(config):
        mode = stat.S_IMODE(path.lstat().st_mode)
        if path.is_symlink() or not mode & 0o077:
            continue
        try:
            path.chmod(mode & 0o700)
            changed.append(path)
        except OSError as error:
            log.warning("%s: other users may read it (%o), and that cannot be changed: %s", path, mode, error.strerror)
    if changed:
        names = ", ".join(sorted(path.name for path in changed))
        log.warning(
            "%s: other users could read what an older SAGA or a backend made here; now its owner alone can: %s. Give "
            "others the right again if they need it: this is not repeated",
            config.data_dir,
            names,
        )


def _ours(config: Config) -> Iterator[Path]:
    places = [path for kind in _KINDS if (path := path_of(config, kind)) is not None]
    files = [each.with_name(each.name + end) for each in places for end in ("", "-wal", "-shm", ".lock")]
    files += [each for name in _BESIDE for each in config.data_dir.glob(name)]
    return (each for each in dict.fromkeys(files) if each.exists())
