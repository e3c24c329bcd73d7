"""Elements of SVG and HTML, safe by construction: whatever text a user brings along arrives as text."""

from __future__ import annotations

from xml.etree import ElementTree

from anabranch.graph.phrases import printable

Element = ElementTree.Element


def element(tag: str, *content: Element | str | None, **attributes: str | float | None) -> Element:
    """An element; `class_` and `text_anchor` stand for `class` and `text-anchor`, and None for nothing."""
    made = ElementTree.Element(tag)
    for name, value in attributes.items():
        if value is not None:
            made.set(name.rstrip("_").replace("_", "-"), _attribute(value))
    for part in content:
        append(made, part)
    return made


def append(parent: Element, part: Element | str | None) -> None:
    if part is None:
        return
    if isinstance(part, str):
        text = "\n".join(printable(line) for line in part.split("\n"))
        if len(parent):
            parent[-1].tail = (parent[-1].tail or "") + text
        else:
            parent.text = (parent.text or "") + text
    else:
        parent.append(part)


def number(value: float) -> str:
    """A coordinate, to a tenth of a pixel."""
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def as_xml(root: Element) -> str:
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def as_html(root: Element) -> str:
    return "<!DOCTYPE html>\n" + ElementTree.tostring(root, encoding="unicode", method="html") + "\n"


def as_inner_html(root: Element) -> str:
    return ElementTree.tostring(root, encoding="unicode", method="html")


def _attribute(value: str | float) -> str:
    return number(value) if isinstance(value, float) else printable(str(value))
