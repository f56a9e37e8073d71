"""Ten turns in Japanese and in Chinese, through the whole of SAGA: what is reported, told again, and found."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import frozen

from saga_core import Saga
from saga_core.language import language_of, match_text
from saga_core.state_block import ItemAmount, RelationChange, StatusChange
from saga_core.world import opening_state, parse_world, render_world
from tests.core.frontend import Frontend, memory_config


@frozen
class Play:
    greeting: str
    system: str
    turns: tuple[tuple[str, str, dict[str, Any]], ...]
    question: str
    answer: str
    """What of turn 2 has to be told again."""
    place: str
    potion: str
    dead: str


JAPANESE = Play(
    "宿屋「金の麦」で、あなたは目を覚ます。",
    "あなたはファンタジー世界の語り手です。",
    (
        (
            "起き上がって窓の外を見る。",
            "朝の広場では市が開かれている。アリアが手を振った。",
            {"location": "宿屋", "npc_met": ("アリア",)},
        ),
        (
            "アリアに指輪のことを尋ねる。",
            "アリアは声をひそめた。「あの銀の指輪なら、鍛冶屋のエルゲンが井戸の底に捨てたわ」",
            {"npc_met": ("アリア",), "notes": "銀の指輪は井戸の底"},
        ),
        ("市場へ行く。", "市場は果物と香辛料の匂いでいっぱいだ。", {"location": "市場", "location_moved": True}),
        ("治癒の薬を二本買う。", "薬師は薬を二本包んでくれた。", {"items_gained": (ItemAmount("治癒の薬", 2),)}),
        (
            "橋へ向かう。",
            "古い石橋の上で、山賊のガロが剣を抜いた。",
            {"location": "石橋", "location_moved": True, "npc_met": ("ガロ",)},
        ),
        ("ガロと戦う。", "激しい打ち合いの末、肩に傷を負った。", {"hp_change": -20}),
        (
            "最後の一撃を放つ。",
            "ガロは崩れ落ち、そのまま息絶えた。",
            {"status_changes": (StatusChange("ガロ", "死亡"),)},
        ),
        ("薬を一本飲む。", "傷の痛みが引いていく。", {"hp_change": 15, "items_lost": (ItemAmount("治癒の薬", 1),)}),
        (
            "アリアのところへ戻る。",
            "アリアは目に涙を浮かべて迎えた。",
            {
                "location": "宿屋",
                "location_moved": True,
                "npc_met": ("アリア",),
                "relationship_changes": (RelationChange("アリア", "プレイヤー", "信頼", 2),),
            },
        ),
    ),
    "銀の指輪は誰がどこに捨てたんだっけ？",
    "井戸の底",
    "宿屋",
    "治癒の薬",
    "ガロ",
)
CHINESE = Play(
    "你在金麦旅店醒来。",
    "你是奇幻世界的讲述者。",
    (
        ("起身看看窗外。", "清晨的广场上正有集市，阿莉亚向你挥手。", {"location": "旅店", "npc_met": ("阿莉亚",)}),
        (
            "向阿莉亚打听戒指的事。",
            "阿莉亚压低声音说：“那枚银戒指，铁匠埃尔根把它扔进了井底。”",
            {"npc_met": ("阿莉亚",), "notes": "银戒指在井底"},
        ),
        ("去市场。", "市场里满是水果和香料的气味。", {"location": "市场", "location_moved": True}),
        ("买两瓶治疗药水。", "药剂师给你包好了两瓶药水。", {"items_gained": (ItemAmount("治疗药水", 2),)}),
        (
            "往石桥走去。",
            "古老的石桥上，山贼加洛拔出了剑。",
            {"location": "石桥", "location_moved": True, "npc_met": ("加洛",)},
        ),
        ("与加洛战斗。", "一番激战后，你的肩膀受了伤。", {"hp_change": -20}),
        ("给他最后一击。", "加洛倒下，当场死了。", {"status_changes": (StatusChange("加洛", "死亡"),)}),
        ("喝一瓶药水。", "伤口的疼痛慢慢退去。", {"hp_change": 15, "items_lost": (ItemAmount("治疗药水", 1),)}),
        (
            "回到阿莉亚那里。",
            "阿莉亚含着泪迎接你。",
            {
                "location": "旅店",
                "location_moved": True,
                "npc_met": ("阿莉亚",),
                "relationship_changes": (RelationChange("阿莉亚", "玩家", "信任", 2),),
            },
        ),
    ),
    "銀戒指是誰丟掉的，丟在哪裡？",  # by a player who writes traditional characters
    "井底",
    "旅店",
    "治疗药水",
    "加洛",
)


@pytest.mark.parametrize(("tag", "play"), [("ja", JAPANESE), ("zh", CHINESE)])
async def test_ten_turns(tag: str, play: Play) -> None:
    words = language_of(tag)
    async with Saga.open(memory_config(default_world=None)) as saga:
        chat = Frontend(saga, greeting=play.greeting, system=play.system, note="")
        for said, reply, fields in play.turns:
            turn = await chat.say(said, reply, **fields)
        await saga.drain(10)
        # The history that the client sends is cut: what is told of turn 2 is told by SAGA.
        chat.history = chat.history[-4:]
        tenth = await chat.begin(play.question)
        prompt = "\n".join(block.lead + block.text for block in tenth.plan.blocks)
        await tenth.abandon()
        assert tenth.session.id == turn.session.id and tenth.session.world == "empty"

        assert words.request.lead in prompt and words.texts.rules in prompt
        told = prompt.partition(f"{words.labels.opening}\n")[2].partition(words.labels.closing)[0]
        assert f"{words.labels.place}: {play.place}" in told
        assert f"{words.labels.inventory}: {play.potion}" in told
        assert f"{words.labels.hp}: 95/100" in told
        assert f"{words.labels.dead}: {play.dead}" in told
        earlier = told.partition(words.labels.sections["earlier"])[2]
        assert play.answer in earlier and words.labels.turn.format(depth=2) in earlier

        pages, _ = await saga.views.pages(turn.session.id)
        assert pages is not None and words.texts.pages["inventory"] in pages.files["state.md"]
        assert words.texts.player in pages.files["state.md"]


def test_names_stand_without_spaces() -> None:
    from saga_core.language import mentions

    assert mentions("我和阿莉亞說話。", "阿莉亚")
    assert mentions("アリアは笑った。", "アリア") and not mentions("マリアリアは笑った。", "アリア")
    assert mentions("きのう、さくらと話した。", "さくら") and not mentions("さくらんぼを食べた。", "さくら")
    assert mentions("他在城里。", "城") and not mentions("城门开了。", "城")
    assert match_text("龍") == match_text("竜") == match_text("龙")


@pytest.mark.parametrize(
    ("tag", "place", "name"), [("ja", "宿屋", "アリア"), ("zh", "旅店", "阿莉亚")], ids=["ja", "zh"]
)
def test_a_world_is_written_with_english_keys(tag: str, place: str, name: str) -> None:
    files = {
        "WORLD.md": {"ja": "# 霧の谷\n\n霧に沈む谷の物語。\n", "zh": "# 雾谷\n\n沉在雾中的山谷的故事。\n"}[tag],
        "CHARACTERS.md": f"## {name}\n- location: {place}\n- items: 短剣 x2 (equipped)\n",
        "LOREBOOK.md": f"## {place}\n- type: location\n- layer: A1\n\n…\n",
    }
    world, _ = parse_world(files, "valley")
    assert world.language == tag
    assert render_world(world)["CHARACTERS.md"].splitlines()[2] == f"- location: {place}"
    state = opening_state(world, "root")
    assert state.entities[state.player].name == language_of(tag).texts.player
