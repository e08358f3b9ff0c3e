"""Where the replies of a run lie: in the folder of its unfinished output, beside an output with
failed rows, or in a file that outlives both."""

from __future__ import annotations

from pathlib import Path

from odqa_fast.engines.replies import ReplyStore
from odqa_fast.errors import OdqaError


def replies_path(out: Path) -> Path:
    """What a finished run leaves where rows failed, so that the next one asks only those again."""
    return out.with_name(f"{out.name}.replies.sqlite")


class RunReplies:
    """The replies of one run; where it fails, what there is to go on with is left.

    Args:
        out: the output.
        folder: of the unfinished run; this process has it.
        cache: the file for replies that outlives runs, if there is one.
        signature: of what gives the replies.

    Raises:
        OdqaError: the unfinished run is of another model or prompt.
        DataError, OutputError: the file is something else, or cannot be written.
    """

    def __init__(self, out: Path, folder: Path, cache: Path | None, signature: str) -> None:
        self._left = replies_path(out)
        self._own = folder / "replies.sqlite" if cache is None else None
        self._was_unfinished = self._own is not None and self._own.exists()
        self._was_left = self._own is not None and self._left.exists()
        if self._own is not None and self._was_left and not self._was_unfinished:
            self._left.replace(self._own)
        self.store = ReplyStore(self._own or cache or self._left)
        found = self.store.signatures() if self._was_unfinished else []
        if found and signature not in found:
            self.store.close()
            raise OdqaError(
                f"the unfinished run is of {found[0]}, not of {signature}.",
                where=str(folder),
                hint="Go on with what it was, or delete the folder and start anew.",
            )

    def finish(self, *, failed: bool) -> None:
        """Once the output is there: keeps the replies beside it where rows failed."""
        self.store.close()
        if self._own is None:
            return
        if failed:
            self._own.replace(self._left)
        else:
            self._left.unlink(missing_ok=True)

    def __enter__(self) -> RunReplies:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            return
        self.store.close()
        if self._own is None or self._was_unfinished or self.store.made:
            return
        if self._was_left:
            self._own.replace(self._left)
        else:
            self._own.unlink(missing_ok=True)
