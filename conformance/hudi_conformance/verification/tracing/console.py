"""`hudi-conformance trace`: a trace held to the model and to the TLA+ modules, each by itself."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from hudi_adapter.java import JavaNotFoundError
from hudi_model_tools.accepts import accepts
from rich.console import Console

from hudi_conformance.corpus.traces import Line, TraceError, describe_refusal, read_trace
from hudi_conformance.runner.console import Bars
from hudi_conformance.runner.resources import CorpusError
from hudi_conformance.verification.checking_specs import modules_folder
from hudi_conformance.verification.tla.manifest import ManifestError
from hudi_conformance.verification.tla.tlc import TlcNotFoundError
from hudi_conformance.verification.tracing.checking import Verdict, check_traces
from hudi_conformance.verification.tracing.describing import describe_allowed, in_words
from hudi_conformance.verification.tracing.modules import Trace


def check(file: Path, out: Console, *, model: bool, tla: bool) -> int:
    """Print what is wrong with a trace: 0 nothing, 1 a line that is not explained, 2 nothing could be judged."""
    try:
        lines = _lines(file)
        found = [by(lines, out) for by, wanted in ((_by_model, model), (_by_tla, tla)) if wanted]
    except (OSError, UnicodeDecodeError, TraceError) as error:
        out.print(f"{file}: {error}", markup=False, style="red")
        return 2
    except (CorpusError, ManifestError, TlcNotFoundError, JavaNotFoundError) as error:
        out.print(str(error), markup=False, style="red")
        return 2
    if len(found) > 1:
        out.print("both agree" if len(set(found)) == 1 else "they disagree: one of the two is wrong", markup=False)
    return 1 if any(found) else 0


def _lines(file: Path) -> tuple[Line, ...]:
    lines = read_trace(file.read_text(encoding="utf-8"))
    if not lines:
        raise TraceError("the trace is empty: nothing would be checked")
    return lines


def _by_model(lines: tuple[Line, ...], out: Console) -> int:
    with _shown(out, f"model: {len(lines)} lines"):
        refused = accepts(lines)
    out.print(f"model: {describe_refusal(refused) if refused else f'all {len(lines)} lines accepted'}", markup=False)
    return refused.number if refused else 0


def _by_tla(lines: tuple[Line, ...], out: Console) -> int:
    started = time.monotonic()
    with _shown(out, f"TLA+: {len(lines)} lines"):
        (verdict,) = check_traces(modules_folder(), [Trace("trace", lines)])
    took = f"{time.monotonic() - started:.1f} s"
    text = describe_verdict(lines, verdict) or f"all {len(lines)} lines accepted, {took}"
    out.print(f"TLA+: {text}", markup=False)
    return verdict.number if not verdict.accepted else 0


def describe_verdict(lines: Sequence[Mapping[str, str]], verdict: Verdict) -> str:
    """A refusal in one sentence; the empty text where there is none."""
    if verdict.accepted:
        return ""
    line = lines[verdict.number - 1]
    broken = "; ".join(verdict.broken) or "there is nothing of the kind that it could change"
    allowed = describe_allowed(line["effect"], verdict.lines_allowed())
    return f"line {verdict.number}: {line['process']} {in_words(line)}: {broken}; allowed: {allowed}"


@contextmanager
def _shown(out: Console, title: str) -> Iterator[None]:
    """The time that something takes."""
    with Bars(out) as progress:
        progress.add_task(title, total=None)
        yield
