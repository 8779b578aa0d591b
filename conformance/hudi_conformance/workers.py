"""Cases of an adapter without a process of its own, shared among processes that each ask one of theirs."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TypeAlias

from hudi_conformance.cases import Case
from hudi_conformance.verdicts import Outcome

Ask: TypeAlias = Callable[[Case], Outcome]
_ask: Ask | None = None


def in_workers(begin: Callable[[], Ask], cases: Sequence[Case], jobs: int) -> Iterator[Outcome]:
    """The outcome of each case, in order; `begin` is called once in each process."""
    # Spawned: a fork would take along the locks of threads that it does not have.
    with ProcessPoolExecutor(jobs, get_context("spawn"), _begun, (begin,)) as pool:
        yield from pool.map(_asked, cases)


def _begun(begin: Callable[[], Ask]) -> None:
    global _ask  # noqa: PLW0603 - of the process, which is there for this alone
    _ask = begin()


def _asked(case: Case) -> Outcome:
    if _ask is None:
        raise RuntimeError("the process was not begun")
    return _ask(case)
