"""The rehearsals: an inn, a stable, a mill, a lantern that the player buys and gives away, and a fall."""

from __future__ import annotations

from collections.abc import Mapping

from saga_server.rehearsal.script import Script, Truth


def _truths(
    inn: tuple[str, ...],
    stable: tuple[str, ...],
    mill: tuple[str, ...],
    lantern: tuple[str, ...],
    innkeeper: str,
    boy: str,
) -> tuple[Truth, ...]:
    return (
        Truth(place=inn, here=(innkeeper,)),
        Truth(place=inn, here=(innkeeper,), carries=lantern),
        Truth(place=stable, moved=True, here=()),
        Truth(place=stable, here=(boy,)),
        Truth(place=stable, here=(boy,), gave=lantern),
        Truth(place=stable, here=(boy,), hurt=True),
        Truth(place=mill, moved=True, here=(boy,)),
        Truth(place=inn, moved=True, here=(innkeeper,)),
    )


_EN = Script(
    language="en",
    player="Alex",
    card=(
        "You are the narrator of a quiet adventure. The player is Alex, a traveller. Mira keeps the inn, the Blue "
        "Heron. Tobin, a boy of twelve, looks after the horses in the stable. Nobody else is around. What Alex does "
        "succeeds as Alex says. Answer with three sentences of story."
    ),
    greeting="Rain drums on the roof of the Blue Heron inn. Behind the bar, Mira looks up at Alex, her only guest.",
    lines=tuple(
        zip(
            (
                "I sit down at the bar of the inn and greet Mira.",
                "I buy a lantern from Mira, pay her and put the lantern into my bag.",
                "I leave Mira at the inn and walk over to the stable, alone. Nobody is in the stable yet.",
                "Tobin comes into the stable. I greet him by his name.",
                "I take the lantern out of my bag and give it to Tobin. It is his now.",
                "I climb the ladder to the hayloft, slip, fall on the stone floor and hurt my arm badly.",
                "Tobin and I walk from the stable to the old mill together. Now we both stand in the mill.",
                "I leave Tobin at the mill, go back to the inn alone, and sit down with Mira.",
            ),
            _truths(("inn", "heron"), ("stable",), ("mill",), ("lantern",), "Mira", "Tobin"),
            strict=True,
        )
    ),
)

_KO = Script(
    language="ko",
    player="서연",
    card=(
        "당신은 잔잔한 모험의 이야기꾼입니다. 플레이어는 여행자 서연입니다. 미라는 여관 '푸른 왜가리'의 주인입니다. "
        "열두 살 소년 도윤은 마구간에서 말을 돌봅니다. 그 밖에는 아무도 없습니다. 서연이 하는 일은 서연이 말한 대로 "
        "됩니다. 이야기 세 문장으로 답하세요."
    ),
    greeting="푸른 왜가리 여관의 지붕에 비가 쏟아진다. 바 뒤에서 미라가 하나뿐인 손님 서연을 올려다본다.",
    lines=tuple(
        zip(
            (
                "여관의 바에 앉아 미라에게 인사한다.",
                "미라에게서 등불을 사고 값을 치른 뒤 가방에 넣는다.",
                "미라를 여관에 두고 혼자 마구간으로 걸어간다. 마구간에는 아직 아무도 없다.",
                "도윤이 마구간으로 들어온다. 나는 도윤의 이름을 부르며 인사한다.",
                "가방에서 등불을 꺼내 도윤에게 준다. 이제 등불은 도윤의 것이다.",
                "건초 다락으로 사다리를 오르다 미끄러져 돌바닥에 떨어지고, 팔을 심하게 다친다.",
                "도윤과 함께 마구간을 나와 낡은 방앗간으로 걸어간다. 이제 우리 둘은 방앗간 안에 서 있다.",
                "도윤을 방앗간에 두고 혼자 여관으로 돌아와 미라와 함께 앉는다.",
            ),
            _truths(("여관", "왜가리"), ("마구간",), ("방앗간",), ("등불", "램프", "랜턴"), "미라", "도윤"),
            strict=True,
        )
    ),
)

_JA = Script(
    language="ja",
    player="ハル",
    card=(
        "あなたは静かな冒険の語り手です。プレイヤーは旅人のハルです。ミラは宿屋「青鷺亭」の主人です。"
        "十二歳の少年トビは厩で馬の世話をしています。ほかには誰もいません。ハルの行動はハルの言うとおりに成功します。"
        "物語を三文で答えてください。"
    ),
    greeting="青鷺亭の屋根を雨が叩いている。カウンターの奥で、ミラがただ一人の客ハルを見上げた。",
    lines=tuple(
        zip(
            (
                "宿屋のカウンターに座り、ミラに挨拶する。",
                "ミラからランタンを買い、代金を払って鞄に入れる。",
                "ミラを宿屋に残し、一人で厩へ歩いていく。厩にはまだ誰もいない。",
                "トビが厩に入ってくる。私は名前を呼んでトビに挨拶する。",
                "鞄からランタンを出してトビに渡す。ランタンはもうトビのものだ。",
                "干し草の屋根裏へ梯子を登るが、足を滑らせて石の床に落ち、腕をひどく痛める。",
                "トビと一緒に厩を出て、古い水車小屋まで歩く。今、二人とも水車小屋の中に立っている。",
                "トビを水車小屋に残し、一人で宿屋に戻ってミラと並んで座る。",
            ),
            _truths(("宿", "青鷺"), ("厩", "馬小屋"), ("水車",), ("ランタン", "提灯"), "ミラ", "トビ"),
            strict=True,
        )
    ),
)

_ZH = Script(
    language="zh",
    player="林夏",
    card=(
        "你是一场平静冒险的叙述者。玩家是旅人林夏。米拉是客栈“青鹭”的老板娘。十二岁的少年阿宁在马厩照看马匹。"
        "除此之外没有别人。林夏做的事都如她所说地成功。请用三句话的故事回答。"
    ),
    greeting="雨敲打着青鹭客栈的屋顶。吧台后面，米拉抬头看着唯一的客人林夏。",
    lines=tuple(
        zip(
            (
                "我在客栈的吧台前坐下，向米拉问好。",
                "我从米拉那里买了一盏灯笼，付了钱，把它放进包里。",
                "我把米拉留在客栈，独自走到马厩。马厩里还没有人。",
                "阿宁走进马厩。我叫着他的名字向他问好。",
                "我从包里拿出灯笼送给阿宁。灯笼现在是他的了。",
                "我爬梯子上草料阁楼，脚下一滑摔到石头地面上，胳膊伤得很重。",
                "我和阿宁一起离开马厩，走到旧磨坊。现在我们两人都站在磨坊里。",
                "我把阿宁留在磨坊，独自回到客栈，和米拉坐在一起。",
            ),
            _truths(("客栈", "青鹭"), ("马厩",), ("磨坊",), ("灯",), "米拉", "阿宁"),
            strict=True,
        )
    ),
)

SCRIPTS: Mapping[str, Script] = {script.language: script for script in (_EN, _KO, _JA, _ZH)}
"""The scripts by language tag."""
