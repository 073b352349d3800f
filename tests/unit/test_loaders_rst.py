"""Tables, links, roles and literals of reStructuredText."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.loaders import load
from knowledge.loaders.rst_tables import tabled


def markdown(text: str) -> str:
    return load("x.rst", text.encode()).markdown.strip()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Run ``gate lift --all``, now.", "Run `gate lift --all`, now."),
        ("Run ``gate\nlift``.", "Run `gate\nlift`."),
        ("``a `b` c``", "``a `b` c``"),
        ("x``y``", "x``y``"),
        ("``gate``\\ s and :func:`lift`\\s", "`gate`s and `lift`s"),
        ("See :ref:`the rules <rules>` and :doc:`tides`.", "See the rules and tides."),
        (":py:func:`~os.path.join` :class:`!Gate` :file:`/etc/x`", "`join` `Gate` `/etc/x`"),
        ("As :pep:`8` and :rfc:`2822` say", "As PEP 8 and RFC 2822 say"),
        ("`The form\n<https://forms.example/7>`_.", "[The form](https://forms.example/7)."),
        ("`Zoë <mailto:zoe@x.example>`__", "[Zoë](mailto:zoe@x.example)"),
        ("`<https://forms.example/\n7>`_", "[https://forms.example/7](https://forms.example/7)"),
        ("`Lost`_, `gone <gone.html>`_, my_var_, `plain`", "Lost, gone, my_var_, `plain`"),
        (".. _Big kite: https://kite.example\n\n`big\nkite`_, `it <Big kite_>`_", "[big\nkite](https://kite.example), [it](https://kite.example)"),
        ("Kite_ flies.\n\n.. _kite: https://kite.example\n", "[Kite](https://kite.example) flies."),
        (":param gate: ``4``", ":param gate: `4`"),
        ("::\n\n  ``x`` :ref:`y`\n", "```\n``x`` :ref:`y`\n```"),
    ],
)  # fmt: skip
def test_markup_within_a_line_is_that_of_markdown(text: str, expected: str) -> None:
    assert markdown(text) == expected


def test_a_heading_is_read_without_its_markup() -> None:
    assert (
        load("x.rst", b"The ``gate`` of :doc:`quay`\n===========================\n\nx\n")
        .markdown.strip()
        .startswith("# The `gate` of quay\n")
    )


GRID = """
+------+-------------------+-------+
| Gate | Open              | Keys  |
|      +---------+---------+       |
|      | Days    | Hours   |       |
+======+=========+=========+=======+
| 4    | ``Mon`` | 6 to 8, | - red |
|      |         | 12 to 2 | - two |
+------+---------+---------+       |
| 5    | never | ask Tove  |       |
+------+-------------------+-------+
"""
SIMPLE = """
====  =====  ========
   Gate      Open
-----------  --------
No.   Quay
====  =====  ========
4     North  6 to 8,
             12 to 2

5     South
====  =====  ========
"""


def test_a_grid_is_a_table_and_a_cell_over_rows_is_said_in_each() -> None:
    assert [part for part in markdown(f"Gates:\n{GRID}\nAfter.").split("\n") if part] == [
        "Gates:",
        "| Gate | Open Days | Hours | Keys |",
        "| --- | --- | --- | --- |",
        "| 4 | `Mon` | 6 to 8, 12 to 2 | - red - two |",
        "| 5 | never \\| ask Tove |  | - red - two |",
        "After.",
    ]


def test_a_simple_table_is_a_table() -> None:
    assert markdown(SIMPLE) == (
        "| Gate No. | Quay | Open |\n| --- | --- | --- |\n| 4 | North | 6 to 8, 12 to 2 |\n| 5 | South |  |"
    )
    assert markdown("== ==\n a  b\n== ==\n") == "| a | b |\n| --- | --- |"


def test_a_table_that_is_further_in_is_not_taken_for_code() -> None:
    shown = load(
        "x.rst", b"- Hours:\n\n      == ==\n      a  b\n      == ==\n      4  7\n      == ==\n\n- x\n"
    ).markdown
    assert "\n   | a | b |\n   | --- | --- |\n   | 4 | 7 |\n" in shown


@pytest.mark.parametrize(
    "text", ["== ==\nabcdef\n", "+---+\n| a |\nb\n", "+--+--+\n|a b|c|\n+--+--+\n|\n", "A\n=====\n\nB\n=====\n"]
)
def test_what_is_no_table_stays_as_it_is(text: str) -> None:
    assert tabled(text) == text


CELLS = st.lists(st.lists(st.text("ab4é|", min_size=1, max_size=6), min_size=3, max_size=3), min_size=1, max_size=5)
TORN = st.lists(st.text("+-=| ab", max_size=14), max_size=9).map("\n".join)
EDGED = st.lists(
    st.sampled_from(["+--+--+", "+==+==+", "+--+  |", "|  +--+", "| a| b|", "|a b c|", "|  | d|", "== ===", "a  b", "a b c", "-- ---", "   d", ""]), max_size=12
).map("\n".join)  # fmt: skip


def words(text: str) -> Counter[str]:
    return Counter("".join(c if c.isalnum() else " " for c in text).split())


@given(TORN | EDGED)
def test_no_table_however_torn_loses_a_word(text: str) -> None:
    assert not words(text) - words(tabled(text))


@given(CELLS)
def test_what_is_written_as_a_table_has_the_same_cells_as_a_grid_and_as_a_simple_table(cells: list[list[str]]) -> None:
    rule = "+--------+--------+--------+"
    rows = [f"| {' | '.join(f'{cell:6}' for cell in row)} |" for row in cells]
    grid = "\n".join([rule, rows[0], rule.replace("-", "="), *(line for row in rows[1:] for line in (row, rule))])
    plain = ["  ".join(f"{cell:6}" for cell in row).rstrip() for row in cells]
    border = "======  ======  ======"
    simple = "\n".join([border, plain[0], border, *plain[1:], border])
    shown = [["".join(cell.split()) for cell in line[2:-2].split(" | ")] for line in tabled(simple).strip().split("\n")]
    assert shown[2:] == [[cell.replace("|", "\\|") for cell in row] for row in cells[1:]]
    if len(cells) > 1:
        assert tabled(grid) == tabled(simple)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#. Lift.\n#. Wait.\n   Longer.\n#. Lower.", "1. Lift.\n2. Wait.\n   Longer.\n3. Lower."),
        ("#. Lift.\n\n#. Wait.\n\nThen:\n\n#. Lower.", "1. Lift.\n\n2. Wait.\n\nThen:\n\n1. Lower."),
        ("3. Lift.\n#. Wait.", "3. Lift.\n4. Wait."),
        ("#. Lift.\n\n   #. Left.\n   #. Right.\n\n#. Wait.\n\n   #. Up.", "1. Lift.\n\n   1. Left.\n   2. Right.\n\n2. Wait.\n\n   1. Up."),
        ("(#) Lift.\n(#) Wait.", "1. Lift.\n2. Wait."),
        ("#. Run::\n\n     lift\n\n#. Wait.", "1. Run:\n\n   ```\n   lift\n   ```\n\n2. Wait."),
        ("#.x\n# no item", "#.x\n\\# no item"),
        ("::\n\n  #. in code\n", "```\n#. in code\n```"),
    ],
)  # fmt: skip
def test_items_that_number_themselves_have_the_numbers_that_readers_see(text: str, expected: str) -> None:
    assert "\n".join(line.rstrip() for line in markdown(text).split("\n")) == expected
