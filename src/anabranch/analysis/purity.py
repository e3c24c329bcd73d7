"""Functions of Python, its standard library and numpy that are definitely free of effects beyond their arguments.

What is not listed here is not known to be pure. A function is recognised by identity, never by its name.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, replace
from datetime import datetime, time, timedelta
from types import ModuleType
from typing import Any

from anabranch.analysis.compilation import compilation
from anabranch.analysis.genuine import is_genuine
from anabranch.analysis.values import Plain, Stream


class Hasher:
    """Stands for the type of the objects that hashlib and hmac make."""


class RandomGenerator:
    """Stands for the type of a generator of random numbers that was given its seed."""


class CsvWriter:
    """Stands for the type of what csv.writer makes; it holds what it writes to."""


@dataclass(frozen=True)
class Pure:
    """What a call of a pure function gives."""

    makes: type = Plain
    of: type | None = None  # the type of the elements, where `makes` is a container
    or_none: bool = False
    holds: bool = False  # the result may hold arguments, or parts of them
    may_return: bool = False  # the result may be an argument, a part of one or a view on one
    changes: int | None = None  # the position of an argument that is changed in place
    any_order: bool = False  # the order in which the argument is iterated makes no difference
    is_text: bool = False  # the arguments are turned into text


VALUE = Pure()
FLOAT = Pure(float)
INT = Pure(int)
STR = Pure(str)
BOOL = Pure(bool)
BYTES = Pure(bytes)
PART = Pure(holds=True, may_return=True)
ITERATOR = Pure(Stream, holds=True)
STRINGS = Pure(list, of=str)
TEXT = Pure(str, is_text=True)

# (module, what a call gives, names)
_ROWS: list[tuple[str, Pure, str]] = [
    ("builtins", INT, "len ord"),
    ("builtins", STR, "chr bin hex oct"),
    ("builtins", BOOL, "callable"),
    ("math", FLOAT, """acos acosh asin asinh atan atan2 atanh cbrt copysign cos cosh degrees dist erf erfc exp exp2
        expm1 fabs fmod gamma hypot ldexp lgamma log log10 log1p log2 nextafter pow radians remainder sin sinh sqrt
        tan tanh ulp fma"""),
    ("math", replace(FLOAT, any_order=True), "fsum"),
    ("math", INT, "ceil comb factorial floor gcd isqrt lcm perm trunc"),
    ("math", BOOL, "isclose isfinite isinf isnan"),
    ("math", VALUE, "frexp modf prod sumprod"),
    ("cmath", VALUE, """acos acosh asin asinh atan atanh cos cosh exp isclose isfinite isinf isnan log log10 phase
        polar rect sin sinh sqrt tan tanh"""),
    ("statistics", VALUE, """mean fmean geometric_mean harmonic_mean median median_low median_high median_grouped
        stdev pstdev variance pvariance correlation covariance linear_regression multimode quantiles"""),
    ("statistics", PART, "mode"),
    ("operator", BOOL, "lt le eq ne ge gt not_ truth contains"),
    ("operator", INT, "countOf indexOf length_hint"),
    ("operator", VALUE, "index"),
    ("itertools", ITERATOR, """accumulate batched chain combinations combinations_with_replacement compress count
        cycle dropwhile filterfalse groupby islice pairwise permutations product repeat starmap takewhile tee
        zip_longest"""),
    ("json", VALUE, "loads"),
    ("json", TEXT, "dumps"),
    ("xml.etree.ElementTree", VALUE, "fromstring XML"),
    ("re", Pure(re.Match, or_none=True), "match search fullmatch"),
    ("re", STR, "escape"),
    ("re", VALUE, "sub subn split findall"),
    ("re", Pure(Stream, of=re.Match), "finditer"),
    ("re", Pure(re.Pattern), "compile"),
    ("string", STR, "capwords"),
    ("struct", BYTES, "pack"),
    ("struct", INT, "calcsize"),
    ("struct", VALUE, "unpack unpack_from"),
    ("struct", Pure(Stream, of=Plain), "iter_unpack"),
    ("struct", Pure(type(None), changes=1), "pack_into"),
    ("hashlib", Pure(Hasher), """new md5 sha1 sha224 sha256 sha384 sha512 sha3_224 sha3_256 sha3_384 sha3_512 blake2b
        blake2s shake_128 shake_256"""),
    ("hashlib", BYTES, "pbkdf2_hmac scrypt"),
    ("hmac", Pure(Hasher), "new"),
    ("hmac", BYTES, "digest"),
    ("hmac", BOOL, "compare_digest"),
    ("zlib", INT, "crc32 adler32"),
    ("zlib", BYTES, "compress decompress"),
    ("gzip", BYTES, "decompress"),
    ("bz2", BYTES, "compress decompress"),
    ("lzma", BYTES, "compress decompress"),
    ("binascii", BYTES, "hexlify unhexlify b2a_hex a2b_hex b2a_base64 a2b_base64"),
    ("binascii", INT, "crc32 crc_hqx"),
    ("base64", BYTES, """b64encode b64decode standard_b64encode standard_b64decode urlsafe_b64encode
        urlsafe_b64decode b32encode b32decode b32hexencode b32hexdecode b16encode b16decode a85encode a85decode
        b85encode b85decode encodebytes decodebytes"""),
    ("urllib.parse", VALUE, "urlparse urlsplit urldefrag parse_qs parse_qsl"),
    ("urllib.parse", STR, """urljoin urlunparse urlunsplit quote quote_plus unquote unquote_plus urlencode
        quote_from_bytes"""),
    ("urllib.parse", BYTES, "unquote_to_bytes"),
    ("html", STR, "escape unescape"),
    ("textwrap", STR, "dedent fill indent shorten"),
    ("textwrap", STRINGS, "wrap"),
    ("unicodedata", VALUE, """bidirectional category combining decimal decomposition digit east_asian_width
        is_normalized lookup mirrored name numeric"""),
    ("unicodedata", STR, "normalize"),
    ("bisect", INT, "bisect bisect_left bisect_right"),
    ("bisect", Pure(type(None), changes=0), "insort insort_left insort_right"),
    ("heapq", replace(PART, changes=0), "heappush heappop heapify heappushpop heapreplace"),
    ("heapq", Pure(list, holds=True), "nlargest nsmallest"),
    ("heapq", ITERATOR, "merge"),
    ("calendar", VALUE, "isleap leapdays monthrange timegm weekday"),
    ("uuid", VALUE, "uuid3 uuid5"),
    ("ipaddress", VALUE, "ip_address ip_network ip_interface"),
    ("colorsys", VALUE, "rgb_to_yiq yiq_to_rgb rgb_to_hls hls_to_rgb rgb_to_hsv hsv_to_rgb"),
    ("difflib", STRINGS, "get_close_matches"),
    ("csv", Pure(Stream, of=Plain), "reader"),
    ("ast", VALUE, "literal_eval"),
    ("shlex", STRINGS, "split"),
    ("shlex", STR, "quote join"),
    ("fnmatch", BOOL, "fnmatch fnmatchcase"),
    ("fnmatch", STRINGS, "filter"),
    ("fnmatch", STR, "translate"),
    ("posixpath", STR, "basename commonprefix dirname join normcase normpath"),
    ("posixpath", VALUE, "isabs split splitext"),
    ("ntpath", VALUE, "basename dirname join normpath isabs split splitext"),
    ("keyword", BOOL, "iskeyword"),
    ("sys", STR, "intern"),
    ("codecs", VALUE, "encode decode"),
    ("email.utils", VALUE, "parseaddr parsedate_to_datetime formataddr"),
    ("pprint", TEXT, "pformat"),
    ("tomllib", VALUE, "loads"),
]  # fmt: skip

_NUMPY = """abs all allclose amax amin any append arange argmax argmin argsort argwhere around array array_equal
    array_split asarray ascontiguousarray atleast_1d atleast_2d average bartlett bincount blackman block broadcast_to
    choose clip column_stack compress concatenate convolve copy corrcoef correlate count_nonzero cov cross cumprod
    cumsum cumulative_sum delete diag diagonal diff digitize dot dstack ediff1d einsum expand_dims extract eye
    fft.fft fft.fftfreq fft.ifft fft.irfft fft.rfft fft.rfftfreq flatnonzero flip fliplr flipud frombuffer fromiter
    full full_like geomspace gradient hamming hanning histogram hsplit hstack identity in1d inner insert interp
    intersect1d isclose iscomplex isin isreal isscalar kron linalg.cholesky linalg.det linalg.eig linalg.eigh
    linalg.eigvals linalg.inv linalg.lstsq linalg.matrix_power linalg.matrix_rank linalg.norm linalg.pinv linalg.qr
    linalg.slogdet linalg.solve linalg.svd linspace logspace max mean median meshgrid min moveaxis nan_to_num nanargmax
    nanargmin nancumsum nanmax nanmean nanmedian nanmin nanpercentile nanprod nanquantile nanstd nansum nanvar ndim
    nonzero ones ones_like outer pad percentile piecewise polyfit polyval prod ptp quantile ravel repeat reshape roll
    rot90 round searchsorted select setdiff1d setxor1d shape size sort split squeeze stack std std sum swapaxes take
    take_along_axis tensordot tile trace transpose trapezoid trapz tril triu trim_zeros union1d unique unwrap vander
    var vdot vsplit vstack where zeros zeros_like bool_ float16 float32 float64 int8 int16 int32 int64 intp str_ uint8
    uint16 uint32 uint64 complex64 complex128"""
# A numpy function may return its argument or a view on it.
_ARRAY = PART

# Why a call is not pure, where that can be said better than "not known".
_EFFECTS: list[tuple[str, str]] = [
    ("time", "reads the clock"),
    ("random", "draws random numbers from a generator that all calls share"),
    ("numpy.random", "draws random numbers from a generator that all calls share"),
    ("secrets", "draws random numbers"),
    ("uuid", "draws random numbers"),
    ("os", "uses the operating system"),
    ("sys", "uses the state of the interpreter"),
    ("socket", "uses the network"),
    ("ssl", "uses the network"),
    ("http", "uses the network"),
    ("urllib.request", "uses the network"),
    ("requests", "uses the network"),
    ("httpx", "uses the network"),
    ("aiohttp", "uses the network"),
    ("sqlite3", "uses a database"),
    ("subprocess", "starts a process"),
    ("multiprocessing", "starts a process"),
    ("threading", "uses threads"),
    ("asyncio", "uses an event loop"),
    ("logging", "writes a log"),
    ("warnings", "gives a warning"),
    ("pathlib", "uses files"),
    ("shutil", "uses files"),
    ("tempfile", "uses files"),
    ("glob", "uses files"),
    ("io", "uses files"),
    ("pickle", "may run any code"),
    ("gc", "uses the state of the interpreter"),
    ("inspect", "uses the state of the interpreter"),
    ("importlib", "loads modules"),
    ("locale", "reads the environment"),
    ("platform", "reads the environment"),
    ("getpass", "reads the environment"),
]  # fmt: skip

_BUILTIN_EFFECTS = {
    "print": "prints",
    "input": "reads the keyboard",
    "open": "opens a file",
    "exec": "may run any code",
    "eval": "may run any code",
    "compile": "may run any code",
    "__import__": "loads modules",
    "globals": "reaches all globals",
    "locals": "reaches all variables",
    "vars": "reaches all attributes",
    "dir": "depends on what else is defined",
    "id": "depends on memory addresses",
    "breakpoint": "stops in the debugger",
    "exit": "ends the process",
    "quit": "ends the process",
}


def spec_of(function: Any) -> Pure | None:
    """What is known of a function, if it is definitely pure."""
    known = _loaded().get(id(function))
    if known is None:
        return None
    module, name, spec = known
    # What the program itself has put in place of a library's function is not that function.
    return spec if is_genuine(module, name) else None


_Known = dict[int, tuple[ModuleType, str, Pure]]


def _loaded() -> _Known:
    """Of the program that is being compiled: another one may have given names other values."""
    within = compilation()
    if within is None:
        return _load()
    if within.pure is None:
        within.pure = _load()
    return within.pure


def _load() -> _Known:
    """Look the listed names up in the modules that are loaded; a user can only hold functions of those."""
    found: _Known = {}
    for module_name, spec, names in _ROWS:
        module = sys.modules.get(module_name)
        if module is not None:
            for name in names.split():
                _add(found, module, name, spec)
    numpy = sys.modules.get("numpy")
    if numpy is not None and hasattr(numpy, "ufunc"):
        for name in _NUMPY.split():
            owner: Any = numpy
            *path, last = name.split(".")
            for step in path:
                owner = getattr(owner, step, None)
            if isinstance(owner, ModuleType):
                _add(found, owner, last, _ARRAY)
        for name, value in list(vars(numpy).items()):
            if isinstance(value, numpy.ufunc):
                _add(found, numpy, name, Pure())
    return found


def _add(found: _Known, module: ModuleType, name: str, spec: Pure) -> None:
    if name in vars(module):
        found[id(vars(module)[name])] = (module, name, spec)


def is_numpy_ufunc(function: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and hasattr(numpy, "ufunc") and isinstance(function, numpy.ufunc)


def is_seedable(function: Any) -> bool:
    """Whether it makes a generator of random numbers from a seed."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and hasattr(numpy, "random") and function is numpy.random.default_rng


def effect_of(function: Any) -> str | None:
    """What a function that is not pure is known to do, in words that follow its name."""
    module = getattr(function, "__module__", None)
    name = getattr(function, "__name__", "")
    owner = getattr(function, "__self__", None)
    if module is None and owner is not None and not isinstance(owner, type(sys)):
        module = type(owner).__module__
    if isinstance(owner, type) and issubclass(owner, datetime | time | timedelta):
        return "reads the clock"
    if module in ("builtins", "_io") and name in _BUILTIN_EFFECTS:
        return _BUILTIN_EFFECTS[name]
    text = {"posix": "os", "nt": "os", "_random": "random", "_io": "io", "_socket": "socket"}.get(
        str(module), str(module)
    )
    for prefix, effect in _EFFECTS:
        if text == prefix or text.startswith(prefix + "."):
            return effect
    return None


def hint_for(effect: str) -> str | None:
    """The small edit that does without such an effect."""
    if "clock" in effect:
        return "let the source add the time as an attribute"
    if "random" in effect:
        return (
            "draw the numbers in the source, or from the tuple: random.Random(seed), with a seed made of its attributes"
        )
    return None
