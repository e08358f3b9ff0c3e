"""Hypothesis: texts that break naive scorers, rows made of them, and ways to store the rows."""

from __future__ import annotations

from hypothesis import assume
from hypothesis import strategies as st
from layouts import DOCUMENT_KINDS, LIST_KINDS, TEXT_KINDS, Layout
from unicode14 import assigned

WORDS = (
    "a an the A An THE cat cats x b yes no noanswer Yes. 7 007 1,000 a.n t-he U.S.A. O'Brien n/a "
    "ice Hockey politician banana athena don't snake_case x-y answer is Question: </s>"
).split()

#: Whitespace by Python's rule, then what only looks like it.
SPACES = [*" \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2003\u2028\u2029\u202f\u205f\u3000"]
NOT_SPACES = ["\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u180e", "\xad", "\u034f", "\0"]

#: Case: final sigma and what it looks at, the one letter that grows, letters that change size.
CASED = (
    "Σ σ ς ΑΣ ΣΑ ΑΣΣ ΑΣ.Α Α'Σ \u02b0Σ Ⓐ ⓐ \u0345 \u02e3 \xb7 \u2019 \u1fb3 \u1fbc "
    "\u0130 ı ß \u1e9e \u212a \u212b \u023a \u2c70 Ⅷ \u01c5 \u0149 \ufb01 \uff21 "
    "\u1c90 \u13a0 \U00010400 \U0001e904"
).split()

#: Marks, decompositions, what `re` and `regex` see differently as words, and other scripts.
MARKS = (
    "\u0301 \u0303 \u0308 \u0327 \u0345 \u0f71\u0f72 \u0316\u0301 \u20dd \u093c \u3099 \ufe0f "
    "\xe9 \xe0 e\u0301 a\xf1o th\xe9 \u1ec7 \u1e69 \ufdfa \u2126 K\u0301 \u0958 \U0001d15e "
    "² ½ ① Ⅳ ٣ १ \uff11 ‿ \uff3f ⁀ ª º \U0001d7d8 "
    "\ud55c \uac01 \u1112\u1161\u11ab \u1100\u1161 \uac00\u11a8 中 か\u3099 \u0905 \u0627 "
    "😀 👩\u200d🚀 “ ” ‘ \xb4 – — … \uff01 € $ « \ufffd \U0010fffd"
).split()

PUNCTUATION = [*"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"]

PIECES = st.one_of(
    st.sampled_from(WORDS),
    st.sampled_from(SPACES),
    st.just(" "),
    st.sampled_from(CASED),
    st.sampled_from(MARKS),
    st.sampled_from([*PUNCTUATION, *NOT_SPACES]),
    st.sampled_from(assigned()),
    st.sampled_from(["answer is ", "The answer is", "\n\n", "a b ", "the\u0301 "]),
)


@st.composite
def texts(draw: st.DrawFn) -> str:
    """A short text; now and then a long one with many repeated words."""
    text = "".join(draw(st.lists(PIECES, max_size=12)))
    times = draw(st.sampled_from([1, 1, 1, 1, 1, 2, 3, 17, 70]))
    glue = draw(st.sampled_from(["", " ", "\n"]))
    return glue.join([text] * times)


@st.composite
def rows(draw: st.DrawFn) -> list[dict]:
    """Rows whose texts come from one small pool, so that they often overlap."""
    pool = draw(st.lists(texts(), min_size=1, max_size=6))
    pool += ["", *(text[1 : len(text) // 2] for text in pool), *(t.swapcase() for t in pool)]
    pool += [" ".join(draw(st.permutations(text.split()[:8]))) for text in pool[:2]]
    text = st.sampled_from(pool)
    maybe_text = st.one_of(text, text, text, st.none())
    many = st.lists(maybe_text, max_size=5)
    maybe_many = st.one_of(many, many, st.none())
    row = st.fixed_dictionaries(
        {
            "prediction": maybe_text,
            "summary": maybe_text,
            "answers": maybe_many,
            "documents": maybe_many,
        }
    )
    made = draw(st.lists(row, min_size=1, max_size=9))
    # Not by filter(), which writes the rows out, however long they are.
    assume(readable(made))
    return made


def readable(rows: list[dict]) -> bool:
    """Whether some document has a text, if there are any: rows of which none has are refused."""
    documents = [each for row in rows for each in row["documents"] or ()]
    return not documents or any(each is not None for each in documents)


def layouts() -> st.SearchStrategy[Layout]:
    """Every way to store a table."""
    return st.builds(
        Layout,
        text=st.sampled_from(sorted(TEXT_KINDS)),
        items=st.sampled_from(sorted(TEXT_KINDS)),
        lists=st.sampled_from(LIST_KINDS),
        documents=st.sampled_from(DOCUMENT_KINDS),
        before=st.integers(0, 9),
        after=st.integers(0, 3),
        chunks=st.lists(st.integers(0, 9), max_size=4).map(tuple),
    )
