import pytest

from compaction.wire import DEPTH_MAX, TooDeep, dumps, dumps_text, loads


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
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}"), ('{"a":[', "]}")])
def test_only_so_many_levels_are_read(inner: str, opening: str, closing: str) -> None:
    levels = DEPTH_MAX // len(closing)
    deepest = opening * levels + inner + closing * levels
    assert loads(dumps(loads(deepest))) == loads(deepest.encode())
    for text in (opening + deepest + closing, opening * 5000 + inner + closing * 5000):
        for data in (text, text.encode()):
            with pytest.raises(TooDeep, match="nested deeper than 200 levels"):
                loads(data)


def test_what_is_wide_is_not_deep() -> None:
    value = [{"a": [n]} for n in range(DEPTH_MAX * 2)]
    assert loads(dumps(value)) == value


def test_integers_of_more_than_64_bits_stay_what_they_are() -> None:
    value = {"number": 2**70 + 1, "digits": "7" * 30}
    assert loads(dumps(value)) == value
    assert loads(dumps_text(value)) == value
