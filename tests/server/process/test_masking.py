"""What errors tell of this machine and of keys, in whatever way a provider writes it."""

from __future__ import annotations

import time
from pathlib import Path
from time import process_time

import pytest

from saga_core.config import load_config
from saga_core.errors import UpstreamError
from saga_server.http.errors import describe
from saga_server.process.logs import secrets_of
from saga_server.process.masking import Mask

AROUND = (
    "{}", "<{}>", '"{}"', "'{}'", "({})", "[{}]", "{{{}}}", "={}", "path={}", "x:{}", "`{}`", ",{}", "|{}", ">{}",
    "file:{}", "file://{}", "~{}", "*{}*", "…{}", "“{}”", "«{}»", "「{}」", "#{}", "@{}", "-{}", "\\{}", "\u200b{}",
    "no such file:{}", "[Errno 2] No such file or directory: '{}'", 'File "{}", line 3', "{}:12", ".{}", "\n{}",
)  # fmt: skip
GLUED = ("é{}", "한글{}", "0{}", "_{}", "%2Fhome{}")
PATHS = (
    "/home/joe/.ssh/id_rsa", "/opt/secret/secret.gguf", "/Users/joe/secret", "//srv/joe/secret", "/비밀/secret",
    "~/joe/secret", "../joe/secret.gguf", "./secret.gguf", "C:/Users/joe/secret", "D:\\joe\\secret.gguf",
    "\\\\nas\\joe\\secret", "\\\\\\\\nas\\\\joe\\\\secret", "/home/jo e/joe x/secret", "/Volumes/My Disk/joe/secret",
    "%2Fsrv%2Fjoe%2Fsecret", "C:\\Program Files\\joe\\secret",
)  # fmt: skip


@pytest.mark.parametrize("around", [*AROUND, *GLUED])
def test_a_path_is_taken_out_wherever_it_stands(around: str) -> None:
    found = Mask.of(()).for_players(f"bad {around.format('/srv/joe/secret.db')} end")
    assert "secret" not in found and "joe" not in found and found.endswith(" end")


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("around", ["{}", "'{}'", "no:{}", "[{}]"])
def test_every_kind_of_path_is_taken_out(path: str, around: str) -> None:
    found = Mask.of(()).for_players(f"bad {around.format(path)} end")
    assert not [each for each in ("secret", "joe", "id_rsa", "nas") if each in found]


@pytest.mark.parametrize("around", [*AROUND, *GLUED])
def test_folders_of_this_machine_are_taken_out_whatever_they_are_called(around: str) -> None:
    mask = Mask.of((), [Path("/secret/cellar/saga"), Path("/secret/joe"), Path("/")])
    for path in ("/secret/cellar/saga/state.db", "/secret/joe"):
        found = mask.for_players(f"bad {around.format(path)} end")
        assert not [each for each in ("secret", "joe", "cellar", "state.db") if each in found]


@pytest.mark.parametrize(
    "text",
    [
        "see GET /v1/models, '/v1/chat/completions' or /s/a-b.c/v1/chat/completions",
        "model org/name/variant-3 is not there; text/plain, 1/2 and 3/4/5, he/she/they, /roll 2d6",
        "unexpected token: '<' at 3; max_tokens=4096 is too many; tokens: 12345678; token: expected 5",
        "providers.openai.api_key: must be a text; SAGA_KEY names its API key; password: wrong",
        "claude-3-5-sonnet-20241022, llama-3.1-70b-instruct-q4_k_m, llama3:8b@sha256:abcdef, at 12:30@home",
        "at 12:30:45, a ratio of 1:2:3, std::vector, x :: y, error:500, api.openai.com:443",
        "t01m8mhscbm1pr3v3c8aj of session s01m8mhscbm1pr3v3c8aj, </think></s><br/>",
    ],
)
def test_what_is_neither_path_nor_key_stays(text: str) -> None:
    assert Mask.of(()).for_players(text) == text


@pytest.mark.parametrize(
    "address",
    [
        "fd00::5",
        "2a01:4f8:1:2::3",
        "fe80::1%eth0",
        "::ffff:10.9.8.7",
        "2001:db8:0:1:2:3:4:5",
        "[fd00::7]:8080",
        "fd00::5:11434",
        "gpu-box:9",
        "gpu-box:11434",
    ],
)
def test_addresses_of_other_machines_are_taken_out(address: str) -> None:
    assert Mask.of(()).for_players(f"cannot reach {address} (refused)") == "cannot reach (address) (refused)"


@pytest.mark.parametrize(
    "text",
    [
        "ghp_{}", "pplx-{}", "xai-{}", "gsk_{}", "newprovider_{}", "eyJhbGciOiJIUzI1NiJ9.{}.{}", "password={}",
        '{{"api_key": "{}"}}', '{{"password": "{}"}}', '{{\\"client_secret\\": \\"{}\\"}}', "access_token: {}",
        "http://x.example/y?api_key={}", "http://x.example/y?key={}", "postgresql://10.1.2.3/saga?password={}",
        "joe:{}@gpu7.lan", "joe:{}@localhost", "joe:{}@db:5432", "OPENAI_API_KEY={}", "private-key: {}",
    ],
)  # fmt: skip
def test_what_looks_like_a_key_is_taken_out(text: str) -> None:
    secret = "AbCdEfGhIjKlMnOpQrStUvWxYz012345"
    found = Mask.of(())(f"bad <{text.format(secret, secret)}> end")
    assert secret not in found and "(key)" in found and found.endswith("> end")


KEY = "correct-horse-battery-staple-1234567890"


@pytest.mark.parametrize(
    "part", [KEY[3:], KEY[:-3], KEY[5:17], KEY[-12:], KEY[:12], KEY[::-1], KEY[::-1][4:16], KEY[1:14] + KEY[2:15]]
)
def test_a_long_run_of_a_key_is_taken_out(part: str) -> None:
    mask = Mask.of([KEY])
    for shift in range(7):
        found = mask(f"{'.' * shift}bad <{part}> end")
        assert found.replace("(key)", "") == f"{'.' * shift}bad <> end"


def test_a_short_run_of_a_key_stays() -> None:
    for part in (KEY[5:16], KEY[::-1][3:14], "battery", "staple-12", "1234567890"):
        assert Mask.of([KEY])(f"a <{part}> b") == f"a <{part}> b"


def test_many_parts_of_keys_in_a_long_text_cost_little() -> None:
    mask = Mask.of([f"{each:02}{'ab' * 30}" for each in range(20)])
    text = "abababababa." * 5_000
    start = time.process_time()
    assert mask._without_runs(text) == text
    assert time.process_time() - start < 5.0


def test_a_password_in_the_query_of_an_address_is_a_known_secret() -> None:
    config = load_config({"storage": {"url": "postgresql://db/saga?user=joe&password=gehe%69m"}}, environ={})
    assert "geheim" in secrets_of(config, {})


INSIDE = "Proc-Type: 4,ENCRYPTED\n\nMIIEow+secret/abc=\nsecret"
PEM = f"-----BEGIN RSA PRIVATE KEY-----\n{INSIDE}\n-----END RSA PRIVATE KEY-----"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"bad {PEM} end", "bad (key) end"),
        (f"bad {PEM.encode('unicode_escape').decode()} end", "bad (key) end"),
        ("bad -----BEGIN PRIVATE KEY-----\nsecret", "bad (key)"),
        ("Set-Cookie: session=secret; Path=/\nnext", "Set-Cookie: (key)\nnext"),
        ('{"set-cookie": "session=secret; HttpOnly", "a": 1}', '{"set-cookie": "(key)", "a": 1}'),
        ("Cookie: a=secret; b=secret", "Cookie: (key)"),
        ("Authorization: Bearer secretsecret end", "Authorization: Bearer (key) end"),
        ("Authorization: token secret-secret", "Authorization: token (key)"),
        ("{'authorization': 'secretsecret1'}", "{'authorization': '(key)'}"),
        ("authorization: expected a string; cookie: missing", "authorization: expected a string; cookie: missing"),
    ],
)
def test_private_keys_cookies_and_authorizations_are_taken_out(text: str, left: str) -> None:
    assert Mask.of(())(text) == left


def test_a_key_in_the_type_of_an_error_is_taken_out() -> None:
    refused = UpstreamError("slow down", status=429, kind="admin_key_of_the_house")
    assert describe(refused, Mask.of(["admin_key_of_the_house"])).kind == "(key)"
    assert (
        describe(UpstreamError("slow down", status=429, kind="rate_limit_error"), Mask.of(())).kind
        == "rate_limit_error"
    )


@pytest.mark.parametrize("unit", ["x", "word ", "a:", "http://", "/a", "key=sk-abcdefghijklmnopqrstuvwx123456 "])
def test_a_long_text_is_searched_at_its_ends_alone(unit: str) -> None:
    mask = Mask.of(["hunter2 is my password"])
    text, began = unit * (3_000_000 // len(unit)), process_time()
    for shown in (mask(text), mask.for_players(text), mask.for_log(text)):
        assert len(shown) < 20_000 and "abcdefgh" not in shown
    assert process_time() - began < 0.5
    assert mask(text[:100_000], whole=True).count("word") == text[:100_000].count("word")


def test_no_secret_is_cut_with_a_long_text() -> None:
    key = "sk-abcdefghijklmnopqrstuvwx123456"
    pem = "-----BEGIN PRIVATE KEY-----\n" + "MIIEvAIBADANBgkqhkiG\n" * 400 + "-----END PRIVATE KEY-----"
    for at in range(9_960, 10_010, 7):
        assert "sk-" not in Mask.of([])("x " * (at // 2) + f"{key} " + "y " * 20_000)
        assert "sk-" not in Mask.of([])("x " * 20_000 + f"{key} " + "y " * ((5_000 - at % 100) // 2))
        assert "MIIE" not in Mask.of([])("x " * (at // 2) + pem + " y" * 20_000)
    assert "MIIE" not in Mask.of([])("x " * 20_000 + pem + " y" * 10)
