"""A debt that a block says is paid is none any more; whatever else stands beside a relation costs nothing."""

from __future__ import annotations

import pytest

from saga_core.language import is_debt, is_settled
from saga_core.state_block import RelationChange, parse_block


def relations(record: str) -> tuple[RelationChange, ...]:
    parsed = parse_block(f"relationship_changes: [{{{record}}}]")
    assert parsed.problems == ()
    return parsed.fields.relationship_changes


@pytest.mark.parametrize(
    ("kind", "status", "now"),
    [
        ("debtor", "paid", "paid"),
        ("debt", "settled in full", "settled in full"),
        ("debt", "over", "settled"),
        ("빚", "완제", "완제"),
        ("채무", "청산", "청산"),
        ("빚", "다 갚음", "다 갚음"),
        ("외상", "완납", "완납"),
        ("빚", "끝", "청산"),
        ("借り", "完済", "完済"),
        ("借金", "終了", "完済"),
        ("欠债", "还清", "还清"),
        ("欠債", "已還", "已還"),
        ("债务", "结束", "还清"),
        ("debtor", "unpaid", "debtor"),
        ("debtor", "half paid", "debtor"),
        ("借り", "未返済", "借り"),
        ("빚", "미상환", "빚"),
        ("欠债", "未还清", "欠债"),
        ("ally", "strained", "ally"),
        ("lovers", "over", "lovers, over"),
        ("연인", "끝", "연인, 끝"),
    ],
)
def test_the_status_of_a_relation_says_whether_it_stands(kind: str, status: str, now: str) -> None:
    assert relations(f"from: A, to: B, type: {kind}, delta: 0, status: {status}") == (RelationChange("A", "B", now, 0),)
    assert is_debt(now) is (kind == now and kind != "ally")


@pytest.mark.parametrize("key", "status 상태 状態 状态 relation note reason since 사유".split())
def test_whatever_else_is_said_the_relation_is_whole(key: str) -> None:
    record = f"from: A, to: B, type: debtor, delta: -1, {key}: x"
    assert relations(record) == (RelationChange("A", "B", "debtor", -1),)


def test_a_status_alone_is_the_kind() -> None:
    assert relations("from: A, to: B, status: hostile") == (RelationChange("A", "B", "hostile", 0),)


@pytest.mark.parametrize("kind", ["debt settled", "채무 청산", "债务还清", "两清", "借金完済"])
def test_a_kind_may_say_it_itself(kind: str) -> None:
    assert is_settled(kind) and not is_debt(kind)
