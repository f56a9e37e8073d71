"""The four .md pages of a state: for people, and, pinned, for the prompt's prefix."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from datetime import UTC, datetime

from saga_core.language import language_of, without_signs
from saga_core.model import Kind, Turn, WorldState
from saga_core.projection.story import story_lines, story_within
from saga_core.stores import Pages
from saga_core.values import PAGE_NAMES
from saga_core.world import EMPTY_WORLD, World

_STORY_TURNS = 20
_ALIASES = 3
"""Other names that are told of somebody who was joined with another."""
_STORY_SHARE = 0.4
"""The part of the prefix that other pages leave to the story, as far as it needs it."""


def page_words(language: str) -> Mapping[str, str]:
    """The headings and labels of a language; English for one that has none."""
    return language_of(language).texts.pages


def render_bodies(state: WorldState, world: World, language: str) -> dict[str, str]:
    """The four pages without front matter."""
    words = page_words(language)
    return {
        "state.md": _state(state, words),
        "relations.md": _relations(state, words),
        "story.md": _story(state, words),
        "lore.md": _lore(state, world, words),
    }


def render_pages(state: WorldState, world: World, language: str, *, session: str, turn: Turn, unread: int = 0) -> Pages:
    """The pages as stored: each body under YAML front matter that says which turn it shows.

    ``unread``: replies up to that turn of which nobody knows what changed, where they are so many that a reader has
    to know; state.md begins with that.
    """
    stamp = datetime.fromtimestamp(turn.at, UTC).isoformat(timespec="seconds")
    front = f'---\nturn: {state.depth}\nturn_id: {state.turn}\nsession_id: {session}\nupdated_at: "{stamp}"\n---\n\n'
    bodies = render_bodies(state, world, language)
    if unread:
        bodies["state.md"] = f"> {page_words(language)['unread'].format(replies=unread)}\n\n{bodies['state.md']}"
    return Pages({name: front + bodies[name] for name in PAGE_NAMES}, state.turn)


def render_prefix(state: WorldState, world: World, language: str, count: Callable[[str], int], limit: int) -> str:
    """The pages for the prompt's prefix, whole lines, at most ``limit`` tokens; pages that matter most come first.

    Many turns are played with them, so they say which turn they show and hold what changes slowly. Who is present,
    place, health, mood and inventory are told behind the history, as they are now.
    """
    words = page_words(language)
    bodies = {
        "state.md": _then(state, words),
        "relations.md": _relations(state, words),
        "story.md": _story(state, words),
        "lore.md": _lore(state, world, words, set(state.present)),
    }
    kept: list[str] = []
    spent = 0
    story = bodies["story.md"].rstrip().splitlines()
    reserved = min(int(limit * _STORY_SHARE), sum(count(line) + 1 for line in story))
    for name in ("state.md", "relations.md", "lore.md"):
        for line in bodies[name].rstrip().splitlines():
            cost = count(line) + 1
            if spent + cost > limit - reserved:
                break
            kept.append(line)
            spent += cost
    room = limit - spent
    head = count(story[0]) + 1
    if sum(count(line) + 1 for line in story) > room:
        within = story_within(state, _STORY_TURNS, room - head, lambda line: count(f"- {line}"))
        story = [story[0], *(f"- {line}" for line in within)] if within else []
    return without_signs("\n".join([*kept, *story]))


def render_world(world: World, count: Callable[[str], int], limit: int) -> str:
    """What the author wrote of the world as a whole, whole lines, at most ``limit`` tokens; the same for ever."""
    kept: list[str] = []
    spent = 0
    for line in world.description.splitlines():
        cost = count(line) + 1
        if spent + cost > limit:
            break
        kept.append(line)
        spent += cost
    return without_signs("\n".join(kept).strip())


def inventory(state: WorldState, owner: str) -> list[str]:
    """What somebody carries, readable: ``치유 물약 ×2``."""
    hands = state.belongings.get(owner, {})
    return [state.name(item) + (f" ×{stack.quantity}" if stack.quantity != 1 else "") for item, stack in hands.items()]


def _state(state: WorldState, words: Mapping[str, str]) -> str:
    player = state.entities.get(state.player)
    lines = [f"## {words['state']}"]
    if player is not None:
        hp = f" | {words['hp']}: {player.get('hp')}/{player.get('max_hp')}" if player.get("hp") is not None else ""
        place = f" | {words['place']}: {state.name(state.location)}" if state.location else ""
        lines.append(f"- **{words['player']}:** {player.name}{hp}{place}")
        lines.append(f"- **{words['inventory']}:** {', '.join(inventory(state, state.player)) or words['nothing']}")
        if player.get("mood"):
            lines.append(f"- **{words['mood']}:** {player.get('mood')}")
    if state.present:
        lines.append(f"- **{words['present']}:** {', '.join(map(state.name, state.present))}")
    return "\n".join([*lines, *_dead(state, words)]) + "\n"


def _then(state: WorldState, words: Mapping[str, str]) -> str:
    return "\n".join([f"## {words['then'].format(turn=state.depth)}", *_dead(state, words)]) + "\n"


def _dead(state: WorldState, words: Mapping[str, str]) -> list[str]:
    dead = [entity.name for entity in state.entities.values() if entity.dead]
    return [f"- **{words['dead']}:** {', '.join(dead)}"] if dead else []


def _relations(state: WorldState, words: Mapping[str, str]) -> str:
    lines = [f"## {words['relations']}"]
    for (source, target), relation in state.relations.items():
        lines.append(f"- {state.name(source)} → {state.name(target)}: {relation.type} ({relation.strength:+d})")
    if len(lines) == 1:
        lines.append(f"- {words['nothing']}")
    return "\n".join(lines) + "\n"


def _story(state: WorldState, words: Mapping[str, str]) -> str:
    lines = [f"## {words['story']}"]
    lines += [f"- {text}" for text in story_lines(state, _STORY_TURNS)]
    if len(lines) == 1:
        lines.append(f"- {words['nothing']}")
    return "\n".join(lines) + "\n"


def _lore(state: WorldState, world: World, words: Mapping[str, str], moving: Collection[str] = ()) -> str:
    """``moving``: who goes about with the player, so that their place is not told."""
    # "empty" is what SAGA calls the world of a session without one; the narrator would take it for a description.
    title = world.title or ("" if world.name == EMPTY_WORLD.name else world.name)
    lines = [f"## {words['lore']}", f"- {title or words['nothing']}"]
    cast, joined = [], set(state.merged.values())
    for entity in state.of_kind(Kind.CHARACTER):
        if entity.id == state.player:
            continue
        about = entity.get("occupation")
        place = state.whereabouts.get(entity.id) if entity.id not in moving else None
        traits = entity.get("traits")
        parts = (
            about,
            state.name(place.place) if place else "",
            ", ".join(map(str, traits)) if isinstance(traits, tuple) else "",
        )
        detail = "; ".join(str(part) for part in parts if part)
        # Whoever was known as two is told by both names: notes and replies may have either.
        names = (entity.name, *entity.aliases[:_ALIASES]) if entity.id in joined else (entity.name,)
        cast.append(f"- {' = '.join(names)}" + (f" ({detail})" if detail else ""))
    if cast:
        lines += [f"## {words['cast']}", *cast]
    if state.learned:
        lines += [f"## {words['learned']}", *(f"- {entry}: {text}" for entry, text in state.learned.items())]
    return "\n".join(lines) + "\n"
