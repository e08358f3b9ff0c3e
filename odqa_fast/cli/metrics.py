"""`odqa-fast metrics`: what can be asked for."""

from __future__ import annotations

from odqa_fast.cli import _output


def command() -> None:
    """List the metrics, their options, ranges and sources."""
    from odqa_fast.metrics import all_specs

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
        for option, meaning in spec.options.items():
            _output.echo(f"    {spec.id}:{option}  {meaning}")
        _output.echo(f"    source: {spec.source}")
