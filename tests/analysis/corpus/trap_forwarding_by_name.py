"""The name is the same, what it stands for is not."""

from __future__ import annotations

from collections.abc import Iterator

from .registry import entry
from .tuples import Call, Click, Contact, Tagged
from .tuples import Contact as PlainContact


@entry(kind="map", input=Call, output=Contact, forwards={"area": "area"}, trap=True, breaks={"phone": "phone"},
       why="the local is assigned again on one path")  # fmt: skip
def reassigned(c: Call) -> Contact:
    phone = c.phone
    if c.area == "007":
        phone = 0
    return Contact(phone, c.area)


@entry(kind="map", input=Call, output=Contact, forwards={"area": "area"}, trap=True, breaks={"phone": "phone"},
       why="augmented assignment to the local")  # fmt: skip
def incremented(c: Call) -> Contact:
    phone = c.phone
    phone += 1
    return Contact(phone=phone, area=c.area)


@entry(kind="flat_map", input=Click, output=Tagged, selectivity="1:[0,inf)", forwards={"tag": "url"}, trap=True,
       breaks={"user": "user"}, why="the comprehension's variable hides the parameter")  # fmt: skip
def hidden_by_comprehension(click: Click) -> list[Tagged]:
    moved = [click._replace(user=number) for number in range(len(click.tags))]
    return [Tagged(click.user, click.url) for click in moved]


@entry(kind="flat_map", input=Click, output=Tagged, selectivity="1:[0,inf)", forwards={"tag": "url"}, trap=True,
       breaks={"user": "user"}, why="the loop's variable hides the parameter")  # fmt: skip
def hidden_by_loop(click: Click) -> Iterator[Tagged]:
    others = [click._replace(user=-1), click]
    for click in others:
        yield Tagged(click.user, click.url)


@entry(kind="map", input=Call, output=Contact, forwards={"area": "area"}, trap=True, breaks={"phone": "phone"},
       why="a pattern captures another attribute under the name")  # fmt: skip
def hidden_by_match(c: Call) -> Contact:
    phone = c.phone
    match c.area:
        case "425" | "206":
            pass
        case area if area.isdigit():
            match int(area):
                case phone:
                    pass
    return Contact(phone, c.area)


@entry(kind="map", input=Click, output=Tagged, trap=True, breaks={"user": "user"},
       why="a walrus in a comprehension binds outside of it")  # fmt: skip
def hidden_by_walrus(c: Click) -> Tagged:
    user = c.user
    lengths = [user := len(tag) for tag in c.tags]
    return Tagged(user, str(lengths))


@entry(kind="map", input=Call, output=Contact, forwards={"area": "area"}, trap=True, breaks={"phone": "phone"},
       why="an inner function writes the local through nonlocal")  # fmt: skip
def hidden_by_nonlocal(c: Call) -> Contact:
    phone = c.phone

    def mask() -> None:
        nonlocal phone
        phone = phone // 10 * 10

    mask()
    return Contact(phone, c.area)


@entry(kind="map", input=Call, output=Contact, forwards={"area": "area"}, trap=True, breaks={"phone": "phone"},
       why="an inner function's parameter has the outer one's name")  # fmt: skip
def hidden_by_parameter(c: Call) -> Contact:
    def number(c: Call) -> int:
        return c.phone

    return Contact(number(c._replace(phone=7)), c.area)


@entry(kind="map", input=Call, output=Contact, forwards={"area": "area"}, trap=True, breaks={"phone": "phone"},
       why="finally assigns after all")  # fmt: skip
def changed_in_finally(c: Call) -> Contact:
    try:
        phone = c.phone
    finally:
        phone = -1
    return Contact(phone, c.area)


@entry(kind="map", input=Call, output=Contact, forwards={"area": "area"}, trap=True, breaks={"phone": "phone"},
       why="the parameter is replaced on one path")  # fmt: skip
def parameter_replaced(c: Call) -> Contact:
    if c.x > 0:
        c = c._replace(phone=0)
    return Contact(c.phone, c.area)


@entry(kind="map", input=Call, output=Contact, forwards={"area": "area"}, trap=True, breaks={"phone": "phone"},
       why="a local function has the name of the type")  # fmt: skip
def hidden_type(c: Call) -> PlainContact:
    def Contact(phone: int, area: str) -> PlainContact:
        return PlainContact(phone // 2, area)

    return Contact(c.phone, c.area)


@entry(kind="flat_map", input=Click, output=Tagged, selectivity="1:[0,inf)", trap=True, breaks={"user": "user"},
       why="a generator expression reads the local when it runs, after the change")  # fmt: skip
def late_binding(c: Click) -> Iterator[Tagged]:
    user = c.user
    emitted = (Tagged(user, tag) for tag in c.tags)
    user = 0
    yield from emitted


@entry(kind="map", input=Call, output=Contact, forwards={"area": "area"}, trap=True, breaks={"phone": "phone"},
       why="a lambda reads the local when it is called, after the change")  # fmt: skip
def late_lambda(c: Call) -> Contact:
    phone = c.phone
    build = lambda: Contact(phone, c.area)
    phone = 0
    return build()


@entry(kind="flat_map", input=Call, output=Contact, selectivity="1:1", forwards={"area": "area"}, trap=True,
       breaks={"phone": "phone"}, why="continue runs through finally, which assigns")  # fmt: skip
def continued_through_finally(c: Call) -> Iterator[Contact]:
    contact = Contact(c.phone, c.area)
    for _ in range(2):
        try:
            continue
        finally:
            contact = Contact(0, c.area)
    yield contact


@entry(kind="map", input=Call, output=Contact, forwards={"area": "area"}, trap=True, breaks={"phone": "phone"},
       why="break runs through finally, which assigns")  # fmt: skip
def broken_through_finally(c: Call) -> Contact:
    phone = c.phone
    while True:
        try:
            break
        finally:
            phone += 1
    return Contact(phone, c.area)
