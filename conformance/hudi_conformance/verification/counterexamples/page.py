"""The HTML page of a behaviour: the picture, the steps as a table beside it, the state after each step."""

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from jinja2 import Environment
from markupsafe import Markup

from hudi_conformance.drawing.svg import legal
from hudi_conformance.drawing.templating import resource, templates
from hudi_conformance.drawing.timeline_drawing import timeline_svg
from hudi_conformance.drawing.timeline_style import embedded_style
from hudi_conformance.runner.resources import write_text
from hudi_conformance.verification.counterexamples.bars import short_time
from hudi_conformance.verification.counterexamples.behaviour import Behaviour
from hudi_conformance.verification.counterexamples.picture import LANE_STYLE, behaviour_svg

POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def write_behaviour(behaviour: Behaviour, file: Path) -> Path:
    """Write the page of one behaviour.

    Raises:
        OSError: the file cannot be written.

    """
    write_text(file, behaviour_page(behaviour))
    return file


def behaviour_page(behaviour: Behaviour) -> str:
    """The page as text; it requests nothing."""
    return _rendered("counterexample.html.j2", behaviour=behaviour, body=behaviour_body(behaviour))


def behaviour_body(behaviour: Behaviour) -> Markup:
    """The part of a page that shows a behaviour."""
    last = behaviour.last.timeline
    text = _rendered(
        "behaviour.html.j2",
        behaviour=behaviour,
        # The drawings escape whatever states hold.
        picture=Markup(behaviour_svg(behaviour, embedded=True)) if behaviour.processes else "",  # noqa: S704
        timeline=Markup(timeline_svg(last, "The timeline at the end", embedded=True)) if last else "",  # noqa: S704
    )
    return Markup(text)  # noqa: S704


def write_index(title: str, pages: Iterable[tuple[str, Behaviour]], file: Path) -> Path:
    """The page that lists others: each by its file's name."""
    file.write_text(_rendered("counterexamples.html.j2", title=title, pages=tuple(pages)), encoding="utf-8")
    return file


def file_name(title: str) -> str:
    """A title as the name of a page."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") + ".html"


def page_style() -> str:
    """The style of pages with behaviours: that of the report and of its timelines."""
    return (
        resource("hudi_conformance.report", "report.css")
        + embedded_style()
        + LANE_STYLE
        + resource(__package__, "behaviour.css")
    )


def _rendered(template: str, **values: object) -> str:
    style = Markup(page_style())  # noqa: S704 - our own files
    return legal(_templates().get_template(template).render(style=style, policy=POLICY, **values))


@cache
def _templates() -> Environment:
    return templates(__package__, short_time=short_time)
