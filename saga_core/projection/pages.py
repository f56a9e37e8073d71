"""The four .md pages of a state: for people, and pinned in the prompt's prefix."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import islice

from saga_core.language import language_of, without_signs
from saga_core.model import Kind, Relation, Turn, WorldState
from saga_core.naming import alike
from saga_core.projection.lines import counted_values, thread_lines
from saga_core.projection.story import story_lines, story_within
from saga_core.stores import Pages
from saga_core.text_prompt import TOKENS
from saga_core.values import PAGE_NAMES, date_of
from saga_core.world import EMPTY_WORLD, World

_STORY_TURNS = 20
_ALIASES = 3
"""The largest number of other names that are shown for a merged entity."""
_STORY_SHARE = 0.4
"""The share of the prefix reserved for the story, as far as the story needs it."""


def page_words(language: str) -> Mapping[str, str]:
    """Return the headings and labels of a language, or the English ones if it has none."""
    return language_of(language).texts.pages


def render_bodies(state: WorldState, world: World, language: str) -> dict[str, str]:
    """Return the four pages without front matter."""
    words = page_words(language)
    return {
        "state.md": _state(state, words, language),
        "relations.md": _relations(state, words),
        "story.md": _story(state, words) + _open(state, words, language),
        "lore.md": _lore(state, world, words),
    }


def render_pages(state: WorldState, world: World, language: str, *, session: str, turn: Turn, unread: int = 0) -> Pages:
    """Return the pages as stored: each body with YAML front matter that names its turn.

    ``unread`` is the number of replies up to that turn whose changes are unknown, if it is high enough to matter.
    state.md then begins with a note about it.
    """
    stamp = date_of(turn.at).isoformat(timespec="seconds")
    front = f'---\nturn: {state.depth}\nturn_id: {state.turn}\nsession_id: {session}\nupdated_at: "{stamp}"\n---\n\n'
    bodies = render_bodies(state, world, language)
    if unread:
        bodies["state.md"] = f"> {page_words(language)['unread'].format(replies=unread)}\n\n{bodies['state.md']}"
    return Pages({name: front + bodies[name] for name in PAGE_NAMES}, state.turn)


def render_prefix(state: WorldState, world: World, language: str, count: Callable[[str], int], limit: int) -> str:
    """Return the pages for the prompt's prefix: whole lines, at most ``limit`` tokens, most important pages first.

    They stay the same for many turns, so they name the turn they show and contain what changes slowly. Company, place,
    health, mood and inventory follow after the history, as they are now. What is empty is left out: small models write
    on what looks like a form. Without anything to tell, the text is empty.
    """
    words = page_words(language)
    relations, story, lore = (
        _told(body, words)
        for body in (_relations(state, words), _story(state, words), _lore(state, world, words, set(state.present)))
    )
    if not (relations or story or lore or _dead(state, words)):
        return ""
    reserved = min(int(limit * _STORY_SHARE), sum(count(line) + 1 for line in story))
    kept, room = list[str](), limit
    for body in (_then(state, words).splitlines(), relations, lore):
        lines, spent = _fitting(body, count, room - reserved)
        kept += lines
        room -= spent
    head = count(story[0]) + 1 if story else 0
    if story and sum(count(line) + 1 for line in story) > room:
        within = story_within(state, _STORY_TURNS, room - head, lambda line: count(f"- {line}"))
        story = [story[0], *(f"- {line}" for line in within)] if within else []
    return without_signs("\n".join([*kept, *story]), TOKENS)


def _fitting(lines: Sequence[str], count: Callable[[str], int], limit: int) -> tuple[list[str], int]:
    """The first lines, with at most ``limit`` tokens together, and how many tokens they have."""
    kept, spent = list[str](), 0
    for line in lines:
        cost = count(line) + 1
        if spent + cost > limit:
            break
        kept.append(line)
        spent += cost
    return kept, spent


def _told(body: str, words: Mapping[str, str]) -> list[str]:
    """The lines of a page's body without the sections that say that there is nothing."""
    lines: list[str] = []
    for line in body.splitlines():
        if line == f"- {words['nothing']}":
            lines.pop()
        else:
            lines.append(line)
    return lines


def render_world(world: World, count: Callable[[str], int], limit: int) -> str:
    """Return the author's description of the world: whole lines, at most ``limit`` tokens. It never changes."""
    kept, _ = _fitting(world.description.splitlines(), count, limit)
    return without_signs("\n".join(kept).strip(), TOKENS)


def inventory(state: WorldState, owner: str) -> list[str]:
    """Return the items of a character as readable texts: ``치유 물약 ×2``."""
    hands = state.belongings.get(owner, {})
    return [state.name(item) + (f" ×{stack.quantity}" if stack.quantity != 1 else "") for item, stack in hands.items()]


def _state(state: WorldState, words: Mapping[str, str], language: str) -> str:
    player = state.entities.get(state.player)
    lines = [f"## {words['state']}"]
    if player is not None:
        hp = f" | {words['hp']}: {player.get('hp')}/{player.get('max_hp')}" if player.get("hp") is not None else ""
        place = f" | {words['place']}: {state.name(state.location)}" if state.location else ""
        lines.append(f"- **{words['player']}:** {player.name}{hp}{place}")
        if held := inventory(state, state.player):
            lines.append(f"- **{words['inventory']}:** {', '.join(held)}")
        if player.get("mood"):
            lines.append(f"- **{words['mood']}:** {player.get('mood')}")
    if state.present:
        lines.append(f"- **{words['present']}:** {', '.join(map(state.name, state.present))}")
    lines += [f"- **{each.label(state)}:** {each.text(language)}" for each in counted_values(state)]
    lines += [f"- {line}" for line in thread_lines(state, language)]
    return "\n".join([*lines, *_dead(state, words)]) + "\n"


def _then(state: WorldState, words: Mapping[str, str]) -> str:
    return "\n".join([f"## {words['then'].format(turn=state.depth)}", *_dead(state, words)]) + "\n"


def _dead(state: WorldState, words: Mapping[str, str]) -> list[str]:
    dead = [entity.name for entity in state.entities.values() if entity.dead]
    return [f"- **{words['dead']}:** {', '.join(dead)}"] if dead else []


def _relations(state: WorldState, words: Mapping[str, str]) -> str:
    return _section("relations", [_tie(state, *each) for each in state.relations.items() if not each[1].over], words)


def _tie(state: WorldState, ends: tuple[str, str], relation: Relation) -> str:
    source, target = map(state.name, ends)
    return f"{source} → {target}: {relation}"


def _story(state: WorldState, words: Mapping[str, str]) -> str:
    return _section("story", story_lines(state, _STORY_TURNS), words)


def _open(state: WorldState, words: Mapping[str, str], language: str) -> str:
    """All threads that are open, and the player's debts; nothing without any."""
    ties = ((ends, each.owed) for ends, each in state.relations.items() if state.player in ends)
    debts = [_tie(state, ends, owed) for ends, owed in ties if owed is not None]
    lines = [*thread_lines(state, language, near=False), *debts]
    return _section("open", lines, words) if lines else ""


def _section(name: str, lines: Sequence[str], words: Mapping[str, str]) -> str:
    return "\n".join([f"## {words[name]}", *(f"- {line}" for line in lines or [words["nothing"]])]) + "\n"


def _lore(state: WorldState, world: World, words: Mapping[str, str], moving: Collection[str] = ()) -> str:
    """``moving`` are the characters who travel with the player. Their places are left out."""
    # "empty" is SAGA's name for the default world. The narrator would take it for a description.
    title = world.title or ("" if world.name == EMPTY_WORLD.name else world.name)
    lines = [f"## {words['lore']}", f"- {title or words['nothing']}"]
    cast, joined, written = [], set(state.merged.values()), {each.name for each in world.characters}
    for entity in state.of_kind(Kind.CHARACTER):
        if entity.id == state.player:
            continue
        about = entity.get("occupation")
        place = state.whereabouts.get(entity.id) if entity.id not in moving else None
        traits = entity.get("traits")
        parts = (
            about,
            state.name(place.place) if place and not place.left else "",
            ", ".join(map(str, traits)) if isinstance(traits, tuple) else "",
        )
        detail = "; ".join(str(part) for part in parts if part)
        # Notes and replies may use another name. Of those that nobody would take for a form of the name, all are listed
        # that the story brought in; of merged characters the others too, behind them.
        is_joined, is_written = entity.id in joined, entity.name in written
        aliases = entity.aliases if is_joined or not is_written else ()
        unlike = [each for each in aliases if not alike(each, entity.name)]
        others = dict.fromkeys((*unlike, *aliases)) if is_joined else unlike
        names = (entity.name, *islice(others, _ALIASES))
        cast.append(f"- {' = '.join(names)}" + (f" ({detail})" if detail else ""))
    if cast:
        lines += [f"## {words['cast']}", *cast]
    if state.learned:
        lines += [f"## {words['learned']}", *(f"- {entry}: {text}" for entry, text in state.learned.items())]
    return "\n".join(lines) + "\n"
