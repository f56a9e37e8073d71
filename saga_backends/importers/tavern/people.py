"""SillyTavern's personas and groups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from saga_core.imports import (
    FILE_DATE,
    FROM_NEXT_REQUEST,
    KEPT,
    OWN_TOOL,
    Fields,
    Group,
    Losses,
    Persona,
    fates,
    mapped,
    tidy,
)

PERSONAS = fates(
    (mapped("the player's name in chats that name the persona"), "personas"),
    (FROM_NEXT_REQUEST, "persona_descriptions"),
    (OWN_TOOL, "default_persona"),
)
GROUP = fates(
    (KEPT, "name chats"),
    (mapped("who speaks in a chat, its messages tell"), "members"),
    (mapped("which chat an older one was branched off from"), "past_metadata chat_metadata"),
    (OWN_TOOL, "id chat_id avatar_url allow_self_responses activation_strategy generation_mode disabled_members fav"),
    (FILE_DATE, "date_added create_date"),
)


def personas(plain: Mapping[str, Any], losses: Losses) -> Iterator[Persona]:
    """Read the personas of a backup, or of SillyTavern's settings."""
    if "power_user" in plain and "personas" not in plain:
        losses.add("settings", "dropped", "those of the tool are its own; the personas among them were read")
        plain = {name: plain["power_user"].get(name) for name in PERSONAS}
    Fields(plain, losses).account(PERSONAS)
    descriptions = Fields(plain, losses).inner("persona_descriptions")
    for avatar, name in Fields(plain, losses).inner("personas").plain.items():
        about = descriptions.inner(avatar) if avatar in descriptions.plain else Fields({}, losses)
        yield Persona(tidy(str(name)).strip(), about.text("description"), id=str(avatar))


def group(plain: Mapping[str, Any], losses: Losses) -> Group:
    """Read a group."""
    found = Fields(plain, losses)
    found.account(GROUP)
    # The metadata of chats without a header are here. The open chat's metadata have their own field.
    kept = {**found.inner("past_metadata").plain, found.text("chat_id"): found.inner("chat_metadata").plain}
    parents = {
        str(chat): Fields(each, losses).text("main_chat") for chat, each in kept.items() if isinstance(each, dict)
    }
    return Group(name=found.text("name"), members=found.texts("members"), chats=found.texts("chats"), parents=parents)
