/*
 * A relay of messages whose memory is known (../truth.py), with each kind of reachability: lost, lost with what
 * led to it, held by its inside only, and held.
 */
#include <libxml/parser.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEEP __attribute__((noinline))

struct node { struct node *next; char text[24]; };

static void *volatile sink;
static char *volatile insides[20];
static void *volatile table;
static char *buffer;
static size_t capacity;

KEEP char *xstrdup(const char *s) {
    char *p = strdup(s);
    if (!p) abort();
    return p;
}
KEEP void read_message(int i) { /* lost: 40 bytes */
    char text[40];
    snprintf(text, sizeof text, "%039d", i);
    sink = xstrdup(text);
}
KEEP void build_list(void) { /* lost: 32 bytes, and 9 times 32 that only they lead to */
    struct node *head = NULL;
    for (int k = 0; k < 10; k++) {
        struct node *n = malloc(sizeof *n);
        if (!n) abort();
        n->next = head;
        head = n;
    }
    sink = head;
}
KEEP void keep_inside(int i) { insides[i] = (char *)malloc(256) + 16; } /* possibly lost: 256 bytes */
KEEP void hold_table(void) { table = calloc(1000, 64); }                /* reachable: 64000 bytes */
KEEP void grow_buffer(size_t need) {                                    /* reachable: 65536 bytes in the end */
    if (!capacity) capacity = 1024;
    while (capacity < need) capacity *= 2;
    buffer = realloc(buffer, capacity);
    memset(buffer, 1, capacity);
}
KEEP void parse_menu(void) { /* a library's document, never freed */
    static const char text[] = "<menu><dish price='7'>soup</dish><dish price='9'>fish</dish></menu>";
    sink = xmlReadMemory(text, sizeof text - 1, "menu.xml", NULL, 0);
}
KEEP int count_rows(void) { /* a library's churn */
    sqlite3 *db;
    int ok = sqlite3_open(":memory:", &db) == SQLITE_OK && sqlite3_exec(db, "create table t(a); insert into t values(1)", 0, 0, 0) == SQLITE_OK;
    sqlite3_close(db);
    return ok;
}
KEEP void sort_all(void) { /* the peak: 2 MiB for a moment */
    char *p = malloc(2 << 20);
    memset(p, 2, 2 << 20);
    sink = p;
    free(p);
}
static void *listen_all(void *arg) { /* lost in a thread: 100 times 72 bytes */
    for (int i = 0; i < 100; i++) sink = malloc(72);
    return arg;
}

int main(void) {
    pthread_t t;
    hold_table();
    pthread_create(&t, NULL, listen_all, NULL);
    pthread_join(t, NULL);
    for (int i = 0; i < 1000; i++) {
        read_message(i);
        if (i % 20 == 0) build_list();
        if (i % 50 == 0) keep_inside(i / 50);
        if (i % 10 == 0) grow_buffer((size_t)i * 66 + 1);
        if (i % 200 == 0) parse_menu();
        if (i % 250 == 0) count_rows();
        if (i == 600) sort_all();
        if (i % 10 == 0) usleep(5000);
    }
    sink = NULL;
    return 0;
}
