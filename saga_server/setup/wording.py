"""The texts of ``saga setup``, in English and Korean."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen


@frozen(kw_only=True)
class Wording:
    """The texts in one language. Names in braces are placeholders."""

    welcome: str
    frontend: str
    frontends: Mapping[str, str]
    """The title of each frontend, by its name."""
    provider: str
    other_provider: str
    offline: str
    address: str
    model: str
    key: str
    key_found: str
    key_none: str
    key_kept: str
    key_missing: str
    language: str
    languages: Mapping[str, str]
    world: str
    no_world: str
    exists: str
    unchanged: str
    set_aside: str
    written: str
    examined: str
    unwell: str
    start: str
    connect: Mapping[str, str]
    """What to set in each frontend, by its name. ``{url}`` is the server's address."""
    any_key: str
    switch_off: str
    number: str
    number_wrong: str
    address_wrong: str


WORDINGS: Mapping[str, Wording] = {
    "en": Wording(
        welcome="Five questions. Enter takes what stands in brackets; Ctrl-C ends, and nothing is changed.",
        frontend="1/5  Which frontend do you chat in?",
        frontends={
            "sillytavern": "SillyTavern, Chat Completion",
            "sillytavern-text": "SillyTavern, Text Completion (KoboldCpp, llama.cpp and the like)",
            "risuai": "RisuAI, the app",
            "risuai-web": "RisuAI in the browser (risuai.xyz)",
            "other": "another one that speaks the OpenAI API",
        },
        provider="2/5  Who runs the model?",
        other_provider="another server with the OpenAI API",
        offline="nobody: the built-in narrator, to try things out",
        address="     Its address",
        model="     Which model? Empty: the one that you pick in the frontend",
        key="3/5  The key for {title} (it is not shown; empty: it is set as {variable} later)",
        key_found="3/5  The key: {variable} is set here, and is used.",
        key_none="3/5  The key: this provider needs none.",
        key_kept="     The key is in {place}, which only you may read.",
        key_missing="     Before `saga serve`, set {variable} to the key.",
        language="4/5  Which language do you play in?",
        languages={"en": "English", "ko": "Korean", "ja": "Japanese", "zh": "Chinese"},
        world="5/5  Which world do chats begin in?",
        no_world="none: SAGA learns from your card and the story",
        exists="{file} exists. Replace it? It is kept as {file}.old",
        unchanged="Nothing was changed. To write another file: saga setup --file NAME",
        set_aside="The former settings are in {old}.",
        written="Settings: {file}",
        examined="What saga doctor says:",
        unwell="Mend what is marked with !!, then look again with: saga doctor{option}",
        start="Start it with: saga serve{option}",
        connect={
            "sillytavern": "In SillyTavern: API Connections > API: Chat Completion\n"
            "  Source: Custom (OpenAI-compatible)\n  Custom Endpoint: {url}/v1",
            "sillytavern-text": "In SillyTavern: API Connections > API: Text Completion\n"
            "  API Type: that of your server\n  API URL: {url}\n"
            "  Keep your instruct template, and give the context at least 8,192 tokens.",
            "risuai": "In RisuAI: Settings > Chat Bot > Model: Reverse Proxy\n  URL: {url}/v1",
            "risuai-web": "In RisuAI: Settings > Chat Bot > Model: Reverse Proxy\n  URL: {url}/v1",
            "other": "Base URL: {url}/v1",
        },
        any_key="  API key: any text, but always the same: a chat is found again by it",
        switch_off="Switch off in the frontend: Summarize, Vector Storage, Memory Books, HypaMemory. SAGA does their\n"
        "work, and what they change in the prompt makes the provider's cache useless.",
        number="     A number",
        number_wrong="type a number from 1 to {last}",
        address_wrong="{text} is no address; type one such as http://127.0.0.1:5001/v1",
    ),
    "ko": Wording(
        welcome="질문은 다섯 개입니다. 엔터를 누르면 대괄호 안의 값을 씁니다. "
        "Ctrl-C를 누르면 아무것도 바꾸지 않고 끝납니다.",
        frontend="1/5  어떤 프론트엔드를 쓰나요?",
        frontends={
            "sillytavern": "SillyTavern, Chat Completion",
            "sillytavern-text": "SillyTavern, Text Completion (KoboldCpp, llama.cpp 등)",
            "risuai": "RisuAI 앱",
            "risuai-web": "브라우저에서 쓰는 RisuAI (risuai.xyz)",
            "other": "그 밖의 OpenAI 호환 프론트엔드",
        },
        provider="2/5  모델은 어디에서 실행되나요?",
        other_provider="그 밖의 OpenAI 호환 서버",
        offline="모델 없음: 내장 내레이터로 시험해 보기",
        address="     서버 주소",
        model="     모델 이름 (비워 두면 프론트엔드에서 고른 모델을 씁니다)",
        key="3/5  {title} API 키 (화면에 표시되지 않습니다. 비워 두면 나중에 {variable}로 설정합니다)",
        key_found="3/5  API 키: 환경 변수 {variable}의 값을 씁니다.",
        key_none="3/5  API 키: 이 프로바이더에는 필요 없습니다.",
        key_kept="     키는 본인만 읽을 수 있는 파일에 저장했습니다: {place}",
        key_missing="     `saga serve`를 실행하기 전에 환경 변수 {variable}에 키를 넣으세요.",
        language="4/5  어떤 언어로 플레이하나요?",
        languages={"en": "영어", "ko": "한국어", "ja": "일본어", "zh": "중국어"},
        world="5/5  새 채팅을 어떤 월드에서 시작할까요?",
        no_world="월드 없음: 카드와 이야기에서 하나씩 알아 갑니다",
        exists="{file} 파일이 이미 있습니다. 바꿀까요? 기존 파일은 {file}.old로 남겨 둡니다",
        unchanged="아무것도 바꾸지 않았습니다. 다른 파일에 쓰려면: saga setup --file 이름",
        set_aside="기존 설정은 {old} 파일에 있습니다.",
        written="설정 파일: {file}",
        examined="saga doctor 점검 결과:",
        unwell="!! 표시가 있는 항목을 고친 뒤 다시 점검하세요: saga doctor{option}",
        start="시작하려면: saga serve{option}",
        connect={
            "sillytavern": "SillyTavern: API Connections > API: Chat Completion\n"
            "  Source: Custom (OpenAI-compatible)\n  Custom Endpoint: {url}/v1",
            "sillytavern-text": "SillyTavern: API Connections > API: Text Completion\n"
            "  API Type: 쓰는 서버에 맞게 선택\n  API URL: {url}\n"
            "  인스트럭트 템플릿은 그대로 두고, 컨텍스트 크기는 8,192토큰 이상으로 설정하세요.",
            "risuai": "RisuAI: 설정 > 챗봇 > 모델: 리버스 프록시(Reverse Proxy)\n  URL: {url}/v1",
            "risuai-web": "RisuAI: 설정 > 챗봇 > 모델: 리버스 프록시(Reverse Proxy)\n  URL: {url}/v1",
            "other": "API 주소(Base URL): {url}/v1",
        },
        any_key="  API 키: 아무 문자열이나 괜찮지만 늘 같은 것을 쓰세요. 이 키로 채팅을 다시 찾습니다",
        switch_off="프론트엔드에서 Summarize, Vector Storage, Memory Books, HypaMemory를 끄세요.\n"
        "모두 SAGA가 하는 일이고, 켜 두면 프롬프트 앞부분이 매번 바뀌어 프로바이더의 캐시를 쓸 수 없습니다.",
        number="     번호",
        number_wrong="1부터 {last}까지의 번호를 입력하세요",
        address_wrong="올바른 주소가 아닙니다: {text}. http://127.0.0.1:5001/v1 같은 형식으로 입력하세요",
    ),
}
"""The texts by language tag."""
