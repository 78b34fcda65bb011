"""Superset for the test: metadata in SQLite, loopback only, nothing asynchronous."""
import os

import pymysql

# Superset's MySQL code names MySQLdb even where another driver connects.
pymysql.install_as_MySQLdb()

SQLALCHEMY_DATABASE_URI = "sqlite:///%s/superset.db" % os.environ["SUPERSET_HOME"]
SECRET_KEY = "a key for tests on loopback only, long enough"
WTF_CSRF_ENABLED = False
TALISMAN_ENABLED = False
RATELIMIT_ENABLED = False
