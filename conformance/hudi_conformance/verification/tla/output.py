"""What TLC says in its tool mode: framed messages with numbers."""

import re
from dataclasses import dataclass

from hudi_conformance.verification.tla.values import difference

MESSAGE = re.compile(
    r"@!@!@STARTMSG (?P<code>\d+):\d+ @!@!@\n(?P<body>.*?)\n?@!@!@ENDMSG (?P=code) @!@!@",
    re.DOTALL,
)
STATISTICS = re.compile(r"([\d,]+) states generated.*?([\d,]+) distinct states found", re.DOTALL)
DEPTH = re.compile(r"search is (\d+)")
STATE = re.compile(r"^(?P<number>\d+): <?(?P<action>.*?)>?$", re.MULTILINE)
VARIABLE = re.compile(r"^(?:/\\ )?(?P<name>\w+) = ", re.MULTILINE)
NAME = re.compile(r"(?:Invariant|[Pp]roperty) (\w+) is violated")
# A property that stands in another module is named by its place there, or by its instance.
ELSEWHERE = re.compile(r"[Pp]roperty (?:line \d+, .*|\w+!\w+) is violated")

# The numbers of TLC's messages, from its own list.
INVARIANT_VIOLATED = ("2107", "2110", "2108", "2112")
TEMPORAL_VIOLATED = "2116"
SUCCESS = "2193"
DEPTH_FOUND = "2194"
STATISTICS_FOUND = "2199"
STATE_PRINTED = "2217"
STUTTERING = "2218"
BACK_TO_STATE = "2122"
NOISE = frozenset(
    {"2262", "2187", "2220", "2219", "2185", "2186", "2189", "2190", "2200", "2121", "2192", "2212", "2267"}
)


@dataclass(frozen=True, slots=True)
class TraceStep:
    """One state of a counterexample: what led to it, what of the variables changed, and the whole of them."""

    number: int
    action: str
    changed: tuple[tuple[str, str], ...]
    values: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """What one run found."""

    passed: bool
    violated: str | None
    distinct_states: int
    depth: int
    trace: tuple[TraceStep, ...]
    message: str
    generated_states: int = 0
    """States that steps lead to, each as often as it was met."""


def read_finding(output: str, properties: tuple[str, ...]) -> Finding:
    """What TLC's output says; `properties` are the temporal ones, which TLC does not name when it finds one broken."""
    messages = [(match["code"], match["body"]) for match in MESSAGE.finditer(output)]
    found = dict(messages)
    statistics = STATISTICS.search(found.get(STATISTICS_FOUND, ""))
    depth = DEPTH.search(found.get(DEPTH_FOUND, ""))
    trace = _trace(messages)
    return Finding(
        passed=SUCCESS in found,
        violated=_violated(found, properties),
        distinct_states=int(statistics[2].replace(",", "")) if statistics else 0,
        depth=int(depth[1]) if depth else len(trace),
        trace=trace,
        message="\n".join(body for code, body in messages if code not in NOISE and not body.startswith("Finished")),
        generated_states=int(statistics[1].replace(",", "")) if statistics else 0,
    )


def _violated(found: dict[str, str], properties: tuple[str, ...]) -> str | None:
    for code in INVARIANT_VIOLATED:
        match = NAME.search(found.get(code, ""))
        if match:
            return match[1]
    if TEMPORAL_VIOLATED in found or any(ELSEWHERE.search(found.get(code, "")) for code in INVARIANT_VIOLATED):
        return properties[0] if len(properties) == 1 else "one of " + ", ".join(properties)
    return None


def _trace(messages: list[tuple[str, str]]) -> tuple[TraceStep, ...]:
    steps: list[TraceStep] = []
    before: dict[str, str] = {}
    for code, body in messages:
        heading = STATE.match(body)
        if code == STATE_PRINTED and heading:
            values = _variables(body[heading.end() :])
            changed = tuple(
                (name, difference(before.get(name), value))
                for name, value in values.items()
                if before.get(name) != value
            )
            steps.append(TraceStep(int(heading["number"]), _action(heading["action"]), changed, tuple(values.items())))
            before = values
        elif code in (STUTTERING, BACK_TO_STATE):
            word = "nothing happens any more" if code == STUTTERING else f"and so on again: {body}"
            steps.append(TraceStep(len(steps) + 1, word, ()))
    return tuple(steps)


def _action(words: str) -> str:
    """`Begin line 3, col 1 to ...` as `Begin`, and so `Begin("one") line ...`, as the TLC of today has it."""
    return words.partition(" line ")[0].partition("(")[0]


def _variables(body: str) -> dict[str, str]:
    """The variables of a state, the lines of each value joined; a lone variable has no conjunction before it."""
    starts = list(VARIABLE.finditer(body))
    ends = [start.start() for start in starts[1:]] + [len(body)]
    return {start["name"]: " ".join(body[start.end() : end].split()) for start, end in zip(starts, ends, strict=True)}
