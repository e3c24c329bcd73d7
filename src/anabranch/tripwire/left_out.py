"""What may change without any operator seeing it, and so is not counted: by name, each with its reason."""

from __future__ import annotations

from types import MappingProxyType

# Attributes of classes.
OF_CLASSES = MappingProxyType(
    {
        "__slotnames__": "copying and pickling keep the names of slots here, at the first object of the class",
        "__slots__": "a class that is sent may keep attributes elsewhere",
        "_abc_impl": "isinstance keeps here what it has found out about other classes",
        "__abstractmethods__": "is made when the class is, and made again where it is sent",
        "_value2member_map_": "enums keep pseudo-members here: combinations of flags, each at its first use",
        "_unhashable_values_": "of enums, the same for values that cannot be hashed",
        "_hashable_values_": "of enums, the same for values that can",
        "__annotations__": "is evaluated at its first use by newer Pythons",
        "__annotations_cache__": "keeps annotations that were evaluated",
        "__annotate__": "evaluates annotations",
        "__annotate_func__": "evaluates annotations",
        "__static_attributes__": "is there for tools that read code",
        "__firstlineno__": "is a line of the text",
        "__doc__": "is text for people",
        "__dict__": "is a view of the rest",
        "__weakref__": "is how weak references find an object",
        "__module__": "is where a class says it is from",
        "__qualname__": "is part of what a class is called here anyway",
        "__signature__": "inspect keeps a signature here",
        "__parameters__": "typing makes it when the class is made",
        "__orig_bases__": "typing makes it when the class is made",
        "__dataclass_fields__": "dataclasses make it when the class is made",
        "__dataclass_params__": "dataclasses make it when the class is made",
        "_is_protocol": "typing makes it when the class is made",
        "__protocol_attrs__": "typing makes it at the first check of a protocol",
        "__non_callable_proto_members__": "typing makes it at the first check of a protocol",
        "__callable_proto_members_only__": "typing makes it at the first check of a protocol",
        "__anabranch_declared__": "is what the user declared",
    }
)

# Attributes of functions.
OF_FUNCTIONS = MappingProxyType(
    {
        "__anabranch_declared__": "is what the user declared",
        "__signature__": "inspect keeps a signature here",
        "_clear_cache": "singledispatch forgets with it what it has looked up",
        "cache_info": "a cache is allowed where it never changes a result",
        "cache_clear": "a cache is allowed where it never changes a result",
    }
)

# Variables of the library's own functions that others are wrapped in.
OF_WRAPPERS = MappingProxyType(
    {
        "dispatch_cache": "singledispatch keeps here which function it chose for a class",
        "cache_token": "singledispatch knows by it whether classes were registered since",
        "cache": "a cache is allowed where it never changes a result",
    }
)

# Globals that the loader sets.
_LOADED = "__name__ __file__ __loader__ __spec__ __path__ __package__ __cached__ __doc__ __builtins__"
_ANNOTATED = "__annotations__ __annotate__ __conditional_annotations__"
OF_MODULES = MappingProxyType(dict.fromkeys(f"{_LOADED} {_ANNOTATED}".split(), "depends on how a module was loaded"))

# Modules of the library whose plain values are those of a process or of a machine.
OF_A_PROCESS = MappingProxyType(
    {
        "sys": "its path, arguments and streams are those of a process",
        "os": "its names and numbers may be those of a machine",
        "posix": "as those of os",
        "time": "zones are those of a machine",
        "tempfile": "remembers the folder it has found",
        "platform": "is about a machine",
        "socket": "is about a machine",
        "locale": "is about a process",
        "site": "is about where Python is installed",
        "sysconfig": "is about where Python is installed",
        "warnings": "remembers what it has said",
        "linecache": "remembers the files it has read",
        "logging": "handlers and levels are set for each process",
        "threading": "its threads are those of a process",
        "multiprocessing": "its processes are those of a machine",
    }
)
