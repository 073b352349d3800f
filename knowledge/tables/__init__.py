"""Every table, declared once. `migrations/` builds the same schema; a test compares the two.

Tables with document text (or with text asked and answered under somebody's rights) have row-level security.
"""

from knowledge.tables.conversation import answers as answers
from knowledge.tables.conversation import facts as facts
from knowledge.tables.conversation import inbox as inbox
from knowledge.tables.conversation import replies as replies
from knowledge.tables.conversation import votes as votes
from knowledge.tables.corpus import TERM_SPACE as TERM_SPACE
from knowledge.tables.corpus import acls as acls
from knowledge.tables.corpus import chunk_terms as chunk_terms
from knowledge.tables.corpus import chunk_tokens as chunk_tokens
from knowledge.tables.corpus import chunk_vectors as chunk_vectors
from knowledge.tables.corpus import chunks as chunks
from knowledge.tables.corpus import documents as documents
from knowledge.tables.corpus import generations as generations
from knowledge.tables.corpus import removed_sources as removed_sources
from knowledge.tables.corpus import sources as sources
from knowledge.tables.corpus import term_counts as term_counts
from knowledge.tables.declaration import metadata as metadata
from knowledge.tables.operation import buckets as buckets
from knowledge.tables.operation import eval_results as eval_results
from knowledge.tables.operation import eval_runs as eval_runs
from knowledge.tables.operation import gold_cases as gold_cases
from knowledge.tables.operation import job_runs as job_runs
from knowledge.tables.row_security import READER as READER
from knowledge.tables.row_security import ROW_SECURITY as ROW_SECURITY
from knowledge.tables.row_security import WRITER_POLICY as WRITER_POLICY
