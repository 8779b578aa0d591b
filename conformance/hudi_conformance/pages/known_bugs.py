"""docs/known-bugs.md, written from the registry: `python -m hudi_conformance.pages.known_bugs`."""

from pathlib import Path

from hudi_conformance.pages.known_bug_list import load_known_bugs, page
from hudi_conformance.verification.lint.checkout import find_root

PAGE = Path("docs") / "known-bugs.md"

if __name__ == "__main__":
    root = find_root(Path.cwd())
    (root / PAGE).write_text(page(load_known_bugs(root)), encoding="utf-8")
