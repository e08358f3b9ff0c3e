"""`odqa-fast profiles`: which reference scorers can be equalled, and what each does."""

from __future__ import annotations

from typing import Annotated

import typer

from odqa_fast.cli import _output
from odqa_fast.cli._errors import reported

app = typer.Typer(help="List, explain and try the profiles.", rich_markup_mode=None)


@app.callback(invoke_without_command=True)
@reported()
def listing(context: typer.Context) -> None:
    """List the profiles; 'show' explains one, 'try' shows what they make of a text."""
    if context.invoked_subcommand is None:
        from odqa_fast.profiles import PROFILES

        for profile in PROFILES.values():
            _output.echo(f"{profile.id:<10} {profile.about}")


@app.command()
@reported()
def show(profile: Annotated[str, typer.Argument(help="A profile, e.g. squad.")]) -> None:
    """Explain a profile: its steps and its rules."""
    from odqa_fast import profiles as known

    found = known.get_profile(profile)
    _output.echo(f"{found.id} (version {found.version}): {found.about}")
    _output.echo(f"source: {found.source}")
    _output.echo(
        f"defines: {', '.join(sorted(found.defines))}; "
        "other metrics follow SQuAD v1.1 on this normalizer"
    )
    named = found.normalizer if isinstance(found.normalizer, str) else "of its own"
    _output.echo(f"normalizer {named}:")
    for number, step in enumerate(found.steps, 1):
        _output.echo(f"  {number}. {known.STEPS[step]}")
    rules = {
        "prediction": known.CUTS[found.cut],
        "em": known.EM_RULES[found.em_rule],
        "f1": known.PAIR_RULES[found.pair_rule],
        "answers": known.COMBINES[found.combine],
        "no answers": known.NO_GOLDS[found.no_gold],
        "contains": known.CONTAINS_RULES[found.contains_rule],
        "empty answer": "stands inside every text" if found.empty_needle else "is never found",
        "blank answer": "no answer" if found.blank_is_nothing else "an answer like any",
        "regex answer": f"searched in the {found.regex_on} text",
        "precision@k": "over the list's length where it is shorter than k"
        if found.short_list == "length"
        else "over k, however short the list",
        "cr": "rounded to two decimals a row" if found.round_cr else "never rounded",
    }
    for name, rule in rules.items():
        _output.echo(f"{name}: {rule}")


@app.command("try")
@reported()
def try_(
    text: Annotated[str, typer.Argument(help="Any text.")],
    names: Annotated[
        list[str] | None, typer.Argument(help="Profiles; all of them by default.")
    ] = None,
) -> None:
    """Show what profiles make of a text."""
    from odqa_fast import normalize
    from odqa_fast.profiles import PROFILES

    for name in names or PROFILES:
        _output.echo(f"{name:<10} {normalize(text, name)!r}")
