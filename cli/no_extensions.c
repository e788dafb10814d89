/*
 * For `make static`: Debian's libsqlite3.a starts full-text search and R-trees in every connection, a
 * twentieth of the program. `query` refuses all statements but SELECT (sql/guard.c), so that nobody can make
 * such tables. These stand in for what would start them (sqlite3BuiltinExtensions in SQLite's main.c).
 */
#include <sqlite3.h>

int sqlite3Fts3Init(sqlite3 *db);
int sqlite3Fts5Init(sqlite3 *db);
int sqlite3RtreeInit(sqlite3 *db);

int sqlite3Fts3Init(sqlite3 *db)
{
    (void)db;
    return SQLITE_OK;
}

int sqlite3Fts5Init(sqlite3 *db)
{
    (void)db;
    return SQLITE_OK;
}

int sqlite3RtreeInit(sqlite3 *db)
{
    (void)db;
    return SQLITE_OK;
}
