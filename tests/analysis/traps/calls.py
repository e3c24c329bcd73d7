"""Calls of every builtin, every method of a builtin type, and the library's functions, with the object among the arguments."""

from __future__ import annotations

import ast
import builtins
import importlib
import inspect
from collections.abc import Iterator

from .constructs import THEN, Construct

MODULES = (
    "array base64 binascii bisect calendar cmath codecs collections collections.abc colorsys contextlib copy csv "
    "dataclasses datetime decimal difflib enum fractions functools hashlib heapq html io ipaddress itertools json "
    "keyword marshal math numbers operator os.path pathlib pickle pprint random re reprlib secrets shlex statistics "
    "string struct textwrap types typing unicodedata urllib.parse uuid zlib"
).split()
# Beside modules that are taken whole.
SINGLE = "ast.literal_eval weakref.ref weakref.proxy os.fspath os.fsencode os.fsdecode sys.getsizeof sys.intern sys.getrefcount time.strftime time.mktime time.gmtime " \
    "inspect.signature inspect.getmembers inspect.isfunction inspect.isclass inspect.unwrap abc.get_cache_token numpy.array " \
    "numpy.asarray numpy.add numpy.sum numpy.mean numpy.sort numpy.where numpy.zeros numpy.float64 numpy.isnan numpy.dot " \
    "numpy.unique numpy.concatenate logging.info logging.warning warnings.warn gc.collect gc.is_tracked asyncio.run".split()

# They end or stop the process, read its input, or change what it is.
_LEFT_OUT = {
    "builtins.input", "builtins.breakpoint", "builtins.exit", "builtins.quit", "builtins.help", "builtins.copyright",
    "builtins.credits", "builtins.license", "builtins.exec", "builtins.eval", "builtins.compile", "builtins.__import__",
    "builtins.open", "builtins.__build_class__", "io.open", "io.open_code", "io.FileIO", "codecs.open", "typing.overload",
    "typing.reveal_type", "itertools.cycle", "itertools.repeat", "itertools.count", "random.seed", "random.setstate",
    "contextlib.chdir", "os.path.exists", "pprint.pp", "pprint.pprint", "calendar.prmonth", "calendar.main", "calendar.error",
    "builtins.memoryview.release", "codecs.register", "codecs.register_error", "codecs.unregister", "csv.register_dialect",
    "csv.unregister_dialect", "csv.field_size_limit", "ast.main", "base64.main", "base64.test", "base64.encode",
    "base64.decode", "json.load", "json.dump", "functools.namedtuple", "hashlib.scrypt", "hashlib.pbkdf2_hmac", "weakref.atexit",
    "html.html5", "calendar.setfirstweekday", "calendar.prcal", "decimal.setcontext", "os.path.ismount", "math.factorial",
    "math.perm", "math.comb", "calendar.TextCalendar", "typing.no_type_check", "builtins.bytearray.zfill",
}  # fmt: skip

_EXPRESSIONS = {
    "int": "(1)", "float": "(1.0)", "complex": "(1j)", "str": "'a'", "bytes": "b'a'", "bytearray": "bytearray(b'a')",
    "list": "[1, 2]", "tuple": "(1, 2)", "dict": "{1: 2}", "set": "{1, 2}", "frozenset": "frozenset([1, 2])",
    "range": "range(3)", "slice": "slice(1)", "memoryview": "memoryview(b'a')",
}  # fmt: skip
_HOLDING = {
    "list": "[x, 1]", "tuple": "(x, 1)", "dict": "{x: 1}", "set": "{x, 1}", "frozenset": "frozenset([x])",
}  # fmt: skip
ARGUMENTS = (
    "x", "x, 1", "1, x", "x, x", "[x]", "[x, x]", "[x, 1]", "{x: 1}", "{'a': x}", "'a', x", "x, 'a'", "len, x", "len, [x]",
    "[1], x", "x, [1, 2]", "[1, 2], x", "int, x", "x, int", "1, 1, x", "1, x, 1", "x, 1, 1", "x, [1], 1", "'a', 'a', x",
    "[x], [1]", "[1], [x]", "b'a', x", "x, b'a'", "'%s', x", "K", "1, K", "K, 1", "K, K", "x, K", "[[x, 1]]", 
    "[1, 2], key=x", "[x, x], key=len", "x, default=x", "[3, 1], x, 1", "lambda a, b: a, [x, x]", "lambda v: v, x",
    "lambda v: x, [1]", "'a', x, 'a'", "[(1, x)]", "[2, 1], 1, key=x", "x, 1, 1, 1", "1, x, 1, 1", "lambda a, b: x, [1, 2, 3]",
    "lambda v: v == x, [1]",
)  # fmt: skip


def library_constructs() -> Iterator[tuple[str, list[Construct]]]:
    """For each callable, the calls that may be made of it."""
    for name in sorted(vars(builtins)):
        value = getattr(builtins, name)
        is_error = isinstance(value, type) and issubclass(value, BaseException)
        if callable(value) and f"builtins.{name}" not in _LEFT_OUT and not name.startswith("_") and not is_error:
            yield _calls(f"builtins.{name}", name)
    for name in _EXPRESSIONS:
        yield from _methods(name)
    for module_name in MODULES:
        module = importlib.import_module(module_name)
        for name in getattr(module, "__all__", None) or sorted(vars(module)):
            value = getattr(module, name, None)
            qualified = f"{module_name}.{name}"
            if name.startswith("_") or inspect.ismodule(value) or not callable(value) or qualified in _LEFT_OUT:
                continue
            home = getattr(value, "__module__", None)
            is_own = home in (module_name, None) or home.lstrip("_").startswith(module_name) or module_name in _GATHERED
            if is_own and not (isinstance(value, type) and issubclass(value, BaseException)):
                yield _calls(qualified, qualified)
    for qualified in SINGLE:
        yield _calls(qualified, qualified)
    for line in _OBJECTS.strip().splitlines():
        kind, _, variants = line.partition(": ")
        yield kind, [Construct(kind, each.strip().replace("\\n", "\n")) for each in variants.split(" ; ")]


# Methods of the library's objects, and functions that call what they were given later.
_OBJECTS = """
contextlib.closing: with contextlib.closing(x): pass
contextlib.suppress: with contextlib.suppress(x): raise KeyError
contextlib.nullcontext: with contextlib.nullcontext(x) as y: pass
contextlib.ExitStack: with contextlib.ExitStack() as s: s.enter_context(x) ; with contextlib.ExitStack() as s: s.push(x) ; with contextlib.ExitStack() as s: s.callback(x)
collections.deque: y = collections.deque([x])\\n# then\\ny.index(1) ; y = collections.deque([x])\\n# then\\ny.count(1) ; y = collections.deque([x])\\n# then\\ny.remove(1) ; y = collections.deque()\\n# then\\ny.extend(x) ; y = collections.deque([1])\\n# then\\ny.rotate(x) ; y = collections.deque([1])\\n# then\\ny.extendleft(x)
collections.Counter: y = collections.Counter()\\n# then\\ny.update(x) ; y = collections.Counter()\\n# then\\ny[x] += 1 ; collections.Counter([x]) ; y = collections.Counter()\\n# then\\ny.subtract(x) ; y = collections.Counter(a=x)\\n# then\\ny.most_common(1) ; y = collections.Counter(a=x)\\n# then\\ny + y ; y = collections.Counter(a=x)\\n# then\\ny.total()
collections.ChainMap: collections.ChainMap(x)["b"] ; collections.ChainMap({}, x).get(1) ; collections.ChainMap({})[x] ; list(collections.ChainMap(x)) ; "b" in collections.ChainMap(x)
collections.OrderedDict: y = collections.OrderedDict(a=1)\\n# then\\ny.move_to_end(x) ; collections.OrderedDict(a=x) == collections.OrderedDict(a=1)
collections.defaultdict: y = collections.defaultdict(x)\\n# then\\ny[1] ; y = collections.defaultdict(K)\\n# then\\ny[1] ; y = collections.defaultdict(int)\\n# then\\ny[x]
csv.writer: csv.writer(io.StringIO()).writerow(x) ; csv.writer(io.StringIO()).writerow([x]) ; csv.writer(io.StringIO()).writerows(x) ; csv.writer(x).writerow([1])
csv.DictWriter: csv.DictWriter(io.StringIO(), ["a"]).writerow(x) ; csv.DictWriter(io.StringIO(), ["a"]).writerow({"a": x})
csv.reader: list(csv.reader(x))
io.StringIO: io.StringIO().writelines(x) ; io.StringIO("ab").read(x) ; io.StringIO("ab").seek(x)
string.Template: string.Template("$b").substitute(x) ; string.Template("$b").substitute(b=x) ; string.Template("$b").safe_substitute(x)
string.Formatter: string.Formatter().format("{}", x) ; string.Formatter().format("{a}", a=x) ; string.Formatter().vformat("{0.a}", [x], {})
re.Pattern: re.compile("a").sub(x, "a") ; re.compile("a").split("aba", x) ; re.compile("a").match("a", x) ; re.compile("a").sub("b", "a", x)
re.Match: re.match("a", "a")[x] ; re.match("a", "a").group(x) ; re.match("a", "a").expand(x)
json.JSONEncoder: json.dumps({"a": x}) ; json.dumps([x]) ; json.dumps({x: 1}) ; json.dumps(x, indent=1) ; json.dumps({"b": 1, "a": 1}, default=x) ; json.dumps(object(), default=x) ; json.dumps(1, indent=x) ; json.dumps({}, sort_keys=x)
json.JSONDecoder: json.loads("{}", object_hook=x) ; json.loads("[1.5]", parse_float=x) ; json.loads("{}", object_pairs_hook=x)
functools.partial: functools.partial(x)() ; functools.partial(max, x)([1]) ; functools.partial(max, 1)(x) ; repr(functools.partial(x))
functools.cmp_to_key: sorted([2, 1], key=functools.cmp_to_key(x)) ; sorted([x, x], key=functools.cmp_to_key(lambda a, b: 0))
functools.lru_cache: @functools.lru_cache(maxsize=None)\\ndef f(a): pass\\nf(x)\\nf(x) ; @functools.cache\\ndef f(a): pass\\nf(x)\\nf(1) ; functools.cache(x)(1)
functools.singledispatch: @functools.singledispatch\\ndef f(a): pass\\nf(x) ; functools.singledispatch(x)(1)
functools.cached_property: class Y:\\n    a = functools.cached_property(x)\\nY().a
functools.wraps: @functools.wraps(x)\\ndef f(): pass
functools.total_ordering: @functools.total_ordering\\nclass Y(K): pass\\nY() < Y()
operator.itemgetter: operator.itemgetter(x)([1, 2]) ; operator.itemgetter(1)(x) ; operator.itemgetter(1, "b")(x) ; operator.itemgetter(x)({1: 1})
operator.attrgetter: operator.attrgetter("a")(x) ; operator.attrgetter("a.b")(x)
operator.methodcaller: operator.methodcaller("a")(x) ; operator.methodcaller("a", x)([])
decimal.Decimal: decimal.Decimal(1) + x ; decimal.Decimal(1) == x ; decimal.Decimal(1).quantize(x) ; round(decimal.Decimal(1), x)
fractions.Fraction: fractions.Fraction(1, 2) + x ; fractions.Fraction(1, 2) == x ; fractions.Fraction(1, 2) < x ; fractions.Fraction(1, 2) ** x
datetime.datetime: datetime.datetime(2020, 1, 1) + x ; datetime.datetime(2020, 1, 1).astimezone(x) ; datetime.datetime(2020, x, 1) ; datetime.datetime(2020, 1, 1) == x ; f"{datetime.datetime(2020, 1, 1):%Y}" ; datetime.datetime(2020, 1, 1).replace(day=x) ; datetime.datetime.fromtimestamp(x)
datetime.timedelta: datetime.timedelta(1) * x ; datetime.timedelta(days=x) ; datetime.timedelta(1) / x ; datetime.timedelta(1) == x
random.Random: random.Random(1).choice(x) ; random.Random(1).shuffle(x) ; random.Random(1).randint(1, x) ; random.Random(1).sample(x, 1) ; random.Random(1).choices([1], x)
array.array: array.array("i", [1]).append(x) ; array.array("i", [1])[x] ; array.array("i", x) ; array.array("i", [1]).extend(x)
types.SimpleNamespace: types.SimpleNamespace(a=x) == types.SimpleNamespace(a=1) ; repr(types.SimpleNamespace(a=x))
types.MappingProxyType: types.MappingProxyType(x)["b"] ; types.MappingProxyType({})[x] ; list(types.MappingProxyType(x)) ; len(types.MappingProxyType(x))
types.GenericAlias: types.GenericAlias(K, int)() ; types.GenericAlias(x, int).a
dataclasses.dataclass: @dataclasses.dataclass\\nclass Y:\\n    a: object = 1\\nY(x) == Y(1) ; @dataclasses.dataclass\\nclass Y:\\n    a: object\\nrepr(Y(x)) ; @dataclasses.dataclass(frozen=True)\\nclass Y:\\n    a: object\\nhash(Y(x)) ; @dataclasses.dataclass(order=True)\\nclass Y:\\n    a: object\\nY(x) < Y(1) ; @dataclasses.dataclass\\nclass Y(K): pass\\nY() ; @dataclasses.dataclass\\nclass Y:\\n    a: object = dataclasses.field(default_factory=x)\\nY() ; @dataclasses.dataclass\\nclass Y:\\n    a: object\\ndataclasses.asdict(Y(x))
typing.NamedTuple: class Y(typing.NamedTuple):\\n    a: object = 1\\nY(x) == Y(1) ; class Y(typing.NamedTuple):\\n    a: object\\nhash(Y(x)) ; class Y(typing.NamedTuple):\\n    a: object\\nrepr(Y(x)) ; class Y(typing.NamedTuple):\\n    a: object\\nY(1)._replace(a=x).index(1)
enum.Enum: class Y(enum.Enum):\\n    a = x ; class Y(enum.Enum):\\n    a = 1\\nY(x) ; class Y(enum.Enum):\\n    a = 1\\nY[x] ; class Y(enum.Enum):\\n    a = 1\\nx in Y
typing.Protocol: @typing.runtime_checkable\\nclass Y(typing.Protocol):\\n    a: int\\nisinstance(x, Y)
abc.ABC: class Y(abc.ABC): pass\\nisinstance(x, Y) ; class Y(abc.ABC): pass\\nissubclass(K, Y) ; isinstance(x, collections.abc.Iterable) ; isinstance(x, numbers.Number) ; issubclass(K, collections.abc.Hashable)
itertools.groupby: for k, g in itertools.groupby([x, x]): pass ; for k, g in itertools.groupby([1, 2], x): pass ; for k, g in itertools.groupby([1, 2], lambda v: x): pass
itertools.cycle: next(itertools.cycle(x)) ; itertools.repeat(1, x) ; next(itertools.count(x)) ; next(itertools.count(1, x))
heapq.heap: y = [x]\\n# then\\nheapq.heappush(y, 1) ; y = [x, x, 1]\\n# then\\nheapq.heapify(y) ; y = [1, x]\\n# then\\nheapq.heappop(y) ; y = [1, 2]\\n# then\\nheapq.heapreplace(y, x)
pathlib.Path: pathlib.PurePath("a") / x ; pathlib.PurePath("a") == x ; pathlib.PurePath(x) ; pathlib.PurePath("a").joinpath(x) ; x / pathlib.PurePath("a")
struct.Struct: struct.Struct("i").pack(x) ; struct.pack("d", x) ; struct.pack("s", x) ; struct.pack("?", x)
copy.copy: copy.copy([x]) ; copy.deepcopy([x]) ; copy.deepcopy({"a": x}) ; copy.deepcopy(x)
pickle.dumps: pickle.dumps([x]) ; pickle.dumps(x, 2) ; pickle.dumps(x, 0) ; pickle.loads(pickle.dumps(x))
logging.Logger: logging.getLogger("a").warning("%s", x) ; logging.getLogger("a").warning(x) ; logging.getLogger("a").debug("%s", x)
numpy.ndarray: numpy.zeros(2)[x] ; numpy.zeros(2) + x ; numpy.zeros(2) == x ; y = numpy.zeros(2)\\n# then\\ny[0] = x ; numpy.zeros(2).sum(x) ; numpy.zeros(2) @ x ; numpy.array([x, x]).sum() ; numpy.array([x, x]) == 1
decimal.Context: decimal.Context().add(x, 1)
"""
_LAZY = ("builtins.map", "builtins.filter", "builtins.zip", "builtins.enumerate", "builtins.reversed", "builtins.iter")
_GATHERED = ("os.path", "random", "operator", "collections.abc", "string", "pickle", "functools", "io", "decimal", "csv", "datetime")


def _calls(kind: str, called: str) -> tuple[str, list[Construct]]:
    calls = [_call(kind, called, each) for each in ARGUMENTS]
    if kind.startswith("itertools.") or kind in _LAZY:
        calls += [_call(kind, called, each, "for v in itertools.islice({}, 3): pass") for each in ARGUMENTS]
    return kind, calls


def _call(kind: str, called: str, arguments: str, around: str = "{}") -> Construct:
    """A call; what is not a name or a number is made before the probe looks, so that only the call counts."""
    code = around.format(f"{called}({arguments})")
    call = ast.parse(f"f({arguments})").body[0].value
    lines = []
    for at, node in enumerate([*call.args, *(keyword.value for keyword in call.keywords)]):
        if isinstance(node, ast.Dict | ast.Set | ast.List | ast.Tuple | ast.Call):
            lines.append(f"a{at} = {ast.unparse(node)}")
            if at < len(call.args):
                call.args[at] = ast.Name(f"a{at}")
            else:
                call.keywords[at - len(call.args)].value = ast.Name(f"a{at}")
    apart = "\n".join([*lines, THEN, around.format(called + ast.unparse(call).removeprefix("f"))])
    return Construct(kind, code, apart)


def _methods(type_name: str) -> Iterator[tuple[str, list[Construct]]]:
    kind = getattr(builtins, type_name)
    for name in sorted(dir(kind)):
        qualified = f"builtins.{type_name}.{name}"
        if name.startswith("__") or not callable(getattr(kind, name)) or qualified in _LEFT_OUT:
            continue
        calls = [_call(qualified, f"{_EXPRESSIONS[type_name]}.{name}", each) for each in ARGUMENTS]
        calls += [Construct(qualified, f"{type_name}.{name}({each})") for each in ("x", "x, 1")]
        if type_name in _HOLDING:
            for each in ("", "1", "x", "(1, x)", "[x]", "{x}", "key=x", "x, 1"):
                call = _call(qualified, f"y.{name}", each)
                setting_up = f"y = {_HOLDING[type_name]}\n"
                calls.append(Construct(qualified, setting_up + call.code, setting_up + call.apart))
        if type_name == "str":
            texts = ("{}", "{0!r}", "{0.a}", "{0[a]}", "{:>{}}", "{a}")
            for each in ("x", "a=x", "1, x", "x, 1", "x, x"):
                calls += [_call(qualified, f"'{text}'.{name}", each) for text in texts]
        yield qualified, calls
