"""claims.yml of a lesson or another page's folder, as a schema.

    claims:
      copy_rate:                                # on the page: {{< var lesson01.copy_rate >}}
        says: {zh: "设备拷贝的带宽", en: "bandwidth of the device copy"}
        receipt: figures/data/lesson01_roofline.json
        value: "points[?kind=='copy'].gbps | [0]"   # JMESPath into that file; one number
        scale: 0.001                            # optional factor
        show: "{:.2f} TB/s"

`receipt` names a measured file, `source` says what was read (then `value` is the number), `compute` is arithmetic over other
claims: by id those of the same file, as lesson01.copy_rate those of another.

`causes`, beside `claims`, lists the sentences that explain a figure and what decides each (autograder/lint/causes.py).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from autograder.errors import CourseError
from autograder.lesson.rubric import Text

FILE = "claims.yml"
_ID = re.compile(r"[a-z0-9_]+")


class Claim(BaseModel):
    """Exactly one of receipt, source and compute. show: Python's format of the value, with its unit where that is the same in both languages."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    says: Text
    receipt: str | None = Field(default=None, min_length=1)
    source: str | None = Field(default=None, min_length=4)
    compute: str | None = Field(default=None, min_length=1)
    value: str | float | int | None = None
    scale: float = 1.0
    show: str

    @field_validator("show")
    @classmethod
    def _formats(cls, show: str) -> str:
        try:
            shown = show.format(1.0)
        except (ValueError, IndexError, KeyError) as e:
            raise ValueError(f"it is no format of one number ({e})") from None
        if shown == show.format(2.0):
            raise ValueError("it does not show the number: write {:.2f} or the like")
        if re.search(r"[\n`$\[\]{}<>|\"]", shown):
            raise ValueError("what it shows holds a line break or a sign of Markdown")
        return show

    @model_validator(mode="after")
    def _one_origin(self):
        given = [k for k in ("receipt", "source", "compute") if getattr(self, k)]
        if len(given) != 1:
            raise ValueError(
                f"it needs exactly one of receipt, source and compute, and has {', '.join(given) or 'none'}"
            )
        if self.receipt and not isinstance(self.value, str):
            raise ValueError("`value` must be a JMESPath into the receipt's file")
        if self.source and (isinstance(self.value, (str, bool)) or self.value is None):
            raise ValueError("`value` must be the number that was read")
        if self.compute and self.value is not None:
            raise ValueError("a computed claim has no `value` of its own")
        return self


class Cause(BaseModel):
    """A causal sentence of the pages, by words of it in each language. how: the experiment, source or arithmetic; what is open if unknown."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    zh: str = Field(min_length=4)
    en: str = Field(min_length=8)
    by: Literal["experiment", "source", "arithmetic", "unknown"]
    how: str = Field(min_length=8)


def read_causes(path: Path) -> tuple[list[Cause], list[CourseError]]:
    """The file's causes, and what is wrong with the others. A file that is no YAML has none here: read_claims says so."""
    try:
        data = YAML(typ="safe").load(path.read_text(encoding="utf-8"))
    except (YAMLError, UnicodeDecodeError):
        return [], []
    entries = data.get("causes") if isinstance(data, dict) else None
    causes, wrong = [], []
    for n, entry in enumerate(entries if isinstance(entries, list) else [], 1):
        try:
            causes.append(Cause.model_validate(entry))
        except ValidationError as e:
            first = e.errors()[0]
            wrong.append(
                CourseError(
                    f"The cause {n} is not right at {'.'.join(map(str, first['loc']))}: {first['msg']}.",
                    where=str(path),
                    remedy="autograder/lint/causes.py shows one.",
                )
            )
    return causes, wrong


def read_claims(path: Path) -> tuple[dict[str, tuple[Claim, int]], list[CourseError]]:
    """({id: (claim, line)}, what is wrong with the others). An entry that is wrong costs only itself."""
    try:
        text = path.read_text(encoding="utf-8")
        data = YAML(typ="safe").load(text)
    except (YAMLError, UnicodeDecodeError) as e:
        mark = getattr(e, "problem_mark", None)
        return {}, [
            CourseError(
                f"The claims are not valid YAML: {getattr(e, 'problem', e)}.",
                where=f"{path}:{mark.line + 1}" if mark else str(path),
                remedy="Mend the YAML; quote a text that holds a colon.",
            )
        ]
    if not isinstance(data, dict) or set(data) - {"causes"} != {"claims"} or not isinstance(data["claims"], dict):
        return {}, [
            CourseError(
                "The file does not hold `claims:` with an entry for each figure.",
                where=str(path),
                remedy="autograder/claims/schema.py shows one.",
            )
        ]
    claims, wrong = {}, []
    for name, entry in data["claims"].items():
        line = line_of(text, str(name))
        try:
            if not _ID.fullmatch(str(name)):
                raise CourseError(
                    f"The claim {name!r} has an id that is not of small letters, digits and underscores.",
                    where=f"{path}:{line}",
                    remedy="Rename it.",
                )
            claims[str(name)] = (Claim.model_validate(entry), line)
        except ValidationError as e:
            first = e.errors()[0]
            field = ".".join(str(x) for x in first["loc"])
            said = first["msg"].removeprefix("Value error, ")
            wrong.append(
                CourseError(
                    f"The claim {name} is not right{f' at {field}' if field else ''}: {said}.",
                    where=f"{path}:{line}",
                    remedy="autograder/claims/schema.py says what an entry holds.",
                )
            )
        except CourseError as e:
            wrong.append(e)
    return claims, wrong


def line_of(text: str, name: str) -> int:
    found = re.search(rf"^[ \t]+[\"']?{re.escape(name)}[\"']?[ \t]*:", text, re.M)
    return text.count("\n", 0, found.start()) + 1 if found else 1
