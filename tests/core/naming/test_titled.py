"""Names with titles on them: whom they may mean, and whom not."""

from __future__ import annotations

import pytest

from saga_core.naming.titled import bears, is_bare_title, may_be_called


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("苏师姐", "苏晚晴"),
        ("蘇師姐", "苏晚晴"),
        ("小叶", "叶知秋"),
        ("老秦", "秦勇"),
        ("丁队", "丁建国"),
        ("丁建国", "丁队"),
        ("陆掌门", "陆玄清"),
        ("掌门陆玄清", "陆玄清"),
        ("晚晴", "苏晚晴"),
        ("天野先輩", "天野しおり"),
        ("水瀬くん", "水瀬湊"),
        ("湊", "水瀬湊"),
        ("맹 사형", "맹호연"),
        ("지우 선배", "한지우"),
        ("당 소저", "당설화"),
    ],
)
def test_they_may_mean_one(name: str, known: str) -> None:
    assert may_be_called(name, known)


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("林师姐", "苏晚晴"),
        ("丁队", "丁哥"),
        ("林月", "林月如"),
        ("ハル", "ハルカ"),
        ("박 부인", "박 영감"),
        ("박민수", "박 영감"),
        ("김민", "김민수"),
        ("고블린", "고블린 족장 바르가"),
        ("기사", "기사단장 로웰"),
        ("师姐", "苏晚晴"),
    ],
)
def test_they_are_two(name: str, known: str) -> None:
    assert not may_be_called(name, known)


def test_titles_alone() -> None:
    assert is_bare_title("掌门") and is_bare_title("師姐") and is_bare_title("先輩") and is_bare_title("선배")
    assert not is_bare_title("苏晚晴") and not is_bare_title("하람")


def test_who_bears_a_title() -> None:
    assert bears("掌门陆玄清", "掌門") and bears("조일청 대사형", "대사형")
    assert not bears("고블린왕 크룩", "왕") and not bears("掌门", "掌门")
