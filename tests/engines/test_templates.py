"""Covers: chat templates that ask for time or memory without end, and those of real models' kind.

Compared against: one error within the time limit, and texts written by hand.
Run: pytest tests/engines/test_templates.py
"""

from __future__ import annotations

import time

import pytest

from odqa_fast.engines import template_bounds
from odqa_fast.engines.chat_template import ChatTemplate
from odqa_fast.errors import ModelError

TURNS = ("Be brief.", " Why? ")

GREEDY = {
    "a long range": "{% for i in range(10**9) %}x{% endfor %}",
    "ranges in ranges": (
        "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}"
    ),
    "lists in lists": (
        "{% set l = [1] * 9999 %}{% for i in l %}{% for j in l %}{% for k in l %}"
        "{% if k == 2 %}x{% endif %}{% endfor %}{% endfor %}{% endfor %}"
    ),
    "much text": "{% for i in range(9999) %}{{ 'x' * 9999 }}{% endfor %}",
    "a product": "{{ 'x' * 10**10 }}",
    "a product of lists": "{{ ([0] * 10**7) * 10**7 }}",
    "a power": "{{ 10 ** (10 ** 10) }}",
    "doubling": "{% set n = namespace(x='x') %}{% for i in range(60) %}"
    "{% set n.x = n.x ~ n.x %}{% endfor %}{{ n.x }}",
    "adding": "{% set n = namespace(x='x') %}{% for i in range(60) %}"
    "{% set n.x = n.x + n.x %}{% endfor %}{{ n.x }}",
    "a filter": "{{ 'x' | center(10**10) }}",
    "a method": "{{ 'x'.ljust(10**10) }}",
    "a replacement": "{{ ('x' * 10**6).replace('x', 'y' * 10**6) }}",
    "a joint": "{{ range(99999) | join('x' * 10**7) }}",
    "a width": "{{ '%9999999999d' % 1 }}",
    "a width by a filter": "{{ '%9999999999d' | format(1) }}",
    "a width by a method": "{{ '{:9999999999}'.format(1) }}",
    "a loop of itself": "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
    "a wrong type": "{{ 1 + 'x' }}",
    "nothing": "{{ 1 // 0 }}",
    "not there": "{{ messages[7].content.x }}",
    "code": "{{ ''.__class__.__mro__[1].__subclasses__() }}",
}  # fmt: skip


@pytest.mark.parametrize("name", GREEDY)
def test_a_template_ends_in_an_error(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(template_bounds, "SECONDS", 0.3)
    begun = time.monotonic()
    with pytest.raises(ModelError, match=r"^folder: the chat template ") as caught:
        ChatTemplate(GREEDY[name], {}, "folder").render(*TURNS)
    assert time.monotonic() - begun < 3
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize("source", ["{% for", "{{ x", "(" * 5000, "{{ " + "(" * 5000])
def test_what_is_no_template(source: str) -> None:
    if source.startswith("("):
        assert ChatTemplate(source, {}, "folder").render(*TURNS) == source
        return
    with pytest.raises(ModelError, match=r"^folder: the chat template cannot be read: "):
        ChatTemplate(source, {}, "folder")


def test_what_templates_of_models_do() -> None:
    source = (
        "{% if messages[0]['role'] == 'system' %}{{ '<s>' + messages[0].content ~ '\n' }}"
        "{% set rest = messages[1:] %}{% endif %}"
        "{% for m in rest %}{{ '[' ~ loop.index0 ~ '|' + m.role + ']' + m['content'] | trim }}"
        "{% if loop.last and (loop.index % 2) == 1 %}{{ ' ' * 2 }}{% endif %}{% endfor %}"
        "{{ m is defined }}{{ [1, 2] | join(', ') }}{{ 'a<b' .split('<')[-1] }}{{ 3 * 4 }}"
    )
    expected = "<s>Be brief.\n[0|user]Why?  False1, 2b12"
    assert ChatTemplate(source, {}, "folder").render(*TURNS) == expected
