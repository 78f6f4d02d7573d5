"""`python -m tools.values_page > docs/values.md`: the page on the chart's values."""

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

Write the values that you change to a file, and install the chart with it:

```console
$ helm install foldline charts/foldline --values values.yaml
```

Helm refuses a value that is not listed here, or that has another type, and names it. Names, labels and resources are
written as in Kubernetes. [operate.md](operate.md#on-kubernetes) describes the installation.

## Example: workers that are scaled by jobs

KEDA runs up to twenty pods for summaries that no caller requested, and none while there are no such jobs. The other
worker always runs: it writes the summaries that callers request, and sweeps.

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

## All values

`list[].name` is a field of each item of the list.

| value | default | meaning |
|---|---|---|
"""


def page() -> str:
    """The page: an example, and a row for every value."""
    source = yaml.safe_load((HERE / "schema.yaml").read_text(encoding="utf-8"))
    defaults = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))
    return INTRODUCTION + "".join(_rows(source, defaults, source["shapes"], ""))


def _rows(part: Json, defaults: Any, shapes: Json, prefix: str) -> Iterator[str]:
    """A row for each property of an object, followed by the rows of the properties that it has itself."""
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
    """A default as one would write it in a line of YAML; empty for none."""
    return "" if default in (None, "", [], {}) else f"`{json.dumps(default, ensure_ascii=False)}`"


def _meaning(found: Json, inner: Json) -> str:
    words = [found["description"]]
    if values := found.get("enum"):
        words.append(f"One of {', '.join(f'`{value}`' for value in values)}.")
    if extended := inner.get("extends"):
        words.append(f"Also takes the values of `{extended}`.")
    return " ".join(words).replace("|", "\\|")


if __name__ == "__main__":
    sys.stdout.write(page())
