"""HTML from Jinja2 templates in the folders of their callers. All values are escaped, but for those that are HTML."""

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup


def render(package: str, name: str, /, **values: object) -> Markup:
    """The template `name` in the folder `templates` of a package, with the values in it."""
    return Markup(_template(package, name).render(**values))


@cache
def _template(package: str, name: str) -> Template:
    loader = PackageLoader(package, "templates")
    return Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    ).get_template(name)
