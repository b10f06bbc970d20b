"""The weights of an ONNX file, read without the onnx package: the few protobuf fields that carry them.

Field numbers are those of onnx.proto: ModelProto.graph 7; GraphProto.node 1, initializer 5; NodeProto.input
1, output 2, op_type 4; TensorProto.dims 1, data_type 2 (1 = float32), name 8, raw_data 9.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchwright.errors import UsageError

_FLOAT32 = 1
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5

Message = dict[int, list[int | memoryview]]


def read_onnx_weights(path: Path) -> dict[str, np.ndarray]:
    """The float32 weights of a model that torch exported, under the names that they have in torch.

    The exporter transposes the weights of a linear layer and calls them after the multiplication; their
    own name is that of the bias which is added to the product. Raises UsageError for a file that is no such
    model.
    """
    try:
        graph = _message(_bytes(_message(memoryview(path.read_bytes())), 7))
        weights = dict(_tensor(_message(_view(value))) for value in graph[5])
        if not weights:
            raise ValueError("no weights")
        products: dict[str, str] = {}
        named = {}
        for value in graph[1]:
            node = _message(_view(value))
            operation, inputs = _text(node[4][0]), [_text(name) for name in node[1]]
            if operation == "MatMul" and inputs[1] in weights:
                products[_text(node[2][0])] = inputs[1]
            bias, product = (inputs[0], inputs[1]) if operation == "Add" else ("", "")
            if product in products and bias.endswith(".bias"):
                named[products[product]] = bias.removesuffix("bias") + "weight"
    except (IndexError, ValueError, UnicodeDecodeError):
        raise UsageError(f"{path.name} is no ONNX model of float32 weights") from None
    return {
        named.get(name, name): np.ascontiguousarray(values.T) if name in named else values
        for name, values in weights.items()
    }


def _tensor(message: Message) -> tuple[str, np.ndarray]:
    if message[2] != [_FLOAT32]:
        raise ValueError(f"a tensor of type {message[2]}")
    shape = [int(size) for size in message[1] if isinstance(size, int)]
    return _text(message[8][0]), np.frombuffer(_bytes(message, 9), dtype="<f4").reshape(shape)


def _message(data: memoryview) -> Message:
    """All values of each field, in the order of the file; numbers, or the bytes of what is nested."""
    fields: Message = defaultdict(list)
    for number, value in _values(data):
        fields[number].append(value)
    return fields


def _values(data: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    position = 0
    while position < len(data):
        key, position = _varint(data, position)
        kind = key & 7
        if kind == _VARINT:
            value, position = _varint(data, position)
            yield key >> 3, value
            continue
        if kind == _BYTES:
            size, position = _varint(data, position)
        elif kind in (_FIXED64, _FIXED32):
            size = 8 if kind == _FIXED64 else 4
        else:
            raise ValueError(f"a field of kind {kind}")
        if position + size > len(data):
            raise ValueError("the file ends inside a field")
        yield key >> 3, data[position : position + size]
        position += size


def _varint(data: memoryview, position: int) -> tuple[int, int]:
    """A number in groups of seven bits, the lowest first, and the position behind it."""
    value = shift = 0
    while True:
        byte = data[position]
        value |= (byte & 127) << shift
        position, shift = position + 1, shift + 7
        if byte < 128:
            return value, position


def _bytes(message: Message, number: int) -> memoryview:
    return _view(message[number][0])


def _view(value: int | memoryview) -> memoryview:
    if isinstance(value, int):
        raise ValueError("a number where a message should stand")
    return value


def _text(value: int | memoryview) -> str:
    return bytes(_view(value)).decode()
