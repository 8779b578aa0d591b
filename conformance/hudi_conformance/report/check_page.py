"""The page of `check-table --html`: every table with its findings, in the look of the report, in one file."""

from collections.abc import Mapping, Sequence

from hudi_format.errors import FormatError
from hudi_format.storage import open_storage
from hudi_model.rejection import Rejection, Unsupported
from markupsafe import Markup

from hudi_conformance.bridge.checking import load_timeline
from hudi_conformance.bridge.operations import evaluate
from hudi_conformance.drawing.timeline_drawing import timeline_svg
from hudi_conformance.report.case_page import Drawing
from hudi_conformance.report.drawing_timelines import chosen
from hudi_conformance.report.html import rendered
from hudi_conformance.report.inspecting import SAYS, Inspected, refusal_of

_GROUPS = {"answers": "fail", "refused": "error", "upkeep": "expected", "speed": "open", "nothing": "unsupported"}
"""The colours of a verdict in which each of `remedies.AFFECTS` is shown."""


def check_page(seen: Sequence[Inspected], how: str, options: Mapping[str, str]) -> str:
    """The page of inspected tables; `how` says how they were checked, `options` reach the store for the drawings."""
    pictures = [_timeline(one, options) for one in seen]
    return rendered("check.html.j2", tables=tuple(zip(seen, pictures, strict=True)), how=how, says=SAYS, groups=_GROUPS)


def _timeline(one: Inspected, options: Mapping[str, str]) -> tuple[tuple[Drawing, ...], str]:
    """The newest actions and those that wait; or what keeps the timeline from being drawn."""
    if one.refusal is not None:
        return (), ""
    try:
        listed = chosen(evaluate(load_timeline(open_storage(one.place, options)), "list_timeline", {}).content)
    except (Rejection, FormatError, Unsupported, OSError, ValueError) as error:
        return (), refusal_of(one.place, error)["message"]
    # The drawing escapes whatever the table holds.
    picture = Markup(timeline_svg(listed, f"Timeline of {one.place}"))  # noqa: S704
    return (Drawing("Timeline, the newest actions and those that wait", picture),), ""
