"""Must-clauses that no mutant breaks, each with the reason why no answer could show it."""

from collections.abc import Mapping
from typing import Final

UNBROKEN: Final[Mapping[str, str]] = {
    "PR-008": "It orders how a writer puts two files; the model changes the properties in one step, and no answer "
    "states in which order they came. The tests of the format stop a writer between any two of its steps.",
}
"""By the clause's id. A clause that gets a mutant has to leave this list, and no other clause may lack one."""
