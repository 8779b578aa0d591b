"""What runs measured, kept in a checkout: one compressed JSON file with a version for each source, and pages of it.

The pages are written below build/pages, where links to docs/ and to other folders of the checkout still lead there.
"""

import gzip
import json
import os
import re
from pathlib import Path
from typing import Any

from hudi_conformance.runner.resources import write_text

FOLDER = Path("conformance") / "results"
PAGES = Path("build") / "pages"
RUNS = "runs"
VERSION = 1
_LINK = re.compile(r"\]\(([^)#\s:]+)(#[^)\s]*)?\)")


class ResultsFileError(ValueError):
    """A file of results that does not parse, or is of another version."""


def results_file(root: Path, source: str) -> Path:
    """Where the results of a source stand."""
    return root / FOLDER / f"{source}.json.gz"


def load_recorded(root: Path, source: str) -> Any:
    """The recorded results of a source; None where nothing was recorded.

    Raises:
        ResultsFileError: the file does not parse, or is of another version.

    """
    path = results_file(root, source)
    if not path.is_file():
        return None
    try:
        content = json.loads(gzip.decompress(path.read_bytes()))
        version, results = content["version"], content["results"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ResultsFileError(f"{path}: {error}") from error
    if version != VERSION:
        raise ResultsFileError(f"{path}: version {version}; this release reads {VERSION}")
    return results


def save_recorded(root: Path, source: str, results: Any) -> Path:
    """Record the results of a source; a file that holds the same already is left as it is."""
    path = results_file(root, source)
    text = json.dumps({"version": VERSION, "results": results}, ensure_ascii=False, indent=0) + "\n"
    data = text.encode()
    if not path.is_file() or gzip.decompress(path.read_bytes()) != data:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(data, mtime=0))
    return path


def write_results_page(root: Path, name: str, text: str) -> Path:
    """Write a page about results, whose links are relative to docs/, below the checkout's build folder."""
    path = root / PAGES / name
    write_text(path, _LINK.sub(lambda link: _placed(root, link), text))
    return path


def _placed(root: Path, link: re.Match[str]) -> str:
    target, anchor = link[1], link[2] or ""
    if not (root / "docs" / target).exists():
        return link[0]
    return f"]({os.path.relpath(root / 'docs' / target, root / PAGES)}{anchor})"


def write_run_page(path: Path, text: str) -> None:
    """Write the page of a long run; one at its usual place is recorded too, so that `make pages` writes it again."""
    folder = path.resolve().parent
    if folder.parts[-2:] == PAGES.parts:
        root = folder.parents[1]
        save_recorded(root, f"{RUNS}/{path.stem}", {"page": text})
        write_results_page(root, path.name, text)
    else:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def write_recorded_pages(root: Path) -> list[Path]:
    """The pages of the long runs that are recorded, written again."""
    names = sorted(path.name.removesuffix(".json.gz") for path in (root / FOLDER / RUNS).glob("*.json.gz"))
    return [write_results_page(root, f"{name}.md", load_recorded(root, f"{RUNS}/{name}")["page"]) for name in names]
