"""The settings and providers that requests are served with now. A reload replaces them."""

from __future__ import annotations

from attrs import define, field

from saga_core.config import Config
from saga_server.process.logs import Mask, secrets_of
from saga_server.providers import Narrators


@define(eq=False)
class Current:
    """The settings and providers in force, and whether the server is stopping."""

    config: Config
    narrators: Narrators
    stopping: bool = False
    """Whether the server is shutting down."""
    _masks: tuple[Config, Mask] | None = field(default=None, init=False)

    @property
    def mask(self) -> Mask:
        """Hides the secrets of the settings in force."""
        if self._masks is None or self._masks[0] is not self.config:
            self._masks = self.config, Mask.of(secrets_of(self.config))
        return self._masks[1]
