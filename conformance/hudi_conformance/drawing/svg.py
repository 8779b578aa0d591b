"""SVG as text: elements whose attributes and contents are escaped wherever they come from."""

import re
from html import escape

# Everything that XML 1.0 forbids even as a character reference.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

Attribute = str | int | float


def legal(text: str) -> str:
    """The text with every character that XML cannot hold shown as U+FFFD."""
    return _FORBIDDEN.sub("\ufffd", text)


def number(value: float) -> str:
    """A coordinate with at most one digit after the point."""
    return f"{value:.1f}".removesuffix(".0")


def element(name: str, *children: str, **attributes: Attribute) -> str:
    """An element around finished children; `class_` and `stroke_width` become `class` and `stroke-width`."""
    written = "".join(f' {_attribute_name(key)}="{_attribute_value(value)}"' for key, value in attributes.items())
    content = "".join(children)
    return f"<{name}{written}>{content}</{name}>" if content else f"<{name}{written}/>"


def words(text: str) -> str:
    """Plain text as the content of an element."""
    return escape(legal(text))


def _attribute_name(key: str) -> str:
    return key.removesuffix("_").replace("_", "-") if key != "viewBox" else key


def _attribute_value(value: Attribute) -> str:
    return escape(legal(value)) if isinstance(value, str) else number(value)
