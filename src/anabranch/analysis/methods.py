"""Methods and attributes of builtin and library types: which are pure, which change their receiver, what they give."""

from __future__ import annotations

import array
import collections
import decimal
import fractions
import io
import ipaddress
import pathlib
import re
import string
import struct
import types
import urllib.parse
import uuid
import zoneinfo
from datetime import date, datetime, time, timedelta, timezone
from itertools import chain
from xml.etree import ElementTree

from anabranch.analysis.purity import PART, CsvWriter, Hasher, Pure, RandomGenerator
from anabranch.analysis.values import AwareDatetime, Plain, Stream
from anabranch.analysis.words import words

NoneType = type(None)
DictKeys: type = type({}.keys())
DictValues: type = type({}.values())
DictItems: type = type({}.items())

SCALARS: frozenset[type] = frozenset(
    {bool, int, float, complex, str, bytes, NoneType, type(Ellipsis), type(NotImplemented)}
)

# Immutable library types: no method or attribute of theirs has an effect.
LIBRARY_VALUES: frozenset[type] = frozenset(
    {
        datetime, date, time, timedelta, timezone, zoneinfo.ZoneInfo, AwareDatetime, range, slice,
        decimal.Decimal, fractions.Fraction, uuid.UUID, re.Pattern, re.Match, struct.Struct,
        ipaddress.IPv4Address, ipaddress.IPv6Address, ipaddress.IPv4Network, ipaddress.IPv6Network,
        ipaddress.IPv4Interface, ipaddress.IPv6Interface,
        pathlib.PurePath, pathlib.PurePosixPath, pathlib.PureWindowsPath,
        urllib.parse.ParseResult, urllib.parse.SplitResult, urllib.parse.DefragResult,
    }
)  # fmt: skip
ATOM_TYPES = SCALARS | LIBRARY_VALUES

# Their hash is the same in every process, so a set of them is iterated in the same order everywhere.
STEADY_HASHES: frozenset[type] = frozenset({bool, int, float, complex, decimal.Decimal, fractions.Fraction})

_CHANGING: dict[type, str] = {
    list: "append clear extend insert pop remove reverse sort __setitem__ __delitem__ __iadd__ __imul__",
    dict: "clear pop popitem setdefault update __setitem__ __delitem__ __ior__",
    set: """add clear difference_update discard intersection_update pop remove symmetric_difference_update update
        __ior__ __iand__ __isub__ __ixor__""",
    bytearray: "append clear extend insert pop remove reverse __setitem__ __delitem__ __iadd__",
    collections.deque: """append appendleft clear extend extendleft insert pop popleft remove reverse rotate
        __setitem__ __delitem__""",
    collections.Counter: "update subtract __setitem__ __delitem__",
    ElementTree.Element: "append clear extend insert remove set __setitem__ __delitem__",
    collections.OrderedDict: "move_to_end popitem pop setdefault update clear __setitem__ __delitem__",
    collections.defaultdict: "__missing__ __getitem__",
    array.array: """append byteswap extend frombytes fromlist fromunicode insert pop remove reverse __setitem__
        __delitem__""",
    Hasher: "update",
    CsvWriter: "writerow writerows",
    RandomGenerator: """beta betavariate binomial bytes choice choices exponential expovariate gamma gammavariate gauss
        getrandbits integers lognormal lognormvariate normal normalvariate paretovariate permutation poisson randbytes
        randint random randrange sample shuffle standard_normal triangular uniform vonmisesvariate weibullvariate""",
    io.StringIO: "write writelines read readline readlines seek truncate close __next__ __iter__",
    io.BytesIO: "write writelines read readline readlines seek truncate close __next__ __iter__",
    Stream: "__next__ close",
    types.GeneratorType: "__next__ close",
}  # fmt: skip

_PURE: dict[type, str] = {
    ElementTree.Element: "find findall findtext get items iter iterfind itertext keys",
    list: "copy count index",
    dict: "copy get items keys values fromkeys",
    set: "copy difference intersection isdisjoint issubset issuperset symmetric_difference union",
    frozenset: "copy difference intersection isdisjoint issubset issuperset symmetric_difference union",
    tuple: "count index",
    bytearray: "copy count index find decode hex startswith endswith split strip",
    collections.deque: "copy count index",
    collections.Counter: "copy elements most_common total",
    collections.OrderedDict: "copy get items keys values fromkeys",
    collections.defaultdict: "copy",
    array.array: "buffer_info count index tobytes tolist tounicode",
    Hasher: "copy digest hexdigest",
    io.StringIO: "getvalue tell",
    io.BytesIO: "getvalue tell getbuffer",
    types.SimpleNamespace: "",
    string.Template: "substitute safe_substitute",
    types.MappingProxyType: "copy get items keys values",
    Stream: "__iter__",
    types.GeneratorType: "__iter__",
    DictKeys: "isdisjoint",
    DictItems: "isdisjoint",
    DictValues: "",
}

# Methods of numpy arrays, which may be views on their receiver.
_ARRAY_PURE = """all any argmax argmin argsort astype choose clip compress conj conjugate copy cumprod cumsum diagonal
    dot flatten item max mean min nonzero prod ptp ravel repeat reshape round searchsorted squeeze std sum swapaxes
    take tobytes tolist trace transpose var view"""
_ARRAY_CHANGING = "byteswap fill itemset partition put resize setfield setflags sort"

_RESULTS: dict[type, dict[type, str]] = {
    str: {
        int: "count find index rfind rindex",
        bool: """endswith startswith isalnum isalpha isascii isdecimal isdigit isidentifier islower isnumeric
            isprintable isspace istitle isupper""",
        bytes: "encode",
        list: "split rsplit splitlines",
        tuple: "partition rpartition",
        dict: "maketrans",
    },
    bytes: {
        int: "count find index rfind rindex",
        bool: "endswith startswith isalnum isalpha isascii isdigit islower isspace istitle isupper",
        str: "decode hex",
        list: "split rsplit splitlines",
        tuple: "partition rpartition",
    },
    int: {
        int: "bit_length bit_count conjugate from_bytes __index__ __int__",
        bytes: "to_bytes",
        tuple: "as_integer_ratio",
    },
    float: {bool: "is_integer", str: "hex", float: "conjugate fromhex", tuple: "as_integer_ratio"},
    datetime: {
        str: "isoformat strftime ctime tzname",
        float: "timestamp",
        date: "date",
        time: "time timetz",
        int: "weekday isoweekday toordinal year month day hour minute second microsecond fold",
        datetime: "replace fromisoformat strptime combine fromordinal fromisocalendar utcfromtimestamp",
        timedelta: "utcoffset dst",
    },
    date: {
        str: "isoformat strftime ctime",
        int: "weekday isoweekday toordinal year month day",
        date: "replace fromisoformat fromordinal fromisocalendar",
    },
    time: {str: "isoformat strftime", int: "hour minute second microsecond fold", time: "replace fromisoformat"},
    timedelta: {float: "total_seconds", int: "days seconds microseconds"},
    re.Match: {int: "start end lastindex pos endpos", tuple: "span groups", dict: "groupdict"},
    re.Pattern: {re.Match: "match search fullmatch", list: "findall split", Stream: "finditer", str: "pattern"},
    Hasher: {bytes: "digest", str: "hexdigest"},
    struct.Struct: {bytes: "pack", int: "size", tuple: "unpack unpack_from"},
    string.Template: {str: "substitute safe_substitute template"},
    dict: {DictKeys: "keys", DictValues: "values"},
    io.StringIO: {str: "getvalue read readline", int: "tell"},
    io.BytesIO: {bytes: "getvalue read readline", int: "tell"},
    set: {bool: "isdisjoint issubset issuperset"},
    frozenset: {bool: "isdisjoint issubset issuperset"},
    list: {int: "index count"},
    tuple: {int: "index count"},
    collections.deque: {int: "index count"},
    collections.Counter: {int: "total"},
    decimal.Decimal: {bool: "is_nan is_zero is_signed is_finite is_infinite"},
    uuid.UUID: {str: "hex urn", int: "int time fields version"},
}

# Class methods and methods that depend on the world outside; the reason follows the method's name.
_DENIED: dict[tuple[type, str], str] = {
    (datetime, "now"): "reads the clock",
    (datetime, "utcnow"): "reads the clock",
    (datetime, "today"): "reads the clock",
    (date, "today"): "reads the clock",
    (date, "fromtimestamp"): "uses the time zone of the machine",
    (struct.Struct, "pack_into"): "changes its argument",
    (zoneinfo.ZoneInfo, "clear_cache"): "changes a cache that all share",
    (zoneinfo.ZoneInfo, "from_file"): "reads a file",
}


CHANGING: dict[type, frozenset[str]] = {owner: words(names) for owner, names in _CHANGING.items()}
PURE: dict[type, frozenset[str]] = {owner: words(names) for owner, names in _PURE.items()}
_RESULT_OF: dict[type, dict[str, type]] = {
    owner: {name: made for made, names in rows.items() for name in names.split()} for owner, rows in _RESULTS.items()
}

ANY_CHANGING = frozenset(chain(*CHANGING.values(), words(_ARRAY_CHANGING)))
_VALUE_METHODS = frozenset(
    name
    for owner in ATOM_TYPES
    for name in dir(owner)
    if not name.startswith("_") and callable(getattr(owner, name, None)) and (owner, name) not in _DENIED
)
ANY_PURE = (
    frozenset(chain(*PURE.values(), words(_ARRAY_PURE))) | _VALUE_METHODS | {"_replace", "_asdict", "geturl"}
) - (ANY_CHANGING | {"now", "utcnow", "today", "fromtimestamp", "timestamp", "astimezone", "__iter__"})

# Special methods that may be called by name on a builtin value.
_DUNDERS = frozenset(
    f"__{name}__"
    for name in words(
        """abs add and bool bytes ceil contains divmod eq float floor floordiv ge getitem gt index int invert len
        lshift lt le mod mul ne neg or pos pow radd round rmul rshift sub truediv trunc xor"""
    )
)


def denied(owner: type, name: str) -> str | None:
    for base in owner.__mro__:
        reason = _DENIED.get((base, name))
        if reason is not None:
            return reason
    return None


def is_changing(owner: type, name: str) -> bool:
    """Whether a method changes its receiver, or may do so where the type is not known exactly."""
    if owner is Plain:
        return name in ANY_CHANGING
    return any(name in CHANGING.get(base, ()) for base in owner.__mro__)


def is_definitely_pure(owner: type, name: str) -> bool:
    if owner is Plain:
        return name in ANY_PURE or name in _DUNDERS
    if name.startswith("__") and name.endswith("__"):
        return name in _DUNDERS
    for base in owner.__mro__[:-1]:
        if name in vars(base) and base in ATOM_TYPES:
            return True
        if name in vars(base):
            break  # a class derived from an immutable one, such as pathlib.Path, may do anything
    return any(name in PURE.get(base, ()) for base in owner.__mro__)


def is_known_method_of(owner: type, name: str) -> bool:
    """Whether a type that only stands for others has a method of this name."""
    return name in CHANGING.get(owner, ()) or name in PURE.get(owner, ())


def is_known_method_of_plain(name: str) -> bool:
    return name in ANY_PURE or name in ANY_CHANGING or name in _DUNDERS


def result_of(owner: type, name: str) -> Pure | None:
    """What a pure method gives, where that is known more closely than "some data"."""
    if owner is AwareDatetime and name in ("replace", "astimezone"):
        return Pure(AwareDatetime if name == "astimezone" else datetime)
    for base in owner.__mro__:
        made = _RESULT_OF.get(base, {}).get(name)
        if made is not None:
            of = str if base is str else bytes if base is bytes else None
            if made is re.Match:
                return Pure(re.Match, or_none=True)
            return Pure(made, of=of or (re.Match if made is Stream else Plain))
        if base in (str, bytes):
            return Pure(base)
        if base in ATOM_TYPES and base is not NoneType:
            return Pure(Plain)
    if owner is Plain:
        return PART
    return None
