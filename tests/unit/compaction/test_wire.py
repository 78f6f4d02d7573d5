import pytest

from compaction.wire import dumps, dumps_text, loads


@pytest.mark.parametrize("value", [None, {"a": [1, 2.5, "é"]}, "\ud83d", {"big": 1 << 80}, "日本"])
def test_what_is_written_reads_back_equal(value: object) -> None:
    assert loads(dumps(value)) == value
    assert loads(dumps_text(value)) == value


def test_text_stays_readable() -> None:
    assert dumps_text({"a": "日本"}) == '{"a":"日本"}'


def test_a_text_that_is_no_json_is_refused_with_its_place() -> None:
    with pytest.raises(ValueError, match="char 5"):
        loads('{"a":}')


def test_integers_of_more_than_64_bits_stay_what_they_are() -> None:
    value = {"number": 2**70 + 1, "digits": "7" * 30}
    assert loads(dumps(value)) == value
    assert loads(dumps_text(value)) == value
