"""Colours of drawn file slices: bases, logs and change feeds, filled where an answer is made of them."""

_LIGHT = "--fs-base:#3568c0;--fs-log:#11727a;--fs-changes:#7b4bb3;--fs-on:#ffffff"
_DARK = "--fs-base:#7aa5f0;--fs-log:#4cc0c4;--fs-changes:#b793e6;--fs-on:#101316"
_SHAPES = """
.fs .part{font-weight:600}
.fs .mono{font-family:ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:11px}
.fs .slice{fill:var(--tl-line);fill-opacity:.35;stroke:var(--tl-line)}
.fs .loose{fill:none;stroke:var(--tl-line);stroke-dasharray:3 3}
.fs .file{--fs-hue:var(--fs-base)}
.fs .log{--fs-hue:var(--fs-log)}
.fs .changes{--fs-hue:var(--fs-changes)}
.fs .file rect{fill:var(--fs-hue);fill-opacity:.1;stroke:var(--fs-hue);stroke-width:1.2}
.fs .stray rect{fill-opacity:0;stroke-dasharray:4 3}
.fs .read rect{fill-opacity:1}
.fs .read text{fill:var(--fs-on);font-weight:600}
"""


def slices_style() -> str:
    """Rules for pictures of file slices in a page that has those of timelines too."""
    return f":root{{{_LIGHT}}}\n@media(prefers-color-scheme:dark){{:root{{{_DARK}}}}}{_SHAPES}"
