"""The frontends and providers that ``saga setup`` offers."""

from __future__ import annotations

from attrs import frozen

OFFLINE = "offline"
OTHER = "other"


@frozen(kw_only=True)
class FrontendChoice:
    """A frontend. ``origin`` is the website that sends the requests, if the frontend runs in a browser."""

    name: str
    origin: str | None = None


@frozen(kw_only=True)
class ProviderChoice:
    """A provider of models.

    ``section`` is the provider's name in the settings. ``base_url`` is its usual address; None means its official
    address, and an empty text that the user has to give one. ``keyed`` says whether it requires a key, and ``variable``
    is the environment variable that may hold the key.
    """

    name: str
    title: str
    section: str = "openai"
    base_url: str | None = None
    keyed: bool = False
    variable: str | None = None

    @property
    def local(self) -> bool:
        """Whether it usually runs on this machine, where it is slow and answers one request at a time."""
        return bool(self.base_url) and not self.keyed


FRONTENDS = {
    choice.name: choice
    for choice in (
        FrontendChoice(name="sillytavern"),
        FrontendChoice(name="sillytavern-text"),
        FrontendChoice(name="risuai"),
        FrontendChoice(name="risuai-web", origin="https://risuai.xyz"),
        FrontendChoice(name=OTHER),
    )
}
"""The frontends by name, in the order in which they are offered."""

PROVIDERS = {
    choice.name: choice
    for choice in (
        ProviderChoice(name="koboldcpp", title="KoboldCpp", base_url="http://127.0.0.1:5001/v1"),
        ProviderChoice(name="llamacpp", title="llama.cpp (llama-server)", base_url="http://127.0.0.1:8080/v1"),
        ProviderChoice(name="ollama", title="Ollama", base_url="http://127.0.0.1:11434/v1"),
        ProviderChoice(name="lmstudio", title="LM Studio", base_url="http://127.0.0.1:1234/v1"),
        ProviderChoice(name="textgen", title="text-generation-webui", base_url="http://127.0.0.1:5000/v1"),
        ProviderChoice(name="openai", title="OpenAI", keyed=True, variable="OPENAI_API_KEY"),
        ProviderChoice(
            name="anthropic", title="Claude (Anthropic)", section="anthropic", keyed=True, variable="ANTHROPIC_API_KEY"
        ),
        ProviderChoice(name="google", title="Gemini (Google)", section="google", keyed=True, variable="GEMINI_API_KEY"),
        ProviderChoice(
            name="openrouter", title="OpenRouter", section="openrouter", keyed=True, variable="OPENROUTER_API_KEY"
        ),
        ProviderChoice(name=OTHER, title="", section="other", base_url="", keyed=True),
        ProviderChoice(name=OFFLINE, title="", section=""),
    )
}
"""The providers by name, in the order in which they are offered."""
