"""A small, sound checkout, into which the tests plant one fault each."""

from pathlib import Path

import pytest
from small_checkout import FILES


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout in which the lint finds nothing."""
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path
