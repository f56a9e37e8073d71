"""The choices, the texts and the settings file of ``saga setup``. ``saga_server.cli.setup`` asks the questions."""

from __future__ import annotations

from saga_server.setup.choices import FRONTENDS, OFFLINE, OTHER, PROVIDERS, ProviderChoice
from saga_server.setup.settings_file import Answers, keep_key, set_aside, settings_text
from saga_server.setup.wording import WORDINGS, Wording
