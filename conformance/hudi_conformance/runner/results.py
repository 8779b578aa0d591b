"""Results as JSON Lines: a header, one line a case and adapter, a footer (docs/reference/results-file.md).

{"kind":"header","format":2,"suite":"0.1.0","protocol":1,"started":"2025-01-31T12:00:00Z","cases":90,"adapters":[...]}
{"kind":"case","id":"conformance::v9/t::c","adapter":"engine","area":"merging","verdict":"pass",...}
{"kind":"footer","seconds":12.3,"counts":{"engine":{"pass":90}},"implementations":{"engine":{...}},"exit":0}
"""

import datetime as dt
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from types import TracebackType
from typing import Any

from hudi_adapter.protocol import PROTOCOL_VERSION
from hudi_format.compat import Self

from hudi_conformance.runner.adapter_pool import Roles
from hudi_conformance.runner.adapters_config import AdapterConfig
from hudi_conformance.runner.failure_text import NOBODY_ELSE, repro_command
from hudi_conformance.runner.plain_text import plain
from hudi_conformance.runner.verdicts import Outcome

RESULTS_FILE = "results.jsonl"
FORMAT = 2
"""What stands in an older format keeps its meaning: a reader knows it and all before."""
_MOST_NAME = 200
_MOST_COMMAND = 10_000


class ResultsError(ValueError):
    """A results file that is absent or does not parse."""


def result_line(adapter: AdapterConfig, outcome: Outcome, roles: Roles = NOBODY_ELSE) -> dict[str, Any]:
    """One case of one adapter, as JSON."""
    case = outcome.case
    reading = {"clause": outcome.reading[0], "reading": outcome.reading[1]} if outcome.reading else None
    return {
        "kind": "case",
        "id": case.id,
        "table": case.table.id,
        "case": case.name,
        "title": case.title,
        "table_version": case.table.version,
        "area": case.area,
        "clauses": list(case.clauses),
        "adapter": adapter.name,
        "verdict": outcome.verdict.value,
        "reading": reading,
        "seconds": round(outcome.seconds, 3),
        "message": outcome.message,
        "differences": list(outcome.differences),
        "answer_sha256": outcome.answer_sha256,
        "caught": outcome.caught,
        "traceback": outcome.traceback,
        "repro": plain(repro_command(outcome, adapter, roles), _MOST_COMMAND),
        "step": outcome.step,
        "comparison": outcome.comparison.to_json() if outcome.comparison else None,
    }


class ResultsWriter:
    """Writes a results file line by line, so that an interrupted run leaves what it found."""

    def __init__(self, path: Path, adapters: Sequence[AdapterConfig], cases: int, roles: Roles = NOBODY_ELSE) -> None:
        self._roles = roles
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("w", encoding="utf-8")
        self._started_at = dt.datetime.now(dt.timezone.utc)
        self.counts: dict[str, Counter[str]] = {adapter.name: Counter() for adapter in adapters}
        self._implementations: dict[str, Any] = {}
        self._line(
            {
                "kind": "header",
                "format": FORMAT,
                "suite": metadata.version("hudi-conformance"),
                "protocol": PROTOCOL_VERSION,
                "started": self._started_at.isoformat(timespec="seconds").replace("+00:00", "Z"),
                "cases": cases,
                "adapters": [adapter.name for adapter in adapters],
            }
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def case(self, adapter: AdapterConfig, outcome: Outcome) -> None:
        """One outcome."""
        self.counts[adapter.name][outcome.verdict.value] += 1
        self._line(result_line(adapter, outcome, self._roles))

    def implementation(self, adapter: AdapterConfig, started: Mapping[str, Any] | None) -> None:
        """What the adapter said of itself at its start."""
        who = started["implementation"] if started else {}
        fields = {name: plain(str(who[name]), _MOST_NAME) for name in ("name", "version", "language") if name in who}
        self._implementations[adapter.name] = fields or None

    def close(self, exit_code: int) -> None:
        """The footer."""
        self._line(
            {
                "kind": "footer",
                "seconds": round((dt.datetime.now(dt.timezone.utc) - self._started_at).total_seconds(), 3),
                "counts": {adapter: dict(sorted(counts.items())) for adapter, counts in self.counts.items()},
                "implementations": self._implementations,
                "exit": exit_code,
            }
        )
        self._file.close()

    def _line(self, content: Mapping[str, Any]) -> None:
        self._file.write(json.dumps(content, ensure_ascii=False) + "\n")
        self._file.flush()


@dataclass(frozen=True, slots=True)
class RunResults:
    """A results file read back; `footer` is empty when the run was interrupted."""

    header: Mapping[str, Any]
    cases: tuple[Mapping[str, Any], ...]
    footer: Mapping[str, Any]


def read_results(path: Path) -> RunResults:
    """Read a results file, or the one in a run's folder.

    Raises:
        ResultsError: it is absent, does not parse, or is of a later format.

    """
    file = path / RESULTS_FILE if path.is_dir() else path
    try:
        lines = [json.loads(line) for line in file.read_text(encoding="utf-8").split("\n") if line]
        header = next(line for line in lines if line["kind"] == "header")
        cases = tuple(line for line in lines if line["kind"] == "case")
        footer: Mapping[str, Any] = next((line for line in lines if line["kind"] == "footer"), {})
    except (OSError, ValueError, KeyError, TypeError, StopIteration) as error:
        raise ResultsError(f"{file.name}: {error or 'no header line'}") from error
    if header.get("format", 1) > FORMAT:
        raise ResultsError(f"{file.name}: format {header['format']}; this version reads up to {FORMAT}")
    return RunResults(header, cases, footer)
