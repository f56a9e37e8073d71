from __future__ import annotations

import hashlib
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga_server.http.callers.identity import Bearer, read_bearer
from saga_server.http.request_names import take_markers
from tests.server.client import Client, words
from tests.server.conftest import Serve
from tests.server.upstream import Upstream

MARKED = words("[[saga:session=marker]] 나는 간다.")


class TestExplicitForms:
    """Which of several names wins, and that each finds the same session again."""

    CASES = (
        ("path", {"path": "/s/path/v1/chat/completions"}),
        ("header", {"headers": {"X-SAGA-Session": "header"}}),
        ("key", {"headers": {"Authorization": "Bearer sk-1#key"}}),
        ("marker", {"messages": MARKED}),
        ("user", {"user": "user"}),
    )

    @pytest.mark.parametrize("first", range(len(CASES)))
    async def test_in_this_order(self, serve: Serve, first: int) -> None:
        request: dict[str, Any] = {"messages": words("나는 간다.")}
        for _, form in reversed(self.CASES[first:]):
            request |= {**form, "headers": {**request.get("headers", {}), **form.get("headers", {})}}
        async with serve(session={"identify": "user"}) as client:
            reply = await client.chat(**request)
            session = (await client.get(f"/api/sessions/{reply.session}")).json
        assert session["label"] == self.CASES[first][0]

    @pytest.mark.parametrize(("name", "form"), CASES)
    async def test_each_finds_its_session_again_whatever_the_history(
        self, serve: Serve, name: str, form: dict[str, Any]
    ) -> None:
        mark = "[[saga:session=marker]]" if name == "marker" else ""
        rest = {field: value for field, value in form.items() if field != "messages"}
        async with serve(session={"identify": "user"}) as client:
            one = await client.chat(words(f"{mark}나는 간다."), **rest)
            two = await client.chat(words(f"전혀 다른 말.{mark}"), **rest)
            three = await client.chat(words("나는 간다."), user=name, headers={"X-SAGA-Session": "another"})
        assert one.status == two.status == three.status == 200
        assert one.session == two.session != three.session

    async def test_a_korean_name(self, offline: Client) -> None:
        by_path = await offline.chat(words("안녕"), path=f"/s/{quote('어둠의 숲')}/v1/chat/completions")
        by_header = await offline.chat(words("다른 말"), headers={"X-SAGA-Session": quote("어둠의 숲")})
        raw = await offline.chat(words("또 다른 말"), headers={"X-SAGA-Session": "어둠의 숲"})
        assert by_path.session == by_header.session == raw.session
        assert (await offline.get(f"/api/sessions/{quote('어둠의 숲')}/state")).json["session"]["label"] == "어둠의 숲"

    async def test_the_key_behind_the_name_is_the_owner(self, offline: Client) -> None:
        one = await offline.chat(words("hi"), headers={"Authorization": "Bearer a#x"})
        two = await offline.chat(words("ho"), headers={"Authorization": "Bearer b#x"})
        three = await offline.chat(words("hey"), headers={"Authorization": "Bearer a", "X-SAGA-Session": "x"})
        assert one.session == three.session != two.session

    async def test_user_is_no_session_unless_configured(self, offline: Client) -> None:
        one = await offline.chat(words("하나"), user="me")
        two = await offline.chat(words("전혀 다른 이야기"), user="me")
        assert one.session != two.session

    async def test_the_first_system_message_when_configured(self, serve: Serve) -> None:
        async with serve(session={"identify": "system-md5"}) as client:
            one = await client.chat(words("하나", system="Narrate."))
            two = await client.chat(words("전혀 다른 이야기", system="Narrate."))
            other = await client.chat(words("하나", system="Narrate!"))
            nobody = await client.chat(words("또 다른 이야기", system=None))
            assert one.session == two.session
            assert len({one.session, other.session, nobody.session}) == 3
            label = (await client.get(f"/api/sessions/{one.session}")).json["label"]
        assert label == hashlib.md5(b"Narrate.", usedforsecurity=False).hexdigest()[:8]

    @pytest.mark.parametrize(
        ("request_", "param"),
        [
            ({"headers": {"X-SAGA-Session": "x" * 201}}, "X-SAGA-Session"),
            ({"headers": {"X-SAGA-Session": "a%00b"}}, "X-SAGA-Session"),
            ({"headers": {"X-SAGA-World": "x" * 201}}, "X-SAGA-World"),
            ({"path": f"/s/{'x' * 201}/v1/chat/completions"}, "session in the base URL"),
            ({"headers": {"Authorization": f"Bearer k#{'x' * 201}"}}, "session in the API key"),
        ],
    )
    async def test_what_cannot_be_a_name(self, offline: Client, request_: dict[str, Any], param: str) -> None:
        reply = await offline.chat(words("hi"), **request_)
        assert (reply.status, reply.error["param"]) == (400, param)

    async def test_a_name_that_looks_like_a_path_is_just_a_name(self, offline: Client) -> None:
        reply = await offline.chat(words("hi"), headers={"X-SAGA-Session": "../../etc/passwd"})
        assert reply.status == 200
        assert (await offline.get(f"/api/sessions/{reply.session}")).json["label"] == "../../etc/passwd"


class TestWorlds:
    @pytest.mark.parametrize(
        "form",
        [
            {"path": "/w/harrow/v1/chat/completions"},
            {"path": "/s/mine/w/harrow/v1/chat/completions"},
            {"path": "/w/harrow/s/mine/v1/chat/completions"},
            {"headers": {"X-SAGA-World": "harrow"}},
            {"messages": words("hi", system="[[saga:world=harrow]] Narrate.")},
        ],
    )
    async def test_forms(self, offline: Client, form: dict[str, Any]) -> None:
        reply = await offline.chat(**{"messages": words("hi"), **form})
        session = (await offline.get(f"/api/sessions/{reply.session}")).json
        assert session["world"] == "harrow"
        assert session["label"] == ("mine" if "/s/" in form.get("path", "") else "")

    async def test_an_unknown_one(self, offline: Client) -> None:
        reply = await offline.chat(words("hi"), headers={"X-SAGA-World": "nowhere"})
        assert reply.status == 400
        assert "harrow" in reply.error["message"]
        assert (await offline.get("/api/sessions")).json["sessions"] == []


class TestMarkers:
    async def test_none_is_left_where_one_stood_in_another(self, client: Client, upstream: Upstream) -> None:
        nested = "[[[[saga:player=zz]]saga:session=bin]] [[saga:ses[[saga:player=zz]]sion=bin]]"
        reply = await client.chat(words(f"{nested} I go.", system=f"Be brief. {nested}"))
        assert "[[saga:" not in upstream.requests[0].text.lower()
        assert (await client.get(f"/api/sessions/{reply.session}")).json["label"] == ""

    async def test_upstream_does_not_see_them(self, client: Client, upstream: Upstream) -> None:
        messages = words("[[saga:session=나의 방]]\n나는 간다.", system="Be brief. [[SAGA:World=harrow]]")
        reply = await client.chat(messages)
        assert "[[saga" not in upstream.requests[0].text.lower()
        assert upstream.requests[0].messages[0]["content"] == "Be brief."
        assert upstream.requests[0].messages[-1]["content"].endswith("나는 간다.")
        session = (await client.get(f"/api/sessions/{reply.session}")).json
        assert (session["label"], session["world"]) == ("나의 방", "harrow")

    @pytest.mark.parametrize(
        ("text", "rest", "found"),
        [
            ("[[saga:session=a]]", "", {"session": "a"}),
            ("a [[saga:session= b c ]] d", "a d", {"session": "b c"}),
            ("a\n [[saga:session=b]] [[saga:world=c]] \nd", "a\nd", {"session": "b", "world": "c"}),
            ("[[saga:session=a]][[saga:session=b]]x", "x", {"session": "b"}),
            ("[[saga:session=]]x", "x", {}),
            ("[[saga:sessions=a]] [[saga:session=a]", "[[saga:sessions=a]] [[saga:session=a]", {}),
            ("[[saga:session=a\nb]]", "[[saga:session=a\nb]]", {}),
            ("[[other]]", "[[other]]", {}),
        ],
    )
    def test_in_text(self, text: str, rest: str, found: dict[str, str]) -> None:
        marks, (message,) = take_markers([{"role": "user", "content": text}])
        assert (marks, message["content"]) == (found, rest)

    def test_in_parts(self) -> None:
        picture = {"type": "image_url", "image_url": {"url": "data:,[[saga:session=no]]"}}
        messages = [{"role": "user", "content": [picture, {"type": "text", "text": "[[saga:world=w]]hi"}]}]
        marks, cleaned = take_markers(messages)
        assert marks == {"world": "w"}
        assert cleaned == [{"role": "user", "content": [picture, {"type": "text", "text": "hi"}]}]
        assert messages[0]["content"] != cleaned[0]["content"]

    def test_a_system_message_that_is_only_a_marker_goes(self) -> None:
        user = {"role": "user", "content": "hi"}
        assert take_markers([{"role": "system", "content": "[[saga:session=a]]"}, user]) == ({"session": "a"}, [user])

    @given(
        st.lists(
            st.none()
            | st.just({})
            | st.fixed_dictionaries(
                {
                    "role": st.sampled_from(["system", "user", 3]),
                    "content": st.none()
                    | st.integers()
                    | st.text(alphabet="[]sag:eion=wrld \n숲", max_size=30)
                    | st.lists(st.none() | st.just({"type": "text"}) | st.just({"type": "text", "text": "[["})),
                }
            ),
            max_size=4,
        )
    )
    def test_whatever_the_messages(self, messages: list[Any]) -> None:
        marks, cleaned = take_markers(messages)
        if not marks and not any("[[saga:" in str(message) for message in messages):
            assert cleaned is messages

    def test_messages_without_any_are_not_copied(self) -> None:
        messages = words("a [[b]] c")
        assert take_markers(messages)[1] is messages


class TestBearer:
    @pytest.mark.parametrize(
        ("header", "key", "session"),
        [
            (None, "", ""),
            ("", "", ""),
            ("Bearer", "", ""),
            ("Bearer ", "", ""),
            ("Bearer undefined", "", ""),
            ("bearer NULL", "", ""),
            ("Bearer sk-1", "sk-1", ""),
            ("BEARER  sk-1 ", "sk-1", ""),
            ("Bearer sk-1#방", "sk-1", "방"),
            ("Bearer sk-1#%EB%B0%A9", "sk-1", "방"),
            ("Bearer sk-1#", "sk-1", ""),
            ("Bearer #room", "", "room"),
            ("Bearer undefined#room", "", "room"),
            ("Basic abc", "", ""),
        ],
    )
    def test_reading(self, header: str | None, key: str, session: str) -> None:
        assert read_bearer(header) == Bearer(key, session)

    def test_owners(self) -> None:
        assert Bearer().owner == ""
        assert Bearer("a").owner == Bearer("a", "x").owner != Bearer("b").owner
        assert "a-long-key" not in Bearer("a-long-key").owner
        assert "a-long-key" not in repr(Bearer("a-long-key"))

    def test_among(self) -> None:
        assert Bearer("b").among(["a", "b"])
        assert not Bearer("c").among(["a", "b"])
        assert not Bearer("").among([""])
        assert not Bearer("a").among([])
        assert Bearer("\udcff").among(["\udcff"])


class TestThePlayer:
    """Her name, where a request gives it."""

    @pytest.mark.parametrize(
        ("text", "headers"),
        [
            ("I come in.", {"X-SAGA-Player": "Alex"}),
            ("[[saga:player=Alex]] I come in.", {}),
            ("[[saga:player=Robin]] I come in.", {"X-SAGA-Player": "Alex"}),
        ],
    )
    async def test_a_request_names_her(self, offline: Client, text: str, headers: dict[str, str]) -> None:
        reply = await offline.chat(words(text), headers=headers)
        known = (await offline.get(f"/api/sessions/{reply.session}/entities")).json["entities"]
        (player,) = (each for each in known if each["player"])
        assert "Alex" in (player["name"], *player["aliases"])

    async def test_a_name_that_cannot_be_one_is_refused(self, offline: Client) -> None:
        reply = await offline.chat(words("I come in."), headers={"X-SAGA-Player": "x" * 201})
        assert reply.status == 400 and "X-SAGA-Player" in reply.error["message"]


class TestAnswersOfAForm:
    """A request that binds the answer to a form is no turn: no context, no block, nothing recorded."""

    @pytest.mark.parametrize(
        "form",
        [
            {"response_format": {"type": "json_schema", "json_schema": {"name": "t", "schema": {"type": "object"}}}},
            {"response_format": {"type": "json_object"}},
            {"tool_choice": {"type": "function", "function": {"name": "track"}}},
        ],
    )
    async def test_it_is_no_turn(self, upstream: Upstream, serve: Serve, form: dict[str, Any]) -> None:
        async with serve() as client:
            first = await client.chat(words("I come in."))
            before = (await client.get(f"/api/sessions/{first.session}/turns")).json
            await client.chat(words("I look around."), **form)
            assert (await client.get(f"/api/sessions/{first.session}/turns")).json == before
