"""The templates of HTML pages: what they show is escaped, and what they lack is an error."""

from collections.abc import Callable
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined


def templates(package: str, **filters: Callable[..., object]) -> Environment:
    """The templates of a package, with filters of its own."""
    environment = Environment(
        loader=PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(filters)
    return environment


def resource(package: str, name: str) -> str:
    """A file beside the templates of a package: a style, a script."""
    return files(package).joinpath(f"templates/{name}").read_text(encoding="utf-8")
