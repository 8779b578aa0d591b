"""Which cases of the corpus a run puts; a word that fits nothing is told, for a run that asks less proves less."""

import difflib
from collections.abc import Iterable, Iterator, Sequence

from hudi_conformance.cases import Case, Selection, matches_id
from hudi_conformance.resources import CorpusError


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


def _faults(corpus: Sequence[Case], selection: Selection) -> Iterator[str]:
    yield from _unknown("area", selection.areas, {case.area for case in corpus})
    yield from _unknown("clause", selection.clauses, {clause for case in corpus for clause in case.clauses})
    yield from _unknown("feature", selection.features, {name for case in corpus for name in case.table.features})
    versions = {str(case.table.version) for case in corpus}
    yield from _unknown("table version", map(str, selection.table_versions), versions)
    for pattern in selection.cases:
        if not any(matches_id(case.id, pattern) for case in corpus):
            yield f"case {pattern!r}"


def _unknown(what: str, wanted: Iterable[str], known: set[str]) -> Iterator[str]:
    for word in wanted:
        if word not in known:
            near = difflib.get_close_matches(word, sorted(known), 1)
            yield f"{what} {word!r}" + (f"; did you mean {near[0]!r}?" if near else "")
