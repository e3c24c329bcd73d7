"""The session that the tests of Spark have."""

from tests.engines.spark.conftest import session as session
