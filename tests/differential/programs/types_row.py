"""Rows with and without names: access by name and position, None fields, nesting, names given by the declared type."""

from pyflink.common import Row, Types

PERSON = Types.ROW_NAMED(["name", "age"], [Types.STRING(), Types.INT()])
NESTED = Types.ROW_NAMED(["id", "person", "pair"], [Types.LONG(), PERSON, Types.TUPLE([Types.INT(), Types.STRING()])])

SEPARATE = True


def build(env):
    people = env.from_collection([Row("anna", 31), Row(None, 5), Row("carl", None)], type_info=PERSON)
    plain = env.from_collection([Row(1, "x"), Row(2, None)], type_info=Types.ROW([Types.INT(), Types.STRING()]))
    nested = env.from_collection([Row(1, Row("a", 2), (3, "b")), Row(2, Row(None, None), (4, "c"))], type_info=NESTED)
    return {
        "named": people,
        "plain": plain,
        "nested": nested,
        "fields": people.map(lambda r: [r.name, r["age"], r[0], len(r), r.as_dict()]),
        "nested fields": nested.map(lambda r: (r.person.name, r["pair"][1], r[1][1])),
        "keyword row": people.map(lambda r: Row(name=r.name, age=(r.age or 0) + 1), output_type=PERSON),
        "position row": people.map(lambda r: Row(r.name, 7), output_type=PERSON),
        "pickled row": people.map(lambda r: Row(a=r.name, b=[r.age])),
        "row to tuple": people.map(lambda r: (r.name or "-", r.age or 0), output_type=Types.TUPLE([Types.STRING(), Types.INT()])),
    }
