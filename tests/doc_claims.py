"""The comments beside code on a page, as claims about the value of that line.

A comment at the end of a statement claims something when it begins with

- shapes: `(T, L, 7): x y z …`, `(T, J), (T, 7)`: of the value, or of each part of a tuple. A letter is one length on its line;
- a literal: `120.0, ("arm", "gripper")`, `True: all tasks …`: equal to the value, numbers in the digits shown;
- what is printed, after a `print`.

Other comments are prose.
"""

from __future__ import annotations

import ast
import contextlib
import io
import re
import tokenize
from collections.abc import Iterator

import numpy as np
import pytest

SHAPE = re.compile(r"\(((?:[A-Z]|\d+)(?:, (?:[A-Z]|\d+))*),?\)")
TOLERANCE = 0.5  # of the last digit of a number on the page


def run_with_claims(code: str, names: dict[str, object]) -> None:
    """Run code statement by statement, and assert what its comments claim."""
    comments = dict(comments_of(code))
    for statement in ast.parse(code).body:
        printed = io.StringIO()
        module = ast.Module([statement], [])
        value: object = None
        with contextlib.redirect_stdout(printed):
            if isinstance(statement, ast.Expr):
                expression = ast.Expression(statement.value)
                value = eval(compile(expression, "page", "eval"), names)
            else:
                exec(compile(module, "page", "exec"), names)
        if isinstance(statement, ast.Assign):
            target = ast.Expression(as_loaded(statement.targets[0]))
            value = eval(compile(target, "page", "eval"), names)
        comment = comments.get(statement.end_lineno or 0)
        if comment is not None:
            check_claim(comment, value, printed.getvalue())


def as_loaded(target: ast.expr) -> ast.expr:
    """Return the expression that reads what a statement has assigned."""
    return ast.parse(ast.unparse(target), mode="eval").body


def comments_of(code: str) -> Iterator[tuple[int, str]]:
    """Yield line and text of each comment that stands behind code."""
    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        is_beside = token.line[: token.start[1]].strip()
        if token.type == tokenize.COMMENT and is_beside:
            yield token.start[0], token.string.lstrip("# ")


def check_claim(comment: str, value: object, printed: str) -> None:
    """Assert what a comment claims of a value and of what was printed."""
    if printed:
        if re.search(r"\d", comment):
            assert comment.rstrip(".… ") in printed, (comment, printed)
        return
    if SHAPE.match(comment):
        check_shapes(comment, value)
        return
    literal = leading_literal(comment)
    if literal is not None:
        check_literal(literal, value, comment)


def check_shapes(comment: str, value: object) -> None:
    """Assert the shapes at the beginning of a comment."""
    claim = re.match(rf"{SHAPE.pattern}(?:(?: [^,():]*)?, {SHAPE.pattern})*", comment)
    assert claim is not None
    claimed = SHAPE.findall(claim[0])
    parts = value if isinstance(value, tuple) else (value,)
    if len(claimed) == 1:
        claimed *= len(parts)
    assert len(claimed) == len(parts), (comment, len(parts))
    lengths: dict[str, int] = {}
    for shape, part in zip(claimed, parts, strict=True):
        wanted = shape.split(", ")
        real = np.shape(part)
        assert len(real) == len(wanted), (comment, real)
        for length, name in zip(real, wanted, strict=True):
            expected = int(name) if name.isdigit() else lengths.setdefault(name, length)
            assert length == expected, (comment, real)


def leading_literal(comment: str) -> object:
    """Return the literal that a comment begins with, up to a colon; None where it is prose."""
    text = re.split(r": |;| \[", comment)[0]
    with contextlib.suppress(ValueError, SyntaxError, MemoryError):
        return ast.literal_eval(text)
    return None


def check_literal(literal: object, value: object, comment: str) -> None:
    """Assert that a value is the literal on the page, numbers in the digits that it shows."""
    if isinstance(literal, (tuple, list)):
        assert len(literal) == len(value), comment  # type: ignore[arg-type]
        for wanted, part in zip(literal, value, strict=True):  # type: ignore[call-overload]
            check_literal(wanted, part, comment)
    elif isinstance(literal, float):
        digits = len(repr(literal).partition(".")[2])
        assert value == pytest.approx(literal, abs=TOLERANCE * 10**-digits), comment
    else:
        assert value == literal, comment
