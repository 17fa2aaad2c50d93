"""The document's own table in a database beside Tenure's, for pgbench."""

from .clients import HERE
from .process import run

DATABASE = "document"


def _script(bench, name, *arguments):
    run(["psql", *bench.postgres.address, "-X", "-q", "-v", "ON_ERROR_STOP=1", *arguments, "-f",
         HERE / "pgbench" / name, DATABASE])


def fresh_document(bench, keys=0):
    """A new database with the empty table, or with `keys` sessions in it."""
    bench.postgres.fresh_database(DATABASE)
    _script(bench, "tables.sql")
    if keys:
        _script(bench, "fill.sql", "-v", f"keys={keys}")


def rows_of_document(bench):
    return int(bench.postgres.sql("select count(*) from lumel_session", DATABASE))
