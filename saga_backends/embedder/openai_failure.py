"""Explains failures of an embeddings endpoint in terms of the embedder's own settings, without keys."""

from __future__ import annotations

from attrs import frozen

from saga_backends.embedder.openai_answer import BadAnswer
from saga_backends.provider_error import Blame
from saga_core.errors import UpstreamError


@frozen
class EmbedderBlame(Blame):
    """Builds errors whose messages refer to the embedder's settings."""

    def silent(self) -> UpstreamError:
        return UpstreamError(
            f"{self.host} did not answer in time; recall.options.timeout is {self.timeout:g} seconds",
            status=504,
            kind="upstream_timeout",
            passing=True,
        )

    def unreachable(self, error: Exception) -> UpstreamError:
        found = super().unreachable(error)
        why = str(found).partition(";")[0]
        return UpstreamError(
            f"{why}; is it running, and is recall.options.base_url right?", kind="upstream_unreachable", passing=True
        )

    def useless(self, error: BadAnswer) -> UpstreamError:
        """The error for a reply that cannot be used."""
        return UpstreamError(self.hide(f"{self.host} {error}"), kind="upstream_malformed")

    def _remedy(self, status: int) -> str:
        if status < 400:
            return "no redirect is followed; if it is right, give its address as recall.options.base_url"
        if status in (401, 403):
            return "check the key: recall.options.api_key, providers.openai.api_key or OPENAI_API_KEY"
        if status in (404, 405):
            return "check recall.options.model, and recall.options.base_url, which usually ends in /v1"
        if status == 429:
            return "it is asked again later"
        return super()._remedy(status)
