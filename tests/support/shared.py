"""Reference material that lies beside the checkout; a clone without it skips the tests that need it."""

from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[3] / "shared"
needs_shared = pytest.mark.skipif(
    not (SHARED / "cases").is_dir(), reason="the recorded cases do not lie beside this checkout"
)
