"""What a row is asked about, as its texts stand in a prompt."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

#: A place to fill in a template.
PLACE = re.compile(r"\{([a-z_]+)\}")


def fill_places(text: str, values: Mapping[str, str]) -> str:
    """A text with every place filled."""
    return PLACE.sub(lambda place: values[place[1]], text)


@dataclass(frozen=True, slots=True)
class Context:
    """What a row is asked about.

    Attributes:
        kind: what it is.
        texts: (title or nothing, text), in rank order.
    """

    kind: Literal["summary", "documents", "none"]
    texts: tuple[tuple[str, str], ...] = ()

    def plain(self) -> list[str]:
        """The texts by themselves."""
        return [text for _, text in self.texts]

    def shown(self, document: str = "") -> list[str]:
        """The texts as they stand in a prompt.

        Args:
            document: how a document does; see `prompts`. With its rank and title by default.
        """
        if self.kind != "documents":
            return self.plain()
        return [
            fill_places(
                document or ("[{rank}] {title}: {text}" if title else "[{rank}] {text}"),
                {"rank": str(rank), "title": title, "text": text},
            )
            for rank, (title, text) in enumerate(self.texts, 1)
        ]


NO_CONTEXT = Context("none")

#: What ACoRN's compressors write where nothing helps; its reader is then asked without a context.
NO_INFORMATION = "This passage doesn't contain relevant information to the question."


def read_summary(text: str) -> Context:
    """A compressed text as a context; none where it says nothing."""
    if not text.strip() or text.strip() == NO_INFORMATION:
        return NO_CONTEXT
    return Context("summary", (("", text),))
