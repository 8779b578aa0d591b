"""A run as JUnit XML, as CI services show it: one suite an adapter, one test case a case, ids those of the corpus."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from hudi_conformance.runner.cases import ID_PREFIX
from hudi_conformance.runner.failure_text import headline_of
from hudi_conformance.runner.results import RunResults

# The element that shows each verdict; what passes has none.
_ELEMENTS = {
    "fail": "failure",
    "wrong_reason": "failure",
    "unexpected_pass": "failure",
    "error": "error",
    "timeout": "error",
    "unsupported": "skipped",
    "expected_fail": "skipped",
    "open": "skipped",
    "skipped": "skipped",
}
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_junit(run: RunResults, output: Path) -> None:
    """Write a run's results as JUnit XML."""
    root = junit_of(run)
    output.parent.mkdir(parents=True, exist_ok=True)
    ET.indent(root)
    ET.ElementTree(root).write(output, encoding="utf-8", xml_declaration=True)


def junit_of(run: RunResults) -> ET.Element:
    """The element `testsuites` of a run."""
    root = ET.Element("testsuites", name="hudi-conformance")
    for adapter in run.header["adapters"]:
        cases = [line for line in run.cases if line["adapter"] == adapter]
        suite = ET.SubElement(root, "testsuite", _counts(adapter, cases), timestamp=str(run.header["started"])[:19])
        for line in cases:
            _add_case(suite, line)
    return root


def _counts(adapter: str, cases: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    elements = [_ELEMENTS.get(str(line["verdict"]), "") for line in cases]
    seconds = sum(float(line["seconds"]) for line in cases)
    return {
        "name": adapter,
        "tests": str(len(cases)),
        "failures": str(elements.count("failure")),
        "errors": str(elements.count("error")),
        "skipped": str(elements.count("skipped")),
        "time": f"{seconds:.3f}",
    }


def _add_case(suite: ET.Element, line: Mapping[str, Any]) -> None:
    # The names that pytest's own report gives the same case.
    names = {"classname": f"{ID_PREFIX}.{line['table']}", "name": str(line["case"])}
    case = ET.SubElement(suite, "testcase", names, time=f"{float(line['seconds']):.3f}")
    properties = ET.SubElement(case, "properties")
    for name, value in (("clauses", " ".join(line["clauses"])), ("area", line["area"]), ("title", line["title"])):
        ET.SubElement(properties, "property", name=name, value=_clean(str(value)))
    element = _ELEMENTS.get(str(line["verdict"]))
    if element:
        child = ET.SubElement(case, element, message=_clean(headline_of(line)))
        # Where a line is all that is shown, it is the first: in 80 columns, and then in full.
        parts = [headline_of(line), str(line["message"]), *line["differences"], str(line["traceback"])]
        if line["clauses"]:
            parts.append(f"explain: hudi-conformance clause {' '.join(line['clauses'])}")
        child.text = _clean("\n".join([*filter(None, parts), f"repro: {line['repro']}"]).strip())


def _clean(text: str) -> str:
    return _NOT_IN_XML.sub("?", text)
