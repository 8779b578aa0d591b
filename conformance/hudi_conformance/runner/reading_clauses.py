"""Which clause of a case has two readings, as the clause files say."""

from pathlib import Path

from hudi_conformance.runner.cases import Case
from hudi_conformance.runner.clauses import Clause, load_clauses


class ClauseBook:
    """The clauses of a suite, by id; an absent folder is an empty book."""

    def __init__(self, root: Path) -> None:
        folder = root / "specs" / "clauses"
        clauses = load_clauses(folder) if folder.is_dir() else ()
        self._clauses = {clause.id: clause for clause in clauses}

    def get(self, clause_id: str) -> Clause | None:
        """A clause, where its file has it."""
        return self._clauses.get(clause_id)

    def reading_clause(self, case: Case) -> str:
        """The clause of a case that has two readings: at most one does; else the one it names first."""
        with_readings = (clause_id for clause_id in case.clauses if self.has_readings(clause_id))
        return next(with_readings, case.clauses[0] if case.clauses else "")

    def has_readings(self, clause_id: str) -> bool:
        """Whether a clause has two readings."""
        clause = self._clauses.get(clause_id)
        return clause is not None and len(clause.readings) > 1
