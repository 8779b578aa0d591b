"""What a change moves, as one HTML page with every counterexample drawn."""

from pathlib import Path

from markupsafe import Markup

from hudi_conformance.drawing.svg import legal
from hudi_conformance.drawing.templating import templates
from hudi_conformance.runner.resources import write_text
from hudi_conformance.verification.counterexamples.page import POLICY, behaviour_body, page_style
from hudi_conformance.verification.impact.comparing import HOLDS, Impact
from hudi_conformance.verification.impact.console import difference_lines, summary, touched_lines


def write_page(impact: Impact, file: Path) -> Path:
    """Write the page.

    Raises:
        OSError: the file cannot be written.

    """
    write_text(file, impact_page(impact))
    return file


def impact_page(impact: Impact) -> str:
    """The page as text; it requests nothing."""
    return legal(
        templates(__package__)
        .get_template("impact.html.j2")
        .render(
            impact=impact,
            holds=HOLDS,
            policy=POLICY,
            style=Markup(page_style()),  # noqa: S704 - our own files
            summary=summary(impact),
            touched=tuple(touched_lines(impact)),
            drawn=behaviour_body,
            differences=difference_lines,
        )
    )
