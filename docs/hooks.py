"""MkDocs calls these functions while it builds the site: generated parts, links into the checkout, links to clauses."""

import os
import re
from collections.abc import Callable, Mapping
from functools import cache, partial
from logging import getLogger
from pathlib import Path
from typing import Any

from hudi_conformance.cli import whole_app
from hudi_conformance.interop.peers.page import differences
from hudi_conformance.pages.site.clause_pages import FOLDER, ClausePages
from hudi_conformance.pages.site.commands import commands_page
from hudi_conformance.pages.site.results_matrix import results_matrix
from mkdocs.structure.files import File
from mkdocs.utils import get_relative_url

ROOT = Path(__file__).parents[1]
LOG = getLogger("mkdocs.hooks")
PARTS: Mapping[str, Callable[[], str]] = {
    "commands": lambda: commands_page(whole_app()),
    "results": lambda: results_matrix(ROOT),
    **{f"differences of {name}": partial(differences, ROOT, name, "##") for name in ("apache-hudi", "hudi-rs", "daft")},
}
MARK = re.compile(r"^<!-- generated: ([\w -]+?) -->$", re.MULTILINE)
LINK = re.compile(r"(?<!!)\[(?P<label>[^\]]*)\]\((?P<target>[^)#\s:]+)(?P<anchor>#[^)\s]*)?\)")
CLAUSE_ANCHOR = re.compile(r"#([a-z]{2,4}-[0-9]{3})(?:-.*)?$")
NAMED_FENCE = re.compile(r"^```(\w+) ([\w.-]+)$", re.MULTILINE)
FENCE = re.compile(r"^(`{3,}|~{3,}).*?^\1", re.MULTILINE | re.DOTALL)
CLAUSE = re.compile(r"\b[A-Z]{2,4}-[0-9]{3}\b")
# Text between these is left as it is.
CLOSED = frozenset({"a", "code", "pre", "h1", "h2", "h3", "h4", "title", "svg", "script", "style"})
TAG = re.compile(r"(<[^>]*>)")


@cache
def clause_pages() -> ClausePages:
    """The clauses of the checkout, read once."""
    return ClausePages(ROOT)


def on_files(files: Any, config: Any) -> Any:
    """Add a page for each file of clauses."""
    pages = clause_pages()
    for name in pages.files:
        files.append(File.generated(config, f"{FOLDER}/{name}", content=pages.page(name)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Fill in what is generated, show the names of files above their blocks, and replace links that leave docs/."""
    here = page.file.src_uri
    if here.startswith(f"{FOLDER}/"):
        return markdown
    text = MARK.sub(lambda mark: PARTS[mark[1]](), markdown)
    text = NAMED_FENCE.sub(r'```\1 title="\2"', text)
    parts, end = [], 0
    for fence in FENCE.finditer(text):
        parts += [LINK.sub(lambda link: _link(link, here), text[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join((*parts, LINK.sub(lambda link: _link(link, here), text[end:])))


def on_page_content(html: str, page: Any, files: Any, **_: Any) -> str:
    """Link every clause id that the text of a page names."""
    parts, closed = [], 0
    for part in TAG.split(html):
        if part.startswith("<"):
            name = part.strip("</>").split()[0].rstrip("/") if part.strip("</> ") else ""
            if name in CLOSED and not part.endswith("/>"):
                closed += -1 if part.startswith("</") else 1
            parts.append(part)
        else:
            parts.append(part if closed else CLAUSE.sub(lambda found: _clause(found, page, files), part))
    return "".join(parts)


def _clause(found: re.Match[str], page: Any, files: Any) -> str:
    place = clause_pages().places.get(found[0])
    if place is None:
        return found[0]
    source, _, anchor = place.partition("#")
    url = get_relative_url(files.get_file_from_path(source).url, page.url)
    return f'<a href="{url}#{anchor}" class="clause">{found[0]}</a>'


def _link(link: re.Match[str], here: str) -> str:
    """A link as it is where it stays in docs/; the site's page of a clause; else the path of a file of the checkout."""
    target = os.path.normpath(os.path.join("docs", os.path.dirname(here), link["target"]))  # noqa: PTH118, PTH120
    if target.startswith("docs/"):
        return link[0]
    if target == "CONTRIBUTING.md":
        return f"[{link['label']}]({_relative('contributing.md', here)})"
    if target == "specs/clauses":
        return f"[{link['label']}]({_relative('reference/clauses.md', here)})"
    if target.startswith("specs/clauses/"):
        anchor = CLAUSE_ANCHOR.sub(r"#\1", link["anchor"] or "")
        return f"[{link['label']}]({_relative(target.replace('specs/clauses', FOLDER), here)}{anchor})"
    if not (ROOT / target).exists():
        LOG.warning("%s: %s is not in the checkout", here, target)
    label = link["label"]
    return label if target.rstrip("/") in label.strip("`/") or Path(target).stem in label else f"{label} (`{target}`)"


def _relative(target: str, here: str) -> str:
    return os.path.relpath(target, os.path.dirname(here) or ".")  # noqa: PTH120
