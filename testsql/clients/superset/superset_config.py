"""Superset for the test: metadata in SQLite, loopback only, nothing asynchronous."""
import os

SQLALCHEMY_DATABASE_URI = "sqlite:///%s/superset.db" % os.environ["SUPERSET_HOME"]
SECRET_KEY = "a key for tests on loopback only, long enough"
WTF_CSRF_ENABLED = False
TALISMAN_ENABLED = False
RATELIMIT_ENABLED = False
