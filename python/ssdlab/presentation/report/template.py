"""HTML from Jinja2 templates in the folders of the calling packages. All values are escaped, except Markup."""

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup


def render(package: str, name: str, /, **values: object) -> Markup:
    """Renders the template `name` in the folder `templates` of a package with these values."""
    return Markup(_template(package, name).render(**values))


@cache
def _template(package: str, name: str) -> Template:
    loader = PackageLoader(package, "templates")
    return Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    ).get_template(name)
