"""Colours of a drawn timeline: one hue an action, readable on light and on dark paper."""

ACTIONS = (
    "commit",
    "deltacommit",
    "replacecommit",
    "clustering",
    "compaction",
    "logcompaction",
    "clean",
    "rollback",
    "restore",
    "savepoint",
    "indexing",
)

_HUES = {
    "commit": ("#3568c0", "#7aa5f0"),
    "deltacommit": ("#17858b", "#4cc0c4"),
    "replacecommit": ("#7b4bb3", "#b793e6"),
    "clustering": ("#a2559c", "#dd9bd6"),
    "compaction": ("#c06a14", "#f0a85c"),
    "logcompaction": ("#96711a", "#d8b25c"),
    "clean": ("#66717d", "#a2adb8"),
    "rollback": ("#bd3a2f", "#f08c80"),
    "restore": ("#8c2445", "#e07a9c"),
    "savepoint": ("#56772a", "#a4c971"),
    "indexing": ("#2f7d4f", "#6cc795"),
    "other": ("#3b3f45", "#d5d9de"),
}

_SHAPES = """
.tl{font:12px system-ui,-apple-system,"Segoe UI",Roboto,Arial,sans-serif;display:block;max-width:100%;height:auto}
.tl text{fill:var(--tl-ink)}
.tl .quiet{fill:var(--tl-quiet)}
.tl .small{font-size:11px}
.tl .grid{stroke:var(--tl-line);stroke-width:1}
.tl .axis{stroke:var(--tl-quiet);stroke-width:1}
.tl .lane{stroke:var(--tl-line);stroke-width:1;stroke-dasharray:1 3}
.tl .fill{fill:var(--hue)}
.tl .faint{fill:var(--hue);fill-opacity:.14}
.tl .edge{fill:none;stroke:var(--hue);stroke-width:1.4}
.tl .broken{stroke-dasharray:4 3}
.tl .hatch{fill:none;stroke:var(--hue);stroke-width:1.2;stroke-opacity:.75}
.tl .odd{stroke:var(--tl-odd);stroke-width:2}
.tl .instant:hover{opacity:.65}
"""


def hue_class(action: str) -> str:
    """The style class of an action; every action that the format does not know shares one."""
    return f"a-{action}" if action in ACTIONS else "a-other"


def embedded_style() -> str:
    """Rules for drawings inside a page, which sets `data-theme="dark"` on its root when dark is requested."""
    dark = _paper(1)
    return "\n".join(
        (
            f":root{{{_paper(0)}}}",
            f'@media(prefers-color-scheme:dark){{:root:not([data-theme="light"]){{{dark}}}}}',
            f':root[data-theme="dark"]{{{dark}}}',
            _bindings(),
            _SHAPES,
        )
    )


def standalone_style() -> str:
    """Rules for a drawing that is a file of its own and follows the viewer's colour scheme."""
    # Without the scheme a viewer in the dark would put light ink on white paper.
    light, dark = f".tl{{color-scheme:light dark;{_paper(0)}}}", f".tl{{{_paper(1)}}}"
    return "\n".join((light, f"@media(prefers-color-scheme:dark){{{dark}}}", _bindings(), _SHAPES))


def _paper(scheme: int) -> str:
    inks = (("#1f2328", "#6a737d", "#dfe3e8", "#d00000"), ("#e6e8eb", "#9aa4af", "#363c44", "#ff6b6b"))[scheme]
    names = ("--tl-ink", "--tl-quiet", "--tl-line", "--tl-odd")
    fixed = [f"{name}:{ink}" for name, ink in zip(names, inks, strict=True)]
    return ";".join(fixed + [f"--tl-{action}:{hues[scheme]}" for action, hues in _HUES.items()])


def _bindings() -> str:
    return "\n".join(f".tl .a-{action}{{--hue:var(--tl-{action})}}" for action in _HUES)
