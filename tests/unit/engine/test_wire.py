from collections.abc import Callable

import pytest

from foldline.engine.wire import (
    DEPTH_MAX,
    PIECE_BYTES,
    TooDeep,
    dumps,
    dumps_text,
    has_more_values,
    loads,
    loads_bounded,
)


@pytest.mark.parametrize("value", [None, {"a": [1, 2.5, "é"]}, "\ud83d", {"big": 1 << 80}, "日本"])
def test_what_is_written_reads_back_equal(value: object) -> None:
    assert loads(dumps(value)) == value
    assert loads(dumps_text(value)) == value


def test_text_stays_readable() -> None:
    assert dumps_text({"a": "日本"}) == '{"a":"日本"}'


def test_a_text_that_is_no_json_is_refused_with_its_place() -> None:
    with pytest.raises(ValueError, match="char 5"):
        loads('{"a":}')


@pytest.mark.parametrize("text", ["NaN", "[-Infinity]", '{"a":1e999}', "-1e999"])
def test_numbers_that_could_not_be_written_again_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no JSON value that can be kept"):
        loads(text)


# The standard library reads what has a long number, and orjson anything else.
@pytest.mark.parametrize("inner", ["1", "7" * 30])
@pytest.mark.parametrize("levels", [DEPTH_MAX, 10])
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_what_others_wrote_is_read_down_to_so_many_levels(inner: str, levels: int, opening: str, closing: str) -> None:
    def nested(number: int) -> str:
        """With something beside it, so that counting brackets is not enough."""
        return f"[[],{opening * (number - 1)}{inner}{closing * (number - 1)},{{}}]"

    assert loads_bounded(nested(levels), levels) == loads(nested(levels).encode())
    for number in (levels + 1, 5000):
        for data in (nested(number), nested(number).encode()):
            with pytest.raises(TooDeep, match=f"^nested deeper than {levels} levels$"):
                loads_bounded(data, levels)


def test_what_is_wide_is_not_deep() -> None:
    value = [{"a": [n]} for n in range(DEPTH_MAX * 2)]
    assert loads_bounded(dumps(value)) == value


def test_what_we_wrote_is_read_as_deep_as_it_was_written() -> None:
    value: object = {}
    for _ in range(DEPTH_MAX + 50):
        value = {"reported": value}
    assert loads(dumps(value)) == value


def test_integers_of_more_than_64_bits_stay_what_they_are() -> None:
    value = {"number": 2**70 + 1, "digits": "7" * 30}
    assert loads(dumps(value)) == value
    assert loads(dumps_text(value)) == value


@pytest.mark.parametrize("text", ["{}", "[{}]", "[1,{}]", '{{"a":{}}}', '{{"a": {}}}', "[\n{}\n]", "-{}", "[-{}]"])
@pytest.mark.parametrize("kind", [str, str.encode])
def test_a_long_number_keeps_its_value_wherever_it_is(text: str, kind: Callable[[str], str | bytes]) -> None:
    number = 123_456_789_012_345_678_901_234
    assert str(number) in str(loads(kind(text.format(number))))


def test_a_long_number_keeps_its_value_at_any_byte() -> None:
    for length in range(18, 24):
        number = "1234567890123456789012345"[:length]
        for before in range(8):
            assert str(loads(f"[{' ' * before}{number}]")) == f"[{number}]"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("7", 0),
        ("[]", 1),
        ("[1, 2, 3]", 3),
        ('{"a": {"b": [1, 2]}, "c": []}', 6),
        (r'["[,{", "\\", "\",[", "\\\",[", "a\\", "é,日,"]', 6),
    ],
)
def test_values_are_counted_at_any_depth_and_not_in_strings(text: str, number: int) -> None:
    assert has_more_values(text.encode(), number - 1)
    assert not has_more_values(text.encode(), number)


@pytest.mark.parametrize("inner", [r"\\", r"\"", r"\\\"", ",", "[" * 9])
def test_a_string_may_end_anywhere_in_a_piece(inner: str) -> None:
    for shift in range(8):
        text = f'["{"x" * (PIECE_BYTES - shift)}{inner}{",{" * 10}", 2]'.encode()
        assert (has_more_values(text, 1), has_more_values(text, 2)) == (True, False)


def test_no_encoding_hides_values() -> None:
    # The first byte of the first character is that of a quotation mark.
    assert has_more_values(dumps_text(["\u2222", *range(50)]).encode("utf-16-be"), 50)
