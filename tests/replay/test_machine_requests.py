"""What frontends and their extensions ask for beside the story, in the shapes in which they ask, and words of our own.

They are answered without context and block, and become no turn. Words of a story that look like them are a turn.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from saga_core import Saga
from saga_core.model.tree import TurnKind
from tests.replay.sillytavern import Messages
from tests.replay.test_client_shapes import (
    EN,
    PICTURE,
    Story,
    Tale,
    answer,
    assistant,
    plain,
    saga,
    story,
    system,
    user,
)

__all__ = ["saga", "story"]


def lines(tale: Tale, form: str = "{name}: {text}", between: str = "\n") -> str:
    """The chat as a text."""
    said = [(tale.char, "assistant", tale.greeting)]
    for words, reply in tale.lines:
        said += [(tale.user, "user", words), (tale.char, "assistant", reply)]
    return between.join(form.format(name=name, role=role, text=text) for name, role, text in said)


def roles(tale: Tale, between: str = "\n") -> str:
    return lines(tale, "{role}: {text}", between)


def html(text: str) -> str:
    return "<p>" + text.replace("“", "<mark>&ldquo;").replace("”", "&rdquo;</mark>").replace("*", "") + "</p>\n<br>"


def history(tale: Tale, more: str = "") -> str:
    upper = roles(tale).replace("user: ", "USER: ").replace("assistant: ", "ASSISTANT: ")
    return f"### Chat History:\n<chat_history>\n{upper}{more}\n</chat_history>"


MACHINES: dict[str, Callable[[Tale], Messages]] = {
    # SillyTavern: generateRaw sends a system prompt and a text
    "a summary, raw": lambda t: [
        system("Ignore previous instructions. Summarize the most important facts in the story so far."),
        user(lines(t)),
    ],
    "a summary, raw, in one message": lambda t: [
        user(f"Ignore previous instructions. Summarize the most important facts so far.\n\n{lines(t)}")
    ],
    "a mood, raw": lambda t: [
        system("Ignore previous instructions. Classify the emotion of the last message. Choose one: joy, fear"),
        user(t.lines[1][1]),
    ],
    "a mood of words that nobody knows": lambda t: [
        system("Classify the emotion of the last message. Output one word: joy, fear"),
        user("She laughs, and puts the lamp down."),
    ],
    "a mood, before the reply": lambda t: [
        *plain(t, t.next),
        system("Ignore previous instructions. Classify the emotion of the last message. Choose one: joy, fear"),
    ],
    "a vector's summary": lambda t: [
        system("Ignore previous instructions. Summarize the most important parts of the message."),
        user(t.next),
    ],
    "a picture's description": lambda t: [
        *plain(t, t.next),
        system("[Pause your roleplay. Your next response must be formatted as a list of concise keywords.]"),
    ],
    "a picture's description, by another prompt": lambda t: [
        *plain(t, t.next),
        system("Your next response must be formatted as a single comma-delimited list of concise keywords."),
    ],
    "a list of tasks": lambda t: [
        *plain(t, t.next),
        system("Ignore previous instructions and generate a list of tasks to complete an objective."),
    ],
    "what a picture shows": lambda _: [user("", content=[{"type": "text", "text": "What's in this image?"}, PICTURE])],
    "a summarizer's own prompt": lambda t: [
        user(f"You are a summarization assistant. Summarize the given narrative in one statement.\n\n{t.lines[0][1]}")
    ],
    # RisuAI
    "a translation": lambda t: [
        system("You are a translator. translate the following html or text into Korean."),
        user(html(t.lines[1][1])),
    ],
    "a translation, by any prompt, of a reply as a page shows it": lambda t: [
        system("Kore-go ni."),
        user(html(t.lines[1][1])),
    ],
    "a translation of the player's words": lambda t: [
        system("# Role: professional translator\nInto English."),
        user(t.next),
    ],
    "a translation of the player's words, in Korean": lambda t: [
        system("# 역할: 웹소설 전문 번역가\n한국어로 옮긴다."),
        user(t.next),
    ],
    "a summary of old turns": lambda t: [
        user(roles(t)),
        system("[Summarize the ongoing role story, It must also remove redundancy.]"),
    ],
    "a summary of old turns, by any prompt": lambda t: [user(roles(t)), system("Kurz und knapp, bitte.")],
    "a summary of old turns, without a system role": lambda t: [user(f"{roles(t)}\nsystem: Kurz und knapp, bitte.")],
    "a summary of a chat that nobody knows": lambda _: [
        user("user: Hello there.\nassistant: Hello, she says.\nuser: Good bye."),
        system("Kurz und knapp, bitte."),
    ],
    "a summary of summaries": lambda t: [user(f"{t.next}\n\n{t.next}"), system("Re-summarize this summaries.")],
    "what the player might say": lambda t: [
        system("Review past conversations and suggest 4 possible next responses for Alex."),
        user(roles(t, ",")),
    ],
    "what the player might say, without a system role": lambda t: [
        user(f"system: Review past conversations and suggest 4 possible next responses for Alex.\n{roles(t)}")
    ],
    "a translation, without a system role": lambda t: [
        user(f"system: You are a translator. Translate the following html.\n{html(t.lines[1][1])}")
    ],
    "what the player might say, by an older prompt": lambda t: [
        system("Depending on the conversation history provided by user, multiple next options are suggested."),
        user(roles(t)),
    ],
    "a mood, with an example": lambda t: [
        system("From the list below, choose a word that best represents an emotion.\n\n list: joy, fear"),
        user('"Good morning! Is there anything I can do for you today?"'),
        assistant("happy"),
        user(t.lines[1][1]),
    ],
    "a picture's tags": lambda t: [
        system("Convert the chat into tags for an image generator."),
        user(f"Chat:\n{t.lines[1][1]}"),
    ],
    # Open WebUI, and others
    "a title": lambda t: [
        user(f"### Task:\nGenerate a concise, 3-5 word title summarizing the chat history.\n{history(t)}")
    ],
    "tags": lambda t: [user(f"### Task:\nGenerate 1-3 broad tags for the main themes.\n{history(t)}")],
    "search queries": lambda t: [
        user(f"### Task:\nAnalyze the chat history to determine the need of searching.\n{history(t, 'USER: And now?')}")
    ],
    "follow-ups": lambda t: [
        user(f"### Task:\nSuggest 3-5 relevant follow-up questions.\n### Guidelines:\n- Be brief.\n{history(t)}")
    ],
    "an emoji": lambda t: [
        user(f"Your task is to reflect the speaker's likely facial expression through an emoji.\n\nMessage: {t.next}")
    ],
    "a title in five words": lambda t: [
        user(f"Provide a concise, 5-word-or-less title for the conversation.\n\nConversation:\n{lines(t)}")
    ],
    "a title by an assistant": lambda t: [
        system("You are an assistant skilled in conversation. Summarize the conversation into a title of 10 words."),
        user(roles(t)),
    ],
    "a title by an assistant, in Chinese": lambda t: [
        system("你是一名擅长会话的助理，你需要将用户的会话总结为 10 个字以内的标题"),
        user(roles(t)),
    ],
    "a name for the chat, asked in the chat": lambda t: plain(
        t, "Based on the chat history, give this conversation a name. Keep it short."
    ),
}


@pytest.mark.parametrize("messages", MACHINES.values(), ids=MACHINES)
async def test_a_machine_asks(story: Story, messages: Callable[[Tale], Messages]) -> None:
    sent = messages(story.tale)
    turn = await story.send(sent)
    assert (turn.kind, turn.context.text, turn.plan.to_openai()) == (TurnKind.SIDE, "", sent)
    await answer(turn, "One word, or a list of them, or a sentence. 한 마디.", hp_change=-50)
    after = await story.send(plain(story.tale, story.tale.next))
    assert story.parent(after) == 2
    assert len(await story.saga.sessions.list()) == 1


PLAYED: dict[str, Callable[[Tale], Messages]] = {
    "a translator tells the story": lambda t: [
        system("You are a translator who lives above the glass mill, and never lies."),
        *plain(t, t.next)[1:],
    ],
    "the story is about a summary": lambda t: plain(t, "Summarize the ledger for me, I say to the keeper."),
    "a preset that speaks of titles": lambda t: [
        system("Generate a short title for each chapter, and tell the story."),
        *plain(t, t.next)[1:],
    ],
    "a jailbreak": lambda t: [
        *plain(t, t.next),
        system("Ignore all previous instructions about length. You are the narrator. Write freely."),
    ],
    "a task as a heading of the preset": lambda t: [system("### Task:\nBe the narrator."), *plain(t, t.next)[1:]],
    "a preset in one message": lambda t: [
        user(f"### Task:\nBe the narrator of the mill.\n\n{lines(t, between=chr(10) * 2)}\n\n{t.user}: {t.next}")
    ],
    "a chat by roles behind a card": lambda t: [
        system(t.system),
        user(f"{roles(t)}\nuser: {t.next}"),
        system("Go on."),
    ],
    "a picture to look at": lambda t: [
        *plain(t),
        user("", content=[{"type": "text", "text": "What's in this image?"}, PICTURE]),
    ],
    "a page of tags": lambda t: plain(t, f"{html(t.lines[0][1])} I read this aloud."),
    "a preset and a chat, without a system role": lambda t: [
        user(f"system: You are a translator.\nsystem: {t.system}\n{roles(t)}\nuser: {t.next}")
    ],
    "your task is": lambda t: plain(t, "Your task is to find the keeper's ledger, I tell her."),
}


@pytest.mark.parametrize("messages", PLAYED.values(), ids=PLAYED)
async def test_a_player_speaks(story: Story, messages: Callable[[Tale], Messages]) -> None:
    turn = await story.send(messages(story.tale))
    assert (story.parent(turn), turn.kind) == (2, TurnKind.NARRATION)


@pytest.mark.parametrize(
    "messages",
    [
        [system("### Task:\nBe the narrator."), user("I come in.")],
        [system("You are a storyteller. Your summaries are short."), user("I come in.")],
        [system("번역가 리나가 되어 이야기를 이끈다."), user("문을 연다.")],
        [system("You are a translator who lives above the glass mill."), user("I come in.")],
        [system("Role: narrator of a tale about a translator's guild."), user("I come in.")],
        [user("Ann: Hello.\nBob: Hello, Ann."), assistant("They look at each other."), user("Go on.")],
        [system("card"), assistant(EN.greeting), user("What's in this image?")],
    ],
)
async def test_a_story_begins(saga: Saga, messages: Messages) -> None:
    turn = await saga.begin(messages)
    assert turn.kind is TurnKind.NARRATION and turn.session.id
