/* SQLite with a function of the program's own, from a program with frame pointers. */
#include <sqlite3.h>
#include <stdio.h>
#define F __attribute__((noinline))
volatile long result;
F static long score(long v) {
    for (int i = 0; i < 60; i++) v = (v * 31 + 7) % 100003;
    return v;
}
F static void score_sql(sqlite3_context *c, int n, sqlite3_value **v) {
    (void)n;
    sqlite3_result_int64(c, score(sqlite3_value_int64(v[0])));
}
F static int take_row(void *to, int n, char **values, char **names) {
    (void)names;
    *(long *)to += n + values[0][0];
    return 0;
}
F static void ask(sqlite3 *db, const char *sql) {
    long sum = 0;
    char *error = NULL;
    if (sqlite3_exec(db, sql, take_row, &sum, &error)) fprintf(stderr, "%s\n", error);
    result += sum;
}
F static void insert_all(sqlite3 *db) {
    ask(db, "begin");
    for (int i = 0; i < 3000; i++) {
        char sql[80];
        snprintf(sql, sizeof sql, "insert into t values(%d, 'name %d')", i, i * 7 % 1000);
        ask(db, sql);
    }
    ask(db, "commit");
}
int main(void) {
    sqlite3 *db;
    sqlite3_open(":memory:", &db);
    sqlite3_create_function(db, "score", 1, SQLITE_UTF8, NULL, score_sql, NULL, NULL);
    ask(db, "create table t(id integer, name text)");
    for (int r = 0; r < 90; r++) {
        insert_all(db);
        ask(db, "select name, count(*), sum(score(id)) from t group by name order by 2");
        ask(db, "select max(score(id)) from t where name like '%7%'");
    }
    sqlite3_close(db);
    return 0;
}
