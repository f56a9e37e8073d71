"""``python -m conformance``."""

from __future__ import annotations

import sys
from importlib.util import find_spec

if __name__ == "__main__":
    if missing := [each for each in ("click", "hypothesis", "pytest") if find_spec(each) is None]:
        sys.exit(f"conformance: no {missing[0]} here; the suite needs: pip install 'saga-rp[conformance]'")
    from conformance.cli import main

    main(prog_name="python -m conformance")
