"""Tables of the generated Markdown pages."""

from collections.abc import Iterable, Iterator, Sequence


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """The lines of a Markdown table."""
    yield "| " + " | ".join(head) + " |"
    yield "|" + " --- |" * len(head)
    for row in rows:
        yield "| " + " | ".join(map(str, row)) + " |"
