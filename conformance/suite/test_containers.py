"""Section 1: an implementation reads what the model reads."""

from hypothesis import example, given
from hypothesis import strategies as st
from olpick.conformance import compare, model
from olpick.conformance.adapters import Decoder
from olpick.conformance.answers import NotAskedError, Reading
from olpick.conformance.builders import Binary, Entry
from olpick.conformance.strategies import Buffer, buffers, damaged_buffers, hostile_buffers, nested_buffers

MIB = 1024 * 1024
READINGS = st.sampled_from(
    (*(Reading(),) * 4, Reading(limit=1), Reading(limit=100), Reading(limit=160), Reading(inflate=False))
)


def _agree(decoder: Decoder, data: bytes, reading: Reading | None = None) -> None:
    try:
        actual = decoder.decode(data, reading)
    except NotAskedError:
        return
    assert compare.decoded(model.decode(data, reading), actual) == []


@given(buffer=buffers() | buffers(levels=3, most=1))
def test_reads_well_formed_buffers(decoder: Decoder, buffer: Buffer) -> None:
    """OLP-CONT-012, 014, 015, 017, 019, 020; and they are read without an error."""
    data = buffer.build()
    assert decoder.decode(data).error is None
    _agree(decoder, data)


@given(buffer=hostile_buffers(), reading=READINGS)
def test_reads_hostile_buffers(decoder: Decoder, buffer: Buffer, reading: Reading) -> None:
    """OLP-CONT-001 to 019."""
    _agree(decoder, buffer.build(), reading)


@given(buffer=nested_buffers(), reading=READINGS)
def test_reads_nested_buffers(decoder: Decoder, buffer: Buffer, reading: Reading) -> None:
    """OLP-CONT-017, 018, 020."""
    _agree(decoder, buffer.build(), reading)


@given(buffer=damaged_buffers())
def test_reads_damaged_buffers(decoder: Decoder, buffer: Buffer) -> None:
    """OLP-CONT-001 to 020."""
    _agree(decoder, buffer.build())


@given(data=st.binary(max_size=200), version=st.integers(0, 4))
@example(data=b"", version=0)
def test_reads_any_bytes(decoder: Decoder, data: bytes, version: int) -> None:
    """OLP-CONT-001 to 003."""
    _agree(decoder, b"\x10\xff\x10\xad" + bytes([version, 0, 0, 0]) + data if version else data)


@given(buffer=buffers(), data=st.data())
def test_reads_every_beginning_of_a_buffer(decoder: Decoder, buffer: Buffer, data: st.DataObject) -> None:
    """OLP-CONT-003, 005, 016."""
    whole = buffer.build()
    _agree(decoder, whole[: data.draw(st.integers(0, len(whole)))])


@given(first=buffers(), second=hostile_buffers())
def test_what_follows_does_not_change_what_was_read(decoder: Decoder, first: Buffer, second: Buffer) -> None:
    """OLP-CONT-016: the images of the binaries before a malformed one are delivered."""
    whole = first.build()
    whole += bytes(-len(whole) % 8)
    before = decoder.decode(whole).images
    assert decoder.decode(whole + second.build()).images[: len(before)] == before


def test_strings_of_16_mib(decoder: Decoder) -> None:
    """OLP-CONT-010: the smaller limit, where 64 x Size is more than 16 MiB."""
    text = b"s" * (16 * MIB // 64)
    just = Binary(Entry(strings=((text, text),) * 32))
    over = Binary(Entry(strings=(*((text, text),) * 32, (b"", b"1"))))
    assert just.size() * 64 > 16 * MIB
    assert decoder.decode(just.build()).error is None
    for binary in (just, over):
        _agree(decoder, binary.build())
