"""Profiles: what each of the field's reference scorers does, one declarative entry each.

A profile never changes once it is published; another behaviour is another id. The compiled side
(src/core/steps.hpp, contains.hpp) knows steps and small rules by name and no profile at all.

To add one, add a `Profile` to `_ALL`, and vectors; the rules that it leaves out are SQuAD v1.1's.
`odqa-fast profiles show ID` says in words what was declared, `profiles try TEXT ID` shows what its
normalizer makes of a text. Entry points bring none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from hashlib import sha256
from typing import Any, Literal

from odqa_fast.errors import ProfileError
from odqa_fast.plugins import unknown

Normalizer = Literal["raw", "strip", "squad", "regex", "triviaqa", "orqa", "dpr"]

#: What a normalizer does to a text, in order.
NORMALIZERS: dict[Normalizer, tuple[str, ...]] = {
    "raw": (),
    "strip": ("strip",),
    "squad": ("lower", "remove_punctuation", "remove_articles_re", "squeeze"),
    "regex": ("lower", "remove_punctuation", "remove_articles_regex", "squeeze"),
    "triviaqa": (
        "lower",
        "quotes_to_space",
        "punctuation_to_space",
        "remove_articles_re",
        "squeeze",
    ),
    "orqa": ("nfd", "lower", "remove_punctuation", "remove_articles_re", "squeeze"),
    "dpr": ("nfd", "dpr_tokens", "lower_tokens"),
}

#: The steps in words. A list of them, in any order, ends in `squeeze`; or it is one of `raw`,
#: `strip` and `dpr` above.
STEPS: dict[str, str] = {
    "strip": "remove leading and trailing white space",
    "lower": "lower-case as str.lower() does (final sigma, U+0130)",
    "remove_punctuation": "delete the 32 ASCII punctuation characters",
    "quotes_to_space": "replace the quotes U+2018, U+2019, U+00B4 by a space",
    "punctuation_to_space": "replace the 32 ASCII punctuation characters by a space",
    "remove_unicode_punctuation": "delete ASCII punctuation and what Unicode calls punctuation",
    "unicode_punctuation_to_space": "replace ASCII and Unicode punctuation by a space",
    "remove_articles_re": "replace the words a, an, the by a space (word borders of `re`)",
    "remove_articles_regex": "replace the words a, an, the by a space (word borders of `regex`)",
    "remove_articles_es": "replace the words un, una, unos, unas, el, la, los, las by a space",
    "remove_articles_de": "replace the words ein, eine, einen, einem, eines, einer, der, die, das, "
    "den, dem, des by a space",
    "remove_articles_vi": "replace the words của, là, cái, chiếc, những by a space",
    "squeeze": "split at white space (29 code points) and join by one space",
    "nfd": "decompose to Unicode form NFD",
    "dpr_tokens": "cut into runs of letters, numbers and marks; other visible characters alone",
    "lower_tokens": "lower-case each token by itself",
}

CUTS: dict[str, str] = {
    "none": "the whole prediction",
    "recomp": 'what follows the last "answer is ", else the stripped text',
    "acorn": 'what stands before the first "Question:", blank line or "</s>"',
}
PAIR_RULES: dict[str, str] = {
    "v1": "no token in common scores 0, also when both sides are empty",
    "v2": "two empty sides score 1",
    "yes_no": "as v1; yes, no and noanswer only match themselves",
}
COMBINES: dict[str, str] = {
    "best_by_f1": "F1 is the best over the answers; precision and recall are of that answer",
    "each_max": "F1, precision and recall are each the best over the answers",
}
NO_GOLDS: dict[str, str] = {
    "null": "a row with an empty list of answers is not scored",
    "zero": "a row with an empty list of answers scores 0",
    "blank": 'answers that normalize to nothing are dropped; with none left the answer is ""',
}
CONTAINS_RULES: dict[str, str] = {
    "normalized": "a normalized answer stands inside the normalized text",
    "raw": "an answer stands inside the text, both as they are",
    "popqa": "an answer, its lower() or its capitalize() stands inside the raw text",
    "shared_token": "as normalized, and the two share a whole token",
}
EM_RULES: dict[str, str] = {
    "normalized": "the normalized texts are equal",
    "strip": "the texts are equal but for leading and trailing white space",
}


@dataclass(frozen=True)
class Profile:
    """How one reference scorer compares a text with gold answers.

    Every rule is a name of the table of the same name in this module; `normalizer` may also be
    steps, where no other profile has the same.
    """

    id: str
    about: str
    source: str
    normalizer: Normalizer | tuple[str, ...]
    #: Metrics the reference itself defines; the others follow the SQuAD v1.1 rule on this
    #: profile's normalizer, and their signature says so.
    defines: frozenset[str]
    cut: Literal["none", "recomp", "acorn"] = "none"
    pair_rule: Literal["v1", "v2", "yes_no"] = "v1"
    combine: Literal["best_by_f1", "each_max"] = "best_by_f1"
    no_gold: Literal["null", "zero", "blank"] = "null"
    empty_needle: bool = False
    contains_rule: Literal["normalized", "raw", "popqa", "shared_token"] = "normalized"
    em_rule: Literal["normalized", "strip"] = "normalized"
    round_cr: bool = False
    #: An answer of white space is none, and a prediction of white space scores 0.
    blank_is_nothing: bool = False
    #: What precision over a list of documents shorter than k is divided by: k, or its length.
    short_list: Literal["k", "length"] = "k"
    #: What answers that are regular expressions are held against: the prediction as it stands, or
    #: normalized.
    regex_on: Literal["raw", "normalized"] = "raw"
    version: int = 1

    @property
    def steps(self) -> tuple[str, ...]:
        """What the normalizer does, by names of STEPS."""
        return NORMALIZERS[self.normalizer] if isinstance(self.normalizer, str) else self.normalizer

    @property
    def signed_id(self) -> str:
        """The id in signatures: with a digest of its rules where it is no published profile."""
        if PROFILES.get(self.id) == self:
            return self.id
        rules = sorted((each.name, repr(getattr(self, each.name))) for each in fields(self))
        rules = [(name, said) for name, said in rules if name not in ("about", "source", "defines")]
        rules.append(("defines", repr(sorted(self.defines))))
        return f"{self.id}~{sha256(repr(rules).encode()).hexdigest()[:8]}"


def _defines(*metrics: str) -> frozenset[str]:
    return frozenset(metrics)


_ALL: tuple[Profile, ...] = (
    Profile(
        id="squad",
        about="SQuAD v1.1; also MRQA and Hugging Face evaluate's squad",
        source="SQuAD v1.1 evaluation script, as shipped in Hugging Face evaluate",
        normalizer="squad",
        defines=_defines("em", "f1"),
    ),
    Profile(
        id="squad2",
        about="SQuAD v2.0, unanswerable questions included",
        source="SQuAD v2.0 evaluation script",
        normalizer="squad",
        defines=_defines("em", "f1"),
        pair_rule="v2",
        no_gold="blank",
    ),
    Profile(
        id="triviaqa",
        about="TriviaQA's official evaluation",
        source="mandarjoshi90/triviaqa",
        normalizer="triviaqa",
        defines=_defines("em", "f1"),
    ),
    Profile(
        id="hotpotqa",
        about="HotpotQA's answer scores",
        source="hotpotqa/hotpot, hotpot_evaluate_v1",
        normalizer="squad",
        defines=_defines("em", "f1", "precision", "recall"),
        pair_rule="yes_no",
    ),
    Profile(
        id="2wiki",
        about="2WikiMultihopQA v1.1's answer scores, before its rounding",
        source="Alab-NII/2wikimultihop, v1.1",
        normalizer="squad",
        defines=_defines("em", "f1", "precision", "recall"),
        pair_rule="yes_no",
        combine="each_max",
        no_gold="zero",
    ),
    Profile(
        id="musique",
        about="MuSiQue's answer scores",
        source="StonyBrookNLP/musique",
        normalizer="squad",
        defines=_defines("em", "f1"),
        pair_rule="v2",
    ),
    Profile(
        id="recomp",
        about="RECOMP's question answering scores",
        source="carriex/recomp, eval_qa",
        normalizer="squad",
        defines=_defines("em", "f1"),
        cut="recomp",
        pair_rule="v2",
    ),
    Profile(
        id="nq",
        about="Natural Questions as the DPR and FiD readers score it; par:token is has_answer",
        source="facebookresearch/DPR and FiD",
        normalizer="regex",
        defines=_defines("em", "par:token"),
        empty_needle=True,
    ),
    Profile(
        id="orqa",
        about="the official NQ-open / EfficientQA exact match",
        source="google-research/language, orqa",
        normalizer="orqa",
        defines=_defines("em"),
    ),
    Profile(
        id="flashrag",
        about="FlashRAG's em, acc (contains), f1, precision, recall",
        source="RUC-NLPIR/FlashRAG, evaluator/metrics",
        normalizer="squad",
        defines=_defines("em", "f1", "precision", "recall", "contains"),
        pair_rule="yes_no",
        combine="each_max",
        no_gold="zero",
        empty_needle=True,
        short_list="length",
        regex_on="normalized",
    ),
    Profile(
        id="kilt",
        about="KILT's downstream scores: v1.1, white space is no answer",
        source="facebookresearch/KILT, eval_downstream.py and eval_retrieval.py",
        normalizer="squad",
        defines=_defines("em", "f1"),
        empty_needle=True,
        blank_is_nothing=True,
    ),
    Profile(
        id="popqa",
        about="PopQA's accuracy (contains): three spellings of an answer in the raw text",
        source="AlexTMallen/adaptive-retrieval",
        normalizer="squad",
        defines=_defines("contains"),
        no_gold="zero",
        empty_needle=True,
        contains_rule="popqa",
    ),
    Profile(
        id="selfrag",
        about="Self-RAG's match (contains, raw) and f1",
        source="AkariAsai/self-rag, metrics",
        normalizer="squad",
        defines=_defines("contains", "f1"),
        no_gold="zero",
        empty_needle=True,
        contains_rule="raw",
    ),
    Profile(
        id="longbench",
        about="LongBench's qa_f1, before its rounding",
        source="THUDM/LongBench, metrics",
        normalizer="squad",
        defines=_defines("f1"),
        no_gold="zero",
    ),
    Profile(
        id="acorn",
        about="ACoRN's own code: em, f1, precision, recall, acc (contains), evidentiality (par)",
        source="SinGonKim/ACoRN, inference/eval",
        normalizer="squad",
        defines=_defines("em", "f1", "precision", "recall", "contains", "par"),
        cut="acorn",
        pair_rule="yes_no",
        combine="each_max",
        empty_needle=True,
        contains_rule="shared_token",
        round_cr=True,
    ),
    Profile(
        id="seed",
        about="the ODQA compression recipe as printed: EM is strip-and-equal, F1 as SQuAD v1.1",
        source="the evaluation recipe of the ODQA compression paper",
        normalizer="squad",
        defines=_defines("em", "f1", "cr", "par"),
        empty_needle=True,
        em_rule="strip",
    ),
    *(
        Profile(
            id=f"mlqa-{language}",
            about=f"MLQA's answer scores for answers in {name}",
            source="facebookresearch/MLQA, mlqa_evaluation_v1.py",
            normalizer=(
                "lower",
                "remove_unicode_punctuation",
                f"remove_articles_{articles}",
                "squeeze",
            ),
            defines=_defines("em", "f1"),
        )
        for language, articles, name in (
            ("en", "re", "English"),
            ("es", "es", "Spanish"),
            ("de", "de", "German"),
            ("vi", "vi", "Vietnamese"),
        )
    ),
)

PROFILES: dict[str, Profile] = {profile.id: profile for profile in _ALL}
DEFAULT_PROFILE = "squad"


@cache
def check_kernels() -> None:
    """Asks whether the compiled kernels know the same steps and rules as the tables above.

    Raises:
        ImportError: they do not; names what differs.
    """
    from odqa_fast._kernels import match, normalize

    tables: dict[str, tuple[tuple[str, ...], dict[str, str]]] = {
        "STEPS": (normalize.STEPS, STEPS),
        "CUTS": (match.CUTS, CUTS),
        "PAIR_RULES": (match.PAIR_RULES, PAIR_RULES),
        "COMBINES": (match.COMBINES, COMBINES),
        "NO_GOLDS": (match.NO_GOLDS, NO_GOLDS),
        # `raw` is `normalized` without any step.
        "CONTAINS_RULES": (("raw", *match.CONTAINS_RULES), CONTAINS_RULES),
    }
    for table, (compiled, told) in tables.items():
        if odd := sorted(set(compiled) ^ set(told)):
            raise ImportError(
                f"The compiled kernels and {table} of odqa_fast/profiles.py differ in "
                f"{', '.join(odd)}: the kernels are of another version; build them again."
            )


def get_profile(name: str | Profile | Mapping[str, Any]) -> Profile:
    """The profile of that id, or of those rules, as the record of a run has them.

    Raises:
        ProfileError: there is none; names the closest.
    """
    if isinstance(name, Profile):
        return name
    if isinstance(name, Mapping):
        try:
            steps = name["normalizer"]
            return Profile(
                **{
                    **name,
                    "normalizer": steps if isinstance(steps, str) else tuple(steps),
                    "defines": frozenset(name["defines"]),
                }
            )
        except (KeyError, TypeError) as error:
            raise ProfileError(f"these are no rules of a profile: {error}.") from None
    if name not in PROFILES:
        what, hint = unknown("profile", name, PROFILES, "List all: odqa-fast profiles")
        raise ProfileError(what, hint=hint)
    return PROFILES[name]


def get_steps(name: str) -> tuple[str, ...]:
    """The steps of the normalizer of that id, or of the profile of that id.

    Raises:
        ProfileError: neither exists.
    """
    for normalizer, steps in NORMALIZERS.items():
        if normalizer == name:
            return steps
    if name in PROFILES:
        return PROFILES[name].steps
    known = {*NORMALIZERS, *PROFILES}
    what, hint = unknown("normalizer or profile", name, known, f"Known: {', '.join(sorted(known))}")
    raise ProfileError(what, hint=hint)
