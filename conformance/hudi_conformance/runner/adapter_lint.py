"""An adapter's files held against the corpus without starting it: what `run` would refuse, for each file on its own."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from hudi_format.compat import tomllib

from hudi_conformance.runner.adapters_config import AdapterConfigError, find_adapter
from hudi_conformance.runner.cases import load_cases
from hudi_conformance.runner.clauses import load_clauses
from hudi_conformance.runner.expected_failures import load_expected_failures, load_read_back, resolved
from hudi_conformance.runner.findings import Finding
from hudi_conformance.runner.identifiers import meant, nearest_numbers
from hudi_conformance.runner.skips import load_skips, resolved_skips
from hudi_conformance.runner.suite import lists_of

_EXPECTED, _SKIPS = frozenset({"case", "read_back"}), frozenset({"skip"})


def lint_files(files: Iterable[Path], root: Path) -> Iterator[str]:
    """A line for each file that is not usable: an adapter's own, its expected failures, or its skips.

    Which of these a file is shows in its entries; a list without any is one that is empty. Of an adapter's own file
    both lists are looked at as well, since a case must not be on both.

    Raises:
        CorpusError: the corpus cannot be read.

    """
    corpus = load_cases(root)
    ids = [case.id for case in corpus]
    clauses = frozenset(clause.id for clause in load_clauses(root / "specs" / "clauses"))
    for file in files:
        try:
            keys = frozenset(_entries(file))
            findings: Sequence[Finding] = ()
            if keys & _SKIPS:
                resolved_skips(load_skips(file), ids)
            elif not keys or keys & _EXPECTED:
                failures = load_expected_failures(file)
                resolved(failures, ids)
                findings = (*(one.finding for one in failures.values()), *(one.finding for one in load_read_back(file)))
            else:
                lists = lists_of(find_adapter(str(file), root), corpus)
                findings = tuple(one.finding for one in lists.expected.values())
        except AdapterConfigError as error:
            yield f"{file}: {str(error).removeprefix(f'{file.name}: ')}"
            continue
        for clause in sorted({one.clause for one in findings} - clauses):
            yield f"{file}: there is no clause {clause!r}{meant(nearest_numbers(clause, clauses))}"


def _entries(file: Path) -> dict[str, object]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise AdapterConfigError(error.strerror or str(error)) from error
    except ValueError as error:
        raise AdapterConfigError(str(error)) from error
