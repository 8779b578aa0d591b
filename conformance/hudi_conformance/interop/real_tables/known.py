"""Differences that are known: whose they are, why, and what shows it. One that disappears is reported."""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from hudi_format.compat import tomllib

FOLDER = Path("conformance") / "real_tables"


class KnownDifferencesError(Exception):
    """The list does not parse."""


@dataclass(frozen=True, slots=True)
class KnownDifference:
    """Questions (`table::question`, as globs) that an adapter (a glob too) answers otherwise than Apache Hudi."""

    questions: tuple[str, ...]
    adapter: str
    why: str
    evidence: str

    def fits(self, question: str, adapter: str) -> bool:
        """Whether it speaks of this question put to this adapter."""
        return fnmatchcase(adapter, self.adapter) and any(fnmatchcase(question, one) for one in self.questions)


def load_known(root: Path) -> tuple[KnownDifference, ...]:
    """All lists `known*.toml`, in the order of their names.

    Raises:
        KnownDifferencesError: one does not parse, or an entry lacks a part.

    """
    found: list[KnownDifference] = []
    for path in sorted((root / FOLDER).glob("known*.toml")):
        try:
            entries = tomllib.loads(path.read_text(encoding="utf-8")).get("difference", [])
            found += [
                KnownDifference(tuple(one["questions"]), one["adapter"], one["why"], one["evidence"]) for one in entries
            ]
        except (ValueError, KeyError, TypeError) as error:
            raise KnownDifferencesError(f"{path.name}: {error}") from error
    return tuple(found)


def known_difference(known: Sequence[KnownDifference], question: str, adapter: str) -> KnownDifference | None:
    """The entry that speaks of a question put to an adapter."""
    return next((one for one in known if one.fits(question, adapter)), None)
