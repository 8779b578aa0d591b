"""The protocol's table services, by name, as functions of the model."""

from collections.abc import Callable, Mapping
from typing import Any

from hudi_model.effects import Effects
from hudi_model.rejection import Unsupported
from hudi_model.tables import Table
from hudi_model.time import InstantTime

Service = Callable[[Table, Mapping[str, Any], InstantTime, InstantTime], Effects]

SERVICES: Mapping[str, Service] = {}


def schedule_plan(service: str, table: Table, requested: InstantTime, settings: Mapping[str, str]) -> Effects:
    """What plans a service; nothing where there is nothing to do."""
    raise Unsupported(f"schedule-{service}")


def execute_plan(table: Table, requested: InstantTime, completed: InstantTime) -> Effects:
    """What carries out the plan of an instant."""
    raise Unsupported("execute")
