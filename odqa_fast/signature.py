"""The signature of a number: one line of everything that could have made it another number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from odqa_fast.errors import OdqaError

#: Tags in which two comparable runs may differ.
_MAY_DIFFER = ("n", "odqa_fast")


@dataclass(frozen=True)
class Signature:
    """`metric/version|profile/version|tag:value|...`, for example
    `f1/1|squad/1|golds:max|empty:v1|null:zero|unicode:14.0|n:3610|odqa_fast:0.1.0`.

    `str()` prints it, `parse` reads it back, `comparable` compares two.
    """

    metric: str
    version: int
    profile: str | None
    profile_version: int | None
    tags: tuple[tuple[str, str], ...]

    @classmethod
    def make(
        cls,
        metric: str,
        version: int,
        profile: str | None,
        profile_version: int | None,
        tags: Mapping[str, object],
    ) -> Signature:
        """A signature with the tags in the order given."""
        pairs = tuple((key, str(value)) for key, value in tags.items())
        return cls(metric, version, profile, profile_version, pairs)

    def __str__(self) -> str:
        parts = [f"{self.metric}/{self.version}"]
        if self.profile is not None:
            parts.append(f"{self.profile}/{self.profile_version}")
        return "|".join([*parts, *(f"{key}:{value}" for key, value in self.tags)])

    @classmethod
    def parse(cls, text: str) -> Signature:
        """Reads what `str()` printed.

        Raises:
            OdqaError: the text is no signature.
        """
        try:
            head, *rest = text.split("|")
            metric, _, version = head.rpartition("/")
            profile: str | None = None
            profile_version: int | None = None
            if rest and "/" in rest[0] and ":" not in rest[0]:
                profile, _, number = rest.pop(0).rpartition("/")
                profile_version = int(number)
            tags = tuple((part.split(":", 1)[0], part.split(":", 1)[1]) for part in rest)
            if not metric:
                raise ValueError(text)
            return cls(metric, int(version), profile, profile_version, tags)
        except (ValueError, IndexError):
            raise OdqaError(
                f"{text!r} is no signature.",
                hint="Expected metric/version|profile/version|tag:value|…",
            ) from None

    def tagged(self, tags: Mapping[str, object]) -> Signature:
        """The same with further tags behind the others."""
        return replace(self, tags=(*self.tags, *((key, str(tag)) for key, tag in tags.items())))

    def comparable(self, other: Signature) -> bool:
        """Whether the two numbers were made by the same rules (row counts may differ)."""
        return self._rules() == other._rules()

    def _rules(self) -> tuple[object, ...]:
        kept = frozenset(tag for tag in self.tags if tag[0] not in _MAY_DIFFER)
        return self.metric, self.version, self.profile, self.profile_version, kept
