"""`odqa-fast metrics`: what can be asked for."""

from __future__ import annotations

from odqa_fast.cli import _output


def command() -> None:
    """List the metrics, their options, ranges and sources."""
    from odqa_fast.metrics import all_specs

    listed: dict[tuple[str, ...], str] = {}
    for spec in all_specs().values():
        low, high = spec.range
        better = "higher" if spec.higher_is_better else "lower"
        open_end = "" if high is None else f"{high:g}"
        _output.echo(f"{spec.id} (version {spec.version}): {spec.about}")
        _output.echo(
            f"    needs {', '.join(spec.inputs)}; {low:g} to {open_end or 'open'}, "
            f"{better} is better"
        )
        _output.echo(f"    {spec.empty_rule}")
        options = spec.all_options
        first = listed.setdefault(tuple(options), spec.id)
        if options and first != spec.id:
            _output.echo(f"    options as {first}")
        for option, meaning in options.items() if first == spec.id else ():
            _output.echo(f"    {spec.id}:{option}  {meaning}")
        _output.echo(f"    source: {spec.source}")
