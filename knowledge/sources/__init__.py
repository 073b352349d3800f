"""Where documents come from. Every source says what there is (`list`) and hands over one document's bytes (`read`)."""

from knowledge.sources.opening import open_source as open_source
from knowledge.sources.source import Listed as Listed
from knowledge.sources.source import Source as Source
