"""Assembly: builds the parts of the engine from a configuration and connects them."""

from __future__ import annotations

from saga_core.assembly.curators import ASKING, RULES
from saga_core.assembly.engine import assemble
from saga_core.assembly.ephemeral import assemble_ephemeral, in_memory
from saga_core.assembly.parts import OpenArguments, Parts
from saga_core.assembly.warm_up import warm_up_steps
