"""HTML from Jinja2 templates in the folders of their callers. All values are escaped."""

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined, Template


def render(package: str, name: str, /, **values: object) -> str:
    """The template `name` in the folder `templates` of a package, with the values in it."""
    return _template(package, name).render(**values)


@cache
def _template(package: str, name: str) -> Template:
    loader = PackageLoader(package, "templates")
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True).get_template(name)
