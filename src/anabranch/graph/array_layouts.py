"""Arrays on their way to another process keep how they lie in memory: numpy adds up in the order of the layout.

Of an array with gaps, turned or backwards, a pickle makes one without gaps, and sums of floats over the copy differ in
their last bits. So the copy gets the strides of the original; what is in the gaps is not sent.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_Array = np.ndarray[Any, Any]
_ALIGNED = 64  # bytes: what loops over vectors may ask of an address


def is_pickled_as_it_lies(array: _Array) -> bool:
    """Whether numpy's own pickle has the layout of the array: without gaps, by rows or by columns."""
    flags = array.flags
    return bool((flags.c_contiguous or flags.f_contiguous) and flags.aligned) or array.size == 0


def layout_of(array: _Array) -> str:
    """What a digest says of it. Where there are no gaps, the strides of axes of length 1 mean nothing."""
    if not is_pickled_as_it_lies(array):
        return f"{array.strides}"
    return "rows" if array.flags.c_contiguous else "columns"


def reduce_array(array: _Array) -> Any:
    """How an array is made again, as `__reduce__` says it; NotImplemented where numpy knows that itself."""
    if is_pickled_as_it_lies(array) or not _can_be_laid_out(array):
        return NotImplemented
    backwards = -sum((length - 1) * min(0, stride) for length, stride in zip(array.shape, array.strides, strict=True))
    shift = (array.__array_interface__["data"][0] - backwards) % _ALIGNED
    return _laid_out, (array.copy("C"), array.strides, backwards, shift, array.flags.writeable)


def _can_be_laid_out(array: _Array) -> bool:
    """References to objects are not bytes: they stand where an array of objects has a place for them."""
    is_of_places = array.dtype == object and not any(stride % array.itemsize for stride in array.strides)
    return is_of_places or not array.dtype.hasobject


def _laid_out(content: _Array, strides: tuple[int, ...], backwards: int, shift: int, is_writeable: bool) -> _Array:
    """An array with this content and these strides, at an address like that of the original.

    `backwards`: how many bytes there are before the one that the strides begin at.
    """
    reach = sum((length - 1) * abs(stride) for length, stride in zip(content.shape, strides, strict=True))
    made: _Array
    if content.dtype == object:
        places = np.empty(reach // content.itemsize + 1, object)
        made = np.lib.stride_tricks.as_strided(places[backwards // content.itemsize :], content.shape, strides)
    else:
        room = np.zeros(reach + content.itemsize + _ALIGNED, np.uint8)  # pages without elements take no memory
        start = (shift - room.__array_interface__["data"][0]) % _ALIGNED
        made = np.ndarray(content.shape, content.dtype, room.data, start + backwards, strides)
    made[...] = content  # a place that several elements share gets the same value several times
    if not is_writeable:
        made.flags.writeable = False
    return made
