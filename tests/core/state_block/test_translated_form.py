"""A narrator who writes in a language of her own translates the form line by line, and keeps its order."""

from __future__ import annotations

import pytest

from saga_core.state_block import parse_block

LINES = """\
場所: 帳場
移動: はい
HP変化: 0
入手アイテム: [みかん×4]
失ったアイテム: []
アイテム譲渡: [{品: 蔵の鍵, 誰から: 美咲さん, 誰へ: なつ坊}]
会った人物: [女将さん, 若女将]
別れた人物: []
関係変化: [{誰から: 若女将, 誰へ: なつ坊, 種類: 警戒, 変化: -1}]
状態変化: []
雰囲気: ぴりぴり
イベント: なし
メモ: 新人は三日で辞めると思われている。"""
FINNISH = """\
location: ravintola
location_moved: true
läsnä: [Aino]
muutos: 0
saatu: [avain, omena x3]
menetetty: []
annettu: [{esine: avain, keneltä: Aino, kenelle: Eero}]
tavattu: [Aino]
erottu: []
suhteet: [{keneltä: Aino, kenelle: Eero, laji: luottamus, määrä: +2}]
tilat: []
tunnelma: lämmin
tapahtuma: null
muistiin: Aino antoi avaimen."""


def test_keys_that_no_language_has_are_read_by_their_places() -> None:
    fields = parse_block(LINES).fields
    assert fields.npc_met == ("女将さん", "若女将")
    (transfer,) = fields.items_transferred
    assert (transfer.item, transfer.giver, transfer.receiver) == ("蔵の鍵", "美咲さん", "なつ坊")
    (change,) = fields.relationship_changes
    assert (change.source, change.target, change.type, change.delta) == ("若女将", "なつ坊", "警戒", -1)


@pytest.mark.parametrize("body", [FINNISH, FINNISH.replace("läsnä: [Aino]\n", "")], ids=["whole", "without company"])
def test_a_language_that_saga_does_not_know(body: str) -> None:
    fields = parse_block(body).fields
    assert [(each.name, each.quantity) for each in fields.items_gained] == [("avain", 1), ("omena", 3)]
    assert [(each.item, each.receiver) for each in fields.items_transferred] == [("avain", "Eero")]
    assert [(each.type, each.delta) for each in fields.relationship_changes] == [("luottamus", 2)]
    assert fields.notes == "Aino antoi avaimen."


@pytest.mark.parametrize(
    "body",
    [
        "location: inn\nlocation_moved: true\nweather: rain\nhp_change: 0\nmood: calm",
        FINNISH.replace("tunnelma: lämmin\n", ""),
        FINNISH.replace("location: ravintola\nlocation_moved: true", "location_moved: true\nlocation: ravintola"),
    ],
    ids=["a key of the story's own", "a line is missing", "another order"],
)
def test_a_block_that_is_no_whole_form_in_order_is_read_as_written(body: str) -> None:
    parsed = parse_block(body)
    assert parsed.fields.items_gained == ()
    assert parsed.fields.relationship_changes == ()
    assert parsed.others


def test_more_keys_in_a_transfer_stay_unknown() -> None:
    fields = parse_block("items_transferred: [{item: rope, color: red, size: big, age: 3}]").fields
    assert [(each.item, each.giver, each.receiver) for each in fields.items_transferred] == [("rope", None, None)]
