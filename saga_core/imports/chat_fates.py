"""The fate of each field of other tools' chats, and of SillyTavern's personas and groups and RisuAI's modules."""

from __future__ import annotations

from saga_core.imports.fields import KEPT, Fate, dropped, mapped

_TOOL = dropped("it has a meaning in its own tool alone")
_SENT = dropped("the frontend goes on sending it")
_DATE = dropped("the date of a file")
_PLAYER = dropped("SAGA learns who plays from the frontend's next request")

OOBA: dict[str, Fate] = {
    "internal": KEPT,
    "data_visible": KEPT,
    "visible": dropped("the texts as they were shown; the prompt has internal"),
    "data": dropped("the texts before they were shown; those in data_visible count"),
    "metadata": _TOOL,
}
KOBOLD: dict[str, Fate] = {
    "prompt": KEPT,
    "actions": KEPT,
    "memory": _SENT,
    "authorsnote": _SENT,
    "worldinfo": _SENT,
    "savedsettings": _TOOL,
    "gamestarted": _TOOL,
}
CAI: dict[str, Fate] = {"histories": KEPT, "info": _TOOL}
CAI_MESSAGE: dict[str, Fate] = {"src": mapped("who speaks, and whether it is the player"), "text": KEPT}
AGNAI_CHAT: dict[str, Fate] = {"name": KEPT, "messages": KEPT}
AGNAI_MESSAGE: dict[str, Fate] = {
    "msg": KEPT,
    "userId": mapped("it tells the player's messages from others"),
    "characterId": mapped("it tells the player's messages from others"),
    "handle": mapped("the speaker"),
    "name": mapped("the speaker, where there is no handle"),
    "createdAt": KEPT,
    "updatedAt": _DATE,
    "_id": _TOOL,
    "kind": _TOOL,
}
BYAF_CHARACTER: dict[str, Fate] = {
    "displayName": KEPT,
    "name": mapped("the character's name where there is no displayName"),
    "persona": mapped("the card's description"),
    "loreItems": KEPT,
    "images": mapped("files beside the world; nobody opens them"),
    "id": _TOOL,
    "schemaVersion": _TOOL,
    "createdAt": _DATE,
    "updatedAt": _DATE,
}
BYAF_SCENARIO: dict[str, Fate] = {
    "title": KEPT,
    "narrative": mapped("the card's scenario, if it is the first"),
    "firstMessages": mapped("the world's greetings"),
    "exampleMessages": mapped("the card's example dialogue, if it is the first"),
    "messages": KEPT,
    "formattingInstructions": _SENT,
    "schemaVersion": _TOOL,
}
BYAF_MESSAGE: dict[str, Fate] = {
    "type": KEPT,
    "text": KEPT,
    "createdAt": KEPT,
    "outputs": mapped("the last is the reply; the others stand beside it"),
    "updatedAt": _DATE,
}
OPENAI: dict[str, Fate] = {"role": KEPT, "content": KEPT, "name": mapped("the speaker")}
PERSONAS: dict[str, Fate] = {
    "personas": mapped("the player's name in chats that name the persona"),
    "persona_descriptions": _PLAYER,
    "default_persona": _TOOL,
}
GROUP: dict[str, Fate] = {
    "name": KEPT,
    "chats": KEPT,
    "members": mapped("who speaks in a chat, its messages tell"),
    "past_metadata": mapped("which chat an older one was branched off from"),
    "chat_metadata": mapped("which chat an older one was branched off from"),
    "id": _TOOL,
    "chat_id": _TOOL,
    "avatar_url": _TOOL,
    "allow_self_responses": _TOOL,
    "activation_strategy": _TOOL,
    "generation_mode": _TOOL,
    "disabled_members": _TOOL,
    "fav": _TOOL,
    "date_added": _DATE,
    "create_date": _DATE,
}
RISU_MODULE: dict[str, Fate] = {
    "name": KEPT,
    "lorebook": KEPT,
    "description": dropped("a note of the module's author"),
    "id": _TOOL,
    "namespace": _TOOL,
    **dict.fromkeys(
        ("regex", "trigger", "cjs", "assets", "backgroundEmbedding", "customModuleToggle", "lowLevelAccess"),
        dropped("SAGA runs no scripts and shows no pictures of other tools"),
    ),
}
