"""Runs a sentence-embedding model in ONNX format from a folder with ``model.onnx`` and ``tokenizer.json``, offline."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Iterable
from hashlib import blake2b
from importlib.util import find_spec
from typing import Any

from attrs import define, evolve, field

from saga_backends.embedder.local import LocalEmbedder
from saga_backends.embedder.onnx_folder import POOLINGS, ModelFolder, look_into
from saga_backends.embedder.recent_vectors import RecentVectors
from saga_backends.worker import Worker
from saga_core.errors import BadInput, StoreUnavailable
from saga_core.ports import Mode
from saga_core.registry import Backend, OpenOptions, remedy

VERSION = 1
"""Part of the embedder's id. It increases with every change that alters vectors."""

_REMEDY = remedy("onnx")
_LONG = 8
"""The assumed maximum of characters per token. Text that the tokenizer would cut anyway is cut before tokenizing."""


@define(eq=False)
class _Onnx:
    """The model loaded from a folder."""

    folder: ModelFolder
    threads: int
    _session: Any = field(default=None, init=False)
    _tokenizer: Any = field(default=None, init=False)
    _inputs: tuple[str, ...] = field(default=(), init=False)
    _output: str = field(default="", init=False)
    _pooled: bool = field(default=False, init=False)

    def load(self) -> None:
        onnxruntime, tokenizers = (importlib.import_module("onnxruntime"), importlib.import_module("tokenizers"))
        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads, settings.inter_op_num_threads = self.threads, 1
        settings.add_session_config_entry("session.intra_op.allow_spinning", "0")
        settings.log_severity_level = 3
        try:
            # Both libraries have their own exceptions, so any exception is reported with the path of the folder.
            self._tokenizer = tokenizers.Tokenizer.from_file(str(self.folder.tokenizer))
            session = onnxruntime.InferenceSession(str(self.folder.model), settings, providers=["CPUExecutionProvider"])
        except Exception as error:
            raise StoreUnavailable(
                f"the model in {self.folder.path} cannot be loaded: {error}; fetch its files again"
            ) from error
        self._tokenizer.enable_truncation(self.folder.max_length)
        self._tokenizer.no_padding()
        self._inputs = tuple(each.name for each in session.get_inputs())
        outputs = {each.name: len(each.shape) for each in session.get_outputs()}
        ready = [name for name, rank in outputs.items() if rank == 2]
        tokens = [name for name, rank in outputs.items() if rank == 3]
        self._pooled = "sentence_embedding" in ready or not tokens
        if not ready and not tokens:
            raise StoreUnavailable(f"{self.folder.model} gives no vectors; is it a model for embeddings?")
        self._output = "sentence_embedding" if "sentence_embedding" in ready else (tokens or ready)[0]
        self._session = session

    def encode(self, text: str, mode: Mode) -> Iterable[float]:
        import numpy

        folder = self.folder
        prompt = folder.query if mode == "query" else folder.passage
        cut = text[: folder.max_length * _LONG].encode(errors="replace").decode()
        tokens = self._tokenizer.encode(prompt + cut)
        known = {
            "input_ids": tokens.ids,
            "attention_mask": tokens.attention_mask,
            "token_type_ids": tokens.type_ids,
            "position_ids": list(range(len(tokens.ids))),
        }
        strange = [name for name in self._inputs if name not in known]
        if strange:
            raise StoreUnavailable(f"{folder.model} wants {strange[0]!r}, which is not known here; use another export")
        feed = {name: numpy.array([known[name]], dtype=numpy.int64) for name in self._inputs}
        (found,) = self._session.run([self._output], feed)
        if self._pooled:
            return list(map(float, found[0]))
        states = found[0]
        pooled = {
            "mean": lambda: states.mean(axis=0),
            "cls": lambda: states[0],
            "max": lambda: states.max(axis=0),
            "last": lambda: states[-1],
        }[folder.pooling]()
        return list(map(float, pooled))


async def _open(options: OpenOptions) -> LocalEmbedder:
    given = options.take(
        path=None,
        file=None,
        dimension=0,
        pooling="",
        max_length=0,
        query_prefix=None,
        passage_prefix=None,
        baseline=None,
        threads=1,
        cache=512,
    )
    for name in ("path", "file", "query_prefix", "passage_prefix"):
        if given[name] is not None and not isinstance(given[name], str):
            raise BadInput(f"recall.options.{name}: {given[name]!r} is a {type(given[name]).__name__}; give a text")
    for name, least in (("dimension", 0), ("max_length", 0), ("threads", 1), ("cache", 0)):
        if given[name] < least:
            raise BadInput(f"recall.options.{name}: {given[name]} is out of range; give at least {least}")
    if given["pooling"] and given["pooling"] not in POOLINGS:
        raise BadInput(f"recall.options.pooling: {given['pooling']!r} is none of {', '.join(POOLINGS)}")
    baseline = given["baseline"]
    if baseline is not None and (type(baseline) not in (int, float) or not 0.0 <= baseline < 1.0):
        raise BadInput(f"recall.options.baseline: {baseline!r} is no cosine; give a number from 0 to below 1")
    if not given["path"]:
        raise BadInput("recall.options.path: which folder? Give one with model.onnx and tokenizer.json")
    missing = [name for name in ("onnxruntime", "tokenizers") if find_spec(name) is None]
    if missing:
        raise StoreUnavailable(f"recall.embedder onnx: {' and '.join(missing)} not installed; {_REMEDY}")
    folder = await asyncio.to_thread(look_into, given["path"], given["file"])
    folder = evolve(
        folder,
        dimension=given["dimension"] or folder.dimension,
        pooling=given["pooling"] or folder.pooling,
        max_length=min(given["max_length"] or folder.max_length, folder.max_length),
        query=folder.query if given["query_prefix"] is None else given["query_prefix"],
        passage=folder.passage if given["passage_prefix"] is None else given["passage_prefix"],
        baseline=folder.baseline if baseline is None else float(baseline),
    )
    if not folder.dimension:
        raise BadInput(
            "recall.options.dimension: no file of the model says how many components a vector has; give the number"
        )
    seal = await asyncio.to_thread(folder.fingerprint)
    way = repr((folder.pooling, folder.max_length, folder.query, folder.passage)).encode()
    return LocalEmbedder(
        id=f"onnx/{folder.name[:80]}/{folder.dimension}/{VERSION}-{seal}{blake2b(way, digest_size=2).hexdigest()}",
        dimension=folder.dimension,
        model=_Onnx(folder, given["threads"]),
        worker=Worker("onnx"),
        recent=RecentVectors(given["cache"]),
        baseline=folder.baseline,
    )


BACKEND = Backend(
    kind="embedder",
    name="onnx",
    open=_open,
    summary="a sentence-embedding model of your own, from a folder with model.onnx and tokenizer.json: sees meaning",
    extra="onnx",
)
