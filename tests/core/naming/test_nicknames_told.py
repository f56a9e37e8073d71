"""What somebody is called, as a note or the remark behind a name in a report tells."""

from __future__ import annotations

import pytest

from saga_core.naming import Evidence


@pytest.mark.parametrize(
    ("name", "known", "note"),
    [
        ("Otter", "Bram Oake", "Otter is Bram Oake's nickname"),
        ("Otter", "Bram Oake", "Bram Oake's nickname is Otter"),
        ("Tub", "Tobias Quill", "At the Heronry they meet Tobias Quill, called Tub, who smokes"),
        ("Otter", "Bram Oake", 'Most people call Bram Oake "Otter"; he likes it'),
        ("까치", "윤덕수", "윤덕수의 별명은 까치, 나비는 고양이다"),
        ("까치", "윤덕수", "까치는 윤덕수의 별명이다"),
        ("까치", "윤덕수", "윤덕수는 까치라고 불린다"),
        ("黒猫", "久世蓮", "久世蓮は黒猫と呼ばれている"),
        ("老猫", "沈默", "大家叫沈默老猫"),
    ],
)
def test_a_note_tells_what_somebody_is_called(name: str, known: str, note: str) -> None:
    assert Evidence(notes=note).is_nickname(name, known)


@pytest.mark.parametrize(
    ("name", "known", "note"),
    [
        ("Mina", "Wren", "Wren's sister is called Mina"),
        ("Otter", "Bram Oake", "Wren calls Bram Oake, Otter and Pim to her"),
        ("Pim", "Bram Oake", "Bram Oake's nickname annoys Pim"),
        ("Pim", "Bram Oake", "They meet Bram Oake, called on Pim"),
        ("까치", "윤덕수", "윤덕수의 별명을 비웃는 까치"),
        ("나비", "윤덕수", "윤덕수의 고양이 이름은 나비"),
        ("까치", "윤덕수", "윤덕수가 까치를 부른다"),
        ("까치", "윤덕수", "윤덕수의 별명을 까치가 비웃는다"),
    ],
)
def test_a_note_that_names_two_of_whom_one_is_called_something_else_joins_nobody(
    name: str, known: str, note: str
) -> None:
    assert not Evidence(notes=note).is_nickname(name, known)
