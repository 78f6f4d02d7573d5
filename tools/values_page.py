"""`python -m tools.values_page > docs/values.md`: the table of the chart's values, as it is committed."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any, Final

import yaml

from charts.helm import CHART, HERE

Json = dict[str, Any]

INTRODUCTION: Final = """\
# Values of the Helm chart

What `helm install foldline charts/foldline --values FILE` takes, with its defaults. A value that is not listed, or of
another kind, is refused with its name. Names, labels and resources are as in Kubernetes.

| value | default | meaning |
|---|---|---|
"""
EXAMPLE: Final = """
## Workers that are scaled by jobs

With KEDA, this has up to twenty pods for summaries that nobody asked for, and none while there are no such jobs. The
other worker stays, for what somebody asked for and to sweep.

```yaml
workers:
  - name: interactive
    queues: [summarize.interactive, maintenance]
  - name: background
    queues: [summarize.background]
    autoscaling:
      enabled: true
      minReplicas: 0
      maxReplicas: 20
```
"""


def page() -> str:
    """The page: a row for every value, and an example."""
    source = yaml.safe_load((HERE / "schema.yaml").read_text(encoding="utf-8"))
    defaults = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))
    return INTRODUCTION + "".join(_rows(source, defaults, source["shapes"], "")) + EXAMPLE


def _rows(part: Json, defaults: Any, shapes: Json, prefix: str) -> Iterator[str]:
    """The rows of an object's properties; where they are an object's or a list's themselves, then those of theirs."""
    for name, found in part["properties"].items():
        path = f"{prefix}{name}"
        value = defaults.get(name) if isinstance(defaults, dict) else None
        shaped = {**shapes.get(found.get("shape"), {}), **found}
        inner = shaped.get("items", shaped)
        has_rows = "properties" in inner
        default = "" if has_rows and isinstance(value, dict) else _shown(value)
        yield f"| `{path}` | {default} | {_meaning(shaped, inner)} |\n"
        if has_rows:
            yield from _rows(inner, value, shapes, f"{path}[]." if "items" in shaped else f"{path}.")


def _shown(default: Any) -> str:
    """A default as it would be written in a line of YAML; nothing, where there is none."""
    return "" if default in (None, "", [], {}) else f"`{json.dumps(default, ensure_ascii=False)}`"


def _meaning(found: Json, inner: Json) -> str:
    words = [found["description"]]
    if values := found.get("enum"):
        words.append(f"One of {', '.join(f'`{value}`' for value in values)}.")
    if extended := inner.get("extends"):
        words.append(f"Takes what `{extended}` takes, too.")
    return " ".join(words).replace("|", "\\|")


if __name__ == "__main__":
    sys.stdout.write(page())
