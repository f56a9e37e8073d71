"""The configuration as values. Every field has a default; ``Config()`` is the lite profile without any key."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from attrs import field, frozen

Profile = Literal["lite", "full", "memory"]


@frozen
class ServerConfig:
    """Where the proxy listens, and who may talk to it."""

    host: str = "127.0.0.1"
    port: int = 8765
    api_keys: tuple[str, ...] = field(default=(), repr=False)
    """Keys that clients must show as bearer token. Needed for any host but loopback."""
    origins: tuple[str, ...] = ()
    """Browser origins that may call the API, such as ``https://risuai.xyz``; ``*`` allows all on ``/v1`` only."""
    max_body_mb: int = 64
    max_messages: int = 20_000
    request_timeout: float = 600.0
    """Seconds that an upstream may stay silent."""
    drain_timeout: float = 20.0
    """Seconds that shutting down waits for background work; the rest is done at the next start."""


@frozen
class ModelsConfig:
    """Which model does what. None for narration: the one that the request names."""

    narration: str | None = None
    extraction: str | None = None
    curator: str | None = None
    embedding: str | None = None


@frozen
class ProviderConfig:
    """How to reach a provider."""

    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    timeout: float = 600.0
    max_retries: int = 2
    passthrough_key: bool = False
    """Send the client's own bearer token upstream."""


@frozen
class TokenBudget:
    """Ceilings, in tokens."""

    total_context_max: int = 128_000
    dynamic_context_max: int = 1_500
    md_cache_max: int = 600
    lorebook_max: int = 800
    state_briefing_max: int = 200
    graph_context_max: int = 300
    recall_max: int = 500
    state_block_instruction: int = 400


@frozen
class MdCacheConfig:
    """The .md pages."""

    enabled: bool = True
    cache_dir: str = "cache/sessions"
    files: tuple[str, ...] = ("state.md", "relations.md", "story.md", "lore.md")
    atomic_write: bool = True


@frozen
class PromptCachingConfig:
    """How the prompt is kept cacheable."""

    enabled: bool = True
    strategy: Literal["md_prefix", "none"] = "md_prefix"
    repin_every: int = 10
    """The pinned pages in the prefix show the state of each so-many-th turn."""


@frozen
class CuratorConfig:
    """The curator."""

    interval: int = 10
    enabled: bool = True
    memory_block_schema: tuple[str, ...] = ("narrative_summary", "curation_decisions", "contradiction_log")
    compress_story_after_turns: int = 50


@frozen
class LorebookConfig:
    """The dynamic lorebook."""

    character_layers: tuple[str, ...] = ("A1", "A2", "A3", "A4")
    decay_threshold: int | None = None
    """Accepted for old files and not used; the layers' own decay (``decay``) replaces it."""
    decay: Mapping[str, int] = field(factory=lambda: {"A3": 7, "A4": 3})
    """Layer to the turns since the last mention after which its entries stay out."""
    propagation_depth: int = 2


@frozen
class GraphConfig:
    """The graph."""

    db_path: str = "db/graph.kuzu"
    mode: Literal["on-disk", "memory"] = "on-disk"
    max_hop: int = 3
    hybrid_rerank: bool = True


@frozen
class SessionConfig:
    """How sessions are told apart and kept."""

    auto_save: bool = True
    auto_save_interval: int = 5
    default_world: str | None = None
    """The world of a chat that names none; none: an empty one, learned from play."""
    identify: Literal["transcript", "user", "system-md5"] = "transcript"
    live_timelines: int = 4
    """Timelines of one session whose graph and pages are kept rendered."""
    checkpoint_every: int = 32


@frozen
class ModuleConfig:
    """An optional module."""

    enabled: bool = False


@frozen
class ModulesConfig:
    """Optional modules."""

    rpg: ModuleConfig = ModuleConfig()
    map: ModuleConfig = ModuleConfig()


@frozen
class StoreConfig:
    """One store's backend. None: the profile's choice."""

    backend: str | None = None
    path: str | None = None
    url: str | None = field(default=None, repr=False)
    options: Mapping[str, Any] = field(factory=dict)
    resident_mb: int = 64
    """Memory for the resident layer over this store; 0 leaves it out. Graph and vector only."""


@frozen
class StorageConfig:
    """Where everything is kept."""

    profile: Profile = "lite"
    path: str = "saga-data"
    """The data directory, in which stores without a path of their own lie."""
    state: StoreConfig = StoreConfig()
    graph: StoreConfig = StoreConfig()
    vector: StoreConfig = StoreConfig()
    cache: StoreConfig = StoreConfig()


@frozen
class RecallConfig:
    """How the past is remembered."""

    embedder: str = "ngram"
    options: Mapping[str, Any] = field(factory=dict)
    deadline_ms: float = 250.0
    """Milliseconds that a source of context may take before it is left out."""
    top_k: int = 6


@frozen
class ApiKeys:
    """The note's ``api_keys``: provider keys, by provider."""

    anthropic: str | None = field(default=None, repr=False)
    openai: str | None = field(default=None, repr=False)
    google: str | None = field(default=None, repr=False)


@frozen
class Config:
    """Everything that can be set."""

    server: ServerConfig = ServerConfig()
    models: ModelsConfig = ModelsConfig()
    providers: Mapping[str, ProviderConfig] = field(factory=dict)
    api_keys: ApiKeys = ApiKeys()
    token_budget: TokenBudget = TokenBudget()
    md_cache: MdCacheConfig = MdCacheConfig()
    prompt_caching: PromptCachingConfig = PromptCachingConfig()
    curator: CuratorConfig = CuratorConfig()
    dynamic_lorebook: LorebookConfig = LorebookConfig()
    graph: GraphConfig = GraphConfig()
    session: SessionConfig = SessionConfig()
    modules: ModulesConfig = ModulesConfig()
    storage: StorageConfig = StorageConfig()
    recall: RecallConfig = RecallConfig()
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
