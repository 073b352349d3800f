"""Which rows of the tables with text a transaction may see. See `db.Database` for how it says what it may read."""

from collections.abc import Mapping

READER = "footnote_reader"
"""The role that reads document text: it owns nothing, and row-level security is forced for owners too."""

_by_acl = "acl_id in (select unnest(nullif(current_setting('footnote.acl_ids', true), '')::int[]))"
_by_scopes = "scopes <> '{}' and scopes <@ nullif(current_setting('footnote.scopes', true), '')::text[]"

ROW_SECURITY: Mapping[str, str] = {
    "documents": _by_acl,
    "chunks": _by_acl,
    "chunk_vectors": _by_acl,
    "chunk_tokens": _by_acl,
    "answers": _by_scopes,
    "gold_cases": _by_scopes,
    "eval_results": _by_scopes,
}
"""Table -> which rows the reader role sees, from the settings of the running transaction. Unset settings see nothing.

`chunk_terms` holds hashed terms only and is left out: its `terms &&` index cannot be used below a policy, because the
operator is not leakproof (measured: 7 -> 71 ms at 100,000 chunks). What it returns is ids, whose text is behind the wall.
"""

WRITER_POLICY = "current_setting('footnote.writing', true) = 'on'"
"""For the owner alone, who works on those tables only inside a transaction that says it writes."""
