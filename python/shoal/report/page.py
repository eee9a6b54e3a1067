"""Pages from templates."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from shoal.report.explore import script


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("shoal.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["inline_svg"] = inline_svg
    environment.filters["inline_json"] = inline_json
    environment.filters["code"] = code
    return environment


def render(template: str, **values: object) -> str:
    """Fill a template of this package, with the script of interactive plots if the page has one to explore."""
    checksum = base64.b64encode(hashlib.sha256(script().encode()).digest()).decode()
    page = _environment().get_template(template).render(script_checksum=checksum, **values)
    # What users write is escaped, so that only the template's own element looks like this.
    if '<details class="explore"' not in page:
        return page
    head, tail = page.rsplit("</body>", 1)
    return f"{head}<script>{script()}</script>\n</body>{tail}"


def code(text: object) -> Markup:
    """Text whose parts between backticks are code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))  # noqa: S704  (escaped before)


def inline_json(value: object) -> Markup:
    """JSON that can stand in a script element: nothing in it looks like its end."""
    return Markup(json.dumps(value, separators=(",", ":")).replace("<", "\\u003c"))  # noqa: S704  (escaped here)


def inline_svg(svg: str, prefix: str, description: str) -> Markup:
    """SVG that can stand in a page with others: no prologue, its own names, its natural width, and itself in words."""
    body = svg[svg.index("<svg") :]
    body = re.sub(r"<metadata>.*?</metadata>\s*", "", body, flags=re.S)
    body = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}-\1"', body)
    body = re.sub(r'href="#([^"]+)"', rf'href="#{prefix}-\1"', body)
    body = re.sub(r"url\(#([^)]+)\)", rf"url(#{prefix}-\1)", body)
    # Matplotlib writes width and height in points; the view box keeps the proportions.
    body = re.sub(r'<svg([^>]*?) height="[^"]*"', r"<svg\1", body, count=1)
    body = re.sub(r'<svg([^>]*?) width="([^"]*)"', r'<svg\1 style="width:\2"', body, count=1)
    body = body.replace("<svg", f'<svg role="img" aria-label="{escape(description)}"', 1)
    return Markup(body)  # noqa: S704  (made by matplotlib from our own data, text as paths; the description is escaped)
