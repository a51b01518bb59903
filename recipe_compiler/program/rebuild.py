"""Programs and tensors with parts of them replaced, at any depth."""

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any, TypeVar, cast

from recipe_compiler.tensor.terms import Tensor

Item = TypeVar("Item")


@cache
def _fields(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def with_fields(item: Any, rule: Callable[[str, object], object]) -> Any:
    """Return a dataclass with a rule applied to its fields, by their names; itself where all stay as they are."""
    if not is_dataclass(item):
        return item
    changed: dict[str, object] = {}
    for key in _fields(type(item)):
        value = getattr(item, key)
        if (new := rule(key, value)) is not value:
            changed[key] = new
    return replace(item, **changed) if changed and not isinstance(item, type) else item


def with_items(items: tuple[object, ...], rule: Callable[[object], object]) -> tuple[object, ...]:
    """Return items with a rule applied to each; themselves where all stay as they are."""
    found = tuple(map(rule, items))
    return items if all(one is old for one, old in zip(found, items, strict=True)) else found


def with_tensors(item: Item, rule: Callable[[Tensor], Tensor]) -> Item:
    """Return an item with a rule applied to every tensor in it."""

    def mapped(one: object) -> object:
        match one:
            case Tensor():
                return rule(one)
            case tuple():
                return with_items(one, mapped)
            case _:
                return with_fields(one, lambda _, value: mapped(value))

    return cast("Item", mapped(item))


def tensors_in(item: Any) -> Iterator[Tensor]:
    """Yield every tensor in an item."""
    if isinstance(item, Tensor):
        yield item
    elif isinstance(item, tuple) or is_dataclass(item):
        parts = item if isinstance(item, tuple) else (getattr(item, key) for key in _fields(type(item)))
        yield from (tensor for part in parts for tensor in tensors_in(part))
