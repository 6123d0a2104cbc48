"""Turns that a grammar in llguidance's notation allows, drawn at random.

llama.cpp contains llguidance; the package of that name is the same engine without a model. It reads
grammars byte by byte here, so that every turn of a grammar can come up.
"""

from __future__ import annotations

import random

import pytest

LONGEST = 20_000


def samples(grammar: str, seeds: range) -> list[str]:
    """Return one complete turn for each seed. Fails if the grammar cannot be read."""
    llguidance = pytest.importorskip("llguidance", reason="make dev installs llguidance")
    tokenizer = llguidance.LLTokenizer("byte")
    turns = []
    for seed in seeds:
        chance = random.Random(seed)
        matcher = llguidance.LLMatcher(tokenizer, grammar)
        assert not matcher.is_error(), matcher.get_error()
        written: list[int] = []
        while not matcher.is_stopped():
            allowed = [n for n, bias in enumerate(matcher.compute_logit_bias()) if bias]
            # Texts that end early, as models write them, and not at their longest.
            ends = [n for n in allowed if n in (tokenizer.eos_token, ord('"'))]
            token = chance.choice(ends if ends and chance.random() < 0.2 else allowed)
            if token == tokenizer.eos_token:
                break
            assert matcher.consume_token(token), matcher.get_error()
            written.append(token)
            assert len(written) < LONGEST
        turns.append(bytes(written).decode())
    return turns
