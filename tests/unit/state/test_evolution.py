"""Classes of records that change while state lives on: every kind of class, every backend, every kind of state."""

from __future__ import annotations

import copy
import dataclasses
import operator
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import msgspec
import pydantic
import pytest

from tests.unit.state.backends import new_backend
from tests.unit.state.memory_files import MemoryFiles
from wiesel.common import Alias, Row, Time, Types
from wiesel.core.errors import ProgramError, StateMigrationError
from wiesel.spi.state import (
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)
from wiesel.state.handles import make_state
from wiesel.state.key_context import KeyContext
from wiesel.state.operator_handles import make_broadcast_state, make_operator_list_state
from wiesel.types import records
from wiesel.types.evolution import Compatibility, compatibility, mismatch
from wiesel.types.records import StoredRecord, layout_of

KINDS = ["dataclass", "slots", "frozen", "msgspec", "pydantic"]
BACKENDS = ["hashmap", "lmdb", "rocksdb"]
REQUIRED = object()


def make(kind: str, name: str = "Order", /, **fields: Any) -> Any:
    """Return a class of a program: field=(annotation, default or REQUIRED)."""
    if kind == "msgspec":
        parts = [(n, t) if default is REQUIRED else (n, t, default) for n, (t, default) in fields.items()]
        return msgspec.defstruct(name, parts, module="program", kw_only=True)
    if kind == "pydantic":
        return pydantic.create_model(name, __module__="program", **{n: (t, ... if d is REQUIRED else d) for n, (t, d) in fields.items()})
    parts = [(n, t) if d is REQUIRED else (n, t, dataclasses.field(default=d)) for n, (t, d) in fields.items()]
    made = dataclasses.make_dataclass(name, parts, slots=kind == "slots", frozen=kind == "frozen", kw_only=True)
    made.__module__ = "program"
    return made


def before(kind: str) -> Any:
    return make(kind, id=(int, REQUIRED), amount=(int, REQUIRED), note=(str, REQUIRED), tags=(list[str], REQUIRED))


def after(kind: str) -> Any:
    return make(
        kind, city=(str, "?"), tags=(list[str], REQUIRED), total=(Annotated[float, Alias("amount")], REQUIRED), id=(int, REQUIRED)
    )


def fields(record: Any) -> dict[str, Any]:
    found = records.fields_of(record)
    assert found is not None
    return found[0]


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    forget()
    yield
    forget()


def forget() -> None:
    """Be another process, which has declared nothing yet."""
    records._layouts.clear()
    records._of_class.clear()
    records._not_found.clear()


class Program:
    """The states of one operator."""

    def __init__(self, backend: Any, order: Any, ttl: bool = False, aliases: bool = False) -> None:
        self.context = KeyContext()
        kind = Types.POJO(order)
        made = [
            ValueStateDescriptor("value 2" if aliases else "value", order),
            ListStateDescriptor("list 2" if aliases else "list", kind),
            MapStateDescriptor("map 2" if aliases else "map", Types.STRING(), kind),
        ]
        if ttl:
            for descriptor in made:
                descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.days(1)).build())
        if aliases:
            made = [descriptor.add_alias("never", descriptor.name[:-2]) for descriptor in made]
        self.value, self.list, self.map = (make_state(descriptor, backend, self.context) for descriptor in made)
        self.deep = make_state(ValueStateDescriptor("deep", Types.LIST(Types.TUPLE([Types.STRING(), kind]))), backend, self.context)
        self.operator_list = make_operator_list_state(ListStateDescriptor("entries", kind), backend.operator_state)
        self.broadcast = make_broadcast_state(MapStateDescriptor("rules", Types.STRING(), kind), backend.operator_state)

    def fill(self, order: Any) -> None:
        def one(number: int) -> Any:
            return order(id=number, amount=number * 10, note="n", tags=[str(number)])

        for key in ("k", "l"):
            self.context.key = key
            self.value.update(one(1))
            self.list.add_all([one(2), one(3)])
            self.map.put("m", one(4))
            self.deep.update([("d", one(5))])
        self.operator_list.add(one(6))
        self.broadcast.put("b", one(7))

    def records(self) -> list[Any]:
        self.context.key = "k"
        keyed = [self.value.value(), *self.list.get(), self.map.get("m"), self.deep.value()[0][1]]
        return [*keyed, *self.operator_list.get(), self.broadcast.get("b")]


def expected(number: int) -> dict[str, Any]:
    return {"city": "?", "tags": [str(number)], "total": float(number * 10), "id": number}


@pytest.mark.parametrize("ttl", [False, True])
@pytest.mark.parametrize("early", [False, True], ids=["class known later", "class known at once"])
@pytest.mark.parametrize("full", [False, True], ids=["checkpoint", "savepoint"])
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", KINDS)
def test_fields_are_added_removed_widened_and_renamed(
    tmp_path: Path, kind: str, backend: str, full: bool, early: bool, ttl: bool
) -> None:
    files, old, order = MemoryFiles(), new_backend(backend, tmp_path), before(kind)
    Program(old, order, ttl).fill(order)
    handle = old.snapshot(1, full=full).run(files)
    old.close()
    for _ in range(2):
        forget()
        order = after(kind)
        if early:
            layout_of(order)
        new = new_backend(backend, tmp_path)
        new.restore([handle], files)
        found = Program(new, order, ttl).records()
        assert [type(record) for record in found] == [order] * 7
        assert [fields(record) for record in found] == [expected(number) for number in range(1, 8)]
        assert all(type(record.total) is float for record in found)
        # The second time it is restored as it was written anew.
        handle = new.snapshot(2, full=full).run(files)
        new.close()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", KINDS)
def test_an_unchanged_class_costs_no_new_writing(tmp_path: Path, kind: str, backend: str) -> None:
    files, old, order = MemoryFiles(), new_backend(backend, tmp_path), before(kind)
    Program(old, order).fill(order)
    handle = old.snapshot(1).run(files)
    old.close()
    forget()
    new, order = new_backend(backend, tmp_path), before(kind)
    new.restore([handle], files)
    found = Program(new, order).records()
    assert [type(record) for record in found] == [order] * 7
    assert [record.amount for record in found] == [number * 10 for number in range(1, 8)]
    # The last file is the operator state, which is written whole each time; RocksDB's list of files is as well.
    first, second = ({file.name for file in made.files[:-1]} for made in (handle, new.snapshot(2).run(files)))
    assert {name for name in first if "manifest" not in name and "current" not in name} <= second
    assert len(second) == len(first)
    new.close()


@pytest.mark.parametrize("restored_by", BACKENDS)
@pytest.mark.parametrize("written_by", BACKENDS)
def test_states_are_renamed_by_alias(tmp_path: Path, written_by: str, restored_by: str) -> None:
    files, old, order = MemoryFiles(), new_backend(written_by, tmp_path), before("dataclass")
    Program(old, order).fill(order)
    handle = old.snapshot(1).run(files)
    old.close()
    order = after("dataclass")
    for _ in range(3):
        new = new_backend(restored_by, tmp_path)
        new.restore([handle], files)
        program = Program(new, order, aliases=True)
        assert [fields(record) for record in program.records()] == [expected(number) for number in range(1, 8)]
        program.list.add(order(tags=[], total=1.0, id=0))
        program.list.update(program.list.get()[:-1])
        handle = new.snapshot(2).run(files)
        assert set(handle.meta["states"]) == {"value 2", "list 2", "map 2", "deep"}
        new.close()


@pytest.mark.parametrize("backend", BACKENDS)
def test_operator_state_is_renamed_by_alias(tmp_path: Path, backend: str) -> None:
    files, old = MemoryFiles(), new_backend(backend, tmp_path)
    make_operator_list_state(ListStateDescriptor("a"), old.operator_state).add_all([1, 2])
    make_broadcast_state(MapStateDescriptor("b"), old.operator_state).put("k", 3)
    new = new_backend(backend, tmp_path)
    new.restore([old.snapshot(1).run(files)], files)
    assert make_operator_list_state(ListStateDescriptor("a2").add_alias("a"), new.operator_state).get() == [1, 2]
    assert make_broadcast_state(MapStateDescriptor("b2").add_alias("b"), new.operator_state).get("k") == 3
    assert new.operator_state.list_names() == {"a2"}
    for made in (old, new):
        made.close()


def test_an_alias_takes_nothing_from_a_state_of_the_new_name(tmp_path: Path) -> None:
    files, old, context = MemoryFiles(), new_backend("hashmap", tmp_path), KeyContext()
    context.key = "k"
    make_state(ValueStateDescriptor("old"), old, context).update("old")
    make_state(ValueStateDescriptor("new"), old, context).update("new")
    again = new_backend("hashmap", tmp_path)
    again.restore([old.snapshot(1).run(files)], files)
    assert make_state(ValueStateDescriptor("new").add_alias("old"), again, context).value() == "new"
    assert make_state(ValueStateDescriptor("old"), again, context).value() == "old"


@pytest.mark.parametrize("backend", BACKENDS)
def test_rows_are_renamed_by_alias(tmp_path: Path, backend: str) -> None:
    files, old, context = MemoryFiles(), new_backend(backend, tmp_path), KeyContext()
    context.key = "k"
    make_state(ValueStateDescriptor("r", Types.ROW_NAMED(["id", "amount"], [Types.INT(), Types.INT()])), old, context).update(
        Row(id=1, amount=2)
    )
    new = new_backend(backend, tmp_path)
    new.restore([old.snapshot(1).run(files)], files)
    kind = Types.ROW_NAMED(["city", "total", "id"], [Types.STRING(), Types.LONG(), Types.INT()], aliases={"total": ["amount"]})
    assert make_state(ValueStateDescriptor("r", kind), new, context).value() == Row(city=None, total=2, id=1)
    with pytest.raises(ProgramError, match="nothing"):
        Types.ROW_NAMED(["id"], [Types.INT()], aliases={"nothing": ["id"]})
    for made in (old, new):
        made.close()


@pytest.mark.parametrize(
    ("names", "types", "why"),
    [
        (["id", "amount"], [Types.INT(), Types.STRING()], "field 'amount' is Long and cannot become String"),
        (["total", "id"], [Types.INT(), Types.INT()], "field 'amount' is Long and cannot become Integer"),
        (["id", "amount"], [Types.ROW([Types.INT()]), Types.LONG()], "field 'id' is Integer and cannot become RowTypeInfo"),
    ],
)
def test_rows_that_do_not_fit_are_refused_with_the_field(names: list[str], types: list[Any], why: str) -> None:
    old = Types.LIST(Types.ROW_NAMED(["id", "amount"], [Types.INT(), Types.LONG()]))
    new = Types.LIST(Types.ROW_NAMED(names, types, aliases={"total": ["amount"]} if "total" in names else None))
    assert compatibility(old, new) is Compatibility.INCOMPATIBLE
    assert why in mismatch(old, new)
    assert mismatch(Types.ROW([Types.INT()]), Types.ROW([Types.INT(), Types.INT()])) == "there were 1 fields without names and are 2"


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"id": (str, REQUIRED)}, "field 'id' is Long and cannot become String"),
        ({"id": (int, REQUIRED), "city": (str, REQUIRED)}, "field 'city' is new and has no default"),
        ({"id": (int, REQUIRED), "amount": (list[int], REQUIRED)}, "field 'amount' is Long and cannot become"),
    ],
)
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", KINDS)
def test_other_changes_are_refused_with_both_schemas(
    tmp_path: Path, kind: str, backend: str, changed: dict[str, Any], why: str
) -> None:
    files, old, context, order = MemoryFiles(), new_backend(backend, tmp_path), KeyContext(), before(kind)
    context.key = "k"
    make_state(ValueStateDescriptor("orders", order), old, context).update(order(id=1, amount=2, note="", tags=[]))
    handle = old.snapshot(1).run(files)
    new, newer = new_backend(backend, tmp_path), make(kind, **changed)
    new.restore([handle], files)
    with pytest.raises(StateMigrationError) as refused:
        make_state(ValueStateDescriptor("orders", newer), new, context)
    assert why in str(refused.value)
    assert "Order(id: Long, amount: Long, note: String, tags: ListTypeInfo<String>)" in str(refused.value)
    assert repr(Types.POJO(newer)) in str(refused.value)
    for made in (old, new):
        made.close()


@pytest.mark.parametrize("kind", KINDS)
def test_a_class_under_another_name_and_records_in_records(tmp_path: Path, kind: str) -> None:
    files, old, context = MemoryFiles(), new_backend("lmdb", tmp_path), KeyContext()
    context.key = "k"
    item = make(kind, "Item", price=(int, REQUIRED))
    cart = make(kind, "Cart", items=(list[item], REQUIRED), best=(item | None, None))
    descriptor = ReducingStateDescriptor("carts", operator.add, Types.POJO(cart))
    make_state(descriptor, old, context).add(cart(items=[item(price=1)], best=item(price=2)))
    handle = old.snapshot(1).run(files)
    forget()
    product = make(kind, "Product", price=(float, REQUIRED), name=(str | None, REQUIRED))
    basket = make(kind, "Basket", items=(list[product], REQUIRED), best=(product | None, REQUIRED))
    new = new_backend("hashmap", tmp_path)
    new.restore([handle], files)
    found = make_state(ReducingStateDescriptor("carts", operator.add, Types.POJO(basket)), new, context).get()
    assert (type(found), type(found.best), [type(entry) for entry in found.items]) == (basket, product, [product])
    assert (found.best.price, found.best.name, found.items[0].price) == (2.0, None, 1.0)
    for made in (old, new):
        made.close()


def test_state_of_an_unknown_class_is_kept_as_it_is(tmp_path: Path) -> None:
    files, old, order = MemoryFiles(), new_backend("hashmap", tmp_path), before("dataclass")
    Program(old, order).fill(order)
    handle = old.snapshot(1).run(files)
    forget()
    unaware = new_backend("hashmap", tmp_path)
    unaware.restore([handle], files)
    ((_, _, stored), _) = unaware.table("value").items()
    assert isinstance(stored, StoredRecord)
    assert str(stored) == "Order(id=1, amount=10, note='n', tags=['1'])"
    assert stored == pickle.loads(pickle.dumps(stored)) and len({stored.record_class}) == 1
    handle = unaware.snapshot(2, full=True).run(files)
    new, order = new_backend("lmdb", tmp_path), before("dataclass")
    new.restore([handle], files)
    assert [fields(record)["id"] for record in Program(new, order).records()] == list(range(1, 8))
    new.close()


@pytest.mark.parametrize("kind", KINDS)
def test_declared_records_are_pickled_and_copied_like_others(kind: str) -> None:
    order = before(kind)
    record = order(id=1, amount=2, note="n", tags=["t"])
    layout_of(order)
    for same in (pickle.loads(pickle.dumps(record)), copy.deepcopy(record), copy.copy(record)):
        assert same == record and type(same) is order
    if kind == "dataclass":
        record.cached = 5
        assert pickle.loads(pickle.dumps(record)).cached == 5


def test_what_has_no_fields_is_refused() -> None:
    class Plain:
        pass

    @dataclasses.dataclass
    class Own:
        x: int

        def __reduce__(self) -> Any:
            return Own, (self.x,)

    with pytest.raises(ProgramError, match="not a class with declared fields"):
        Types.POJO(Plain)
    with pytest.raises(ProgramError, match="customises"):
        Types.POJO(Own)
