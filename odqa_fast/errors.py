"""The errors a user can meet: what is wrong, where, and what would work."""

from __future__ import annotations


class OdqaWarning(UserWarning):
    """Something in the data that a reader of the numbers should know."""


class OdqaError(Exception):
    """Base of every error this package raises on purpose.

    Args:
        what: one sentence: what is wrong.
        where: file and line, or row and column; goes before `what`.
        hint: what would work; goes after `what`.
    """

    exit_code = 2

    # An exception is unpickled and copied by calling its class with its `args`: so these are what
    # it is made of, in this order, for subclasses too.
    def __init__(self, what: str, where: str | None = None, hint: str | None = None) -> None:
        self.what, self.where, self.hint = what, where, hint
        super().__init__(what, where, hint)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, OdqaError):
            return NotImplemented
        return type(self) is type(other) and self.args == other.args

    def __hash__(self) -> int:
        return hash((type(self), self.args))

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        hint = f" {self.hint}" if self.hint else ""
        return f"{place}{self.what}{hint}"


class GateError(OdqaError):
    """A result is there, and is not what was demanded of it."""

    exit_code = 1


class MetricError(OdqaError):
    """A metric that does not exist, or asked for with an option it does not have."""


class ProfileError(OdqaError):
    """A profile, normalizer or tokenizer that does not exist."""


class SchemaError(OdqaError):
    """A column is missing, ambiguous, or of a type that cannot hold what it should."""


class DataError(OdqaError):
    """A value inside the data is bad: wrong type, not UTF-8, not JSON."""

    exit_code = 3


class ModelError(OdqaError):
    """A model is missing or its files do not agree with its card."""

    exit_code = 4


class EngineError(OdqaError):
    """What runs a model (a device, a provider, a library) is not available."""

    exit_code = 4


class OutputError(OdqaError):
    """A result could not be written."""

    exit_code = 5
