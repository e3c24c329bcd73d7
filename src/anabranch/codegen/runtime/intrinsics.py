"""What numba cannot say: single machine instructions, and how functions of compiled code are made from them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

import numpy.typing as npt
from llvmlite import ir
from numba import njit
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


class FromPython:
    """A function of compiled code that Python calls, for arguments of just these types.

    Who may call it while tuples come has it prepared before the first of them.
    """

    def __init__(self, function: Callable[..., Any], kinds: tuple[Any, ...]) -> None:
        self.inner = separate(function)  # for the module in the cache
        self._function = function
        self._kinds = kinds
        self._compiled: Callable[..., Any] | None = None

    def prepare(self) -> None:
        """Compile it, or take its machine code from the cache."""
        if self._compiled is None:
            self._compiled = cache.load(self._source(), self._build, compiled_for=str(self._kinds))

    def __call__(self, *arguments: Any) -> Any:
        if self._compiled is None:
            self.prepare()
        assert self._compiled is not None
        return self._compiled(*arguments)

    def _source(self) -> str:
        name, parameters = self._function.__name__, ", ".join(inspect.signature(self._function).parameters)
        return f"""from numba import njit
from {self._function.__module__} import {name}

inner = {name}.inner


@njit(nogil=True, cache=True, error_model="numpy")
def call({parameters}):
    return inner({parameters})
"""

    def _build(self, module: Any) -> Any:
        module.call.compile(self._kinds)
        module.call.disable_compile()  # what comes in another type is converted, or refused
        return module.call


def callable_from_python(*kinds: Any) -> Callable[[Callable[..., Any]], FromPython]:
    """A function that Python calls, for these types: see `FromPython`."""
    return lambda function: FromPython(function, kinds)


def array_of(item: Any, dimensions: int = 1, *, is_written: bool = True) -> Any:
    """The type of arrays whose items lie one behind the other. What is only read may be closed for writing."""
    return types.Array(item, dimensions, "C", readonly=not is_written)


WORDS, ROWS, READ_ROWS = array_of(types.int64), array_of(types.int64, 2), array_of(types.int64, 2, is_written=False)


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
