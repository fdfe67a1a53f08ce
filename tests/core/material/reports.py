"""Reports of small documents."""

from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.core.material.report import describe

NO_SPECULAR = (
    '<input name="specular" type="float" value="0"/><input name="base" type="float" value="1"/>'
)


def report(text, probe=False, **options):
    return describe(parse_document(text, **options), probe=probe)[0]


def fates(text):
    return {part.name: part.fate for part in report(text).parts}
