"""The company fixtures."""

from tests.company import company, models, own_company

__all__ = ["company", "models", "own_company"]
