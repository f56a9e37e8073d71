"""The configuration as values. Every field has a default. ``Config()`` is the lite profile without any key."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, get_args

from attrs import define, field, frozen

from saga_core.config.rules import (
    BrowserOrigins,
    FactsByPrefix,
    FilePath,
    Flag,
    MappingOf,
    Number,
    OneOf,
    Options,
    OptionsByName,
    PlacesByGroup,
    Secret,
    Secrets,
    StoreUrl,
    Text,
    TrackersByName,
    Url,
    Whole,
    Words,
)
from saga_core.trackers import AUTO, PROFILES, Tracker, tracker_of
from saga_core.values import PAGE_NAMES

Profile = Literal["lite", "full", "full-lance", "scale", "memory"]
Identify = Literal["transcript", "user", "system-md5"]
Markers = Literal["all", "player", "off"]
Dialect = Literal["anthropic", "openai", "google", "openrouter", "any"]
Thinking = Literal["model", "off"]
Strategy = Literal["md_prefix", "none"]
GraphMode = Literal["on-disk", "memory"]
Automatic = Literal["local", "always", "never"]
Reporting = Literal["auto", "block", "after", "tool"]
Review = Literal["auto", "ask"]
Tools = Literal["off", "memory"]
OtherSessions = Literal["off", "world", "card"]
LogLevel = Literal["debug", "info", "warning", "error"]
LogFormat = Literal["text", "json"]

LAYERS = ("A1", "A2", "A3", "A4")


_MODEL = Text("a model's name", optional=True)


@frozen(kw_only=True)
class ServerConfig:
    """The address of the proxy, and the access to it."""

    host: str = field(default="127.0.0.1", validator=Text("a host name or address"))
    port: int = field(default=8765, validator=Whole(0, 65_535))
    api_keys: tuple[str, ...] = field(default=(), repr=False, validator=Secrets())
    """Keys that clients must send as a bearer token. Required for any host except loopback."""
    chat_keys: tuple[str, ...] = field(default=(), repr=False, validator=Secrets())
    """Keys that may only chat."""
    origins: tuple[str, ...] = field(default=(), validator=BrowserOrigins())
    """Browser origins that may call the API, such as ``https://risuai.xyz``; ``*`` allows all, on ``/v1`` only."""
    max_body_mb: int = field(default=64, validator=Whole(1, 4_096))
    max_text_mb: int = field(default=4, validator=Whole(1, 16))
    """The text of all messages of a request that SAGA reads and sends to the provider, in MB. Pictures do not count."""
    max_messages: int = field(default=20_000, validator=Whole(1))
    max_cpu_seconds: float = field(default=20.0, validator=Number())
    """CPU seconds that reading a request and building its prompt may take."""
    request_timeout: float = field(default=600.0, validator=Number())
    """Seconds that an upstream may stay silent."""
    keep_alive: float = field(default=15.0, validator=Number(zero=True))
    """Seconds of silence after which a waiting stream gets a comment, to keep proxies from closing it; 0: never."""
    name: str | None = field(default=None, validator=Text("a name", optional=True))
    """The name that distinguishes servers sharing a journal; the same after a restart. None: host name and port."""
    address: str | None = field(default=None, validator=Url())
    """The address at which these servers reach each other. None: host and port."""
    lease_seconds: float = field(default=10.0, validator=Number())
    """Seconds without a heartbeat after which other servers may take over the sessions of a server."""
    audit_days: float = field(default=90.0, validator=Number(zero=True))
    """Days for which the audit log is kept, if keys are required; 0 disables it."""
    audit_entries: int = field(default=100_000, validator=Whole(1))
    """The largest number of audit log entries."""
    workers: int = field(default=1, validator=Whole(1, 64))
    """Processes that serve one port and share the data directory."""
    drain_timeout: float = field(default=20.0, validator=Number(zero=True))
    """Seconds that a shutdown waits for background work. The next start does the rest."""


@frozen(kw_only=True)
class ModelsConfig:
    """The model for each task. None for narration: the model that the request names."""

    narration: str | None = field(default=None, validator=_MODEL)
    extraction: str | None = field(default=None, validator=_MODEL)
    curator: str | None = field(default=None, validator=_MODEL)
    embedding: str | None = field(default=None, validator=_MODEL)
    aliases: Mapping[str, str] = field(factory=dict, validator=MappingOf(Text("a model's name")))
    """Name -> the model that it stands for."""
    fallback: tuple[str, ...] = field(default=(), validator=Words())
    """Models that narrate, in this order, if the requested one is unreachable or failing."""
    facts: Mapping[str, Mapping[str, Any]] = field(factory=dict, validator=FactsByPrefix())
    """Prefix of a model's name -> facts that replace the built-in ones, such as its prices."""


@frozen(kw_only=True)
class ProviderConfig:
    """The address and the settings of a provider."""

    base_url: str | None = field(default=None, repr=False, validator=Url())
    api_key: str | None = field(default=None, repr=False, validator=Secret())
    dialect: str | None = field(default=None, validator=OneOf(get_args(Dialect), optional=True))
    """The API that it speaks. None: detected from its name and address."""
    timeout: float = field(default=600.0, validator=Number())
    max_retries: int = field(default=2, validator=Whole(0, 10))
    retry_seconds: float = field(default=30.0, validator=Number(zero=True))
    """Seconds after the beginning of a call within which it is retried."""
    slots: int = field(default=0, validator=Whole(0, 1_000))
    """Calls that it answers concurrently. Further ones wait in SAGA, narrations first. 0: any number."""
    thinking: str = field(default="model", validator=OneOf(get_args(Thinking)))
    """Whether its models may think before they answer."""
    passthrough_key: bool = field(default=False, validator=Flag())
    """Send the client's own bearer token upstream."""


@frozen(kw_only=True)
class TokenBudget:
    """Limits, in tokens.

    The limits of single sources lie inside ``dynamic_context_max``. A limit that the config file does not set shrinks
    to fit; one that the file sets above it is refused.
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
    """Tokens added to a client's short limit on the reply, to make room for the state block; 0: none."""
    counter: str = field(default="auto", validator=Text("a token counter's name"))
    """The token counter."""
    counter_options: Mapping[str, Any] = field(factory=dict, repr=False, validator=Options())


@frozen
class MdCacheConfig:
    """The .md pages."""

    enabled: bool = field(default=True, validator=Flag())
    cache_dir: str | None = field(default=None, validator=FilePath(optional=True))
    """The directory of the pages. None: ``pages`` in the data directory."""
    files: tuple[str, ...] = field(default=PAGE_NAMES, validator=Words(PAGE_NAMES))
    atomic_write: bool = field(default=True, validator=Flag())


@frozen
class PromptCachingConfig:
    """How the prompt is kept cacheable."""

    enabled: bool = field(default=True, validator=Flag())
    strategy: Strategy = field(default="md_prefix", validator=OneOf(get_args(Strategy)))
    repin_every: int = field(default=10, validator=Whole(1))
    """For models with an unknown cache: the pinned pages are updated every this many turns."""
    carry_floating: bool = field(default=True, validator=Flag())
    """Move the changing parts of the client's system prompt behind the history, where they break no cache."""
    cut_sliding: bool = field(default=False, validator=Flag())
    """Cut the history of a client that trims it from request to request further, so that its beginning stands still."""


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
    """The curator that reviews in addition to the rules. None: ``blocks`` if ``models.curator`` is set, else none."""
    review: Review = field(default="auto", validator=OneOf(get_args(Review)))
    """Whether a model's proposals take effect at once, or wait for the user."""
    options: Mapping[str, Any] = field(factory=dict, repr=False, validator=Options())


@frozen
class ExtractionConfig:
    """How the changes of a reply are learned: from a state block of the narrator, or from a model that reads it."""

    reporting: Reporting = field(default="auto", validator=OneOf(get_args(Reporting)))
    """How the narrator reports: by a state block, by calling a tool, or not at all, so that its replies are read
    afterwards. ``auto``: they are read if the narrator is on this machine or a private network, or has written no block
    in several replies, and something can read them; else it is asked for a block."""
    automatic: Automatic = field(default="local", validator=OneOf(get_args(Automatic)))
    """Which models may be used automatically: those on this machine or a private network, any, or none."""
    cards: bool = field(default=True, validator=Flag())
    """Whether the model that reads replies also reads the card and the persona of each new session, in one call."""
    names: bool = field(default=True, validator=Flag())
    """Whether that model also says which names mean one person where the names alone do not tell, at most once in five
    turns. Without it the player decides."""
    review: Review = field(default="auto", validator=OneOf(get_args(Review)))
    """Whether changes read from an adopted or imported history take effect at once, or wait for the user."""


@frozen(kw_only=True)
class StrategyConfig:
    """A memory strategy."""

    use: str | None = field(default=None, validator=Text("a strategy's name", optional=True))
    """The registered name of the strategy. None: the name of this entry."""
    every: int = field(default=6, validator=Whole(1))
    """Turns of a path between two runs."""
    tokens: int = field(default=0, validator=Whole())
    """Tokens of turns after which it runs earlier; 0: never."""
    namespace: str | None = field(default=None, validator=Text("a namespace such as /facts/{actor}", optional=True))
    """The namespace of its records. None: the strategy's default."""
    most: int = field(default=40, validator=Whole(1, 100))
    """Records of one namespace. Beyond this limit the oldest are dropped."""
    expires_days: float = field(default=0.0, validator=Number(zero=True))
    """Days after which a record is no longer used; 0: never."""
    review: Review = field(default="auto", validator=OneOf(get_args(Review)))
    """Whether learned records take effect at once, or wait for the user."""
    options: Mapping[str, Any] = field(factory=dict, repr=False, validator=Options())


@frozen
class LorebookConfig:
    """The dynamic lorebook."""

    character_layers: tuple[str, ...] = field(default=LAYERS, validator=Words(LAYERS))
    decay_threshold: int | None = field(default=None, validator=Whole(0, optional=True))
    """Accepted for old files but not used. The decay of the layers (``decay``) replaces it."""
    decay: Mapping[str, int] = field(factory=lambda: {"A3": 7, "A4": 3}, validator=MappingOf(Whole(), LAYERS))
    """Layer -> turns since the last mention after which its entries are left out."""
    propagation_depth: int = field(default=2, validator=Whole(0, 4))


@frozen(kw_only=True)
class GraphConfig:
    """The graph."""

    db_path: str = field(default="db/graph.kuzu", validator=FilePath())
    mode: GraphMode = field(default="on-disk", validator=OneOf(get_args(GraphMode)))
    max_hop: int = field(default=3, validator=Whole(0, 4))
    hybrid_rerank: bool = field(default=True, validator=Flag())
    raw_query: bool = field(default=False, validator=Flag())
    """Whether ``/api/graph/query`` passes queries to an engine with its own query language."""


@frozen(kw_only=True)
class SessionConfig:
    """How sessions are identified and kept."""

    auto_save: bool = field(default=True, validator=Flag())
    auto_save_interval: int = field(default=5, validator=Whole(1))
    default_world: str | None = field(default=None, validator=Text("a world's name", optional=True))
    """The world of a chat that names none. None: an empty world, learned from play."""
    identify: Identify = field(default="transcript", validator=OneOf(get_args(Identify)))
    markers: Markers = field(default="all", validator=OneOf(get_args(Markers)))
    """Whose ``[[saga:…]]`` markers count: those of system messages and the player, of the player only, or none."""
    live_timelines: int = field(default=4, validator=Whole(1))
    """Timelines of one session whose graph and pages are kept rendered."""
    checkpoint_every: int = field(default=32, validator=Whole(1))
    loaded: int = field(default=64, validator=Whole(1))
    """Sessions that are kept in memory. Beyond this limit the least recently used idle session is removed."""
    server_history: bool = field(default=False, validator=Flag())
    """For thin clients: if a request names a session but shows no history, use the session's history."""
    group_knowledge: bool = field(default=True, validator=Flag())
    """In a group chat, each member's prompt holds only what that member can know."""
    history_turns: int = field(default=60, validator=Whole(2))
    """The minimum number of turns of that history, if there are as many; up to half as many more are used."""
    history_hours: float = field(default=0.0, validator=Number(zero=True))
    """Hours after which turns are left out of that history; 0: never."""
    collect_after_days: int = field(default=7, validator=Whole())
    """The age at which a session without a name and a second turn is deleted; 0: never."""


@frozen
class ModuleConfig:
    """An optional module."""

    enabled: bool = field(default=False, validator=Flag())


@frozen(kw_only=True)
class StoreConfig:
    """One store's backend. None: the profile's choice."""

    backend: str | None = field(default=None, validator=Text("a backend's name", optional=True))
    path: str | None = field(default=None, validator=FilePath(optional=True))
    url: str | None = field(default=None, repr=False, validator=StoreUrl())
    options: Mapping[str, Any] = field(factory=dict, repr=False, validator=Options())
    resident_mb: int = field(default=64, validator=Whole(0))
    """Memory in MB for the resident layer over this store; 0 disables it. Graph and vector only."""


@frozen(kw_only=True)
class StorageConfig:
    """Where the data is stored."""

    profile: Profile = field(default="lite", validator=OneOf(get_args(Profile)))
    path: str = field(default="saga-data", validator=FilePath())
    """The data directory, which contains the stores without their own path."""
    url: str | None = field(default=None, repr=False, validator=StoreUrl())
    """The database address for stores without their own."""
    state: StoreConfig = StoreConfig()
    graph: StoreConfig = StoreConfig()
    vector: StoreConfig = StoreConfig()
    cache: StoreConfig = StoreConfig()


@frozen(kw_only=True)
class RecallConfig:
    """How earlier turns are recalled."""

    embedder: str = field(default="ngram", validator=Text("an embedder's name"))
    options: Mapping[str, Any] = field(factory=dict, repr=False, validator=Options())
    deadline_ms: float = field(default=250.0, validator=Number())
    """Milliseconds that a context source may take before it is left out."""
    top_k: int = field(default=96, validator=Whole(1))
    sources: Mapping[str, Mapping[str, Any]] = field(factory=dict, repr=False, validator=OptionsByName())
    """Context sources from other packages, by name, each with its options."""
    extraction_wait_ms: float = field(default=1_500.0, validator=Number(zero=True))
    """Milliseconds that a request waits while the extraction model reads the turn that it continues."""
    other_sessions: OtherSessions = field(default="off", validator=OneOf(get_args(OtherSessions)))
    """The key's other sessions that are used if the player asks about another story.

    Those of the same world, or of these only the ones with the same greeting and the same player.
    """


@frozen
class LoggingConfig:
    """What the server writes to stderr."""

    level: LogLevel = field(default="info", validator=OneOf(get_args(LogLevel)))
    """The lowest level that is logged. ``debug`` includes prompts and replies, each marked as private."""
    format: LogFormat = field(default="text", validator=OneOf(get_args(LogFormat)))
    """Lines for people, or one JSON object per line for programs."""


@frozen
class ApiKeys:
    """The ``api_keys`` section of the research note: provider keys, by provider."""

    anthropic: str | None = field(default=None, repr=False, validator=Secret())
    openai: str | None = field(default=None, repr=False, validator=Secret())
    google: str | None = field(default=None, repr=False, validator=Secret())


@frozen(kw_only=True)
class Config:
    """All settings."""

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
    profile: str = field(default=AUTO, validator=OneOf((AUTO, *PROFILES)))
    """What sort of stories are told, unless a world or a request says so. ``auto``: guessed from a card without a
    world."""
    trackers: Mapping[str, Mapping[str, str]] = field(factory=dict, validator=TrackersByName())
    """What every story counts besides what its world declares: name -> the fields of a tracker."""
    tools: Tools = field(default="off", validator=OneOf(get_args(Tools)))
    """Whether narrators are offered tools of SAGA's, which it answers within the turn: to look up what happened, and to
    roll dice."""
    modules: Mapping[str, ModuleConfig] = field(factory=dict)
    plugins: Mapping[str, Mapping[str, str]] = field(factory=dict, validator=PlacesByGroup())
    """Plugins besides those of installed packages: group of entry points -> name -> ``package.module:object``."""
    storage: StorageConfig = StorageConfig()
    recall: RecallConfig = RecallConfig()
    logging: LoggingConfig = LoggingConfig()
    base: Path = field(factory=Path.cwd, eq=False)
    """The directory for relative paths: the config file's folder, or the working directory."""
    warnings: tuple[str, ...] = field(default=(), eq=False)
    """Warnings for the log about settings that are deprecated or without effect."""

    def resolve(self, path: str) -> Path:
        """Return ``path``, below ``base`` if it is relative."""
        found = Path(path).expanduser()
        return found if found.is_absolute() else self.base / found

    @property
    def counted(self) -> tuple[Tracker, ...]:
        """The trackers that every story counts."""
        return tuple(tracker_of(fields) for fields in self.trackers.values())

    @property
    def data_dir(self) -> Path:
        """The data directory, absolute."""
        return self.resolve(self.storage.path)


@define
class Settings:
    """The configuration as all parts share it, so that changes reach each at once. ``Saga.reconfigure`` replaces it."""

    config: Config
