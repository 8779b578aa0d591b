"""The file of the writing cases of one recipe: what they share is stated once, and each case says what differs."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from hudi_adapter.rows import Rows

from hudi_conformance.runner import toml_text
from hudi_conformance.runner.answers_file import answer_text, input_text, text_of
from hudi_conformance.runner.case_values import CONFIGURED

Entry = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class StepEntry:
    """One step as it would stand alone, and the answers that it names."""

    entry: Entry
    answers: Entry


@dataclass(slots=True)
class FamilyFile:
    """The cases of a recipe, one after the other, and how they are written down together."""

    header: str
    title: str
    given_when_then: Mapping[str, str]
    inputs: list[Rows] = field(default_factory=list)
    schemas: dict[str, str] = field(default_factory=dict)
    cases: list[dict[str, Any]] = field(default_factory=list)
    scripts: list[list[dict[str, Any]]] = field(default_factory=list)
    answers: dict[str, dict[str, str]] = field(default_factory=dict)

    def input_name(self, rows: Rows) -> str:
        """The name of rows that a step writes; one for all steps that bring the same rows."""
        if rows not in self.inputs:
            self.inputs.append(rows)
        return f"input-{self.inputs.index(rows) + 1}"

    def add(self, head: Entry, steps: Iterable[StepEntry]) -> None:
        """One more case."""
        taken = list(steps)
        entries = [dict(one.entry) for one in taken]
        shape, configs = _shape_of(entries), _configs_of(entries)
        script = [self._shortened(one, shape, configs) for one in entries]
        if script not in self.scripts:
            self.scripts.append(script)
        shape = {name: self._schema_name(value) if name == "schema" else value for name, value in shape.items()}
        self.cases.append({**head, "shape": shape, "configs": configs, "script": str(self.scripts.index(script) + 1)})
        for one in taken:
            for name, answer in one.answers.items():
                self.answers.setdefault(name, {})[head["id"]] = answer_text(answer)

    def text(self) -> str:
        """The file itself."""
        common = _common(self.cases)
        cases = [_without(case, common) for case in self.cases]
        return (
            self.header
            + toml_text.lines({"title": self.title, **self.given_when_then, **common})
            + ("[schemas]\n" + toml_text.lines(self.schemas) if self.schemas else "")
            + "[scripts]\n"
            + "".join(f"{number} = {_script_text(one)}\n" for number, one in enumerate(self.scripts, start=1))
            + "".join(f"[[case]]\n{toml_text.lines(case)}" for case in cases)
        )

    def answers_text(self) -> str:
        """The rows that are written and the answers; an answer that most cases share has no case in its name."""
        entries = {f"input-{number}": input_text(rows) for number, rows in enumerate(self.inputs, start=1)}
        for name, by_case in self.answers.items():
            shared = Counter(by_case.values()).most_common(1)[0][0]
            entries[name] = shared
            entries.update({f"{case}/{name}": text for case, text in by_case.items() if text != shared})
        return text_of(entries)

    def _shortened(self, step: Entry, shape: Entry, configs: Entry) -> dict[str, Any]:
        """A step without what its case says for all."""
        params = dict(step["params"])
        if step["op"] == "create_table":
            absent = sorted(shape.keys() - params.keys())
            params = {name: value for name, value in params.items() if name not in shape or value != shape[name]}
            params |= {"schema": self._schema_name(params["schema"])} if "schema" in params else {}
            params |= {"absent": absent} if absent else {}
        elif step["op"] in CONFIGURED:
            more = {name: value for name, value in params.pop("configs", {}).items() if name not in configs}
            params |= {"configs": more} if more else {}
        rest = {name: value for name, value in step.items() if name not in {"op", "params"}}
        return {"op": step["op"], **({"params": params} if params else {}), **rest}

    def _schema_name(self, schema: str) -> str:
        """The name of a schema in the file."""
        for name, text in self.schemas.items():
            if text == schema:
                return name
        name = f"schema-{len(self.schemas) + 1}"
        self.schemas[name] = schema
        return name


def _shape_of(steps: Iterable[Entry]) -> dict[str, Any]:
    """What the first table of a case is made with."""
    return next((dict(step["params"]) for step in steps if step["op"] == "create_table"), {})


def _configs_of(steps: Iterable[Entry]) -> dict[str, Any]:
    """The settings that all steps of a case have."""
    every = [dict(step["params"].get("configs", {})) for step in steps if step["op"] in CONFIGURED]
    return _shared_items(every)


def _shared_items(every: list[dict[str, Any]]) -> dict[str, Any]:
    first = every[0] if every else {}
    return {name: value for name, value in first.items() if all(one.get(name, _NONE) == value for one in every)}


_NONE = object()


def _common(cases: list[dict[str, Any]]) -> dict[str, Any]:
    """What all cases say, of `shape` and `configs` each entry alone."""
    whole = {name: value for name, value in _shared_items(cases).items() if name != "id"}
    parts = {name: _shared_items([case[name] for case in cases]) for name in ("shape", "configs")}
    return {**whole, **{name: value for name, value in parts.items() if value}}


def _without(case: dict[str, Any], common: dict[str, Any]) -> dict[str, Any]:
    left: dict[str, Any] = {}
    for name, value in case.items():
        if name in {"shape", "configs"}:
            rest = {key: one for key, one in value.items() if key not in common.get(name, {})}
            left |= {name: rest} if rest else {}
        elif name not in common:
            left[name] = value
    return left


def _script_text(steps: Iterable[Entry]) -> str:
    lines = "".join(f"  {toml_text.inline(step)},\n" for step in steps)
    return f"[\n{lines}]"
