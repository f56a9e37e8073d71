"""The embedder over HTTP, between the official SDK and a strict server: answers, faults, patience, and no keys."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import AsyncIterator
from typing import Any

import pytest

from saga_backends.embedder.known_models import facts_of_model
from saga_backends.embedder.openai import BACKEND, OpenAIEmbedder
from saga_backends.embedder.strangers import PASSAGES, QUESTIONS
from saga_core.background import Retry
from saga_core.errors import BadInput, Closed, StoreUnavailable, UpstreamError
from saga_core.registry import OpenOptions
from saga_core.stores.vector import cosine
from tests.backends.embeddings_server import (
    EmbeddingsServer,
    answer,
    embeds,
    encoded,
    fails,
    gives,
    hangs,
    raw,
    resets,
    takes,
    unit,
    vector,
    waits,
)
from tests.server.upstream import closed_port

KEY = "sk-geheim-geheim-1"
KO, EN = "불꽃 검을 받았다", "the flame sword"


async def opened(server: EmbeddingsServer | None = None, **options: Any) -> OpenAIEmbedder:
    given: dict[str, Any] = {"model": "my-model", "dimension": 16, "baseline": 0.1, "retry_seconds": 5.0}
    if server is not None:
        given |= {"base_url": server.url, "api_key": KEY}
    embedder: OpenAIEmbedder = await BACKEND.open(OpenOptions(options=given | options))
    return embedder


@pytest.fixture
async def server() -> AsyncIterator[EmbeddingsServer]:
    async with EmbeddingsServer(key=KEY) as found:
        yield found


@pytest.fixture
async def embedder(server: EmbeddingsServer, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[OpenAIEmbedder]:
    # The first pause after a failure, in seconds: nothing here waits for long.
    monkeypatch.setattr("saga_backends.embedder.openai._RETRY", Retry(first=0.001))
    found = await opened(server)
    yield found
    await found.aclose()


async def failed(embedder: OpenAIEmbedder, mode: Any = "passage") -> UpstreamError:
    with pytest.raises(UpstreamError) as caught:
        await embedder.embed([KO, EN], mode)
    assert KEY not in str(caught.value)
    return caught.value


def near(found: Any, text: str, dimension: int = 16) -> bool:
    return list(found) == pytest.approx(unit(vector(text, dimension)), abs=1e-6)


class TestAnswers:
    @pytest.mark.parametrize("encoding", ["base64", "float"])
    async def test_vectors_of_unit_length_in_the_order_of_the_texts(
        self, server: EmbeddingsServer, encoding: str
    ) -> None:
        embedder = await opened(server, encoding=encoding)
        found = await embedder.embed([KO, "", EN, "  \n"], "passage")
        assert near(found[0], KO) and near(found[2], EN)
        assert all(each.typecode == "f" and len(each) == 16 for each in found)
        assert not any(found[1]) and not any(found[3])
        (asked,) = server.asked
        assert asked.body == {"model": "my-model", "input": [KO, EN], "encoding_format": encoding}
        assert asked.headers["Authorization"] == f"Bearer {KEY}"
        await embedder.aclose()

    async def test_a_server_that_gives_floats_when_asked_for_base64(self, server: EmbeddingsServer) -> None:
        server.knows_base64 = False
        embedder = await opened(server)
        (found,) = await embedder.embed([KO], "query")
        assert near(found, KO)
        await embedder.aclose()

    async def test_the_index_says_which_text_a_vector_is_of(
        self, server: EmbeddingsServer, embedder: OpenAIEmbedder
    ) -> None:
        server.then(gives(lambda found: found["data"].reverse()))
        found = await embedder.embed([KO, EN], "passage")
        assert near(found[0], KO) and near(found[1], EN)

    @pytest.mark.parametrize("left_out", [(0,), (0, 1)])
    async def test_an_index_that_is_left_out(
        self, server: EmbeddingsServer, embedder: OpenAIEmbedder, left_out: tuple[int, ...]
    ) -> None:
        server.then(gives(lambda found: [found["data"][place].pop("index") for place in left_out] and None))
        found = await embedder.embed([KO, EN], "passage")
        assert near(found[0], KO) and near(found[1], EN)

    @pytest.mark.parametrize(
        ("step", "words"),
        [
            (raw(b"<html>Welcome"), "not JSON"),
            (raw(b"<html>Welcome", "text/html"), "not JSON"),
            (raw(b""), "not JSON"),
            (raw(b"[]"), "'data'"),
            (raw(json.dumps({"data": [1, 2]}).encode()), "'data'"),
            (gives(lambda found: found["data"].pop()), "1 vectors for 2 texts"),
            (gives(lambda found: found["data"].append(found["data"][0])), "3 vectors for 2 texts"),
            (gives(lambda found: found["data"][1].update(index=0)), r"numbered its vectors \[0, 0\]"),
            (gives(lambda found: found["data"][1].update(index="1")), "numbered its vectors"),
            (gives(lambda found: found["data"][1].update(index=7)), "numbered its vectors"),
            (gives(lambda found: answer([[1.0] * 8] * 2, "float")), r"8 components, not 16; set .*dimension: 8"),
            (gives(lambda found: answer([[1.0] * 8] * 2, "base64")), r"8 components, not 16; set .*dimension: 8"),
            (gives(lambda found: answer([[float("nan")] * 16] * 2, "float")), "not finite"),
            (gives(lambda found: answer([[float("inf")] * 16] * 2, "base64")), "not finite"),
            (gives(lambda found: answer([[0.0] * 16] * 2, "float")), "is zero"),
            (gives(lambda found: found["data"][0].update(embedding="*not base64*")), "no base64"),
            (gives(lambda found: found["data"][0].update(embedding="AAAAAA==AA")), "no base64"),
            (gives(lambda found: found["data"][0].update(embedding=["0.1"] * 16)), "no list of numbers"),
            (gives(lambda found: found["data"][0].update(embedding=None)), "no list of numbers"),
            (gives(lambda found: found["data"][0].update(embedding=[10**400] * 16)), "not finite"),
        ],
    )
    async def test_answers_that_cannot_be_true(
        self, server: EmbeddingsServer, embedder: OpenAIEmbedder, step: Any, words: str
    ) -> None:
        server.then(step)
        error = await failed(embedder)
        assert re.search(words, str(error)), str(error)
        assert f"127.0.0.1:{server.port}" in str(error)
        assert len(server.asked) == 1, "what is malformed once is not asked again at once"


class TestAsking:
    async def test_questions_and_passages_are_asked_differently(self, server: EmbeddingsServer) -> None:
        embedder = await opened(server, model="org/multilingual-e5-large", dimension=0, baseline=None)
        server.dimension = 1_024
        await embedder.embed([KO], "query")
        await embedder.embed([KO], "passage")
        assert server.batches == [[f"query: {KO}"], [f"passage: {KO}"]]
        assert embedder.dimension == 1_024 and embedder.baseline == 0.78
        await embedder.aclose()

    async def test_prefixes_of_ones_own_change_the_id(self, server: EmbeddingsServer) -> None:
        plain, own = await opened(server), await opened(server, query_prefix="Q: ", passage_prefix="")
        await own.embed([KO], "query")
        assert server.batches == [[f"Q: {KO}"]]
        assert plain.id == "openai/my-model/16/1" and own.id.startswith("openai/my-model/16/1-")
        assert plain.semantic
        await plain.aclose()
        await own.aclose()

    async def test_batches(self, server: EmbeddingsServer) -> None:
        embedder = await opened(server, batch=3)
        texts = [f"text number {number}" for number in range(8)]
        found = await embedder.embed(texts, "passage")
        assert [len(batch) for batch in server.batches] == [3, 3, 2]
        assert all(near(each, text) for each, text in zip(found, texts, strict=True))
        await embedder.aclose()

    async def test_what_was_embedded_lately_is_not_asked_again(
        self, server: EmbeddingsServer, embedder: OpenAIEmbedder
    ) -> None:
        first = await embedder.embed([KO, EN], "passage")
        first[0][0] = 99.0  # the caller's own
        again = await embedder.embed([EN, KO, "new"], "passage")
        assert near(again[1], KO)
        await embedder.embed([KO], "query")
        assert server.batches == [[KO, EN], ["new"], [KO]], "a question is another text than a passage"

    async def test_the_memory_is_bounded(self, server: EmbeddingsServer) -> None:
        embedder = await opened(server, cache=2)
        for text in ("a", "b", "c", "a"):
            await embedder.embed([text], "passage")
        assert server.batches == [["a"], ["b"], ["c"], ["a"]]
        await embedder.aclose()

    async def test_fewer_components_are_asked_for(self, server: EmbeddingsServer) -> None:
        embedder = await opened(server, model="text-embedding-3-small", dimension=256)
        (found,) = await embedder.embed([KO], "passage")
        assert len(found) == 256 and server.asked[0].body["dimensions"] == 256
        assert embedder.id == "openai/text-embedding-3-small/256/1"
        await embedder.aclose()

    async def test_long_texts_are_cut(self, server: EmbeddingsServer) -> None:
        embedder = await opened(server, max_chars=200)
        await embedder.embed(["가 " * 5_000], "passage")
        assert len(server.batches[0][0]) == 200
        await embedder.aclose()

    async def test_what_is_too_much_for_the_server_is_halved(
        self, server: EmbeddingsServer, embedder: OpenAIEmbedder
    ) -> None:
        server.then(takes(characters=700, batch=2))
        texts = ["long " * 400, "short", "other", "last"]
        found = await embedder.embed(texts, "passage")
        assert near(found[0], texts[0][:500]) and near(found[3], "last")
        asked = len(server.asked)
        await embedder.embed(texts, "passage")
        assert len(server.asked) == asked, "what was halved is remembered too"

    async def test_the_keys_place(self, server: EmbeddingsServer, monkeypatch: pytest.MonkeyPatch) -> None:
        server.key = None
        monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-environment")
        embedder = await opened(base_url=server.url)
        await embedder.embed([KO], "query")
        assert "Authorization" not in server.asked[0].headers, "the environment's key is for OpenAI itself"
        assert "sk-of-the-environment" not in repr(embedder)
        await embedder.aclose()
        hosted = await opened()
        assert hosted.host == "api.openai.com" and "sk-of" not in repr(hosted)
        await hosted.aclose()


class TestBaseline:
    async def test_it_is_measured_where_the_model_is_not_known(self, server: EmbeddingsServer) -> None:
        embedder = await opened(server, baseline=None)
        assert embedder.baseline == 1.0, "a likeness counts nothing before it is known what one is worth"
        server.dimension = 16
        await embedder.embed([KO], "query")
        assert embedder._measuring is not None
        await embedder._measuring
        assert [list(batch) for batch in server.batches[1:]] == [list(QUESTIONS), list(PASSAGES)]
        vectors = [unit(vector(text, 16)) for text in (*QUESTIONS, *PASSAGES)]
        half = len(QUESTIONS)
        cosines = [sum(a * b for a, b in zip(x, y, strict=True)) for x in vectors[:half] for y in vectors[half:]]
        assert embedder.baseline == pytest.approx(sum(cosines) / len(cosines), abs=1e-6)
        await embedder.aclose()

    async def test_a_failure_leaves_it_for_the_next_time(
        self, server: EmbeddingsServer, caplog: pytest.LogCaptureFixture
    ) -> None:
        embedder = await opened(server, baseline=None)
        server.then(embeds, fails(500))
        await embedder.embed([KO], "query")
        assert embedder._measuring is not None
        await embedder._measuring
        assert "baseline" in caplog.text and embedder.baseline == 1.0
        await embedder.embed([EN], "query")
        assert embedder._measuring is not None
        await embedder._measuring
        assert embedder.baseline < 1.0
        await embedder.aclose()


class TestFaults:
    @pytest.mark.parametrize("status", [429, 500, 503, 408])
    async def test_passages_are_sent_again_after_what_may_pass(
        self, server: EmbeddingsServer, embedder: OpenAIEmbedder, status: int
    ) -> None:
        server.then(fails(status), fails(status))
        found = await embedder.embed([KO, EN], "passage")
        assert near(found[0], KO) and len(server.asked) == 3

    async def test_the_pause_that_is_asked_for_is_made(
        self, server: EmbeddingsServer, embedder: OpenAIEmbedder, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        pauses: list[float] = []

        async def sleep(seconds: float) -> None:
            pauses.append(seconds)
            embedder._until = 0.0

        monkeypatch.setattr("saga_backends.embedder.openai.asyncio.sleep", sleep)
        server.then(fails(429, retry_after="3"), fails(429, retry_after_ms="250"))
        await embedder.embed([KO], "passage")
        assert pauses == [pytest.approx(0, abs=0.01), pytest.approx(3, abs=0.1), pytest.approx(0.25, abs=0.1)]

    async def test_not_beyond_the_budget(self, server: EmbeddingsServer, embedder: OpenAIEmbedder) -> None:
        server.then(fails(429, retry_after="60"))
        error = await failed(embedder)
        assert error.status == 429 and error.retry_after == 60 and len(server.asked) == 1
        again = await failed(embedder)
        assert again is error and len(server.asked) == 1, "it gets the pause that it asked for"

    async def test_not_more_often_than_allowed(self, server: EmbeddingsServer, embedder: OpenAIEmbedder) -> None:
        server.then(*[fails(500)] * 9)
        await failed(embedder)
        assert len(server.asked) == 5

    @pytest.mark.parametrize(
        ("status", "words"),
        [
            (401, "recall.options.api_key"),
            (404, "recall.options.model"),
            (400, "does not take this request"),
        ],
    )
    async def test_what_does_not_pass_is_told_at_once(
        self, server: EmbeddingsServer, embedder: OpenAIEmbedder, status: int, words: str
    ) -> None:
        server.then(fails(status, f"bad key {KEY} or sk-abcdefgh1234"))
        error = await failed(embedder)
        assert words in str(error) and "(key)" in str(error) and "sk-abcdefgh" not in str(error)
        assert len(server.asked) == 1

    async def test_a_wrong_key_is_in_no_log(
        self, server: EmbeddingsServer, embedder: OpenAIEmbedder, caplog: pytest.LogCaptureFixture
    ) -> None:
        server.key = "another"
        with caplog.at_level(logging.DEBUG):
            await failed(embedder)
            await failed(embedder, "query")
        assert KEY not in caplog.text and server.asked[0].headers["Authorization"].endswith(KEY)

    async def test_a_server_that_hangs(self, server: EmbeddingsServer) -> None:
        embedder = await opened(server, timeout=0.05, max_retries=0)
        server.then(hangs)
        error = await failed(embedder)
        assert error.status == 504 and "recall.options.timeout is 0.05" in str(error)
        await embedder.aclose()

    async def test_a_connection_that_breaks(self, server: EmbeddingsServer, embedder: OpenAIEmbedder) -> None:
        server.then(resets)
        assert near((await embedder.embed([KO], "passage"))[0], KO)

    async def test_nobody_there(self) -> None:
        embedder = await opened(base_url=f"http://127.0.0.1:{closed_port()}/v1", max_retries=0)
        error = await failed(embedder)
        assert "is it running, and is recall.options.base_url right?" in str(error)
        assert (await failed(embedder, "query")) is error, "a question is not held up by a server that is gone"
        await embedder.aclose()


class TestQuestions:
    async def test_one_that_comes_too_late_is_remembered(
        self, server: EmbeddingsServer, embedder: OpenAIEmbedder
    ) -> None:
        open_ = asyncio.Event()
        server.then(waits(open_))
        reading = asyncio.create_task(embedder.embed([KO], "query"))
        await server.arrived(1)
        reading.cancel()  # the read went on without it
        with pytest.raises(asyncio.CancelledError):
            await reading
        waiting = asyncio.create_task(embedder.embed([KO], "query"))
        await asyncio.sleep(0)
        open_.set()
        assert near((await waiting)[0], KO)
        assert near((await embedder.embed([KO], "query"))[0], KO)
        assert len(server.asked) == 1 and not server.gone.is_set()

    async def test_no_more_than_four_are_under_way(self, server: EmbeddingsServer, embedder: OpenAIEmbedder) -> None:
        server.then(*[hangs] * 4)
        asking = [asyncio.create_task(embedder.embed([f"question {n}"], "query")) for n in range(4)]
        await server.arrived(4)
        with pytest.raises(StoreUnavailable, match="still owes the answers to 4 earlier questions"):
            await embedder.embed([KO], "query")
        await embedder.aclose()
        assert all(
            isinstance(each, asyncio.CancelledError) for each in await asyncio.gather(*asking, return_exceptions=True)
        )

    async def test_passages_go_on_beside_a_question_that_hangs(
        self, server: EmbeddingsServer, embedder: OpenAIEmbedder
    ) -> None:
        server.then(hangs)
        asking = asyncio.create_task(embedder.embed([KO], "query"))
        await server.arrived(1)
        assert near((await embedder.embed([EN], "passage"))[0], EN)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)

    async def test_after_closing(self, server: EmbeddingsServer) -> None:
        embedder = await opened(server)
        await embedder.aclose()
        await embedder.aclose()
        with pytest.raises(Closed):
            await embedder.embed([KO], "query")


class TestOptions:
    @pytest.mark.parametrize(
        ("given", "words"),
        [
            ({"model": None}, r"recall\.options\.model: which embedding model"),
            ({"model": 3}, r"recall\.options\.model: give a text"),
            ({"dimension": 0}, r"recall\.options\.dimension: .*'my-model' has is not known"),
            ({"dimension": -1}, r"recall\.options\.dimension: -1 is out of range"),
            ({"dimension": 99_999}, "99999 is out of range"),
            ({"model": "text-embedding-ada-002", "dimension": 256}, "256 is not what"),
            ({"model": "text-embedding-3-small", "dimension": 4_096}, "gives 1536 at most"),
            ({"base_url": "ftp://x"}, r"recall\.options\.base_url: give a URL"),
            ({"base_url": "http://[::"}, r"recall\.options\.base_url: give a URL"),
            ({"encoding": "hex"}, "encoding: 'hex' is neither of base64, float"),
            ({"baseline": 1.5}, "baseline: 1.5 is no cosine"),
            ({"query_prefix": 3}, "query_prefix: 3 is no text"),
            ({"batch": 0}, "batch: 0 is out of range"),
            ({"timeout": 0}, "timeout: 0 is out of range"),
            ({"cache": -1}, "cache: -1 is out of range"),
            ({"max_chars": 3}, "max_chars: 3 is out of range"),
            ({"api_key": 3}, r"recall\.options\.api_key: give a text"),
            ({"apikey": "x"}, "options.apikey: unknown option"),
        ],
    )
    async def test_bad_ones(self, given: dict[str, Any], words: str) -> None:
        with pytest.raises(BadInput, match=words):
            await opened(**({"base_url": "http://127.0.0.1:9/v1"} | given))

    async def test_no_key_anywhere(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)
        with pytest.raises(BadInput, match="none is given, and OPENAI_API_KEY is not set"):
            await opened()

    def test_what_is_known_of_models(self) -> None:
        assert facts_of_model("text-embedding-3-large").dimension == 3_072
        assert facts_of_model("intfloat/multilingual-e5-small").dimension == 384
        assert facts_of_model("nomic-embed-text:latest").query == "search_query: "
        assert facts_of_model("Qwen/Qwen3-Embedding-0.6B").dimension == 1_024
        assert facts_of_model("BAAI/bge-m3").query == "" and facts_of_model("BAAI/bge-m3").dimension == 1_024
        assert facts_of_model("my-own-model").dimension == 0


def test_the_servers_vectors_tell_texts_apart() -> None:
    """The stand-in is worth something: else every test above could pass with one vector for all."""
    from array import array

    one, other, same = (array("f", unit(vector(text, 16))) for text in (KO, EN, KO))
    assert cosine(one, same) > 0.99 > cosine(one, other)
    assert encoded([1.0], "base64") == "AACAPw=="
