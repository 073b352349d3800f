"""The company fixtures and the library."""

from tests.company import company, listening, models, own_company
from tests.folder import library

__all__ = ["company", "library", "listening", "models", "own_company"]
