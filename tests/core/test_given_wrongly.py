"""Objects of the wrong kind are refused where they are given, with what they lack."""

from __future__ import annotations

from array import array
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from saga_backends.memory import MemoryState
from saga_core import Saga, registry
from saga_core.errors import BadInput, NotFound, StoreError, StoreUnavailable, UpstreamError
from saga_core.maintenance import ImportOptions, move_journal
from saga_core.modules import Modules
from saga_core.ports import TextPart, UsagePart
from saga_core.storage.open_models import ForeignEmbedder
from saga_core.stores import Batch, Key, StoreInfo
from saga_core.strategies import RecordKind, Strategy
from saga_core.strategies.strategy import Detail
from tests.core.frontend import MEMORY, Frontend, memory_config


class Nameless:
    """A chat model, but for its name."""

    async def stream(self, request: Any, *, streaming: bool = True) -> Any:
        yield request

    async def models(self) -> list[str]:
        return []

    async def aclose(self) -> None:
        pass


@pytest.mark.parametrize("where", ["extractor", "automatic", "curator"])
async def test_a_model_without_a_name(where: str) -> None:
    given: Any = {where: Nameless()}
    with pytest.raises(BadInput, match=f"^{where}: Nameless is no ChatModel; it lacks name$"):
        await Saga.open(memory_config(), **given)


class Letters:
    """An embedder, which is no curator."""

    def __init__(self) -> None:
        self.id, self.dimension, self.semantic = "letters", 26, False

    async def embed(self, texts: Any, *, of: Any = None) -> Any:
        return [[1.0] * 26 for _ in texts]


LOST = f"{__name__}:Lost"


class Contrary:
    """An embedder whose vectors are of another size than it says."""

    id, dimension, baseline, semantic = "contrary", 3, 0.0, True

    async def embed(self, texts: Any, mode: Any) -> list[array[float]]:
        return [array("f", [1.0, 0.0]) for _ in texts]

    async def aclose(self) -> None:
        pass


class Unsure(Contrary):
    dimension: Any = "3"


class Careless(Contrary):
    async def embed(self, texts: Any) -> list[array[float]]:  # type: ignore[override]
        return []


class Silent:
    """A chat model that yields nothing."""

    name = "silent"

    async def stream(self, request: Any, *, streaming: bool = True) -> str:
        return "{}"

    async def models(self) -> list[str]:
        return []

    async def aclose(self) -> None:
        pass


class Yielding(Silent):
    """A chat model that yields or raises what it was told to."""

    def __init__(self, part: Any) -> None:
        self.part = part

    async def stream(self, request: Any, *, streaming: bool = True) -> Any:
        if isinstance(self.part, Exception):
            raise self.part
        yield self.part


class Giving(Yielding):
    """A chat model whose stream is no asynchronous generator."""

    def stream(self, request: Any, *, streaming: bool = True) -> Any:
        return self.part


_TEXTS: Any = TextPart
_USED: Any = UsagePart


@pytest.mark.parametrize(
    ("setting", "model", "told"),
    [
        (
            "extractor",
            Yielding("{}"),
            "Yielding.stream yields a str; yield parts of saga_core.ports, a text as TextPart(text)",
        ),
        ("automatic", Yielding({"type": "text"}), "Yielding.stream yields a dict; yield parts of saga_core.ports"),
        ("curator", Yielding(_TEXTS(b"{}")), "Yielding.stream yields a TextPart whose text is a bytes; give a str"),
        ("extractor", Yielding(_USED({})), "Yielding.stream yields a UsagePart whose usage is a dict; give a Usage"),
        ("extractor", Yielding(KeyError("choices")), "Yielding.stream failed (KeyError: 'choices')"),
        ("curator", Giving("{}"), "Giving.stream gives a str; write it with async def, and yield each part"),
    ],
)
async def test_a_model_that_yields_no_parts_is_named(setting: str, model: Any, told: str) -> None:
    given: dict[str, Any] = {setting: model}
    config = {**MEMORY, "curator": {"interval": 1}, "models": {"curator": "m"}}
    async with Saga.open(config, **given) as saga:
        chat = Frontend(saga)
        for number in range(2):
            await chat.say(f"I go {number}.", "A gorge.")
            await saga.drain(5)
        assert f"{setting}: {told}" in str((await saga.status())["degraded"])


class Hasty:
    """A curator that is not asynchronous."""

    info = StoreInfo("curator", "hasty")

    def review(self, view: Any) -> tuple[()]:
        return ()

    async def check(self, *, thorough: bool = False) -> Any:
        pass

    async def aclose(self) -> None:
        pass


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"extractor": Silent()}, "extractor: Silent.stream yields nothing; write it with async def, and yield each"),
        ({"curator": Hasty()}, "curator: Hasty.review is not asynchronous; write it with async def"),
        ({"sources": [1]}, r"sources: is \[1\], a list; give a mapping, as in sources={'moon': …}"),
        ({"stores": MemoryState()}, "stores: is .*, a MemoryState; give a mapping, as in stores={'state': …}"),
        ({"sources": {"a": 5}}, r"sources\['a'\]: int is no ContextSource; it lacks gather, name, needs"),
        ({"clock": 5}, "clock: int is no Clock; it lacks monotonic, now"),
        ({"entropy": 5}, "entropy: int is no Entropy; it lacks token"),
        ({"extractor": Nameless}, "extractor: <class .*Nameless'> is no ChatModel; give an instance"),
        ({"embedder": Contrary}, "embedder: <class .*Contrary'> is no Embedder; give an instance"),
        ({"embedder": Unsure()}, "embedder: its dimension is '3'; give the number of components"),
        ({"embedder": Careless()}, r"embedder: Careless.embed cannot be called as embed\(texts, mode\): too many"),
        ({"config": {"token_budget": {"counter": f"{__name__}:Text"}}}, "counter: .*:Text: Text is no TokenCounter"),
        (
            {"config": {"memory_strategies": {"x": {"use": f"{__name__}:Text"}}}},
            "opens to a Text; it has to be a Strat",
        ),
        ({"config": {"plugins": {"saga.backends": {"dict": "a:B"}}}}, "name a backend KIND.NAME, where KIND is one of"),
        ({"config": {"plugins": {"saga.backends": {"stat.x": "a:B"}}}}, "KIND is one of state, .*: stat.x is not"),
        (
            {"config": {"plugins": {"saga.backends": {"tokens.zzz": LOST}}, "token_budget": {"counter": "zzz"}}},
            f"backend 'tokens.zzz': {__name__} has no 'Lost'",
        ),
    ],
)
async def test_what_is_of_another_kind_is_refused_at_opening(given: dict[str, Any], told: str) -> None:
    arguments = {**given, "config": {"storage": {"profile": "memory"}, **given.get("config", {})}}
    with pytest.raises(BadInput, match=told):
        await Saga.open(**arguments)


def test_a_strategy_without_english_texts_or_with_another_weight() -> None:
    facts = RecordKind("fact", {"en": "What is so."}, "/{actor}/facts")
    with pytest.raises(BadInput, match="strategy 'mine': task has no 'en'"):
        Strategy("mine", {"ko": "..."}, (facts,))
    with pytest.raises(BadInput, match="strategy kind 'fact': shown is 50; give a number from 1 to 8"):
        evolve(facts, shown=50)
    for name in ("X y", "", "a/b", "x" * 65):
        with pytest.raises(BadInput, match=f"strategy {name!r}: give a name of at most 64 letters, digits"):
            Strategy(name, {"en": "..."}, (facts,))
        with pytest.raises(BadInput, match=f"strategy kind {name!r}: give a name"):
            evolve(facts, name=name)
        with pytest.raises(BadInput, match=f"strategy detail {name!r}: give a name"):
            Detail(name, "what it is")
    with pytest.raises(BadInput, match="strategy detail 'text': every record has such a field; give another name"):
        Detail("text", "what it is")


_KIND: Any = RecordKind
_MADE: Any = Strategy
_FIELD: Any = Detail
_OATH = {"en": "What is sworn."}
_PLACE = "/oaths/{actor}/{session}"


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (
            lambda: _MADE("oaths", _OATH, _KIND("oath", _OATH, _PLACE)),
            r"strategy 'oaths': .*kinds=RecordKind.*; give a",
        ),
        (lambda: _MADE("oaths", "sworn", (_KIND("oath", _OATH, _PLACE),)), r"\(task='sworn'\); give a mapping$"),
        (
            lambda: _KIND("oath", _OATH, _PLACE, _FIELD("to", "to whom")),
            r"strategy kind 'oath': RecordKind\(details=Detail\(name='to'.*\); give a tuple, each a Detail; a tuple of "
            r"one has a comma, as in \(one,\)$",
        ),
        (lambda: _KIND("oath", _OATH, _PLACE, ("to",)), r"details=\('to',\)\); give a tuple, each a Detail$"),
        (lambda: _KIND("oath", _OATH, _PLACE, check="no"), r"check='no'\); give a function or None$"),
        (
            lambda: _FIELD("to", "to whom", of="yes"),
            r"'to': Detail\(of='yes'\); give a tuple, each a text; a tuple",
        ),
    ],
)
def test_a_strategy_with_a_field_of_another_type(make: Callable[[], object], told: str) -> None:
    with pytest.raises(BadInput, match=told):
        make()


class Broken(Contrary):
    async def embed(self, texts: Any, mode: Any) -> list[array[float]]:
        raise RuntimeError("the model is gone")


class Nan(Contrary):
    async def embed(self, texts: Any, mode: Any) -> list[array[float]]:
        return [array("f", [float("nan")] * 3) for _ in texts]


class Few(Contrary):
    async def embed(self, texts: Any, mode: Any) -> Any:
        return None


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (Contrary, "gave vectors of 2 components, and says it gives 3"),
        (Broken, r"failed in embed \(RuntimeError: the model is gone\)"),
        (Nan, "a vector: holds NaN"),
        (Few, "gave a NoneType for 1 texts"),
    ],
)
async def test_an_embedder_that_contradicts_itself(given: type[Contrary], told: str) -> None:
    with pytest.raises(UpstreamError, match=rf"^recall\.embedder: contrary:? {told}"):
        await ForeignEmbedder("recall.embedder", given()).embed(["a lantern"], "passage")


async def test_a_curator_of_the_configuration_that_is_none() -> None:
    registry.register("curator.letters", Letters)
    with pytest.raises(BadInput, match=r"^curator\.backend: letters: Letters is no curator store; it lacks "):
        await Saga.open({**MEMORY, "curator": {"backend": "letters"}})


class Absent(MemoryState):
    """Gives None for what it does not have, like ``dict.get``."""

    async def get(self, keys: Iterable[Key]) -> Mapping[Key, Any]:  # type: ignore[override]
        wanted = list(keys)
        found = await super().get(wanted)
        return {key: found.get(key) for key in wanted}


async def test_a_store_that_answers_for_absent_keys() -> None:
    with pytest.raises(StoreError, match=r"answered get with \(\('meta', 'format'\), None\); give keys"):
        await Saga.open(memory_config(), stores={"state": Absent()})


class Empty(Absent):
    async def get(self, keys: Iterable[Key]) -> Mapping[Key, Any]:
        return {key: value or b"" for key, value in (await super().get(keys)).items()}


async def test_a_store_that_answers_nothing_for_absent_keys() -> None:
    with pytest.raises(BadInput, match=r"memory gave .*b''.* for keys that are absent; leave them out of the answer"):
        await Saga.open(memory_config(), stores={"state": Empty()})


class Strict(MemoryState):
    async def get(self, keys: Iterable[Key]) -> Any:
        return {key: dict[Key, bytes]()[key] for key in keys}


async def test_a_store_that_fails_for_absent_keys() -> None:
    with pytest.raises(StoreUnavailable, match=r"memory could not give keys that may be absent \(KeyError: "):
        await Saga.open(memory_config(), stores={"state": Strict()})


class Backwards(MemoryState):
    async def scan(self, prefix: Key, *, after: Key | None = None, limit: int = 1_000) -> list[tuple[Key, bytes]]:
        return (await super().scan(prefix, after=after, limit=limit))[::-1]


async def test_a_journal_that_is_moved_out_of_order() -> None:
    source = Backwards()
    await source.commit(Batch({("turn", "s", "1"): b"1", ("turn", "s", "2"): b"2"}))
    with pytest.raises(StoreError, match=r"the scan of memory gave .*'1'.* behind .*'2'.*; keys come in their order"):
        await move_journal(source, MemoryState())


class Text:
    """A module whose lines are one text."""

    name, version = "bell", 1

    def context(self, state: Any, language: str) -> str:
        return "The bell rings."


class Number(Text):
    def context(self, state: Any, language: str) -> Any:
        return 5


class Numbers(Text):
    def context(self, state: Any, language: str) -> Any:
        return [1, 2.5]


class Later(Text):
    async def context(self, state: Any, language: str) -> Any:  # type: ignore[override]
        return []


@pytest.mark.parametrize(
    ("module", "told"),
    [
        (Text(), "context gave a text; give a list of lines"),
        (Number(), "context gave a int; give a list"),
        (Numbers(), "context gave 1 as a line; give texts of at most"),
        (Later(), "context is asynchronous; write it with def"),
    ],
)
def test_a_module_that_gives_no_lines(module: Any, told: str, caplog: pytest.LogCaptureFixture) -> None:
    assert Modules((module,)).context(None, "en") == ()  # type: ignore[arg-type]
    assert told in caplog.text


async def test_settings_are_switched_by_what_open_takes_too() -> None:
    async with Saga.open(memory_config()) as saga:
        saga.reconfigure({"storage": {"profile": "memory"}, "profile": "romance"})
        assert saga.config.profile == "romance"
        await Frontend(saga).say("I wait.", "The ferry comes.", mood="calm")


async def test_a_session_is_forgotten_by_its_label() -> None:
    async with Saga.open(memory_config()) as saga:
        turn = await Frontend(saga).say("I wait.", "The ferry comes.", mood="calm")
        await saga.sessions.rename(turn.session.id, "my chat")
        with pytest.raises(NotFound):
            await saga.maintenance.forget_sessions(["my chat", "no chat"])
        assert (await saga.maintenance.forget_sessions(["my chat"])).sessions == (turn.session.id,)


async def test_a_journal_that_does_not_keep_its_data_is_told() -> None:
    store = MemoryState()
    store._info = evolve(store.info, name="mine")
    async with Saga.open(memory_config(), stores={"state": store}) as saga:
        assert "`durable`: every session is lost" in saga.counters.degraded["journal.forgets"]
    async with Saga.open(memory_config()) as saga:
        assert "journal.forgets" not in saga.counters.degraded


async def test_of_a_damaged_journal_it_is_not_said_that_its_engine_forgets(tmp_path: Path) -> None:
    (tmp_path / "state.db").write_bytes(b"garbage" * 3_000)
    async with Saga.open({"storage": {"path": str(tmp_path)}}, tolerant=True) as saga:
        assert "journal.damaged" in saga.counters.degraded
        assert "journal.forgets" not in saga.counters.degraded


async def test_an_unknown_option_names_its_store() -> None:
    config = {"storage": {"profile": "memory", "state": {"backend": "memory", "options": {"foo": 1}}}}
    with pytest.raises(BadInput, match=r"^storage\.state\.options\.foo: unknown option"):
        await Saga.open(config)


async def test_an_engine_that_is_not_awaited() -> None:
    opening: Any = Saga.open(memory_config())
    with pytest.raises(AttributeError, match=r"^no begin before the engine is open: saga = await Saga\.open"):
        await opening.begin([{"role": "user", "content": "Hi."}])


async def _bytes() -> AsyncIterator[Any]:
    yield b"text"


@pytest.mark.parametrize(
    ("stream", "told"),
    [
        (_bytes, r"feed: is b'text', a bytes; feed texts \(str\); bytes are decoded first"),
        (lambda: iter("x"), "stream: is .*, a str_ascii_iterator; give an asynchronous generator that yields texts"),
    ],
)
async def test_a_stream_of_the_wrong_kind(stream: Any, told: str) -> None:
    async with Saga.open(memory_config()) as saga:
        turn = await saga.begin([{"role": "user", "content": "Hi."}])
        with pytest.raises(BadInput, match=told):
            [text async for text in turn.visible(stream())]
        with pytest.raises(BadInput, match=r"messages\[0\]: has no content; give the player's words there"):
            await saga.begin([{"role": "user", "text": "Hi."}])


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"session": 12345}, "session: is 12345, a int; give its id or its name"),
        ({"owner": 12345}, "owner: is 12345, a int; give a text"),
        ({"model": 5}, "model: is 5, a int; give a text"),
        ({"kind": 5}, "kind: is 5, a int; give a text"),
        ({"player": None}, "player: is None, a NoneType; give a text"),
        ({"window": "a"}, "window: is 'a', a str; give a whole number"),
        ({"choices": "2"}, "choices: is '2', a str; give a whole number"),
        ({"choices": 0}, "choices: 0 is out of range; give 1 to 128"),
        ({"choices": -1}, "choices: -1 is out of range; give 1 to 128"),
        ({"choices": 100_000}, "choices: 100000 is out of range; give 1 to 128"),
        ({"window": -1}, "window: -1 is negative; give a number of tokens, or 0 for no limit"),
        ({"messages": "hello"}, "messages: is 'hello', a str; give a list of messages such as {"),
        ({"messages": {"role": "user"}}, "messages: is {'role': 'user'}, a dict; give a list of messages"),
        ({"messages": None}, "messages: is None, a NoneType; give a list of messages"),
        ({"trackers": "gold"}, "trackers: is 'gold', a str; give a list of saga_core.trackers.Tracker"),
        ({"trackers": ["gold"]}, r"trackers\[0\]: is 'gold', a str; give saga_core.trackers.Tracker"),
        ({"own_tools": 5}, "own_tools: is 5, a int; give a list of tools"),
        ({"own_tools": ["roll"]}, r"own_tools\[0\]: is 'roll', a str; give tools as"),
    ],
)
async def test_an_argument_of_a_turn_of_another_type(given: dict[str, Any], told: str) -> None:
    async with Saga.open(memory_config()) as saga:
        with pytest.raises(BadInput, match=told):
            await saga.begin(**{"messages": [{"role": "user", "content": "Hi."}], **given})


async def test_a_reply_that_is_no_text() -> None:
    async with Saga.open(memory_config()) as saga:
        turn: Any = await saga.begin([{"role": "user", "content": "Hi."}])
        for piece in (b"Fog.", None, 5):
            with pytest.raises(BadInput, match=rf"feed: is {piece!r}, a \w+; feed texts"):
                turn.replies[0].feed(piece)
        with pytest.raises(BadInput, match="reason: is None, a NoneType; give a finish reason such as stop"):
            turn.replies[0].end(None)
        with pytest.raises(BadInput, match="params: is 'x', a str; give your parameters for the model, such as"):
            turn.allowing("x")
        turn.replies[0].feed("Fog.")
        for finish in (5, None, object()):
            with pytest.raises(BadInput, match=r"finish: is .*; give a finish reason such as length, or leave it out"):
                await turn.commit(finish=finish)
        with pytest.raises(BadInput, match="model: is 5, a int; give the name of the model that replied"):
            await turn.commit(model=5)
        (recorded,) = await turn.commit(finish="stop", model="tale-1")
        assert (recorded.reply, recorded.finish, recorded.model) == ("Fog.", "stop", "tale-1")


async def test_an_object_in_the_place_of_an_id() -> None:
    async with Saga.open(memory_config()) as saga:
        turn: Any = await Frontend(saga).say("I wait.", "The ferry comes.", mood="calm")
        session, number = turn.session, turn.session.id
        calls: list[Callable[[], Awaitable[Any]]] = [
            lambda: saga.describe(session),
            lambda: saga.sessions.get(session),
            lambda: saga.timelines.fork(session, turn.id, "b"),
            lambda: saga.maintenance.verify(session),
        ]
        for call in calls:
            with pytest.raises(
                BadInput, match=r"session(_id)?: is Session\(id='.*, a Session; give its id or its name"
            ):
                await call()
        wrong: Any = 1
        calls = [
            lambda: saga.describe(number, wrong),
            lambda: saga.timelines.fork(number, wrong, "b"),
            lambda: saga.timelines.prune(number, wrong),
        ]
        for call in calls:
            with pytest.raises(BadInput, match="turn: is 1, a int; give a turn's id"):
                await call()
        named: list[tuple[str, Callable[[], Awaitable[Any]]]] = [
            ("name", lambda: saga.timelines.fork(number, turn.id, wrong)),
            ("label", lambda: saga.sessions.rename(number, wrong)),
            ("name", lambda: saga.timelines.forget(number, wrong)),
            ("world", lambda: saga.sessions.create(world=wrong)),
            ("timeout", lambda: saga.drain("5")),  # type: ignore[arg-type]
            ("timeout", lambda: saga.background.drain("5")),  # type: ignore[arg-type]
            ("files", lambda: saga.maintenance.import_files("a.json", ImportOptions())),
            (r"files\[0\]", lambda: saga.maintenance.import_files(["a.json"], ImportOptions())),  # type: ignore[list-item]
            (r"files\[0\]", lambda: saga.maintenance.import_files([("a", 5)], ImportOptions())),  # type: ignore[list-item]
            (r"files\[0\]", lambda: saga.maintenance.import_files([("a",)], ImportOptions())),  # type: ignore[list-item]
            ("verdict", lambda: saga.maintenance.repair("x")),  # type: ignore[arg-type]
            ("how", lambda: saga.maintenance.import_files([], {})),  # type: ignore[arg-type]
            ("vectors", lambda: saga.maintenance.differences(number, vectors="no")),  # type: ignore[arg-type]
        ]
        for name, call in named:
            with pytest.raises(BadInput, match=f"^{name}: is .*; give "):
                await call()


async def test_what_is_no_list_of_sessions_and_no_configuration() -> None:
    wrong: Any = 5
    with pytest.raises(BadInput, match="config: is 5; give a mapping of sections, or the path of a YAML file"):
        await Saga.open(wrong)
    async with Saga.open(memory_config()) as saga:
        with pytest.raises(BadInput, match="sessions: is 'no chat', a str; give a list of sessions"):
            await saga.maintenance.forget_sessions("no chat")


async def _forgotten() -> Any:
    return MemoryState()


@pytest.mark.parametrize(
    "given",
    [
        {"stores": {"state": _forgotten}},
        {"curator": _forgotten},
        {"extractor": _forgotten},
        {"embedder": _forgotten},
        {"sources": {"moon": _forgotten}},
        {"clock": _forgotten},
        {"hosting": _forgotten},
        {"tolerant": _forgotten},
    ],
)
async def test_a_forgotten_await_at_opening(given: dict[str, Any]) -> None:
    made = {
        name: {key: value() for key, value in each.items()} if isinstance(each, dict) else each()
        for name, each in given.items()
    }
    with pytest.raises(BadInput, match=r": is a coroutine, _forgotten\(…\); await it first"):
        await Saga.open(memory_config(), **made)


async def test_a_forgotten_await_later() -> None:
    async with Saga.open(memory_config()) as saga:
        turn: Any = await saga.begin([{"role": "user", "content": "Hi."}])
        calls: list[Callable[[], Awaitable[Any]]] = [
            lambda: saga.describe(_forgotten()),  # type: ignore[arg-type]
            lambda: saga.begin(_forgotten()),  # type: ignore[arg-type]
            lambda: anext(turn.visible(_forgotten())),
        ]
        for call in calls:
            with pytest.raises(BadInput, match=r"^\w+: is a coroutine, _forgotten\(…\); await it first"):
                await call()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"hosting": 5}, "hosting: int is no Hosting; it lacks admission"),
        ({"tolerant": "yes"}, "tolerant: is 'yes', a str; give True or False"),
        ({"resume": 1}, "resume: is 1, a int; give True or False"),
    ],
)
async def test_a_choice_of_another_type_at_opening(given: dict[str, Any], told: str) -> None:
    with pytest.raises(BadInput, match=told):
        await Saga.open(memory_config(), **given)


def test_the_names_of_a_kind_that_there_is_not() -> None:
    with pytest.raises(BadInput, match="kind: 'stat' is no kind of backend; give one of state, "):
        registry.names("stat")


async def test_a_second_stream_for_one_reply() -> None:
    async def stream() -> AsyncIterator[str]:
        yield "Fog."

    async with Saga.open(memory_config()) as saga:
        turn = await saga.begin([{"role": "user", "content": "Hi."}])
        assert [text async for text in turn.visible(stream())] == ["Fog."]
        with pytest.raises(BadInput, match=r"visible: this turn has a reply already; begin it again with Saga\.begin"):
            [text async for text in turn.visible(stream())]
        assert [each.reply for each in await turn.commit()] == ["Fog."]


async def test_calls_in_the_wrong_order() -> None:
    async with Saga.open(memory_config()) as saga:
        left = await saga.begin([{"role": "user", "content": "Hi."}])
        left.replies[0].feed("Fog.")
        with pytest.raises(BadInput, match="finish: 'stopped' is unknown; give one of stop, length, aborted"):
            await left.commit(finish="stopped")
        await left.abandon()
        with pytest.raises(BadInput, match="commit: this turn was abandoned; begin it again"):
            await left.commit()
        kept = await saga.begin([{"role": "user", "content": "Hi."}])
        kept.replies[0].feed("Fog.")
        assert len(await kept.commit()) == 1
        for reply in (*kept.replies, *left.replies):
            with pytest.raises(BadInput, match="feed: the turn is recorded or abandoned already"):
                reply.feed("And rain.")
