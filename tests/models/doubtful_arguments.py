"""Arguments of calls as models may write them, and what is wrong with each."""

DOUBTFUL = [
    ('{"n": NaN}', "NaN"),
    ('{"n": -Infinity}', "-Infinity"),
    ('{"n": 1e999}', "too large"),
    ('{"n": 1, "n": 2}', "the key 'n' is twice"),
    ('{"n": {"a": 1, "a": 2}}', "the key 'a' is twice"),
    ('{"n": "Potato#1"', "not valid JSON"),
    ("{'n': 1}", "not valid JSON"),
    ('{"n": 1,}', "not valid JSON"),
    ('{"n": 1}{"n": 2}', "not valid JSON"),
    ('```json\n{"n": 1}\n```', "not valid JSON"),
    ('["Potato#1"]', "not a JSON object"),
    ('"{}"', "not a JSON object"),
    ("null", "not a JSON object"),
    ('{"n": "\\ud83e"}', "half of a Unicode character"),
    ('{"n": ' + "9" * 10_000 + "}", "digits"),
    ('{"n": ' + "[" * 64 + "]" * 64 + "}", "deeper than 64"),
    ('{"n": ' + "[" * 100_000, "deeper than 64"),
    ('{"n": "' + "x" * 5_000_000 + '"}', "longer than 1,000,000"),
    ('{"n": NaN, "x": [1,', "NaN"),
]
"""The text of the arguments, and a part of what the model is told."""
