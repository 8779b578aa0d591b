"""What releases do other than the clauses say, with evidence, from the lists beside the adapters."""

from collections.abc import Iterator
from pathlib import Path

from hudi_conformance.runner.findings import Finding, findings_below
from hudi_conformance.runner.markdown import issue_link


def released_differences(root: Path) -> str:
    """A section for each product, a heading for each difference, as Markdown."""
    products: dict[str, list[Finding]] = {}
    for name, finding in findings_below(root / "adapters").items():
        products.setdefault(name.partition("/")[0], []).append(finding)
    return "\n".join(line for product, found in products.items() for line in _product(product, found))


def _product(product: str, found: list[Finding]) -> Iterator[str]:
    yield f"### {product}\n"
    for one in sorted(found, key=lambda finding: (finding.clause, finding.name)):
        yield f"#### {one.clause}: {one.why.rstrip('.')} {{ #{product}-{one.name} }}\n"
        yield f"Evidence: {one.evidence}\n"
        if one.source:
            yield f"Likely in: {one.source}\n"
        if one.upstream:
            yield f"Reported as: {', '.join(map(issue_link, one.upstream))}\n"
        if one.reproduce:
            yield f"```sh\n{one.reproduce}\n```\n"
