"""A cell's source read as a syntax tree."""

from autograder.grading import source as module


def test_a_fault_of_the_interpreter_is_tried_once_more(monkeypatch):
    real, calls = module.ast.parse, []

    def faulty(text, *args, **kwargs):
        calls.append(text)
        if len(calls) == 1:
            raise SystemError("AST constructor recursion depth mismatch (before=63, after=66)")
        return real(text, *args, **kwargs)

    monkeypatch.setattr(module.ast, "parse", faulty)
    assert module._parse("x = 1").body and len(calls) == 2
