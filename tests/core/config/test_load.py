from __future__ import annotations

import traceback
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga_core.config import Config, load_config
from saga_core.config.model import TokenBudget
from saga_core.errors import BadInput, ConfigError

# The configuration of SAGA 3.0, as its users have it on disk.
OLD_FILE = """\
server:
  host: "0.0.0.0"
  port: 8000

models:
  narration: "claude-sonnet-4-5-20250929"   # 메인 내레이션
  extraction: "gemini-2.0-flash"            # 상태 추출 (경량 LLM)
  curator: "claude-sonnet-4-5-20250929"     # 큐레이터
  embedding: "text-embedding-3-small"       # 벡터 임베딩

api_keys:
  anthropic: "${ANTHROPIC_API_KEY}"
  openai: "${OPENAI_API_KEY}"
  google: "${GOOGLE_API_KEY}"

token_budget:
  total_context_max: 128000     # 전체 컨텍스트 상한
  dynamic_context_max: 1500     # 동적 컨텍스트 상한
  md_cache_max: 600             # .md 캐시 토큰
  lorebook_max: 800             # 로어북 토큰
  state_briefing_max: 200       # 상태 브리핑 토큰
  graph_context_max: 300        # 그래프 컨텍스트 토큰
  state_block_instruction: 100  # State Block 지시 토큰

md_cache:
  enabled: true
  cache_dir: "cache/sessions"
  files: [state.md, relations.md, story.md, lore.md]
  atomic_write: true

prompt_caching:
  enabled: true
  strategy: "md_prefix"         # .md 캐시를 프롬프트 프리픽스로

curator:
  interval: 10                  # N턴마다 큐레이터 실행
  enabled: true
  memory_block_schema:          # Letta Memory Block 스키마
    - narrative_summary
    - curation_decisions
    - contradiction_log
  compress_story_after_turns: 50

dynamic_lorebook:
  character_layers: ["A1", "A2", "A3", "A4"]
  decay_threshold: 5
  propagation_depth: 2          # 그래프 관계 전파 깊이

graph:
  db_path: "db/graph.kuzu"
  mode: "on-disk"
  max_hop: 3                    # N-hop 확장 최대 깊이
  hybrid_rerank: true           # Graph x Vector 하이브리드 리랭킹

session:
  auto_save: true
  auto_save_interval: 5
  default_world: "my_world"

modules:                        # Phase 4 예정
  rpg:
    enabled: false
  map:
    enabled: false
"""


def problems(source: Any, **environ: str) -> tuple[str, ...]:
    with pytest.raises(ConfigError) as caught:
        load_config(source, environ=environ)
    return caught.value.problems


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "saga.yaml"


def test_the_old_file_loads_unchanged_without_any_variable(file: Path) -> None:
    file.write_text(OLD_FILE, encoding="utf-8")
    config = load_config(file, environ={})
    assert (config.server.host, config.server.port) == ("0.0.0.0", 8000)
    assert config.server.api_keys == ()
    assert config.api_keys.anthropic is None
    assert config.models.narration == "claude-sonnet-4-5-20250929"
    assert config.token_budget.lorebook_max == 800
    assert config.token_budget.state_block_instruction == 100
    assert config.session.default_world == "my_world"
    assert config.dynamic_lorebook.decay_threshold == 5
    assert config.graph.db_path == "db/graph.kuzu"
    assert config.curator.memory_block_schema == ("narrative_summary", "curation_decisions", "contradiction_log")
    assert config.base == file.parent


def test_the_old_files_idle_keys_are_named_with_what_replaces_them(file: Path) -> None:
    file.write_text(OLD_FILE, encoding="utf-8")
    warnings = load_config(file, environ={}).warnings
    about = {warning.split()[0] for warning in warnings}
    assert about == {
        "dynamic_lorebook.decay_threshold",
        "session.auto_save",
        "session.auto_save_interval",
        "graph.mode",
        "graph.db_path",
        "models.embedding",
    }
    assert any("dynamic_lorebook.decay instead" in warning for warning in warnings)


def test_db_path_is_no_warning_for_the_engine_that_uses_it() -> None:
    config = load_config({"graph": {"db_path": "db/g"}, "storage": {"graph": {"backend": "kuzu"}}}, environ={})
    assert config.warnings == ()


def test_nothing_is_a_full_configuration() -> None:
    assert load_config(None) == Config()
    assert load_config(None).base == Path.cwd()
    assert load_config({}) == Config()


def test_empty_file_and_empty_sections_mean_the_defaults(file: Path) -> None:
    file.write_text("", encoding="utf-8")
    assert load_config(file, environ={}) == Config()
    file.write_text("server:\nproviders:\n# port: 1\n", encoding="utf-8")
    assert load_config(file, environ={}) == Config()


def test_a_ready_configuration_is_taken_as_it_is() -> None:
    config = Config()
    assert load_config(config) is config


@pytest.mark.parametrize(
    ("tree", "problem"),
    [
        (
            {"token_budget": {"lorebook_max": -3}},
            "token_budget.lorebook_max: -3 is not allowed; give a whole number of at least 0",
        ),
        ({"server": {"port": "8000"}}, 'server.port: "8000" is not allowed; give a whole number from 0 to 65535'),
        ({"server": {"port": True}}, "server.port: true is not allowed; give a whole number from 0 to 65535"),
        ({"server": {"port": 1.0}}, "server.port: 1.0 is not allowed; give a whole number from 0 to 65535"),
        ({"server": {"port": None}}, "server.port: null is not allowed; give a whole number from 0 to 65535"),
        ({"server": {"port": 70_000}}, "server.port: 70000 is not allowed; give a whole number from 0 to 65535"),
        ({"curator": {"enabled": 1}}, "curator.enabled: 1 is not allowed; give true or false"),
        ({"curator": {"enabled": "yes"}}, 'curator.enabled: "yes" is not allowed; give true or false'),
        ({"server": {"request_timeout": 0}}, "server.request_timeout: 0 is not allowed; give a number above 0"),
        (
            {"server": {"request_timeout": float("nan")}},
            "server.request_timeout: NaN is not allowed; give a number above 0",
        ),
        ({"server": {"drain_timeout": -1}}, "server.drain_timeout: -1 is not allowed; give a number of at least 0"),
        (
            {"session": {"identify": "magic"}},
            'session.identify: "magic" is not allowed; give one of transcript, user, system-md5',
        ),
        (
            {"md_cache": {"files": ["../state.md"]}},
            'md_cache.files: ["../state.md"] is not allowed; '
            "give a list of some of state.md, relations.md, story.md, lore.md",
        ),
        ({"server": [1]}, "server: [1] is not allowed; give a section with keys such as host"),
        (
            {"providers": [1]},
            "providers: [1] is not allowed; give providers by name, such as openai, each with base_url or api_key",
        ),
        ({"dynamic_lorebook": {"decay": 5}}, "dynamic_lorebook.decay: 5 is not allowed; give a mapping"),
        (
            {"dynamic_lorebook": {"decay": {"A3": -1}}},
            'dynamic_lorebook.decay: {"A3": -1} is not allowed; for A3, give a whole number of at least 0',
        ),
        (
            {"dynamic_lorebook": {"decay": {"B1": 1}}},
            'dynamic_lorebook.decay: {"B1": 1} is not allowed; give a mapping with keys among A1, A2, A3, A4',
        ),
    ],
)
def test_a_bad_value_is_named_with_its_path_and_what_is_allowed(tree: dict[str, Any], problem: str) -> None:
    assert problems(tree) == (problem,)


@pytest.mark.parametrize("path", ["../saga", "a/../../b", "cache/..", "..", "a\0b", "", "  "])
@pytest.mark.parametrize(
    "place", [("storage", "path"), ("md_cache", "cache_dir"), ("graph", "db_path"), ("storage", "state", "path")]
)
def test_relative_paths_do_not_leave_the_folder(path: str, place: tuple[str, ...]) -> None:
    tree: Any = path
    for name in reversed(place):
        tree = {name: tree}
    (problem,) = problems(tree)
    assert problem.startswith(".".join(place) + ": ")


def test_relative_paths_are_relative_to_the_file(file: Path) -> None:
    file.write_text("storage: {path: 자료/saga}\n", encoding="utf-8")
    assert load_config(file, environ={}).data_dir == file.parent / "자료" / "saga"
    file.write_text("storage: {path: /var/saga}\n", encoding="utf-8")
    assert load_config(str(file), environ={}).data_dir == Path("/var/saga")


@pytest.mark.parametrize(
    ("tree", "problem"),
    [
        ({"servr": {}}, "servr: unknown key; did you mean server?"),
        ({"token_budget": {"lorebok_max": 1}}, "token_budget.lorebok_max: unknown key; did you mean "
         "token_budget.lorebook_max?"),
        ({"lorebook_max": 1}, "lorebook_max: unknown key here; it belongs to token_budget.lorebook_max"),
        ({"base": "x"}, "base: unknown key; known here: "),
        ({"warnings": []}, "warnings: unknown key; known here: "),
        ({"providers": {"openai": {"url": "x"}}}, "providers.openai.url: unknown key here; it belongs to "),
        ({"modules": {"rpg": {"on": True}}}, "modules.rpg.on: unknown key; known here: enabled"),
    ],
)  # fmt: skip
def test_an_unknown_key_is_refused_with_the_closest(tree: dict[str, Any], problem: str) -> None:
    (found,) = problems(tree)
    assert found.startswith(problem)


def test_every_culprit_is_listed(file: Path) -> None:
    file.write_text("server: {port: x, hots: y}\ntoken_budget: {lorebook_max: -1}\nfoo: 1\n", encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_config(file, environ={})
    assert len(caught.value.problems) == 4
    assert str(caught.value).startswith("saga.yaml: ")


class TestBudgets:
    def test_a_ceiling_above_the_whole_is_refused(self) -> None:
        (problem,) = problems({"token_budget": {"dynamic_context_max": 500, "lorebook_max": 501}})
        assert problem.startswith("token_budget.lorebook_max: 501 does not fit into dynamic_context_max 500; ")

    def test_a_ceiling_that_is_not_written_shrinks(self) -> None:
        budget = load_config({"token_budget": {"dynamic_context_max": 250}}, environ={}).token_budget
        assert (budget.lorebook_max, budget.recall_max, budget.state_briefing_max) == (250, 250, 200)

    def test_the_dynamic_context_fits_into_the_total(self) -> None:
        (problem,) = problems({"token_budget": {"total_context_max": 1_000}})
        assert "give at least 1900" in problem
        tree = {"token_budget": {"total_context_max": 1_900}}
        assert load_config(tree, environ={}).token_budget.total_context_max == 1_900


class TestEnvironment:
    def test_values_are_taken_from_variables(self) -> None:
        tree = {"server": {"port": "${PORT}", "host": "${HOST:-127.0.0.1}", "request_timeout": "${T}"}}
        server = load_config(tree, environ={"PORT": "9000", "T": "1.5"}).server
        assert (server.port, server.host, server.request_timeout) == (9000, "127.0.0.1", 1.5)

    def test_text_stays_text(self) -> None:
        assert load_config({"models": {"narration": "${M}"}}, environ={"M": "4"}).models.narration == "4"

    def test_references_inside_text_and_escaped_ones(self) -> None:
        tree = {"models": {"narration": "my-${A}-${B:-b}", "curator": "$${A} costs $5"}}
        models = load_config(tree, environ={"A": "에이"}).models
        assert (models.narration, models.curator) == ("my-에이-b", "${A} costs $5")

    def test_an_empty_variable_takes_the_default(self) -> None:
        assert load_config({"server": {"port": "${P:-81}"}}, environ={"P": ""}).server.port == 81

    def test_an_unset_variable_is_an_error_that_names_it(self) -> None:
        (problem,) = problems({"models": {"narration": "${NO_SUCH}"}})
        assert problem.startswith("models.narration: ") and "variable NO_SUCH is not set" in problem

    def test_an_unset_variable_in_a_secret_means_not_set(self) -> None:
        tree = {
            "server": {"api_keys": ["${A}", "k2"]},
            "api_keys": {"openai": "${B}"},
            "providers": {"local": {"api_key": "x${C}"}},
        }
        config = load_config(tree, environ={})
        assert config.server.api_keys == ("k2",)
        assert config.api_keys.openai is None
        assert config.providers["local"].api_key is None

    @pytest.mark.parametrize("environ", [{}, {"A": ""}])
    def test_keys_of_which_none_is_set_do_not_open_the_server(self, environ: dict[str, str]) -> None:
        with pytest.raises(ConfigError, match=r"server.api_keys: none of them is set \(A\)"):
            load_config({"server": {"api_keys": ["${A}"]}}, environ=environ)
        assert load_config({"server": {"api_keys": ["${A:-}"]}}, environ=environ).server.api_keys == ()
        assert load_config({"server": {"api_keys": []}}, environ=environ).server.api_keys == ()

    def test_a_key_of_a_provider_that_is_not_set_is_said(self) -> None:
        tree = {"providers": {"local": {"api_key": "${C}"}, "other": {"api_key": "${C:-}"}, "third": None}}
        (warning,) = load_config(tree, environ={}).warnings
        assert warning == "providers.local.api_key: C is not set, so the file gives it no key"
        assert load_config(tree, environ={"C": "k-1"}).warnings == ()

    def test_options_are_expanded_throughout(self) -> None:
        tree = {"storage": {"state": {"options": {"dsn": {"password": ["${P}"]}}}}}
        assert load_config(tree, environ={"P": "s"}).storage.state.options == {"dsn": {"password": ["s"]}}


class TestSecrets:
    TREE: ClassVar[dict[str, Any]] = {
        "server": {"api_keys": ["geheim-1"]},
        "api_keys": {"openai": "geheim-2"},
        "providers": {"x": {"api_key": "${K}", "base_url": "http://h/v1"}},
        "storage": {"state": {"url": "pg://u:geheim-4@h/d", "options": {"password": "geheim-5"}}},
    }

    def test_no_secret_in_repr(self) -> None:
        config = load_config(self.TREE, environ={"K": "geheim-3"})
        assert config.providers["x"].api_key == "geheim-3"
        assert "geheim" not in repr(config)

    @pytest.mark.parametrize(
        "tree",
        [
            {"server": {"api_keys": ["geheim 1"]}},
            {"server": {"api_keys": "geheim"}},
            {"server": {"api_keys": ["geheim#1"]}},
            {"api_keys": {"openai": "geheim\n"}},
            {"api_keys": {"openai": ["geheim"]}},
            {"api_keys": {"geheim_opnai": "geheim"}},
            {"providers": {"x": {"base_url": "ftp://geheim@h"}}},
            {"storage": {"state": {"url": ["geheim"]}}},
            {"storage": {"state": {"options": ["geheim"]}}},
            {"storage": {"state": {"options": {"a": "${NONE}geheim"}}}},
            {"server": {"port": "${K}"}},
            {"session": {"identify": "${K}"}},
            {"opanai": "geheim"},
        ],
    )
    def test_no_secret_in_messages(self, tree: dict[str, Any]) -> None:
        for problem in problems(tree, K="geheim"):
            assert "geheim" not in problem.replace("geheim_opnai", "")

    def test_no_secret_in_a_traceback(self) -> None:
        secret = "blank " + "secret"[::-1]
        with pytest.raises(ConfigError) as caught:
            load_config({"server": {"api_keys": [secret]}}, environ={})
        assert secret not in "".join(traceback.format_exception(caught.value))


class TestFiles:
    def test_a_missing_file(self, file: Path) -> None:
        with pytest.raises(ConfigError, match=r"saga\.yaml: there is no such file"):
            load_config(file)

    def test_a_folder(self, tmp_path: Path) -> None:
        with pytest.raises(ConfigError, match="cannot be read"):
            load_config(tmp_path)

    @pytest.mark.parametrize(
        ("text", "match"),
        [
            (b"server: {port: [}", r"line 1, column 17: this is not valid YAML"),
            (b"server:\n  port: 1\n  port: 2\n", "line 3: port appears a second time"),
            (b"- a\n", "the file holds a list; give sections"),
            (b"just words", "the file holds a single value; give sections"),
            (b"? [a]\n: 2\n", "line 1, column 3: this is not valid YAML: found unhashable key"),
            (b"1: 2\n", "the key 1 is no text"),
            (b"server: {1: 2}\n", "server: the key 1 is no text"),
            (b"a: &a [*a]\n", "a value refers to itself"),
            (b"server: !!python/object:os.system {}\n", "this is not valid YAML: could not determine a constructor"),
            (b"\xff\xfe\xfa", "not UTF-8"),
            (b"server: {port: 2001-99-99}", "this is not valid YAML"),
        ],
    )
    def test_what_is_no_settings_file(self, file: Path, text: bytes, match: str) -> None:
        file.write_bytes(text)
        with pytest.raises(ConfigError, match=match):
            load_config(file, environ={})

    def test_a_byte_order_mark_and_korean(self, file: Path) -> None:
        file.write_bytes(b"\xef\xbb\xbf" + "session: {default_world: 어둠의 숲}".encode())
        assert load_config(file, environ={}).session.default_world == "어둠의 숲"


class TestValues:
    def test_a_value_checks_itself_without_a_file(self) -> None:
        with pytest.raises(BadInput, match=r"TokenBudget\.lorebook_max: -1 is not allowed; give a whole number"):
            TokenBudget(lorebook_max=-1)

    def test_a_value_that_yaml_cannot_write_is_shown_as_python_does(self) -> None:
        (problem,) = problems({"server": {"port": {1, 2}}})
        assert problem.startswith("server.port: {1, 2} is not allowed")

    def test_a_long_value_is_shortened(self) -> None:
        (problem,) = problems({"server": {"port": "9" * 500}})
        assert len(problem) < 200

    @pytest.mark.parametrize("url", ["foo", "ftp://x", "http://", "http://a b", "http://h:99999/v1", 3, ""])
    def test_bad_base_urls(self, url: Any) -> None:
        (problem,) = problems({"providers": {"openai": {"base_url": url}}})
        assert problem.startswith("providers.openai.base_url: ")

    def test_a_base_url_loses_its_slash(self) -> None:
        tree = {"providers": {"openai": {"base_url": "http://127.0.0.1:5001/v1/"}}}
        assert load_config(tree, environ={}).providers["openai"].base_url == "http://127.0.0.1:5001/v1"

    @pytest.mark.parametrize("name", ["a/b", "", "a b", "어"])
    def test_bad_provider_names(self, name: str) -> None:
        (problem,) = problems({"providers": {name: {}}})
        assert problem.startswith("providers: ")

    @pytest.mark.parametrize("origin", ["risuai.xyz", "https://a/b", 3, ""])
    def test_bad_origins(self, origin: Any) -> None:
        (problem,) = problems({"server": {"origins": [origin]}})
        assert "give a list of origins" in problem

    @pytest.mark.parametrize("model", ["", "  ", 3, "a\nb", ["x"]])
    def test_bad_model_names(self, model: Any) -> None:
        (problem,) = problems({"models": {"narration": model}})
        assert problem.endswith("is not allowed; give a model's name or null")

    def test_pages_are_swapped_as_a_set_whatever_is_set(self) -> None:
        (warning,) = load_config({"md_cache": {"atomic_write": False}}, environ={}).warnings
        assert warning.startswith("md_cache.atomic_write: false has no effect")

    def test_modules_are_enabled_by_name(self) -> None:
        config = load_config({"modules": {"map": {"enabled": True}, "rpg": {}}}, environ={})
        assert {name: each.enabled for name, each in config.modules.items()} == {"map": True, "rpg": False}
        assert config.warnings == ()
        (problem,) = problems({"modules": ["map"]})
        assert "give modules by name, such as map" in problem

    def test_keys_of_two_kinds_at_once_are_named(self) -> None:
        tree = {"server": {"api_keys": ["k"]}, "providers": {"openai": {"passthrough_key": True}}}
        (warning,) = load_config(tree, environ={}).warnings
        assert warning.startswith("providers.*.passthrough_key has no effect")


_SECTIONS = ["server", "models", "providers", "token_budget", "storage", "session", "dynamic_lorebook", "nonsense"]
_NAMES = ["port", "host", "api_keys", "narration", "lorebook_max", "state", "graph", "path", "decay", "identify", "x"]
_LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just("${A}")
_TREES = st.dictionaries(
    st.sampled_from(_SECTIONS),
    st.recursive(
        _LEAVES,
        lambda below: st.lists(below, max_size=2) | st.dictionaries(st.sampled_from(_NAMES), below, max_size=3),
        max_leaves=6,
    ),
    max_size=4,
)


@given(_TREES)
def test_any_tree_is_a_configuration_or_a_list_of_problems(tree: dict[str, Any]) -> None:
    try:
        config = load_config(tree, environ={"A": "1"})
    except ConfigError as error:
        assert error.problems
        assert all(": " in problem for problem in error.problems)
    else:
        assert isinstance(config, Config)
