"""How mutants differ: operators of cosmic-ray, and others for what a kernel on Arrow says by names.

Cosmic-ray changes what Python's grammar spells: comparisons, numbers, `and`, `not`. In a kernel a comparison is
`pc.greater`, and an order is the text "ascending".
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

import cosmic_ray.plugins
from cosmic_ray.operators.operator import Example, Operator

# Of the many replacements of one operator it is the nearest that is tried.
_CHOSEN: Final = {
    "ReplaceBinaryOperator_": {"Add_Sub", "Sub_Add", "Mul_Add", "BitOr_BitAnd", "BitAnd_BitOr"},
    "ReplaceComparisonOperator_": {
        *("Eq_NotEq", "NotEq_Eq", "Lt_LtE", "LtE_Lt", "Gt_GtE", "GtE_Gt", "Is_IsNot", "IsNot_Is")
    },
    "ReplaceUnaryOperator_": {"Delete_Not", "Delete_USub"},
}
# The first cannot replace dotted names; without a decorator a value class breaks where it is first made.
_UNUSED: Final = frozenset({"ExceptionReplacer", "RemoveDecorator"})
_TWO_WAYS: Final = (
    ("and_", "or_"),
    ("and_kleene", "or_kleene"),
    ("greater", "greater_equal"),
    ("less", "less_equal"),
    ("equal", "not_equal"),
    ("is_valid", "is_null"),
    ("bisect_right", "bisect_left"),
    ("max", "min"),
    ("any", "all"),
)
_ONE_WAY: Final = (("invert", "coalesce"), ("and_not", "and_"), ("reversed", "list"), ("utf8_lower", "utf8_upper"))
_TEXTS: Final = (("ascending", "descending"), ("at_start", "at_end"), ("max", "min"))


class _Replaces(Operator):
    """Replaces one leaf of the syntax tree by another: `before` and `after`, of a type."""

    kind = before = after = ""

    def mutation_positions(self, node: Any) -> Iterator[tuple[Any, Any]]:
        """Where the leaf stands."""
        if node.type == self.kind and node.value == self.before:
            yield node.start_pos, node.end_pos

    def mutate(self, node: Any, index: int) -> Any:  # noqa: ARG002 - the interface of cosmic-ray
        """Put the other leaf in its place."""
        node.value = self.after
        return node

    @classmethod
    def examples(cls) -> Iterable[Example]:
        """One each."""
        return (Example(f"use({cls.before})", f"use({cls.after})"),)


def _replacing(kind: str, before: str, after: str) -> type[_Replaces]:
    return type(f"{before}_{after}", (_Replaces,), {"kind": kind, "before": before, "after": after})


def _operators() -> Iterator[tuple[str, type[_Replaces]]]:
    names = (*_TWO_WAYS, *((after, before) for before, after in _TWO_WAYS), *_ONE_WAY)
    texts = (*_TEXTS, *((after, before) for before, after in _TEXTS))
    for before, after in names:
        yield f"{before}_to_{after}", _replacing("name", before, after)
    for before, after in texts:
        yield f"text_{before}_to_{after}", _replacing("string", f'"{before}"', f'"{after}"')


class _InToNotIn(Operator):
    """`in` becomes `not in`."""

    def mutation_positions(self, node: Any) -> Iterator[tuple[Any, Any]]:
        """Where something is compared by `in`."""
        if node.type == "keyword" and node.value == "in" and node.parent.type == "comparison":
            yield node.start_pos, node.end_pos

    def mutate(self, node: Any, index: int) -> Any:  # noqa: ARG002 - the interface of cosmic-ray
        """Put `not` before it."""
        node.value = "not in"
        return node

    @classmethod
    def examples(cls) -> Iterable[Example]:
        """One."""
        return (Example("a in b", "a not in b"),)


class _NotInToIn(Operator):
    """`not in` becomes `in`."""

    def mutation_positions(self, node: Any) -> Iterator[tuple[Any, Any]]:
        """Where something is compared by `not in`."""
        if node.type == "comp_op" and [one.value for one in node.children] == ["not", "in"]:
            yield node.start_pos, node.end_pos

    def mutate(self, node: Any, index: int) -> Any:  # noqa: ARG002 - the interface of cosmic-ray
        """Take `not` away."""
        node.children[0].value = ""
        return node

    @classmethod
    def examples(cls) -> Iterable[Example]:
        """One."""
        return (Example("a not in b", "a  in b"),)


OPERATORS: Final = {**dict(_operators()), "in_to_not_in": _InToNotIn, "not_in_to_in": _NotInToIn}


def register() -> None:
    """Make the chosen operators, and no others, known to cosmic-ray in this process."""
    core = cosmic_ray.plugins.OPERATOR_PROVIDERS["core"]
    chosen = {name: core[name] for name in core if _is_chosen(name)}
    cosmic_ray.plugins.OPERATOR_PROVIDERS.clear()
    cosmic_ray.plugins.OPERATOR_PROVIDERS.update({"core": chosen, "names": OPERATORS})


def _is_chosen(name: str) -> bool:
    for kind, chosen in _CHOSEN.items():
        if name.startswith(kind):
            return name.removeprefix(kind) in chosen
    return name not in _UNUSED
