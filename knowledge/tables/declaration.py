"""What every table is declared with."""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY

metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

Texts = ARRAY(sa.Text)
Moment = sa.DateTime(timezone=True)
now = sa.func.now()


def created() -> sa.Column[object]:
    return sa.Column("created_at", Moment, nullable=False, server_default=now)
