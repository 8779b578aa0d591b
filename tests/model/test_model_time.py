import pytest
from hudi_model.effects import generate_shared
from hudi_model.queries import query_instant
from hudi_model.rejection import Reason, Rejection
from hudi_model.time import InstantTime, compare, instant_of, is_instant, moment_of, tick, widen
from hudi_model_tools.locks import generate_serially, generate_waiting, refuse_far_ahead, uncertainty
from hypothesis import given
from hypothesis import strategies as st

TICKS = st.integers(0, 10**12)
DIGITS = st.text("0123456789", min_size=1, max_size=20).map(InstantTime)


@given(TICKS, TICKS)
def test_ticks_order_as_their_numbers(one: int, other: int) -> None:
    assert compare(tick(one), tick(other)) == (one > other) - (one < other)


@given(TICKS)
def test_an_instant_and_its_moment_are_inverse(number: int) -> None:
    assert instant_of(moment_of(tick(number))) == tick(number)


@given(DIGITS, DIGITS, DIGITS)
def test_comparison_is_a_total_order(one: InstantTime, other: InstantTime, third: InstantTime) -> None:
    assert compare(one, other) == -compare(other, one)
    assert (compare(one, other) == 0) == (one == other)
    if compare(one, other) <= 0 and compare(other, third) <= 0:
        assert compare(one, third) <= 0


@given(TICKS)
def test_the_seconds_form_is_not_before_any_moment_of_its_second(number: int) -> None:
    instant = tick(number)
    seconds = InstantTime(instant[:14])
    assert compare(instant, widen(seconds)) <= 0
    assert compare(seconds, instant) < 0, "as text the shorter one comes first"


def test_a_question_in_seconds_includes_its_whole_second() -> None:
    assert query_instant("20250101000001") == "20250101000001999"
    assert query_instant("20250101000001000") == "20250101000001000"


@pytest.mark.parametrize(
    "text", ["", "2025", "2025-01-01", "2025010100000100", "20251301000000000", "٢٠٢٥٠١٠١٠٠٠٠٠٠٠٠٠", "x" * 17]
)
def test_a_question_that_names_no_instant_is_refused(text: str) -> None:
    with pytest.raises(Rejection) as caught:
        query_instant(text)
    assert caught.value.reason is Reason.INSTANT_MALFORMED


def test_digits_of_other_scripts_are_no_instant() -> None:
    assert is_instant("20250101")
    assert not is_instant("٢٠٢٥")
    assert not is_instant("")


@given(st.lists(TICKS, min_size=2, max_size=20))
def test_a_shared_generator_only_moves_forward(clock: list[int]) -> None:
    last = None
    for now in clock:
        generated = generate_shared(last, tick(now))
        assert last is None or generated > last
        assert generated >= tick(now)
        last = generated


BOUND = 20
ARRIVALS = st.lists(st.tuples(st.integers(0, 300), st.integers(0, BOUND)), min_size=2, max_size=12)


@given(ARRIVALS)
def test_processes_in_turn_never_get_the_same_or_an_earlier_time(arrivals: list[tuple[int, int]]) -> None:
    instants = generate_serially(tuple(arrivals), BOUND)
    assert list(instants) == sorted(set(instants))


def test_without_the_extra_tick_two_clocks_can_give_one_time() -> None:
    first = generate_waiting(0, BOUND, BOUND)
    too_early = generate_waiting(first.released - 1, 0, BOUND)
    assert too_early.instant == first.instant
    assert uncertainty(BOUND) == BOUND + 1


@given(TICKS, TICKS, st.integers(0, 10**9))
def test_a_clock_is_followed_up_to_a_bound(newest: int, now: int, bound: int) -> None:
    refuse_far_ahead(None, tick(now), bound)
    if newest - now <= bound:
        refuse_far_ahead(tick(newest), tick(now), bound)
    else:
        with pytest.raises(Rejection) as caught:
            refuse_far_ahead(tick(newest), tick(now), bound)
        assert (caught.value.reason, caught.value.clause) == (Reason.CONFIG_INVALID, "TM-008")
