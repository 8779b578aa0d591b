"""Screenshots of a report for the README: `python -m hudi_conformance.pages.site.screenshots REPORT`, with Chromium."""

import hashlib
import shutil
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

from hudi_conformance.verification.lint.checkout import find_root

FOLDER = Path("docs") / "pictures"
DIGEST = FOLDER / "report.sha256"
CASE = "cases/v9.mor_null_ordering--snapshot.html"
"""A case that hudi-rs is known to answer otherwise."""

PAGES = (("index.html", "report.png", "1280,1180"), (CASE, "case.png", "1280,1500"))


def digest() -> str:
    """What the report's pages are made with; a picture is fresh while this stays."""
    templates = files("hudi_conformance.report").joinpath("templates")
    found = hashlib.sha256()
    for file in sorted(templates.iterdir(), key=lambda one: one.name):
        found.update(file.name.encode() + b"\0" + file.read_bytes())
    return found.hexdigest()


def take(report: Path, root: Path) -> None:
    """Take all screenshots of a report, and keep the digest of its templates."""
    program = shutil.which("chromium")
    if program is None:
        sys.exit("chromium is not installed")
    for page, name, size in PAGES:
        options = ("--headless", "--no-sandbox", "--hide-scrollbars", f"--window-size={size}")
        picture = root / FOLDER / name
        address = (report / page).resolve().as_uri()
        subprocess.run([program, *options, f"--screenshot={picture}", address], check=True, capture_output=True)
    (root / DIGEST).write_text(digest() + "\n", encoding="utf-8")


if __name__ == "__main__":
    take(Path(sys.argv[1]), find_root(Path.cwd()))
