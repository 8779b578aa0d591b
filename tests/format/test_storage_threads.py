"""Work on many files: in the order of the tasks, in one thread while it is quick, in several from then on."""

import threading
import time
from collections.abc import Sequence

import pytest
from hudi_format.storage import in_threads
from hypothesis import given
from hypothesis import strategies as st

MANY = 1 << 30


@given(st.lists(st.integers()), st.lists(st.integers(0, MANY)), st.sampled_from([None, 1, 3]))
def test_findings_come_in_the_order_of_the_tasks(tasks: list[int], sizes: list[int], at_once: int | None) -> None:
    assert list(in_threads(lambda task: task * 2, tasks, sizes, at_once)) == [task * 2 for task in tasks]


def workers(tasks: Sequence[float], sizes: Sequence[int] = ()) -> list[bool]:
    """Of each task, which takes so many seconds, whether another thread worked on it."""

    def work(seconds: float) -> bool:
        time.sleep(seconds)
        return threading.current_thread() is not threading.main_thread()

    return list(in_threads(work, tasks, sizes, 2))


def test_few_quick_tasks_stay_in_the_calling_thread() -> None:
    assert workers([0.0, 0.0, 0.0]) == [False, False, False]


def test_what_is_left_when_work_takes_long_goes_to_threads() -> None:
    assert workers([0.1, 0.0, 0.0]) == [False, True, True]
    assert workers([0.1, 0.0]) == [False, False]


@pytest.mark.parametrize(("seconds", "busy", "alone"), [(0.001, 1.0, True), (0.001, 0.1, False), (0.01, 1.0, False)])
def test_small_tasks_that_wait_for_nothing_stay_in_the_calling_thread(
    monkeypatch: pytest.MonkeyPatch, seconds: float, busy: float, alone: bool
) -> None:
    """By clocks that the work moves on: of its time, the thread is busy for a part."""
    now = [0.0]
    monkeypatch.setattr("hudi_format.storage.threads.perf_counter", lambda: now[0])
    monkeypatch.setattr("hudi_format.storage.threads.thread_time", lambda: now[0] * busy)

    def work(_: int) -> bool:
        now[0] += seconds
        return threading.current_thread() is threading.main_thread()

    assert all(in_threads(work, range(100), (), 2)) == alone


def test_large_tasks_go_to_threads_at_once() -> None:
    assert workers([0.0, 0.0], [MANY, 0]) == [True, True]


@pytest.mark.parametrize("sizes", [(), (MANY,)])
def test_an_error_comes_at_its_task(sizes: Sequence[int]) -> None:
    """What was found before it stands."""
    found = in_threads(lambda task: 12 // task, [3, 2, 0, 1], sizes)
    assert [next(found), next(found)] == [4, 6]
    with pytest.raises(ZeroDivisionError):
        next(found)
