"""A table as it is read where a rule of bytes is broken: each mutant reads it once, whatever is asked of it then."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from hudi_format.errors import FormatError
from hudi_model.tables import Table

from hudi_conformance.bridge import load_for
from hudi_conformance.corpus.mutants import MUTANTS, Mutant, mutated, watched

Read: TypeAlias = Table | FormatError | None
"""A state, or why there is none; None where the mutant broke altogether."""


@dataclass(slots=True)
class Misreading:
    """A table's folder, how it is read as it should be, and how the mutants read it that its reading comes by."""

    folder: Path
    valid: Table
    _come_by: frozenset[str]
    _read: dict[str, Read] = field(default_factory=dict)

    def is_noticed(self, mutant: Mutant, accepts: Callable[[Table | FormatError], bool]) -> bool:
        """Whether what a mutant reads is none that `accepts` takes.

        One that reads what there is goes unnoticed without being asked.
        """
        if mutant.name not in self._come_by:
            return False
        if mutant.name not in self._read:
            self._read[mutant.name] = _read_by(mutant, self.folder)
        found = self._read[mutant.name]
        try:
            return found is None or (found != self.valid and not accepts(found))
        except Exception:  # noqa: BLE001 - what no reader of bytes gives may break the model anywhere
            return True


def misreading(folder: Path) -> Misreading:
    """The table of a folder, read once as it should be."""
    with watched(one for one in MUTANTS.values() if one.of_bytes) as called:
        valid = load_whole(folder)
    return Misreading(folder, valid, frozenset(called))


def load_whole(folder: Path) -> Table:
    """The state of a table with all that any question may need."""
    return load_for("check_table", folder, {})


def _read_by(mutant: Mutant, folder: Path) -> Read:
    with mutated(mutant):
        try:
            return load_whole(folder)
        except FormatError as error:
            return error
        except Exception:  # noqa: BLE001 - a broken reader may break anywhere
            return None
