"""What numba cannot say: single machine instructions, and how functions of compiled code are made from them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy.typing as npt
from llvmlite import ir
from numba import njit, typeof
from numba.core import types
from numba.core.extending import intrinsic

from anabranch.codegen import cache

INT = ir.IntType(64)
DOUBLE = ir.DoubleType()
LARGEST_PLACE = 1 << 48  # no memory is larger
_ASSUMING = ir.FunctionType(ir.VoidType(), [ir.IntType(1)])

Array = npt.NDArray[Any]
Function = TypeVar("Function", bound=Callable[..., Any])


# The functions of compiled code never raise: the numpy error model has no exceptions.


def inlined(function: Function) -> Function:
    """A function of compiled code."""
    compiled: Function = njit(
        nogil=True, error_model="numpy", forceinline=True, no_cfunc_wrapper=True, no_cpython_wrapper=True
    )(function)
    return compiled


def separate(function: Function) -> Function:
    """The same for what is rarely done and should not swell the kernel."""
    compiled: Function = njit(nogil=True, error_model="numpy", no_cfunc_wrapper=True, no_cpython_wrapper=True)(function)
    return compiled


def callable_from_python(function: Function) -> Function:
    """A function of compiled code that Python calls, when tuples are waiting: its machine code is kept in the cache."""
    compiled: dict[Any, Any] = {}

    def call(*arguments: Any) -> Any:
        kinds = tuple(map(typeof, arguments))
        if kinds not in compiled:
            compiled[kinds] = _from_cache(function, kinds)
        return compiled[kinds](*arguments)

    call.inner = separate(function)  # type: ignore[attr-defined]  # for the module in the cache
    return cast(Function, call)


def _from_cache(function: Callable[..., Any], kinds: tuple[Any, ...]) -> Any:
    name, parameters = function.__name__, ", ".join(inspect.signature(function).parameters)
    source = f"""from numba import njit
from {function.__module__} import {name}

inner = {name}.inner


@njit(nogil=True, cache=True, error_model="numpy")
def call({parameters}):
    return inner({parameters})
"""

    def build(module: Any) -> Any:
        module.call.compile(kinds)
        return module.call

    return cache.load(source, build, compiled_for=str(kinds))


Emit = Callable[..., Any]  # (builder, *values) -> value, or values: writes the instructions


def instruction(result: Any, *parameters: Any) -> Callable[[Emit], Any]:
    """A function of compiled code whose body is what `emit` writes; `result` may be a tuple of types."""
    returned = types.Tuple(result) if isinstance(result, tuple) else result

    def decorate(emit: Emit) -> Any:
        def codegen(context: Any, builder: Any, _signature: Any, values: Any) -> Any:
            value = emit(builder, *values)
            return context.make_tuple(builder, returned, value) if isinstance(result, tuple) else value

        def typing(*arguments: Any) -> Any:
            return (returned(*parameters), codegen) if all(map(_fits, arguments, parameters)) else None

        return intrinsic(_of_arity(len(parameters), typing, emit.__name__))

    return decorate


def array_instruction(typing: Callable[..., Any]) -> Any:
    """The same where an argument is an array of any type: `typing` gives numba's signature and the code's generator."""
    return intrinsic(typing)


def _fits(argument: Any, parameter: Any) -> bool:
    """Ints and bools may be given for ints, and any number for a float; never a float for an int."""
    if isinstance(parameter, types.Integer):
        return isinstance(argument, types.Integer | types.Boolean)
    if isinstance(parameter, types.Float):
        return isinstance(argument, types.Integer | types.Boolean | types.Float)
    return bool(argument == parameter)


def _of_arity(count: int, typing: Callable[..., Any], name: str) -> Callable[..., Any]:
    """numba reads the number of parameters from the function itself."""

    def one(_context: Any, a: Any) -> Any:
        return typing(a)

    def two(_context: Any, a: Any, b: Any) -> Any:
        return typing(a, b)

    def three(_context: Any, a: Any, b: Any, c: Any) -> Any:
        return typing(a, b, c)

    made = (one, two, three)[count - 1]
    made.__name__ = made.__qualname__ = name
    return made


@instruction(types.int64, types.float64)
def bits_of(builder: Any, x: Any) -> Any:
    """The 64 bits of a float, as an int: how floats are kept among the words of a state."""
    return builder.bitcast(x, INT)


@instruction(types.int64, types.int64)
def natural(builder: Any, place: Any) -> Any:
    """A place in an array, known to be one: without that, every access would first see to negative ones."""
    is_natural = builder.icmp_unsigned("<", place, INT(LARGEST_PLACE))
    builder.call(builder.module.declare_intrinsic("llvm.assume", (), _ASSUMING), [is_natural])
    return place


@instruction(types.float64, types.int64)
def float_of(builder: Any, bits: Any) -> Any:
    """The float that has these bits."""
    return builder.bitcast(bits, DOUBLE)


@instruction(types.float64, types.float64, types.float64, types.float64)
def fused_multiply_add(builder: Any, x: Any, y: Any, z: Any) -> Any:
    """x * y + z, rounded once."""
    return builder.fma(x, y, z)


@instruction(types.float64, types.float64)
def round_half_even(builder: Any, x: Any) -> Any:
    return builder.call(builder.module.declare_intrinsic("llvm.roundeven", [DOUBLE]), [x])
