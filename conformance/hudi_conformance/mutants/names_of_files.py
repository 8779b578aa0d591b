"""Rules of names: timeline files, data files, log files."""

from dataclasses import replace
from typing import Any

from hudi_conformance.mutants.registry import Function, mutant


@mutant(
    "completion-time-not-in-the-name",
    "TL-009",
    "The completion time in the name of a completed file is not read.",
    "hudi_format.names.parse_timeline_file_name",
)
def _no_completion(original: Function) -> Function:
    def replaced(*arguments: Any, **named: Any) -> Any:
        found = original(*arguments, **named)
        return replace(found, completed=None) if getattr(found, "completed", None) else found

    return replaced
