"""Covers: the commands beside score: metrics, profiles, doctor, demo, --help, --version.

Compared against: normalizations worked by hand from the profiles' definitions.
Run: pytest tests/cli/test_commands.py
"""

from __future__ import annotations

import json

from program import odqa_fast

import odqa_fast as package
from odqa_fast.profiles import PROFILES


def test_help_names_every_command() -> None:
    done = odqa_fast("--help")
    assert done.returncode == 0
    for command in ("score", "metrics", "profiles", "doctor", "demo"):
        assert command in done.stdout


def test_version() -> None:
    assert odqa_fast("--version").stdout == f"odqa-fast {package.__version__}\n"


def test_metrics_lists_options_and_sources() -> None:
    text = odqa_fast("metrics").stdout
    for words in ("em (version 1)", "par:token", "cr:words", "source: "):
        assert words in text


def test_profiles_lists_and_explains() -> None:
    assert "squad2" in odqa_fast("profiles").stdout
    shown = odqa_fast("profiles", "show", "squad").stdout
    steps = [line for line in shown.splitlines() if line.startswith("  ")]
    assert len(steps) == 4
    assert "lower-case" in steps[0]
    assert "punctuation" in steps[1]
    assert "a, an, the" in steps[2]
    assert "white space" in steps[3]


def test_profiles_try_shows_what_each_makes_of_a_text() -> None:
    lines = odqa_fast("profiles", "try", "The U.S.A.", "squad", "triviaqa", "nq").stdout.split("\n")
    # TriviaQA puts spaces for the dots, so that the last "a" becomes an article.
    assert [line.split(maxsplit=1) for line in lines if line] == [
        ["squad", "'usa'"],
        ["triviaqa", "'u s'"],
        ["nq", "'usa'"],
    ]


def test_profiles_try_shows_every_profile_by_default() -> None:
    lines = odqa_fast("profiles", "try", "x").stdout.splitlines()
    assert {"squad", "acorn", "seed"} < {line.split()[0] for line in lines} == set(PROFILES)


def test_unknown_profile_names_the_closest() -> None:
    done = odqa_fast("profiles", "show", "trivia")
    assert done.returncode == 2
    assert "triviaqa" in done.stderr


def test_doctor_checks_the_core() -> None:
    done = odqa_fast("doctor")
    assert done.returncode == 0
    assert "right on known values" in done.stdout
    assert package.__version__ in done.stdout


def test_demo_scores_the_bundled_example() -> None:
    done = odqa_fast("demo", "--format", "json")
    assert done.returncode == 0
    summary = json.loads(done.stdout)
    # As many as the example has on purpose.
    assert done.stderr.splitlines() == [
        "odqa-fast: note: 1 summaries are blank.",
        "odqa-fast: note: cr is over 204 of 206 rows (2 without a summary).",
    ]
    assert 190 <= summary["counts"]["rows"] <= 210
    for row in summary["metrics"].values():
        assert 0 < row["mean"] < 1
        assert row["n_scored"] + row["n_null"] == summary["counts"]["rows"]
    table = odqa_fast("demo").stdout
    assert "counts: " in table
    assert "signatures:" in table
