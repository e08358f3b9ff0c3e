"""Covers: rubrics as files: those that come with the package, a user's own, and a plug-in's.

Compared against: the prompts and requests that were published, arithmetic, and the README.
Run: pytest tests/judge/test_rubrics.py
"""

from __future__ import annotations

import importlib
import json
import re
from pathlib import Path

import pytest
from scripted import Scripted, rows_of, texts_in

from odqa_fast.engines.base import Reply
from odqa_fast.engines.replies import make_key
from odqa_fast.errors import OdqaError
from odqa_fast.judge.pairwise import judge_pairs, pair_up
from odqa_fast.judge.pointwise import judge_rows
from odqa_fast.judge.rubrics import bundled_names, bundled_rubrics, load_rubric, load_rubrics

README = Path(__file__).parents[2] / "README.md"
TEXTS = {
    "question": "Who?",
    "answers": "- Ada\n- Eve",
    "prediction": "Ada </x>",
    "context": "It ends.",
    "first": "a",
    "second": "b",
}
#: The signature of each prompt, and the key that its reply to `TEXTS` is kept under.
PUBLISHED = {
    "correctness": (
        "judge-correctness/1@3e1e51ec",
        "41565c91e80c5250fa8de5a410b2f53b6d129afc4f50af7dce21fb50ead20fa3",
    ),
    "reference-free": (
        "judge-reference-free/1@34969b0d",
        "8b542f6c603a8bb6ecaa5f2ef75fabbc81f79e9ce27c25520fa8c9ffc21fec71",
    ),
    "faithfulness": (
        "judge-faithfulness/1@bef17ab4",
        "6318b0c5f2002cc687c4fa977bfeb5623917b9a43459f8a5d7cd85df2e871158",
    ),
    "pairwise": (
        "judge-pairwise/1@019d49e5",
        "70c8e3aaddb6661b4cfe3c1cda8ed1298967c0df94dff362efc535bf61ad6708",
    ),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_what_was_published_is_asked_as_it_was(name: str) -> None:
    """Replies that were kept before rubrics were files are found again."""
    rubric = load_rubric(name)
    shown = {place: TEXTS[place] for place in rubric.prompt.places}
    key = make_key("engine", rubric.request(**shown)).hex()
    assert (rubric.prompt.signature, key) == PUBLISHED[name]


def test_all_rubrics_stand_in_the_readme() -> None:
    if not README.is_file():
        pytest.skip(f"{README} is missing")
    rows = re.findall(r"^\| `([a-z-]+)` \|.*\| ([^|]*) \|$", README.read_text(), re.MULTILINE)
    needs = {name: set(re.findall(r"`([a-z]+)`", columns)) for name, columns in rows}
    for rubric in bundled_rubrics():
        if not rubric.compares:
            columns = set(rubric.prompt.places)
            if "context" in columns:
                columns = columns - {"context"} | {"summary", "documents"}
            assert needs[rubric.id] == columns
    assert set(PUBLISHED) <= set(bundled_names())


def own(folder: Path, table: str, user: str = "{question} {prediction}") -> str:
    path = folder / "tone.toml"
    path.write_text(f'id = "mine"\nversion = 1\nuser = "{user}"\n\n[rubric]\n{table}\n')
    return str(path)


LABELS = 'labels = { polite = 1, dry = 0.25, rude = 0 }\naliases = { curt = "dry" }'


def test_a_rubric_of_ones_own_counts_its_labels(tmp_path: Path) -> None:
    rubric = load_rubric(own(tmp_path, f'{LABELS}\nblank = "rude"'))
    words = {"a": "polite", "b": "Curt", "c": "rude", "d": "kind"}
    scripted = Scripted(lambda texts: json.dumps({"verdict": words[texts["prediction"]]}))
    rows = [
        {"id": each, "question": "Who?", "prediction": each, "answers": ["a"]}
        for each in ("a", "b", "c", "d", " ")
    ]
    result = judge_rows(rows_of(rows), [scripted], [rubric])
    assert result.table["tone"].to_pylist() == [1, 0.25, 0, None, 0]
    assert result.scores.means["tone"] == 1.25 / 4
    assert result.ratings[0].failures == {"no verdict": 1}
    assert texts_in(scripted.requests[0]) == {"question": "Who?", "prediction": "a"}
    schema = json.loads(scripted.requests[0].schema)
    assert schema["properties"]["verdict"]["enum"] == ["polite", "dry", "rude"]
    # Nothing of it says what is right: it is held against nothing that does.
    assert {row["of"] for row in result.report["agreement"]} == set()
    assert "confusion" not in result.report


def test_a_rubric_of_ones_own_signs_how_it_counts(tmp_path: Path) -> None:
    def signed(table: str) -> tuple[str, str]:
        rubric = load_rubric(own(tmp_path, table))
        return rubric.prompt.signature, rubric.tags["rubric"]

    first = signed(LABELS)
    assert signed(f"# why\n{LABELS}") == first
    other = signed(LABELS.replace("0.25", "0.5"))
    # Replies are asked for by the prompt alone, and counted anew.
    assert other[0] == first[0]
    assert other[1] != first[1]
    assert "rubric" not in load_rubric("correctness").tags


def test_what_is_right_is_held_against_people(tmp_path: Path) -> None:
    rubric = load_rubric(own(tmp_path, f'{LABELS}\nright = ["polite", "dry"]'))
    words = {"a": "polite", "b": "dry", "c": "rude", "d": "rude"}
    scripted = Scripted(lambda texts: json.dumps({"verdict": words[texts["prediction"]]}))
    rows = [
        {"id": each, "question": "?", "prediction": each, "answers": ["a"], "human": human}
        for each, human in zip("abcd", ("yes", "yes", "no", "yes"), strict=True)
    ]
    result = judge_rows(rows_of(rows), [scripted], [rubric])
    agreed = {(row["of"], row["with"]): row["accuracy"] for row in result.report["agreement"]}
    # The judge errs in d alone.
    assert agreed["tone", "people"]["value"] == 0.75
    assert result.report["confusion"]["tone"]["dry"] == {"correct": 1, "not correct": 0}


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        ('{"verdict": 5}', 1.0),
        ('{"verdict": "2"}', 0.25),
        ('{"verdict": 3.0}', 0.5),
        ('{"explanation": "He said "no".", "verdict": 4}', 0.75),
        ("It is polite.\nVerdict: 4.", 0.75),
        ("**Verdict: 1**", 0.0),
        ("3", 0.5),
        ('{"verdict": 6}', None),
        ('{"verdict": 0}', None),
        ('{"verdict": -3}', None),
        ('{"verdict": 4.5}', None),
        ('{"verdict": "4.5"}', None),
        ("Verdict: 4.5", None),
        ("Verdict: .5", None),
        ("Verdict: -3", None),
        ("Verdict: 14", None),
        ("1. It is polite.", None),
        ('{"verdict": 2} {"verdict": 3}', None),
    ],
)  # fmt: skip
def test_a_scale_counts_from_0_to_1(tmp_path: Path, reply: str, score: float | None) -> None:
    rubric = load_rubric(own(tmp_path, "scale = [1, 5]"))
    verdict = rubric.read(Reply(reply, "stop"))
    assert (verdict.score, bool(verdict.failure)) == (score, score is None)
    assert rubric.labels == ("5", "4", "3", "2", "1")
    enum = json.loads(rubric.schema)["properties"]["verdict"]
    assert enum == {"type": "integer", "enum": [5, 4, 3, 2, 1]}


def test_a_scale_may_fall(tmp_path: Path) -> None:
    rubric = load_rubric(own(tmp_path, "scale = [3, 1]\nright = [1]"))
    assert [rubric.read(Reply(each, "stop")).score for each in "123"] == [1, 0.5, 0]
    assert rubric.right == ("1",)


def test_a_rubric_of_ones_own_compares_pairs(tmp_path: Path) -> None:
    """A label counts what it gives to the first: 1 and 0.75 are wins of it."""
    table = 'key = "better"\nlabels = { a = 1, "rather a" = 0.75, same = 0.5, b = 0 }'
    rubric = load_rubric(own(tmp_path, table, "{question} {first} {second}"))
    assert rubric.compares
    says = iter(["rather a", "b", "a", "a", "same", "same"])
    scripted = Scripted(lambda texts: json.dumps({"better": next(says)}))
    a, b = (
        [{"id": str(n), "question": "?", "prediction": f"{n} {side}"} for n in range(3)]
        for side in "ab"
    )
    result = judge_pairs(pair_up(rows_of(a), rows_of(b)), [scripted], rubric)
    assert result.table["tone.label"].to_pylist() == ["win", "tie", "tie"]
    assert result.scores.means["tone"] == pytest.approx(2 / 3)
    assert "|order:both|flip:tie|" in str(result.scores.signatures["tone"])


def test_a_list_of_ones_own(tmp_path: Path) -> None:
    table = (
        'key = "found"\nlabels = { yes = 1, partly = 0.5, no = 0 }\ngrounded = ["all there"]\n'
        '[rubric.list]\nkey = "parts"\nitem = "part"\nall = "all there"\nelse = "parts lack"'
    )
    rubric = load_rubric(own(tmp_path, table))
    parts = [{"part": "x", "found": each} for each in ("yes", "partly", "no", "yes")]
    verdict = rubric.read(Reply(json.dumps({"parts": parts}), "stop"))
    assert (verdict.label, verdict.score) == ("parts lack", 2.5 / 4)
    assert rubric.read(Reply('{"parts": []}', "stop")).failure == "no parts"


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ("", "either 'labels' or 'scale'"),
        (f"{LABELS}\nscale = [1, 5]", "either 'labels' or 'scale'"),
        ("labels = { a = 1 }", "two labels or more"),
        ("labels = { a = 1, b = 2 }", "'b' counts from 0 to 1, not 2"),
        ("labels = { a = 1, b = nan }", "'b' counts from 0 to 1, not nan"),
        ("labels = { a = 1, b = true }", "'b' counts from 0 to 1, not True"),
        ("labels = { a = 1, B = 0 }", "the label 'B' would not be found"),
        ('labels = { a = 1, b = 0 }\naliases = { c = "d" }', "'c' would not be found"),
        (f'{LABELS}\nright = ["kind"]', "'right' has 'kind', which is none of its labels"),
        (f'{LABELS}\nblank = "kind"', "'blank' has 'kind'"),
        (f'{LABELS}\npartial = "kind"', "'partial' has 'kind'"),
        (f'{LABELS}\nmetric = "em"', "cannot be called 'em'"),
        (f'{LABELS}\nmetric = "a|b"', "cannot be called 'a|b'"),
        (f'{LABELS}\nkey = "a.b"', "a field of a reply"),
        (f'{LABELS}\nmay_begin = "yes"', "'may_begin' has to be of type bool"),
        (f"{LABELS}\ncolour = 1", "'colour' is no key"),
        (f'{LABELS}\noptional = ["context"]', "'optional' has to be places"),
        ("scale = [1]", "two whole numbers"),
        ("scale = [1, 1.5]", "'scale' has to be a list"),
        ("scale = [1, -5]", "two whole numbers"),
        (f"{LABELS}\noptional = [[1]]", "'optional' has to be a list"),
        ('labels = { "" = 1, b = 0 }', "the label '' would not be found"),
        ("labels = { a = 1, b = 0 }\naliases = { c = [1] }", "'c' would not be found"),
        ("scale = [3, 3]", "from 2 to 101 numbers"),
        ("scale = [1, 5]\nmay_begin = true", "goes with no 'scale'"),
        (f'{LABELS}\nlist = {{ key = "a" }}', "'list' has to have"),
    ],
)
def test_a_bad_table_says_what_is_wrong(tmp_path: Path, table: str, says: str) -> None:
    path = own(tmp_path, table)
    with pytest.raises(OdqaError, match="is no rubric") as error:
        load_rubric(path)
    assert str(error.value).startswith(path)
    assert says in str(error.value)


def test_what_is_no_rubric_file(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    with pytest.raises(OdqaError, match="cannot read the rubric"):
        load_rubric(str(path))
    for text, says in (
        ('id = "x"\nversion = 1\nuser = "{prediction}"\n', r"no table \[rubric\]"),
        (f'[rubric]\n{LABELS}\n[other]\nuser = "x"', "behind the prompt, and no other"),
        (f"[rubric]\n{LABELS}\n", "'id' is missing"),
        (f'id = "x"\nversion = 1\nuser = "{{question}}"\n[rubric]\n{LABELS}', "place {prediction}"),
        (f'id = "x"\nversion = 1\nuser = "{{first}}"\n[rubric]\n{LABELS}', "place {second}"),
        (f'id = "x"\nversion = 1\nuser = "{{gold}}"\n[rubric]\n{LABELS}', "for {gold}"),
        ("id = ", "is no rubric"),
    ):
        path.write_text(text)
        with pytest.raises(OdqaError, match=says) as error:
            load_rubric(str(path))
        assert str(path) in str(error.value)


@pytest.mark.parametrize(
    ("name", "user", "missing"),
    [
        ("correctness", "{question} {prediction}", "answers"),
        ("correctness", "{question} {answers}", "prediction"),
        ("reference-free", "{prediction}", "question"),
        ("faithfulness", "{question} {prediction}", "context"),
        ("pairwise", "{first}", "second"),
    ],
)
def test_another_prompt_has_the_places_without_which_it_asks_nothing(
    tmp_path: Path, name: str, user: str, missing: str
) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(f'id = "a"\nversion = 1\nuser = "{user}"\n')
    with pytest.raises(OdqaError, match=rf"no place \{{{missing}\}}"):
        load_rubrics([name], {name: str(path)})
    # Nor may it show what its rubric does not: that would be another rubric.
    path.write_text('id = "a"\nversion = 1\nuser = "{prediction} {words}"\n')
    with pytest.raises(OdqaError, match="nothing is filled in for"):
        load_rubrics([name], {name: str(path)})


def test_a_rubric_of_an_installed_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "toned"
    package.mkdir()
    (package / "__init__.py").write_text("")
    own(package, LABELS)
    info = tmp_path / "toned-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toned\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[odqa_fast.rubrics]\ntone = toned\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    (rubric,) = load_rubrics(["tone"])
    assert (rubric.id, rubric.metric) == ("tone", "tone")
    assert "rubric" in rubric.tags
    with pytest.raises(OdqaError, match=r"no rubric 'tome'\. Closest: tone"):
        load_rubrics(["tome"])


def test_rubrics_that_share_a_column_are_not_asked_together(tmp_path: Path) -> None:
    with pytest.raises(OdqaError, match="two rubrics have the same metric"):
        load_rubrics(["correctness", own(tmp_path, f'{LABELS}\nmetric = "judge"')])
