from __future__ import annotations

from typing import Any, ClassVar

import pytest

from saga_core import registry
from saga_core.config import load_config
from saga_core.errors import BadInput, ConfigError, UpstreamError
from saga_core.messages import Block, Origin, PromptPlan
from saga_core.ports import ChatRequest, TextPart
from saga_core.registry import OpenOptions
from saga_server.providers.narrators import Narrators, Route
from tests.server.client import Client, words
from tests.server.conftest import Serve
from tests.server.upstream import Upstream, closed_port, fails

LOCAL = {"base_url": "http://127.0.0.1:5001/v1"}


def of(environ: dict[str, str] | None = None, **sections: Any) -> Narrators:
    variables = environ or {}
    return Narrators.from_config(load_config(sections, environ=variables), variables)


class TestWhichProviders:
    def test_none_means_the_built_in_one(self) -> None:
        for narrators in (of(), of(models={"narration": "claude-sonnet-5-5"}), of(providers={"openai": {}})):
            assert narrators.offline
            route = narrators.route("gpt-x")
            assert (route.provider.name, route.model) == ("offline", "gpt-x")
            assert narrators.route("").model == "offline"

    def test_the_built_in_one_can_be_chosen(self) -> None:
        narrators = of(providers={"openai": LOCAL}, models={"narration": "offline"})
        assert narrators.offline
        assert narrators.route("gpt-x").provider.name == "offline"

    def test_beside_the_built_in_one_other_models_are_asked(self) -> None:
        narrators = of(providers={"openai": LOCAL}, models={"narration": "offline", "aliases": {"small": "openai/m"}})
        assert narrators.extraction("small") is not None
        assert narrators.route_of("small") == Route(narrators.beside["openai"], "m")
        assert of(models={"narration": "offline"}).extraction("m") is None

    @pytest.mark.parametrize(
        ("sections", "environ"),
        [
            ({"providers": {"openai": LOCAL}}, {}),
            ({"providers": {"openai": {"api_key": "k"}}}, {}),
            ({"providers": {"openai": {"passthrough_key": True}}}, {}),
            ({"api_keys": {"openai": "k"}}, {}),
            ({"api_keys": {"openai": "${OPENAI_API_KEY}"}}, {"OPENAI_API_KEY": "k"}),
            ({}, {"OPENAI_API_KEY": "k"}),
        ],
    )
    def test_openai(self, sections: dict[str, Any], environ: dict[str, str]) -> None:
        narrators = of(environ, **sections)
        assert list(narrators.providers) == ["openai"]
        assert not narrators.offline

    def test_the_environments_key_is_not_for_another_address(self) -> None:
        narrators = of({"OPENAI_API_KEY": "k"}, providers={"openai": LOCAL})
        assert narrators.providers["openai"].options["api_key"] is None

    def test_a_key_that_is_written_is_for_the_address_that_is_written(self) -> None:
        narrators = of(providers={"openai": LOCAL}, api_keys={"openai": "k"})
        assert narrators.providers["openai"].options["api_key"] == "k"
        assert "'k'" not in repr(narrators)

    def test_the_shorter_silence_counts(self) -> None:
        narrators = of(providers={"openai": {**LOCAL, "timeout": 90}}, server={"request_timeout": 30})
        assert narrators.providers["openai"].options["timeout"] == 30

    def test_a_key_is_passed_through_only_where_saga_wants_none(self) -> None:
        provider = {"passthrough_key": True, **LOCAL}
        assert of(providers={"openai": provider}).providers["openai"].passthrough_key
        assert not of(providers={"openai": provider}, server={"api_keys": ["k"]}).providers["openai"].passthrough_key


class TestRoutes:
    @pytest.mark.parametrize(
        ("model", "provider", "name"),
        [
            ("gpt-5.6", "openai", "gpt-5.6"),
            ("claude-sonnet-5-5", "anthropic", "claude-sonnet-5-5"),
            ("gemini-3", "google", "gemini-3"),
            ("local/claude-like", "local", "claude-like"),
            ("anthropic/claude-x", "anthropic", "claude-x"),
            ("mistral/small", "openai", "mistral/small"),
            ("local/", "openai", "local/"),
            ("some-model", "openai", "some-model"),
        ],
    )
    def test_by_the_models_name(self, model: str, provider: str, name: str) -> None:
        narrators = of(api_keys={"openai": "k", "anthropic": "k", "google": "k"}, providers={"local": LOCAL})
        route = narrators.route(model)
        assert (route.provider.name, route.model) == (provider, name)

    def test_the_only_provider_gets_everything(self) -> None:
        narrators = of(providers={"local": LOCAL})
        for model in ("gpt-5", "claude-x", "a/b"):
            assert (narrators.route(model).provider.name, narrators.route(model).model) == ("local", model)
        assert narrators.providers["local"].backend == "openai"

    def test_the_configured_model_replaces_the_requests(self) -> None:
        narrators = of(providers={"local": LOCAL}, models={"narration": "local/mine"})
        assert narrators.route("theirs").model == "mine"
        assert narrators.route("").model == "mine"

    def test_without_any_model(self) -> None:
        with pytest.raises(BadInput, match=r"model: missing; name one, or set models\.narration"):
            of(providers={"local": LOCAL}).route("")

    async def test_a_request_without_a_model(self, client: Client) -> None:
        reply = await client.chat(words("hi"), model="")
        assert (reply.status, reply.error["param"]) == (400, "model")

    async def test_the_clients_name_for_it_comes_back(self, serve: Serve, upstream: Upstream) -> None:
        async with serve(providers={"openai": {"base_url": upstream.url}}, models={"narration": "mine"}) as client:
            reply = await client.chat(words("hi"), model="theirs")
        assert reply.json["model"] == "theirs"
        assert upstream.requests[0].body["model"] == "mine"


class TestModels:
    async def test_of_several_providers(self, serve: Serve, upstream: Upstream) -> None:
        providers = {"openai": {"base_url": upstream.url}, "second": {"base_url": upstream.url}}
        async with serve(providers=providers, models={"narration": "mine"}) as client:
            listed = [model["id"] for model in (await client.get("/v1/models")).json["data"]]
        assert listed == ["mine", "narrator-1", "narrator-2", "second/narrator-1", "second/narrator-2"]

    async def test_a_provider_that_lists_none(self, client: Client, upstream: Upstream) -> None:
        upstream.then(fails(404))
        assert (await client.get("/v1/models")).json["data"] == []

    async def test_a_provider_that_is_down_beside_one_that_is_not(self, serve: Serve, upstream: Upstream) -> None:
        down = {"base_url": f"http://127.0.0.1:{closed_port()}/v1", "max_retries": 0}
        async with serve(providers={"openai": down, "second": {"base_url": upstream.url}}) as client:
            listed = [model["id"] for model in (await client.get("/v1/models")).json["data"]]
        assert listed == ["second/narrator-1", "second/narrator-2"]

    async def test_a_wrong_key(self, client: Client, upstream: Upstream) -> None:
        upstream.then(fails(401))
        reply = await client.get("/v1/models")
        assert (reply.status, reply.error["type"]) == (401, "server_error")

    async def test_of_the_built_in_one(self, offline: Client) -> None:
        assert [model["id"] for model in (await offline.get("/v1/models")).json["data"]] == ["saga-offline"]


class TestOpening:
    def test_google_is_asked_in_its_own_way(self) -> None:
        provider = of(api_keys={"google": "k"}).providers["google"]
        assert (provider.backend, provider.dialect, provider.options["base_url"]) == ("gemini", "google", None)

    @pytest.mark.parametrize(
        ("settings", "backend"),
        [
            ({"base_url": "https://proxy.example"}, "gemini"),
            ({"base_url": "https://proxy.example/v1beta"}, "gemini"),
            ({"base_url": "https://generativelanguage.googleapis.com/v1beta/openai/"}, "openai"),
            ({"base_url": "http://127.0.0.1:5001/v1", "dialect": "any"}, "openai"),
        ],
    )
    async def test_the_address_says_which_of_its_apis_is_spoken(self, settings: dict[str, Any], backend: str) -> None:
        narrators = of(providers={"google": {**settings, "api_key": "k"}})
        provider = narrators.providers["google"]
        assert (provider.backend, provider.options["base_url"]) == (backend, settings["base_url"].rstrip("/"))
        assert (await narrators.narrator(provider)).name == "google"
        await narrators.aclose()

    async def test_a_name_of_a_backend_is_no_dialect(self) -> None:
        """A server of one's own may be called ``gemini``."""
        narrators = of(providers={"gemini": LOCAL})
        assert narrators.providers["gemini"].backend == "openai"

    def test_anthropic_is_asked_in_its_own_way(self) -> None:
        provider = of(api_keys={"anthropic": "k"}).providers["anthropic"]
        assert (provider.backend, provider.dialect, provider.options["base_url"]) == ("anthropic", "anthropic", None)

    def test_openrouter_is_known(self) -> None:
        provider = of({"OPENROUTER_API_KEY": "k"}).providers["openrouter"]
        assert (provider.backend, provider.dialect, provider.options["api_key"]) == ("openai", "openrouter", "k")
        assert provider.options["base_url"] == "https://openrouter.ai/api/v1"

    async def test_once(self, upstream: Upstream) -> None:
        narrators = of(providers={"openai": {"base_url": upstream.url}})
        provider = narrators.providers["openai"]
        await narrators.warm()
        assert await narrators.narrator(provider) is await narrators.narrator(provider)
        await narrators.aclose()

    async def test_a_model_of_another_author_that_yields_no_parts_is_named(self) -> None:
        class Texts:
            name = "mine"

            async def stream(self, request: Any, *, streaming: bool = True) -> Any:
                yield "It rains."

            async def models(self) -> list[str]:
                return []

            async def aclose(self) -> None:
                pass

        async def opened(options: OpenOptions) -> Any:
            return Texts()

        registry.register("chat.mine", opened)
        try:
            narrators = of(providers={"mine": LOCAL})
            model = await narrators.narrator(narrators.providers["mine"])
            with pytest.raises(UpstreamError, match=r"^providers\.mine: Texts\.stream yields a str; yield parts of"):
                [part async for part in model.stream(ChatRequest(PromptPlan(()), "m"))]
        finally:
            registry.unregister("chat.mine")


class TestDialects:
    @pytest.mark.parametrize(
        ("name", "settings", "backend", "dialect"),
        [
            ("openai", {"api_key": "k"}, "openai", "openai"),
            ("openai", LOCAL, "openai", "any"),
            ("openai", {**LOCAL, "dialect": "openai"}, "openai", "openai"),
            ("anthropic", {"base_url": "http://127.0.0.1:1"}, "anthropic", "anthropic"),
            ("anthropic", {**LOCAL, "dialect": "any"}, "openai", "any"),
            ("claude", {"base_url": "https://api.anthropic.com/v1", "api_key": "k"}, "anthropic", "anthropic"),
            ("second", {**LOCAL, "dialect": "anthropic"}, "anthropic", "anthropic"),
            ("router", {"base_url": "https://openrouter.ai/api/v1", "api_key": "k"}, "openai", "openrouter"),
            ("local", LOCAL, "openai", "any"),
        ],
    )
    async def test_told_or_chosen(self, name: str, settings: dict[str, Any], backend: str, dialect: str) -> None:
        narrators = of(providers={name: settings})
        provider = narrators.providers[name]
        assert (provider.backend, provider.dialect) == (backend, dialect)
        model = await narrators.narrator(provider)  # it takes the options
        assert model.name == name
        await narrators.aclose()

    def test_settings_reach_the_backend(self) -> None:
        settings = {"api_key": "k", "retry_seconds": 5, "thinking": "off", "slots": 2}
        provider = of(providers={"anthropic": settings}, models={"facts": {"claude-x": {"input": 1}}}).providers[
            "anthropic"
        ]
        assert (provider.options["retry_seconds"], provider.options["thinking"]) == (5, "off")
        assert provider.options["facts"] == {"claude-x": {"input": 1}}
        assert provider.slots.count == 2

    def test_rules_of_a_model_are_checked(self) -> None:
        with pytest.raises(ConfigError, match=r"m\.prefill: 3 given; give true or false"):
            of(models={"facts": {"m": {"prefill": 3}}})


class TestAliasesAndFallback:
    SECTIONS: ClassVar[dict[str, Any]] = {
        "providers": {"local": LOCAL, "anthropic": {"api_key": "k"}},
        "models": {"aliases": {"bard": "anthropic/claude-x", "small": "tiny"}, "fallback": ["bard", "local/b", "tiny"]},
    }

    def test_an_alias_stands_for_its_model(self) -> None:
        narrators = of(**self.SECTIONS)
        route = narrators.route("bard")
        assert (route.provider.name, route.model) == ("anthropic", "claude-x")
        assert narrators.route("small").model == "tiny"
        assert (
            of(**{**self.SECTIONS, "models": {"narration": "bard", "aliases": {"bard": "z"}}}).route("q").model == "z"
        )

    def test_the_chain_has_each_once(self) -> None:
        found = [f"{route.provider.name}/{route.model}" for route in of(**self.SECTIONS).routes("small")]
        assert found == ["local/tiny", "anthropic/claude-x", "local/b"]
        assert len(of().routes("x")) == 1

    async def test_aliases_are_listed(self, serve: Serve, upstream: Upstream) -> None:
        async with serve(providers={"up": {"base_url": upstream.url}}, models={"aliases": {"bard": "up/x"}}) as client:
            listed = [model["id"] for model in (await client.get("/v1/models")).json["data"]]
        assert listed == ["bard", "narrator-1", "narrator-2"]


class TestExtraction:
    @pytest.mark.parametrize(
        ("sections", "model"),
        [
            ({}, "tiny-1"),
            ({"models": {"narration": "offline"}}, "tiny-1"),
            ({"models": {"narration": "offline"}, "providers": {"openai": LOCAL}}, None),
            ({"providers": {"openai": LOCAL}}, None),
            ({"providers": {"openai": LOCAL}}, "offline"),
        ],
    )
    def test_nothing_is_paid_for_where_no_model_is_configured(
        self, sections: dict[str, Any], model: str | None
    ) -> None:
        assert of(**sections).extraction(model) is None

    async def test_the_model_is_asked_under_its_own_name(self, upstream: Upstream) -> None:
        narrators = of(
            models={"narration": "big-1"},
            providers={"openai": LOCAL, "cheap": {"base_url": upstream.url, "max_retries": 0}},
        )
        model = narrators.extraction("cheap/tiny-1")
        assert model is not None
        assert (model.name, await model.models()) == ("cheap", ["tiny-1"])
        plan = PromptPlan((Block("user", "What changed?", Origin.WORDS),))
        parts = [part async for part in model.stream(ChatRequest(plan, "other", {"max_tokens": 5}), streaming=False)]
        assert "".join(part.text for part in parts if isinstance(part, TextPart)) == "The rain stops."
        assert (upstream.requests[-1].body["model"], upstream.requests[-1].body["max_tokens"]) == ("tiny-1", 5)
        await model.aclose()
        await narrators.aclose()


def test_a_model_that_nobody_has_is_said() -> None:
    """A key that was forgotten: the story must not go on by the built-in narrator without a word."""
    for tree, said in (
        ({"models": {"narration": "gpt-5"}}, True),
        ({"models": {"narration": "offline"}}, False),
        ({}, False),
        ({"models": {"narration": "gpt-5"}, "api_keys": {"openai": "sk-1"}}, False),
    ):
        config = load_config(tree, environ={})
        unheard = Narrators.from_config(config, {}).unheard(config)
        assert ("models.narration: gpt-5" in unheard) is said, tree
