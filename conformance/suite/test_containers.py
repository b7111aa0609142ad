"""Section 1: an implementation reads what the model reads."""

from hypothesis import example, given
from hypothesis import strategies as st
from olpick.conformance import compare, model
from olpick.conformance.adapters import Decoder
from olpick.conformance.builders import Binary, Entry
from olpick.conformance.strategies import Buffer, buffers, damaged_buffers, hostile_buffers

MIB = 1024 * 1024


def _agree(decoder: Decoder, data: bytes) -> None:
    assert compare.decoded(model.decode(data), decoder.decode(data)) == []


@given(buffer=buffers())
def test_reads_well_formed_buffers(decoder: Decoder, buffer: Buffer) -> None:
    """OLP-CONT-012, 014, 015; and they are read without an error."""
    data = buffer.build()
    assert decoder.decode(data).error is None
    _agree(decoder, data)


@given(buffer=hostile_buffers())
def test_reads_hostile_buffers(decoder: Decoder, buffer: Buffer) -> None:
    """OLP-CONT-001 to 016."""
    _agree(decoder, buffer.build())


@given(buffer=damaged_buffers())
def test_reads_damaged_buffers(decoder: Decoder, buffer: Buffer) -> None:
    """OLP-CONT-001 to 016."""
    _agree(decoder, buffer.build())


@given(data=st.binary(max_size=200), magic=st.booleans())
@example(data=b"", magic=False)
def test_reads_any_bytes(decoder: Decoder, data: bytes, magic: bool) -> None:
    """OLP-CONT-001 to 003."""
    _agree(decoder, b"\x10\xff\x10\xad\1\0\0\0" + data if magic else data)


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
