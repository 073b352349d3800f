"""The company fixtures."""

from tests.company import company, listening, models, own_company

__all__ = ["company", "listening", "models", "own_company"]
