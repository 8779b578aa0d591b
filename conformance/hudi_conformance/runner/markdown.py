"""Tables and links of the generated Markdown pages."""

from collections.abc import Iterable, Iterator, Sequence


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """The lines of a Markdown table."""
    yield "| " + " | ".join(head) + " |"
    yield "|" + " --- |" * len(head)
    for row in rows:
        yield "| " + " | ".join(map(str, row)) + " |"


def issue_link(issue: str) -> str:
    """A link to an issue such as `apache/hudi#1234`."""
    repository, _, number = issue.partition("#")
    return f"[{issue}](https://github.com/{repository}/issues/{number})"
