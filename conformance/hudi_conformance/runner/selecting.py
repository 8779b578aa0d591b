"""Which cases of the corpus a run puts; a word that fits nothing is reported, for a run that asks less proves less."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from hudi_conformance.runner.cases import Case, Selection, matches_id, short_id
from hudi_conformance.runner.identifiers import meant, nearest_numbers, nearest_words
from hudi_conformance.runner.resources import CorpusError


def select(corpus: Sequence[Case], selection: Selection) -> tuple[Case, ...]:
    """The selected cases: at least one, and at least one for each thing that the selection names.

    Raises:
        CorpusError: the corpus or the selection is empty, or an area, clause, feature, version or id fits no case.

    """
    if not corpus:
        raise CorpusError("no case is selected: the corpus is empty")
    for fault in _faults(corpus, selection):
        raise CorpusError(f"no case is selected by {fault}")
    cases = tuple(case for case in corpus if selection.holds(case))
    if not cases:
        raise CorpusError("no case is selected: each option fits some case, but no case fits them all")
    return cases


def one_of_each(cases: Sequence[Case]) -> tuple[Case, ...]:
    """Of the cases that ask the same of the same kind of table one, rather a short one, in their order.

    The same is the op; of cases that write the operations and the services planned. A kind of table is its type and the
    types of its blocks: by table versions the executors of one engine do not differ. What is refused is one kind, of
    cases that write for all operations: no executor has begun by then.
    """
    kinds = {case.id: set(_acts(case)) for case in cases}
    known = Counter[tuple[str, ...]]()
    chosen: list[Case] = []
    for case in sorted(cases, key=_length):
        if not kinds[case.id] <= known.keys():
            known.update(kinds[case.id])
            chosen.append(case)
    # What a short case is chosen for, a longer one may do as well.
    for case in reversed(chosen):
        if all(known[kind] > 1 for kind in kinds[case.id]):
            known.subtract(kinds[case.id])
            del kinds[case.id]
    kept = {case.id for case in chosen if case.id in kinds}
    return tuple(case for case in cases if case.id in kept)


def _length(case: Case) -> tuple[bool, int, int]:
    """Whether it is of a draft, which few know; how many steps do more than read, which take longest; all steps."""
    return bool(case.drafts), sum(not step.op.startswith(("read_", "list_")) for step in case.steps), len(case.steps)


def _acts(case: Case) -> Iterator[tuple[str, ...]]:
    for step in case.steps:
        if case.writes and step.op not in {"write", "schedule"}:
            continue
        named = str(step.params.get("operation") or step.params.get("service") or "") if case.writes else ""
        op = "any" if case.writes else step.op
        yield (op, "refused") if step.reasons else (step.op, named, *_kind(case))


def _kind(case: Case) -> Iterator[str]:
    yield from sorted(name for name in case.table.features if name in {"cow", "mor"} or name.startswith("log-"))


def _faults(corpus: Sequence[Case], selection: Selection) -> Iterator[str]:
    yield from _unknown("area", selection.areas, {case.area for case in corpus})
    cited = {clause for case in corpus for clause in case.clauses}
    for clause in selection.clauses:
        if clause not in cited:
            yield f"clause {clause!r}{meant(nearest_numbers(clause, cited))}"
    yield from _unknown("feature", selection.features, {name for case in corpus for name in case.table.features})
    versions = {str(case.table.version) for case in corpus}
    for version in map(str, selection.table_versions):
        if version not in versions:
            yield f"table version {version}: there are cases of {', '.join(sorted(versions, key=int))}"
    for pattern in selection.cases:
        if not any(matches_id(case.id, pattern) for case in corpus):
            yield f"case {pattern!r}{nearest_words(pattern, (short_id(case.id) for case in corpus))}"


def _unknown(what: str, wanted: Iterable[str], known: set[str]) -> Iterator[str]:
    for word in wanted:
        if word not in known:
            yield f"{what} {word!r}{nearest_words(word, known)}"
