"""The grammar of a challenge line, read by recursive descent: see kernels.line for what it is for.

line        = statement*
statement   = ";" | "{" statement* "}" | "if" ["constexpr"] "(" expression ")" statement ["else" statement]
            | declaration ";" | "enum" [name] "{" name ["=" assignment], ... "}" ";" | expression ";"
declaration = type (name ["=" initialiser | braces | "(" expression ")"]), ...       no pointer, reference or array
expression  = C++'s, over numbers, names and FUNCTIONS; without * & -> [] of one operand, lambdas and calls of anything else;
              assignments, ++ and -- only to names that the line declares; [] only in sizeof, which computes nothing
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from kernels.errors import KernelError

MAX_DEPTH = 60
MAX_INTEGER = 2**32 - 1

ARITHMETIC = frozenset(
    "bool char short int long signed unsigned float double size_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t".split()
)
QUALIFIERS = frozenset("const constexpr static inline".split())
FUNCTIONS = frozenset(  # of numbers alone: none takes an address
    "min max fminf fmaxf fmin fmax fabsf fabs abs floorf ceilf truncf roundf sqrtf rsqrtf powf expf exp2f logf log2f fmaf "
    "__fmaf_rn __fdividef __popc __ffs __clz ceil_div accumulator_row accumulator_column swizzled_offset".split()
)
BUILT_IN = frozenset("threadIdx blockIdx blockDim gridDim x y z".split())
SPELLED = {
    "and": "&&",
    "or": "||",
    "not": "!",
    "xor": "^",
    "bitand": "&",
    "bitor": "|",
    "compl": "~",
    "and_eq": "&=",
    "or_eq": "|=",
    "xor_eq": "^=",
    "not_eq": "!=",
}
KEYWORDS = frozenset(
    "alignas alignof asm auto break case catch char16_t char32_t char8_t class concept const_cast consteval constinit continue co_await co_return co_yield decltype default "
    "delete do dynamic_cast else enum explicit export extern false final for friend goto if import module mutable namespace new noexcept nullptr operator override private "
    "protected public register reinterpret_cast requires return sizeof static_assert static_cast struct switch template this thread_local throw true try typedef typeid "
    "typename union using virtual void volatile wchar_t while".split()
) | ARITHMETIC | QUALIFIERS | set(SPELLED)  # fmt: skip
_CONTROL = frozenset("for while do switch case default return goto break continue try throw asm".split())
_ASSIGNS = frozenset("= += -= *= /= %= &= |= ^= <<= >>=".split())
_BINARY = {
    op: level
    for level, ops in enumerate("|| && | ^ & ==,!= <,>,<=,>= <<,>> +,- *,/,%".split())
    for op in ops.split(",")
}


class LineRefused(KernelError):
    """A line that a challenge does not take. zh, en: why, and what it takes, for the student; str() is the English one."""

    def __init__(self, zh: str, en: str):
        self.zh, self.en = zh, en
        super().__init__(en)


@dataclass(frozen=True)
class Scope:
    """What a line may name. left: what the kernel's own line declares, e.g. "const bool read_c". names: of the kernel's source.
    reserved: names of types and macros, which a line does not declare anew."""

    left: str
    names: frozenset[str]
    reserved: frozenset[str] = frozenset()

    @property
    def target(self) -> str:
        return self.left.split()[-1] if self.left else ""

    @property
    def types(self) -> frozenset[str]:
        return ARITHMETIC | {"auto"} | set(re.findall(r"\w+", self.left)[:-1]) - QUALIFIERS


@dataclass(frozen=True)
class Token:
    text: str
    kind: str  # name, number or sign
    start: int
    end: int


class Reader:
    """Recursive descent over the grammar. Methods of expressions return whether what they read may be assigned to."""

    def __init__(self, found: list[Token], scope: Scope):
        self.found, self.at, self.scope = found, 0, scope
        self.types = scope.types
        self.own: list[set[str]] = [set()]  # names that the line declares, a block each
        self.depth = self.unevaluated = 0

    # -- tokens
    @property
    def now(self) -> str:
        return self.found[self.at].text if self.at < len(self.found) else ""

    @property
    def kind(self) -> str:
        return self.found[self.at].kind if self.at < len(self.found) else ""

    def ahead(self, n: int = 1) -> str:
        return self.found[self.at + n].text if self.at + n < len(self.found) else ""

    def take(self, *wanted: str) -> str:
        """Go past one of these; "" where none is next."""
        text = self.now
        if text and (not wanted or text in wanted):
            self.at += 1
            return text
        return ""

    def need(self, wanted: str) -> None:
        if not self.take(wanted):
            self.missing(f"`{wanted}`", f"`{wanted}`")

    def missing(self, zh: str, en: str) -> None:
        where_zh, where_en = (f"在 `{self.now}` 处", f"before `{self.now}`") if self.now else ("在末尾", "at the end")
        raise LineRefused(f"没有编译通过：{where_zh}缺少{zh}。", f"It does not compile: {en} is missing {where_en}.")

    def deeper(self):
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise LineRefused("这一行嵌套太深。", "The line is nested too deeply.")

    # -- statements
    def read(self) -> None:
        while self.now:
            self.statement()

    def statement(self) -> None:
        self.deeper()
        if self.take("{"):
            self.own.append(set())
            while self.now and self.now != "}":
                self.statement()
            self.own.pop()
            self.need("}")
        elif self.take("if"):
            self.take("constexpr")
            self.need("(")
            self.expression()
            self.need(")")
            self.branch()
            if self.take("else"):
                self.branch()
        elif self.take("enum"):
            self.enumeration()
            self.need(";")
        elif self.now in QUALIFIERS or (self.now in self.types and self.ahead() not in ("(", "{")):
            self.declaration()
            self.need(";")
        elif not self.take(";"):
            if self.now == "}":
                raise LineRefused("这一行的括号多闭合了一个。", "The line closes a bracket that it did not open.")
            self.expression()
            self.need(";")
        self.depth -= 1

    def branch(self) -> None:
        self.own.append(set())
        self.statement()
        self.own.pop()

    def declaration(self) -> None:
        deduced = "auto" in self.type()
        while True:
            self.new_name(deduced)
            if self.take("="):
                self.initialiser()
            elif self.now == "{":
                self.braces()
            elif self.take("("):
                self.expression()
                self.need(")")
            if not self.take(","):
                return

    def type(self) -> list[str]:
        words = []
        while self.now in QUALIFIERS or self.now in self.types:
            words.append(self.take())
        if not set(words) - QUALIFIERS:
            self.missing("类型", "a type")
        if self.now in ("*", "&", "&&"):
            raise LineRefused(
                "这一行不能声明指针或引用：它只需要数值。",
                "The line may declare no pointer and no reference: it needs only values.",
            )
        return words

    def new_name(self, deduced: bool = False) -> None:
        name = self.now
        if self.kind != "name" or name in KEYWORDS:
            self.missing("变量名", "a variable's name")
        if name != self.scope.target and (
            name.startswith("_") or "__" in name or name in self.scope.reserved or name in FUNCTIONS
        ):
            raise LineRefused(
                f"名字 {name} 已有别的用途，请给变量换一个名字。",
                f"The name {name} is taken: give the variable another one.",
            )
        if (
            deduced and name in self.scope.names and name != self.scope.target
        ):  # a pointer of the kernel's could go by another's name
            raise LineRefused(
                f"{name} 是 kernel 里已有的名字：声明它时请写出类型，不要用 auto。",
                f"The kernel has the name {name}: declare it with its type and not with auto.",
            )
        self.take()
        self.own[-1].add(name)
        if self.now == "[":
            raise LineRefused("这一行不能声明数组。", "The line may declare no array.")

    def enumeration(self) -> None:
        if self.kind == "name":
            self.new_name()
        self.need("{")
        while self.now and self.now != "}":
            self.new_name()
            if self.take("="):
                self.assignment()
            if not self.take(","):
                break
        self.need("}")

    # -- expressions
    def initialiser(self) -> None:
        if self.now == "{":
            self.braces()
        else:
            self.assignment()

    def braces(self) -> None:
        self.deeper()
        self.need("{")
        while self.now and self.now != "}":
            if self.take("."):
                self.member()
                self.need("=")
            self.initialiser()
            if not self.take(","):
                break
        self.need("}")
        self.depth -= 1

    def expression(self) -> bool:
        assignable = self.assignment()
        while self.take(","):
            assignable = self.assignment()
        return assignable

    def assignment(self) -> bool:
        self.deeper()
        assignable = self.binary(0)
        if self.take("?"):
            self.expression()
            self.need(":")
            self.assignment()
            assignable = False
        elif self.now in _ASSIGNS:
            self.writes(assignable)
            self.take()
            self.initialiser()
            assignable = False
        self.depth -= 1
        return assignable

    def binary(self, level: int) -> bool:
        assignable = self.unary()
        while self.kind == "sign" and _BINARY.get(self.now, -1) >= level:
            self.binary(_BINARY[self.take()] + 1)
            assignable = False
        return assignable

    def unary(self) -> bool:
        self.deeper()
        assignable = self._unary()
        self.depth -= 1
        return assignable

    def _unary(self) -> bool:
        if self.now in ("*", "&", "&&"):
            self.refuse_address()
        if self.take("+", "-", "!", "~"):
            self.unary()
            return False
        if self.now in ("++", "--"):
            self.take()
            self.writes(self.unary())
            return False
        if self.take("sizeof"):
            self.unevaluated += 1
            if self.now == "(" and (self.ahead() in self.types or self.ahead() in QUALIFIERS):
                self.take()
                self.type()
                self.need(")")
            else:
                self.unary()
            self.unevaluated -= 1
            return False
        if self.now == "(" and (
            self.ahead() in QUALIFIERS or (self.ahead() in self.types and self.ahead(2) not in ("(", "{"))
        ):
            self.take()
            self.type()
            self.need(")")
            self.unary()
            return False
        return self.postfix()

    def postfix(self) -> bool:
        assignable = self.primary()
        while True:
            if self.take("."):
                self.member()
            elif self.now in ("++", "--"):
                self.writes(assignable)
                self.take()
                assignable = False
            elif self.now == "[":
                if not self.unevaluated:
                    raise LineRefused(
                        "这一行不能用 [ ] 读写内存（sizeof 里除外）：它只需要数值。",
                        "The line may not read or write memory with [ ] (but in sizeof): it needs only values.",
                    )
                self.take()
                self.expression()
                self.need("]")
                assignable = False
            elif self.now == "(":
                raise LineRefused(*_what_it_may_call(self.found[self.at - 1].text))
            elif self.now == "->":
                self.refuse_address()
            else:
                return assignable

    def primary(self) -> bool:
        text = self.now
        if self.kind == "number":
            _bounded(text)
            self.take()
            return False
        if self.take("("):
            assignable = self.expression()
            self.need(")")
            return assignable
        if text == "[":
            raise LineRefused(
                "这一行不能写 lambda，也不能用属性 [[ ]]。", "The line may hold no lambda and no attribute [[ ]]."
            )
        if self.kind != "name":
            self.missing("一个值", "a value")
        if text in _CONTROL:
            raise LineRefused(
                f"这一行不能用 {text}：可以用声明、赋值、if 和表达式。",
                f"The line may not use {text}: it takes declarations, assignments, if and expressions.",
            )
        if self.take("true", "false", "nullptr"):
            return False
        if self.take("static_cast"):
            self.need("<")
            self.type()
            self.need(">")
            self.parentheses()
            return False
        if text in self.types and text != "auto":
            self.take()
            if self.now == "{":
                self.braces()
            else:
                self.parentheses()
            return False
        if text in FUNCTIONS:
            self.take()
            self.call()
            return False
        if any(text in names for names in self.own):
            self.take()
            return True
        if text in KEYWORDS or not (text in self.scope.names or text in BUILT_IN or text == self.scope.target):
            raise LineRefused(*(_what_it_may_call(text) if self.ahead() == "(" else _what_it_may_name(text)))
        self.take()
        return False

    def call(self) -> None:
        if self.now == "<":  # swizzled_offset<128>(...)
            self.take()
            self.primary()
            self.need(">")
        self.need("(")
        while self.now and self.now != ")":
            self.assignment()
            if not self.take(","):
                break
        self.need(")")

    def parentheses(self) -> None:
        self.need("(")
        if self.now != ")":
            self.expression()
        self.need(")")

    def member(self) -> None:
        if self.kind != "name" or self.now in KEYWORDS:
            self.missing("成员名", "a member's name")
        if self.now not in self.scope.names | BUILT_IN:
            raise LineRefused(*_what_it_may_name(self.now))
        self.take()

    def writes(self, assignable: bool) -> None:
        if not assignable:
            raise LineRefused(
                "这一行只能给它自己声明的变量赋值。", "The line may assign only to variables that it declares itself."
            )

    def refuse_address(self) -> None:
        raise LineRefused(
            f"这里不能用 `{self.now}`：这一行不取地址，也不用指针。",
            f"`{self.now}` is not taken here: the line takes no address and uses no pointer.",
        )


def _what_it_may_name(name: str) -> tuple[str, str]:
    return (
        f"这一行用到了 {name}，而可以用的名字只有：这个 kernel 源码里的变量和常量、这一行自己声明的变量、算术类型，以及 {_listed()} 这些函数。",
        f"The line uses {name}. It may use variables and constants of this kernel's source, variables that it declares itself, arithmetic types, and the functions {_listed()}.",
    )


def _what_it_may_call(name: str) -> tuple[str, str]:
    return (
        f"这一行不能调用 {name}。可以调用的函数：{_listed()}。",
        f"The line may not call {name}. It may call {_listed()}.",
    )


def _listed() -> str:
    return ", ".join(sorted(FUNCTIONS, key=lambda name: (name.startswith("_"), name)))


def _bounded(text: str) -> None:
    digits = text.replace("'", "").lower()
    whole = re.fullmatch(r"(0x[0-9a-f]+|0b[01]+|\d+)[ul]*", digits)
    if whole and int(whole[1], 0 if whole[1][:2] in ("0x", "0b") else 10) > MAX_INTEGER or len(text) > 30:
        raise LineRefused(
            f"数字 {text} 太大：整数最多 32 位。",
            f"The number {text} is too large: whole numbers have at most 32 bits.",
        )
