import json

from foldline.engine.tokens.excerpts import LEVELS, boundary, excerpt, excerpt_arguments, is_worthwhile

FAMILY = "👩‍👩‍👧‍👦"


def test_a_short_text_stays_as_it_is() -> None:
    assert excerpt("short", 300) == "short"


def test_an_excerpt_keeps_head_and_tail_and_says_what_is_missing() -> None:
    text = "".join(f"line {number}\n" for number in range(1_000))
    shorter = excerpt(text, 300)
    assert shorter.startswith("line 0\nline 1\n")
    assert shorter.endswith("line 999\n")
    assert f"[… {len(text) - 300:,} characters left out …]" in shorter


def test_a_cut_moves_before_a_grapheme_it_would_split() -> None:
    assert boundary(f"ab{FAMILY}", 4) == 2
    assert boundary("a\r\nb", 2) == 1
    assert boundary("ae\u0301b", 2) == 1


def test_a_boundary_stays_within_the_text() -> None:
    assert boundary("abc", -1) == 0
    assert boundary("abc", 99) == 3


def test_a_text_of_one_endless_grapheme_still_ends() -> None:
    assert excerpt("e" + "\u0301" * 10_000, 300)


def test_arguments_lose_the_middle_of_long_strings_only() -> None:
    value = {"path": "a.py", "content": "x" * 900, "edits": [{"new": "y" * 900, "line": 3}]}
    shorter = json.loads(excerpt_arguments(json.dumps(value)))
    assert shorter["path"] == "a.py"
    assert shorter["edits"][0]["line"] == 3
    assert "characters left out" in shorter["content"]
    assert len(shorter["edits"][0]["new"]) < 400


def test_arguments_that_are_no_json_object_stay_byte_for_byte() -> None:
    deep = '{"a":' * 5000 + '"' + "x" * 900 + '"' + "}" * 5000
    for arguments in ("x" * 900, json.dumps(["x" * 900]), '{"a": "' + "x" * 900, "[" * 100_000, deep, " " * 900):
        assert excerpt_arguments(arguments) is arguments


def test_short_arguments_stay_byte_for_byte() -> None:
    arguments = '{ "path" :  "a.py" }'
    assert excerpt_arguments(arguments) is arguments


def test_an_excerpt_is_worthwhile_from_twice_its_length_on() -> None:
    assert is_worthwhile("x" * 2 * LEVELS[0], 0)
    assert not is_worthwhile("x" * (2 * LEVELS[0] - 1), 0)
