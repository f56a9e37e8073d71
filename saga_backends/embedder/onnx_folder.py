"""Reads a folder with an embedding model, including the files that describe how to use it.

The files are those that sentence-transformers writes and that models are published with: ``tokenizer.json``,
``model.onnx`` (or ``onnx/model.onnx``), and optional files about pooling, length and prompts.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

from attrs import frozen

from saga_backends.embedder.known_models import facts_of_model
from saga_core.errors import BadInput

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
