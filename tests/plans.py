"""The plan that the database makes for a statement."""

import sqlalchemy as sa


def explain(connection: sa.Connection, statement: sa.Select[*tuple[object, ...]]) -> str:
    compiled = statement.compile(connection)
    rows = connection.exec_driver_sql("explain " + str(compiled), _driver_parameters(compiled))
    return "\n".join(row[0] for row in rows)


def _driver_parameters(compiled: sa.Compiled) -> dict[str, object]:
    parameters = dict(compiled.params)
    processors = compiled._bind_processors  # type: ignore[attr-defined]  # what execute() itself applies
    return {name: processors[name](value) if name in processors else value for name, value in parameters.items()}
