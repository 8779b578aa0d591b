"""A clause's rule as it is read: Markdown in, HTML out, without any HTML of its own."""

from functools import cache

from markdown_it import MarkdownIt
from markupsafe import Markup

from hudi_conformance.drawing.svg import legal


def rule_html(text: str) -> Markup:
    """The rule rendered; links are left as text, for a report requests nothing."""
    # Rendered with HTML switched off: what stands in the text is escaped.
    return Markup(_renderer().render(legal(text)))  # noqa: S704


def line_html(text: str) -> Markup:
    """A line of such text without a paragraph around it."""
    return Markup(_renderer().renderInline(legal(text)))  # noqa: S704 - as above


@cache
def _renderer() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable("table").disable(["link", "image", "autolink"])
