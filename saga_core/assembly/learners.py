"""Opens the configured memory strategies, and makes a learner with a model for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from saga_core import registry
from saga_core.background import Foreground
from saga_core.config import Config, StrategyConfig
from saga_core.context import Memories
from saga_core.counters import Counters
from saga_core.errors import BadInput
from saga_core.jobs import BackgroundBills, Pace
from saga_core.model import STRATEGY, checked
from saga_core.model_calls import CuratorModel
from saga_core.ports import ChatModel, Clock, UsagePart
from saga_core.registry import OpenOptions
from saga_core.storage import Stores
from saga_core.strategies import PREFIX, Learner, Strategy, Terms

KIND: Final = "strategy"


def choose_model(
    config: Config, curator: ChatModel | None, extractor: ChatModel | None
) -> tuple[ChatModel, str] | None:
    """Return the model that a strategy may call, the curator's or else that of extraction, and its provider's name."""
    for chat, name in ((curator, config.models.curator), (extractor, config.models.extraction)):
        if chat is not None:
            return chat, name or chat.name
    return None


async def open_strategies(config: Config) -> dict[str, Strategy]:
    """Open the strategies of ``memory_strategies``, by their names there.

    Raises ``BadInput`` with the name of the setting for a strategy that is not registered, for options that it refuses,
    for an object that is not a ``Strategy``, and for a namespace that could leak data between players.
    """
    found = {}
    for name, settings in config.memory_strategies.items():
        where = f"memory_strategies.{name}"
        wanted = settings.use or name
        known = registry.names(KIND)
        if wanted not in known and ":" not in wanted:
            raise BadInput(
                f"{where}.use: there is no strategy {wanted!r}; there are: {', '.join(known) or 'none'}. A strategy of"
                " another name says in 'use' which of them it is"
            )
        options = OpenOptions(options=settings.options)
        opened = await registry.open_plugin(KIND, wanted, options, at=f"{where}.use", options_at=f"{where}.")
        if not isinstance(opened, Strategy):
            raise BadInput(f"{where}: {wanted!r} opens to a {type(opened).__name__}; it has to be a Strategy")
        try:
            checked(settings.namespace or opened.kinds[0].namespace)
        except BadInput as error:
            raise BadInput(f"{where}.{error}") from error
        found[name] = opened
    return found


def make_learners(
    config: Config,
    strategies: dict[str, Strategy],
    chosen: tuple[ChatModel, str] | None,
    stores: Stores,
    counters: Counters,
    foreground: Foreground,
    bills: BackgroundBills,
    clock: Clock,
) -> tuple[Learner, ...]:
    """Make a learner for each strategy. Without a model, make none and report degraded modes."""
    if chosen is None:
        for name in strategies:
            counters.degrade(
                f"curation.{PREFIX}{name}",
                "no model: set models.curator or models.extraction, and a provider for it; nothing is learned",
            )
        return ()
    chat, model = chosen

    async def paid(part: UsagePart, session: str, turn: str) -> None:
        await bills.enter("curation", session, turn, part, model)

    asked = CuratorModel(chat, model, counters.add, lambda: foreground.wait_until_free(chat.name), paid=paid)
    settings = config.memory_strategies
    return tuple(
        Learner(strategy, _terms(name, strategy, settings[name]), asked, stores.counter.count, clock)
        for name, strategy in strategies.items()
    )


def _terms(name: str, strategy: Strategy, settings: StrategyConfig) -> Terms:
    places = {kind.name: kind.namespace for kind in strategy.kinds}
    if settings.namespace is not None:
        places[strategy.kinds[0].name] = settings.namespace
    own = {kind: checked(place).replace(f"{{{STRATEGY}}}", name) for kind, place in places.items()}
    return Terms(name, own, settings.most, settings.expires_days)


def paces_of(config: Config) -> dict[str, Pace]:
    """Return how often each strategy runs, by the name of its learner."""
    return {
        PREFIX + name: Pace(settings.every, settings.tokens, whole=True)
        for name, settings in config.memory_strategies.items()
    }


def source_of(strategies: dict[str, Strategy]) -> Sequence[Memories]:
    """Return the context source for memory records; empty without strategies."""
    worth = {
        (name, kind.name): (kind.shown, kind.always) for name, strategy in strategies.items() for kind in strategy.kinds
    }
    return (Memories(worth),) if strategies else ()
