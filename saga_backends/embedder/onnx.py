"""Runs a sentence-embedding model in ONNX format from a folder with ``model.onnx`` and ``tokenizer.json``, offline."""

from __future__ import annotations

import asyncio
import importlib
import json
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from attrs import define, evolve, field, frozen

from saga_backends.embedder.known_models import facts_of_model
from saga_backends.embedder.local import LocalEmbedder
from saga_backends.embedder.options import baseline_or, check_least
from saga_backends.worker import Worker
from saga_core.errors import BadInput, StoreUnavailable
from saga_core.ports import Mode
from saga_core.registry import Backend, OpenOptions, remedy

# --- Reads a folder with an embedding model, including the files that describe how to use it ----------------------
#
# The files are those that sentence-transformers writes and that models are published with: ``tokenizer.json``,
# ``model.onnx`` (or ``onnx/model.onnx``), and optional files about pooling, length and prompts.

POOLINGS = ("mean", "cls", "max", "last")
_MODELS = ("model.onnx", "onnx/model.onnx")
_POOLING_KEYS = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_lasttoken": "last",
}
_UNDERSTOOD = ("Transformer", "Pooling", "Normalize")
_LONGEST = 512
"""The maximum number of tokens if no file states it."""
_EDGE = 1 << 20


@frozen
class ModelFolder:
    """The files of a model folder and the settings found in them."""

    path: Path
    model: Path
    tokenizer: Path
    name: str
    dimension: int
    """0 if no file states it."""
    pooling: str
    max_length: int
    query: str
    passage: str
    baseline: float | None

    def fingerprint(self) -> str:
        """Return a hash that changes with the model file.

        It covers the size, the first and the last megabyte of the model, and the size of the tokenizer file.
        """
        size = self.model.stat().st_size
        seal = blake2b(str(size).encode(), digest_size=4)
        with self.model.open("rb") as file:
            seal.update(file.read(_EDGE))
            file.seek(max(0, size - _EDGE))
            seal.update(file.read(_EDGE))
        seal.update(self.tokenizer.stat().st_size.to_bytes(8, "little"))
        return seal.hexdigest()


def look_into(place: str, model: str | None = None) -> ModelFolder:
    """Read the model folder at ``place``. ``model`` is the name of the model file in it.

    Raises ``BadInput`` if the folder or a file is missing, or if a file is not usable.
    """
    path = Path(place).expanduser()
    if not path.is_dir():
        raise BadInput(
            f"recall.options.path: {path} is no folder; give one with model.onnx and tokenizer.json, as a model's page "
            "offers them"
        )
    found = next((each for name in ([model] if model else _MODELS) if (each := path / name).is_file()), None)
    if found is None:
        others = sorted(str(each.relative_to(path)) for each in path.glob("**/*.onnx"))[:5]
        hint = f"name one of {', '.join(others)} in recall.options.file" if others else f"put {_MODELS[0]} there"
        raise BadInput(f"recall.options.path: {path} has no {model or ' or '.join(_MODELS)}; {hint}")
    tokenizer = path / "tokenizer.json"
    if not tokenizer.is_file():
        raise BadInput(f"recall.options.path: {path} has no tokenizer.json; it is published beside the model")
    _check_modules(path)
    config, pooling = _read(path / "config.json"), _read(path / "1_Pooling" / "config.json")
    name = str(config.get("_name_or_path") or "")
    name = (name if facts_of_model(name).query or facts_of_model(name).dimension else path.resolve().name).strip("/")
    facts = facts_of_model(name)
    prompts = _read(path / "config_sentence_transformers.json").get("prompts")
    prompts = prompts if isinstance(prompts, Mapping) else {}
    return ModelFolder(
        path,
        found,
        tokenizer,
        path.resolve().name,
        _whole(pooling.get("word_embedding_dimension")) or _whole(config.get("hidden_size")),
        next((each for key, each in _POOLING_KEYS.items() if pooling.get(key) is True), "mean"),
        _longest(path, config),
        _prompt(prompts, "query", default=facts.query),
        _prompt(prompts, "passage", "document", default=facts.passage),
        facts.baseline,
    )


def _check_modules(path: Path) -> None:
    modules = _json(path / "modules.json")
    kinds = [str(each.get("type", "")).rpartition(".")[2] for each in modules] if isinstance(modules, list) else []
    strange = [kind for kind in kinds if kind not in _UNDERSTOOD]
    if strange:
        raise BadInput(
            f"recall.options.path: the model at {path} has a step {strange[0]!r} behind its transformer, which is not "
            "known here; use a model without, or a server that knows it, with recall.embedder: openai"
        )


def _longest(path: Path, config: Mapping[str, Any]) -> int:
    told = _whole(_read(path / "sentence_bert_config.json").get("max_seq_length"))
    told = told or _whole(_read(path / "tokenizer_config.json").get("model_max_length"))
    # RoBERTa and related models reserve two positions that no token can use.
    places = _whole(config.get("max_position_embeddings")) - 2
    known = [each for each in (told, places) if 0 < each < 1_000_000]
    return min(known, default=_LONGEST)


def _prompt(prompts: Mapping[str, Any], *names: str, default: str) -> str:
    return next((prompts[name] for name in names if isinstance(prompts.get(name), str)), default)


def _whole(value: Any) -> int:
    return value if type(value) is int and value > 0 else 0


def _read(path: Path) -> Mapping[str, Any]:
    found = _json(path)
    return found if isinstance(found, Mapping) else {}


def _json(path: Path) -> Any:
    if not path.is_file():
        return None
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        raise BadInput(f"recall.options.path: {path} cannot be read: {error}; fetch it again") from error


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
    check_least(given, dimension=0, max_length=0, threads=1, cache=0)
    if given["pooling"] and given["pooling"] not in POOLINGS:
        raise BadInput(f"recall.options.pooling: {given['pooling']!r} is none of {', '.join(POOLINGS)}")
    baseline = baseline_or(given["baseline"], None)
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
        baseline=folder.baseline if baseline is None else baseline,
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
        cache=given["cache"],
        baseline=folder.baseline,
    )


BACKEND = Backend(
    kind="embedder",
    name="onnx",
    open=_open,
    summary="a sentence-embedding model of your own, from a folder with model.onnx and tokenizer.json: sees meaning",
    extra="onnx",
)
