"""TLC over traces: one run for all of them, and of each what came of it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hudi_conformance.verification.tla.expressions import Function, Value, parse_value
from hudi_conformance.verification.tla.manifest import ManifestError, Run
from hudi_conformance.verification.tla.tlc import output_with
from hudi_conformance.verification.tracing.describing import named
from hudi_conformance.verification.tracing.modules import MODULE, Names, Trace, trace_module, words_of

CHECK = "TraceEffects"
LIMIT_S = 600.0
REPORTED = re.compile(r'^"<<\\"(?P<word>\w+)\\", (?P<trace>\d+), .*$', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of a trace: accepted; else its first line that is no step, counted from 1, and the rules it breaks.

    `allowed`: what its process might have done there instead, as TLC shows it.
    """

    accepted: bool
    number: int
    broken: tuple[str, ...]
    names: Names
    allowed: str = ""

    def lines_allowed(self) -> list[dict[str, str]]:
        """What the process might have done, as lines of a trace."""
        allowed_value = _value(self.allowed) if self.allowed else ()
        found = allowed_value[3] if allowed_value and isinstance(allowed_value[3], frozenset) else frozenset()
        lines = (named(one, self.names) for one in found if isinstance(one, Function))
        return sorted(lines, key=lambda one: [*one.items()])


def check_traces(folder: Path, traces: Sequence[Trace], without: str | None = None) -> tuple[Verdict, ...]:
    """What the modules in a folder say of each trace, with every rule in force unless one is left out.

    Raises:
        ManifestError: TLC could not follow them, with what it says.

    """
    words = words_of(traces)
    run = Run("traces", CHECK, f"MC{CHECK}.cfg", None, without=without, limit_s=LIMIT_S)
    output = output_with(folder, run, {f"{MODULE}.tla": trace_module(traces, words)})
    reported = {(match["word"], int(match["trace"])): match[0] for match in REPORTED.finditer(output)}
    found = [_verdict(reported, number, Names(words)) for number in range(1, len(traces) + 1)]
    verdicts = tuple(one for one in found if one)
    if len(verdicts) != len(traces):
        raise ManifestError(f"TLC came to {len(verdicts)} verdicts of {len(traces)}: {output[-2000:]}")
    return verdicts


def _verdict(reported: Mapping[tuple[str, int], str], trace: int, names: Names) -> Verdict | None:
    for word in ("accepted", "refused", "empty"):
        if found := reported.get((word, trace)):
            _, _, number, rules = _value(found)
            broken = tuple(sorted(map(str, rules))) if isinstance(rules, frozenset) else ()
            return Verdict(word == "accepted", int(str(number)), broken, names, reported.get(("allowed", trace), ""))
    return None


def _value(quoted: str) -> tuple[Value, ...]:
    """What TLC printed as a text that holds a value."""
    value = parse_value(quoted[1:-1].replace('\\"', '"'))
    return value if isinstance(value, tuple) and not isinstance(value, Function) else ()
