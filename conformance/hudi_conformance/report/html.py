"""One HTML page that needs nothing but itself."""

import base64
import hashlib
from functools import cache
from pathlib import Path
from urllib.parse import quote

from jinja2 import Environment
from markupsafe import Markup

from hudi_conformance.report.evidence import Evidence
from hudi_conformance.report.gathering import gather
from hudi_conformance.report.page import page_of
from hudi_conformance.report.svg import legal
from hudi_conformance.report.templating import resource, templates
from hudi_conformance.report.timeline_style import embedded_style

PAGE_NAME = "index.html"


def write_report(results_file: Path, output_dir: Path) -> Path:
    """Write the report of a run into a folder and answer the page's path.

    Raises:
        OSError: the results cannot be read or the folder cannot be written.
        ValueError: a line of the results is not what the runner writes.

    """
    return write_page(gather(results_file), output_dir)


def write_page(evidence: Evidence, output_dir: Path) -> Path:
    """Write the page of finished evidence into a folder."""
    output_dir.mkdir(parents=True, exist_ok=True)
    page = output_dir / PAGE_NAME
    page.write_text(rendered(evidence), encoding="utf-8")
    return page


def rendered(evidence: Evidence) -> str:
    """The page as text; its policy admits the one script by its hash and no request at all."""
    script = resource(__package__, "report.js")
    policy = f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src '{_hash(script)}'"
    text = (
        _templates()
        .get_template("report.html.j2")
        .render(
            page=page_of(evidence),
            policy=policy,
            # Our own files, with nothing of the run inside.
            style=Markup(resource(__package__, "report.css") + embedded_style()),  # noqa: S704
            script=Markup(script),  # noqa: S704
        )
    )
    return legal(text)


@cache
def _templates() -> Environment:
    return templates(__package__, fragment=lambda text: quote(legal(text)))


def _hash(script: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
