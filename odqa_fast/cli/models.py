"""`odqa-fast models`: recipes and exported models."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from odqa_fast.cli import _output
from odqa_fast.cli._command import Quiet, take_options
from odqa_fast.cli._errors import reported
from odqa_fast.errors import ModelError
from odqa_fast.export.options import ExportOptions

if TYPE_CHECKING:
    from odqa_fast.engines.card import ModelCard
    from odqa_fast.export.recipes import Recipe

app = typer.Typer(
    help="Export, list, show and check models.", no_args_is_help=True, rich_markup_mode=None
)

Folder = Annotated[Path, typer.Argument(help="A folder that 'models export' wrote.")]


@app.command("list")
@reported()
def listing() -> None:
    """List the recipes."""
    from odqa_fast.export.recipes import load_recipes

    recipes = load_recipes()
    width = max(map(len, recipes))
    for recipe in recipes.values():
        _output.echo(f"{recipe.id:<{width}}  {recipe.task:<20}  {recipe.about}")


@app.command()
@reported()
def show(
    model: Annotated[str, typer.Argument(help="A recipe, or a folder 'models export' wrote.")],
) -> None:
    """Show what a recipe or an exported model is."""
    from odqa_fast.engines.card import load_card
    from odqa_fast.export.recipes import load_recipes

    recipe = load_recipes().get(model)
    if Path(model).is_dir():
        facts = _card_facts(load_card(Path(model), verify=False))
    elif recipe is not None:
        facts = _recipe_facts(recipe)
    else:
        raise ModelError(
            f"no folder or recipe {model!r}.", hint=f"Recipes: {', '.join(load_recipes())}."
        )
    for name, value in facts.items():
        _output.echo(f"{name:<13} {value}")


@app.command()
@reported()
def check(folder: Folder) -> None:
    """Check that a model's files are those its model.json means, and its chat template works."""
    from odqa_fast.engines.card import load_card
    from odqa_fast.engines.tokens import check_template

    card = load_card(folder)
    check_template(card)
    _output.echo(f"{card.id}: {len(card.files)} files as model.json has them")


def _export(wanted: ExportOptions, quiet: bool) -> None:
    from odqa_fast.export import describe_onnx, export

    if wanted.from_onnx is not None:
        card = describe_onnx(Path(wanted.from_onnx))
    else:
        with _bar(quiet) as progress:
            card = export(
                wanted.source or "",
                Path(wanted.out or ""),
                dtype=wanted.dtype,
                task=wanted.task,
                layer=wanted.layer,
                max_tokens=wanted.max_tokens,
                weights=None if wanted.weights is None else Path(wanted.weights),
                progress=progress,
            )
    size = sum(card.path(name).stat().st_size for name in card.files)
    _output.echo(f"{card.folder}: {card.id}, {card.task}, {card.dtype}, {size / 1e6:,.0f} MB")


app.command("export")(reported()(take_options(ExportOptions, _export, quiet=(Quiet, False))))


def _card_facts(card: ModelCard) -> dict[str, str]:
    most = f"{card.max_input} tokens" + (f", and {card.max_new} new" if card.max_new else "")
    return {
        "model": card.id,
        "task": card.task + ("" if card.layer is None else f", after layer {card.layer}"),
        "family": card.family,
        "dtype": card.dtype,
        "input": most,
        "prompt": "chat template" if card.prompt.chat_template else "plain text",
        **{f"source {name}" if name != "license" else name: value
           for name, value in card.source.items()},
        "sha256": card.sha256,
    }  # fmt: skip


def _recipe_facts(recipe: Recipe) -> dict[str, str]:
    layer = "" if recipe.layer is None else f", after layer {recipe.layer}"
    return {
        "recipe": f"{recipe.id}: {recipe.about}",
        "task": recipe.task + layer,
        "weights": recipe.origin,
        "license": recipe.license or "not stated",
        "export with": f"odqa-fast models export {recipe.id} --out FOLDER",
    }


@contextmanager
def _bar(quiet: bool) -> Iterator[Callable[[float], None] | None]:
    """A bar of the weights read; None where nobody would see it."""
    console = None if quiet else _output.terminal()
    if console is None:
        yield None
        return
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TimeElapsedColumn

    columns = (BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=None)  # it moves to and fro while weights are fetched
        yield lambda share: bar.update(task, total=1.0, completed=share)
