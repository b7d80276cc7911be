"""HTML from Jinja2 templates in the folders of the calling packages. All values are escaped, except Markup.

In texts no line ends between a figure and its unit. What is copied, compared or run is passed through the filter `e`.
"""

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from ssdlab.presentation.report.wording import unbroken


def render(package: str, name: str, /, **values: object) -> Markup:
    """Renders the template `name` in the folder `templates` of a package with these values."""
    return Markup(_template(package, name).render(**values))


@cache
def _template(package: str, name: str) -> Template:
    loader = PackageLoader(package, "templates")
    environment = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: unbroken(value) if type(value) is str else value,
    )
    environment.filters["unbroken"] = unbroken
    return environment.get_template(name)
