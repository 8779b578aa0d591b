"""The documentation builds without a warning, and nothing in it is loaded from elsewhere."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
LOADED = re.compile(
    r"<(?:script|img|iframe|source)\b[^>]*\bsrc=[\"']?https?:"
    r"|<link\b[^>]*\brel=[\"']?(?:stylesheet|preload|icon|preconnect)\b[^>]*\bhref=[\"']?https?:"
)
LOADED_BY_STYLE = re.compile(r"@import|url\([\"']?https?:")


def test_the_site_builds_and_requests_nothing(tmp_path: Path) -> None:
    """A broken link or anchor is a warning, and with it the build fails."""
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(tmp_path / "site")]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    pages = list((tmp_path / "site").rglob("*.html"))
    assert len(pages) > 60
    assert [page.name for page in pages if LOADED.search(page.read_text(encoding="utf-8"))] == []
    styles = (tmp_path / "site").rglob("*.css")
    assert [style.name for style in styles if LOADED_BY_STYLE.search(style.read_text(encoding="utf-8"))] == []
    assert "#mg-004" in (tmp_path / "site" / "concepts" / "merge-modes.html").read_text(encoding="utf-8")
    assert [page.name for page in pages if "```" in page.read_text(encoding="utf-8")] == []
