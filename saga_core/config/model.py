"""The configuration as values. Every field has a default; ``Config()`` is the lite profile without any key."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, get_args

from attrs import field, frozen

from saga_core.config.rules import (
    Choice,
    Facts,
    FilePath,
    Flag,
    Number,
    Options,
    OptionsByName,
    Origins,
    Secret,
    Secrets,
    StoreUrl,
    Table,
    Text,
    Url,
    Whole,
    Words,
)
from saga_core.values import PAGE_NAMES

Profile = Literal["lite", "full", "full-lance", "scale", "memory"]
Identify = Literal["transcript", "user", "system-md5"]
Markers = Literal["all", "player", "off"]
Dialect = Literal["anthropic", "openai", "google", "openrouter", "any"]
Thinking = Literal["model", "off"]
Strategy = Literal["md_prefix", "none"]
GraphMode = Literal["on-disk", "memory"]
Automatic = Literal["local", "always", "never"]
Review = Literal["auto", "ask"]
OtherSessions = Literal["off", "world", "card"]
LogLevel = Literal["debug", "info", "warning", "error"]
LogFormat = Literal["text", "json"]

LAYERS = ("A1", "A2", "A3", "A4")


_MODEL = Text("a model's name", optional=True)


@frozen(kw_only=True)
class ServerConfig:
    """Where the proxy listens, and who may talk to it."""

    host: str = field(default="127.0.0.1", validator=Text("a host name or address"))
    port: int = field(default=8765, validator=Whole(0, 65_535))
    api_keys: tuple[str, ...] = field(default=(), repr=False, validator=Secrets())
    """Keys that clients must show as bearer token. Needed for any host but loopback."""
    chat_keys: tuple[str, ...] = field(default=(), repr=False, validator=Secrets())
    """Keys that may chat and do nothing else."""
    origins: tuple[str, ...] = field(default=(), validator=Origins())
    """Browser origins that may call the API, such as ``https://risuai.xyz``; ``*`` allows all on ``/v1`` only."""
    max_body_mb: int = field(default=64, validator=Whole(1, 4_096))
    max_text_mb: int = field(default=4, validator=Whole(1, 16))
    """Text of all messages of a request: what SAGA reads, and the provider is told. Pictures are no text."""
    max_messages: int = field(default=20_000, validator=Whole(1))
    max_cpu_seconds: float = field(default=20.0, validator=Number())
    """Seconds of the processor that reading one request may take, until its prompt is there."""
    request_timeout: float = field(default=600.0, validator=Number())
    """Seconds that an upstream may stay silent."""
    keep_alive: float = field(default=15.0, validator=Number(zero=True))
    """Seconds of silence after which a waiting stream gets a comment, so that nobody in between hangs up; 0: never."""
    name: str | None = field(default=None, validator=Text("a name", optional=True))
    """Tells servers that share a journal apart; the same after a restart. None: host name and port."""
    address: str | None = field(default=None, validator=Url())
    """Where these servers reach each other. None: host and port."""
    lease_seconds: float = field(default=10.0, validator=Number())
    """Seconds without a sign of life after which the sessions of a server are free for the others."""
    audit_days: float = field(default=90.0, validator=Number(zero=True))
    """Days for which it is kept who read and changed what, where keys are wanted; 0: not at all."""
    audit_entries: int = field(default=100_000, validator=Whole(1))
    """The most entries of that."""
    workers: int = field(default=1, validator=Whole(1, 64))
    """Processes that answer on one port and share the data directory."""
    drain_timeout: float = field(default=20.0, validator=Number(zero=True))
    """Seconds that shutting down waits for background work; the rest is done at the next start."""


@frozen(kw_only=True)
class ModelsConfig:
    """Which model does what. None for narration: the one that the request names."""

    narration: str | None = field(default=None, validator=_MODEL)
    extraction: str | None = field(default=None, validator=_MODEL)
    curator: str | None = field(default=None, validator=_MODEL)
    embedding: str | None = field(default=None, validator=_MODEL)
    aliases: Mapping[str, str] = field(factory=dict, validator=Table(Text("a model's name")))
    """Name -> the model that is meant by it."""
    fallback: tuple[str, ...] = field(default=(), validator=Words())
    """Models that narrate, in this order, when the one that was asked cannot be reached or is in trouble."""
    facts: Mapping[str, Mapping[str, Any]] = field(factory=dict, validator=Facts())
    """Beginning of a model's name -> facts about it that replace the built-in ones, such as its prices."""


@frozen(kw_only=True)
class ProviderConfig:
    """How to reach a provider, and how to speak to it."""

    base_url: str | None = field(default=None, repr=False, validator=Url())
    api_key: str | None = field(default=None, repr=False, validator=Secret())
    dialect: str | None = field(default=None, validator=Choice(get_args(Dialect), optional=True))
    """Whose API it speaks; None: told from its name and address."""
    timeout: float = field(default=600.0, validator=Number())
    max_retries: int = field(default=2, validator=Whole(0, 10))
    retry_seconds: float = field(default=30.0, validator=Number(zero=True))
    """Seconds after the beginning of a call within which it is made again."""
    slots: int = field(default=0, validator=Whole(0, 1_000))
    """Calls that it answers at the same time; further ones wait here, narrations first. 0: any number."""
    thinking: str = field(default="model", validator=Choice(get_args(Thinking)))
    """Whether its models may think before they answer."""
    passthrough_key: bool = field(default=False, validator=Flag())
    """Send the client's own bearer token upstream."""


@frozen(kw_only=True)
class TokenBudget:
    """Ceilings, in tokens.

    Those of single sources lie inside ``dynamic_context_max``. One that a config file does not name shrinks to
    it; one that the file sets above it is refused.
    """

    total_context_max: int = field(default=128_000, validator=Whole())
    dynamic_context_max: int = field(default=1_500, validator=Whole())
    md_cache_max: int = field(default=600, validator=Whole())
    world_max: int = field(default=800, validator=Whole())
    lorebook_max: int = field(default=800, validator=Whole())
    state_briefing_max: int = field(default=200, validator=Whole())
    graph_context_max: int = field(default=300, validator=Whole())
    recall_max: int = field(default=500, validator=Whole())
    memories_max: int = field(default=300, validator=Whole())
    state_block_instruction: int = field(default=400, validator=Whole())
    state_block_room: int = field(default=200, validator=Whole())
    """Tokens that a short limit of the client's on the reply gets besides, for the state block; 0: none."""
    counter: str = field(default="auto", validator=Text("a token counter's name"))
    """What counts tokens."""
    counter_options: Mapping[str, Any] = field(factory=dict, repr=False, validator=Options())


@frozen
class MdCacheConfig:
    """The .md pages."""

    enabled: bool = field(default=True, validator=Flag())
    cache_dir: str | None = field(default=None, validator=FilePath(optional=True))
    """Where the pages lie; None: ``pages`` in the data directory."""
    files: tuple[str, ...] = field(default=PAGE_NAMES, validator=Words(PAGE_NAMES))
    atomic_write: bool = field(default=True, validator=Flag())


@frozen
class PromptCachingConfig:
    """How the prompt is kept cacheable."""

    enabled: bool = field(default=True, validator=Flag())
    strategy: Strategy = field(default="md_prefix", validator=Choice(get_args(Strategy)))
    repin_every: int = field(default=10, validator=Whole(1))
    """For models whose cache is not known: the pinned pages show the state of each so-many-th turn."""
    carry_floating: bool = field(default=True, validator=Flag())
    """Put what proves to float in the client's system prompt behind the history, where it breaks no cache."""


@frozen(kw_only=True)
class CuratorConfig:
    """The curator."""

    interval: int = field(default=10, validator=Whole(1))
    enabled: bool = field(default=True, validator=Flag())
    memory_block_schema: tuple[str, ...] = field(
        default=("narrative_summary", "curation_decisions", "contradiction_log"), validator=Words()
    )
    compress_story_after_turns: int = field(default=50, validator=Whole(1))
    backend: str | None = field(default=None, validator=Text("a curator's name", optional=True))
    """Who reviews besides the rules, which always do. None: ``blocks`` when ``models.curator`` is set, else nobody."""
    review: Review = field(default="auto", validator=Choice(get_args(Review)))
    """Whether what a model proposes counts at once, or waits until a person accepts it."""
    options: Mapping[str, Any] = field(factory=dict, repr=False, validator=Options())


@frozen
class ExtractionConfig:
    """Replies that nobody reported, where ``models.extraction`` names no model that reads them."""

    automatic: Automatic = field(default="local", validator=Choice(get_args(Automatic)))
    """Whose models may be asked by themselves: those on this machine or a private network, any, or none."""
    review: Review = field(default="auto", validator=Choice(get_args(Review)))
    """Whether what a model read of a history that SAGA adopted or imported counts at once, or waits for a person."""


@frozen(kw_only=True)
class StrategyConfig:
    """A memory strategy."""

    use: str | None = field(default=None, validator=Text("a strategy's name", optional=True))
    """Which strategy it is; None: the one of its own name."""
    every: int = field(default=6, validator=Whole(1))
    """Turns of a path between two runs."""
    tokens: int = field(default=0, validator=Whole())
    """Tokens of turns behind which it runs before that; 0: never."""
    namespace: str | None = field(default=None, validator=Text("a namespace such as /facts/{actor}", optional=True))
    """Where its records lie; None: where the strategy says."""
    most: int = field(default=40, validator=Whole(1, 100))
    """Records of one namespace; beyond them those go that were learned longest ago."""
    expires_days: float = field(default=0.0, validator=Number(zero=True))
    """Days after which a record is told no more; 0: never."""
    review: Review = field(default="auto", validator=Choice(get_args(Review)))
    """Whether what is learned counts at once, or waits until a person accepts it."""
    options: Mapping[str, Any] = field(factory=dict, repr=False, validator=Options())


@frozen
class LorebookConfig:
    """The dynamic lorebook."""

    character_layers: tuple[str, ...] = field(default=LAYERS, validator=Words(LAYERS))
    decay_threshold: int | None = field(default=None, validator=Whole(0, optional=True))
    """Accepted for old files and not used; the layers' own decay (``decay``) replaces it."""
    decay: Mapping[str, int] = field(factory=lambda: {"A3": 7, "A4": 3}, validator=Table(Whole(), LAYERS))
    """Layer to the turns since the last mention after which its entries stay out."""
    propagation_depth: int = field(default=2, validator=Whole(0, 4))


@frozen(kw_only=True)
class GraphConfig:
    """The graph."""

    db_path: str = field(default="db/graph.kuzu", validator=FilePath())
    mode: GraphMode = field(default="on-disk", validator=Choice(get_args(GraphMode)))
    max_hop: int = field(default=3, validator=Whole(0, 4))
    hybrid_rerank: bool = field(default=True, validator=Flag())
    raw_query: bool = field(default=False, validator=Flag())
    """Whether ``/api/graph/query`` passes queries to an engine with a language of its own."""


@frozen(kw_only=True)
class SessionConfig:
    """How sessions are told apart and kept."""

    auto_save: bool = field(default=True, validator=Flag())
    auto_save_interval: int = field(default=5, validator=Whole(1))
    default_world: str | None = field(default=None, validator=Text("a world's name", optional=True))
    """The world of a chat that names none; none: an empty one, learned from play."""
    identify: Identify = field(default="transcript", validator=Choice(get_args(Identify)))
    markers: Markers = field(default="all", validator=Choice(get_args(Markers)))
    """Whose ``[[saga:…]]`` markers count: those of system messages and of the player, of the player alone, nobody's."""
    live_timelines: int = field(default=4, validator=Whole(1))
    """Timelines of one session whose graph and pages are kept rendered."""
    checkpoint_every: int = field(default=32, validator=Whole(1))
    loaded: int = field(default=64, validator=Whole(1))
    """Sessions that are kept in memory. One more lets the one go that was used least recently, when it is at rest."""
    server_history: bool = field(default=False, validator=Flag())
    """Tell the history of a session that a request names, when the request itself shows none: for thin clients."""
    history_turns: int = field(default=60, validator=Whole(2))
    """Turns of it that are told at least, where there are so many; up to half as many more."""
    history_hours: float = field(default=0.0, validator=Number(zero=True))
    """Hours after which turns of it are no longer told; 0: never."""
    collect_after_days: int = field(default=7, validator=Whole())
    """Age at which a session without a name that never got a second turn is deleted; 0: never."""


@frozen
class ModuleConfig:
    """An optional module."""

    enabled: bool = field(default=False, validator=Flag())


@frozen
class ModulesConfig:
    """Optional modules."""

    rpg: ModuleConfig = ModuleConfig()
    map: ModuleConfig = ModuleConfig()


@frozen(kw_only=True)
class StoreConfig:
    """One store's backend. None: the profile's choice."""

    backend: str | None = field(default=None, validator=Text("a backend's name", optional=True))
    path: str | None = field(default=None, validator=FilePath(optional=True))
    url: str | None = field(default=None, repr=False, validator=StoreUrl())
    options: Mapping[str, Any] = field(factory=dict, repr=False, validator=Options())
    resident_mb: int = field(default=64, validator=Whole(0))
    """Memory for the resident layer over this store; 0 leaves it out. Graph and vector only."""


@frozen(kw_only=True)
class StorageConfig:
    """Where everything is kept."""

    profile: Profile = field(default="lite", validator=Choice(get_args(Profile)))
    path: str = field(default="saga-data", validator=FilePath())
    """The data directory, in which stores without a path of their own lie."""
    url: str | None = field(default=None, repr=False, validator=StoreUrl())
    """The address of the database for stores that have none of their own."""
    state: StoreConfig = StoreConfig()
    graph: StoreConfig = StoreConfig()
    vector: StoreConfig = StoreConfig()
    cache: StoreConfig = StoreConfig()


@frozen(kw_only=True)
class RecallConfig:
    """How the past is remembered."""

    embedder: str = field(default="ngram", validator=Text("an embedder's name"))
    options: Mapping[str, Any] = field(factory=dict, repr=False, validator=Options())
    deadline_ms: float = field(default=250.0, validator=Number())
    """Milliseconds that a source of context may take before it is left out."""
    top_k: int = field(default=96, validator=Whole(1))
    sources: Mapping[str, Mapping[str, Any]] = field(factory=dict, repr=False, validator=OptionsByName())
    """Sources of context that other packages bring, by name, each with its options."""
    extraction_wait_ms: float = field(default=1_500.0, validator=Number(zero=True))
    """Milliseconds that a request waits when the turn that it continues is being read by the extraction model."""
    other_sessions: OtherSessions = field(default="off", validator=Choice(get_args(OtherSessions)))
    """Which other sessions of the same key are told when the player asks for another story: those of the same world, or
    of those only the ones with the same greeting and the same player."""


@frozen
class LoggingConfig:
    """What the server writes to stderr."""

    level: LogLevel = field(default="info", validator=Choice(get_args(LogLevel)))
    """From which level on. At ``debug`` prompts and replies are in it, each marked as private."""
    format: LogFormat = field(default="text", validator=Choice(get_args(LogFormat)))
    """Lines for people, or a JSON object a line for programs."""


@frozen
class ApiKeys:
    """The note's ``api_keys``: provider keys, by provider."""

    anthropic: str | None = field(default=None, repr=False, validator=Secret())
    openai: str | None = field(default=None, repr=False, validator=Secret())
    google: str | None = field(default=None, repr=False, validator=Secret())


@frozen(kw_only=True)
class Config:
    """Everything that can be set."""

    server: ServerConfig = ServerConfig()
    models: ModelsConfig = ModelsConfig()
    providers: Mapping[str, ProviderConfig] = field(factory=dict)
    api_keys: ApiKeys = ApiKeys()
    token_budget: TokenBudget = TokenBudget()
    md_cache: MdCacheConfig = MdCacheConfig()
    prompt_caching: PromptCachingConfig = PromptCachingConfig()
    extraction: ExtractionConfig = ExtractionConfig()
    curator: CuratorConfig = CuratorConfig()
    memory_strategies: Mapping[str, StrategyConfig] = field(factory=dict)
    dynamic_lorebook: LorebookConfig = LorebookConfig()
    graph: GraphConfig = GraphConfig()
    session: SessionConfig = SessionConfig()
    modules: ModulesConfig = ModulesConfig()
    storage: StorageConfig = StorageConfig()
    recall: RecallConfig = RecallConfig()
    logging: LoggingConfig = LoggingConfig()
    base: Path = field(factory=Path.cwd, eq=False)
    """The directory that relative paths are relative to: the config file's, or the working directory."""
    warnings: tuple[str, ...] = field(default=(), eq=False)
    """What was accepted but is old or without effect, for the log."""

    def resolve(self, path: str) -> Path:
        """``path`` below ``base``, if it is relative."""
        found = Path(path).expanduser()
        return found if found.is_absolute() else self.base / found

    @property
    def data_dir(self) -> Path:
        """The data directory, absolute."""
        return self.resolve(self.storage.path)
