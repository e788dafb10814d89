/*
 * The dump that Go's runtime prints of its goroutines: /debug/pprof/goroutine?debug=2, a panic, SIGQUIT.
 *
 *     goroutine 18 gp=0xc000 m=nil [chan receive, 5 minutes, locked to thread]:
 *     main.(*store).read(0xc000012345, {0x4b, 0x1})
 *     \t/src/store.go:21 +0x1d fp=0xc0000 sp=0xc0000 pc=0x4a1b2c
 *     internal/sync.(*Mutex).Lock(...)                        inlined into the next one
 *     \t/go/src/internal/sync/mutex.go:70
 *     ...23 frames elided...                                  between the inner 50 frames and the outer 50
 *     created by main.serve in goroutine 1
 *     \t/src/main.go:12 +0x88
 *
 * and a blank line. By runtime/traceback.go of Go 1.26; `...additional frames elided...` and `created by`
 * without a goroutine are of versions before 1.21.
 */
#ifndef SP_GOROUTINES_H
#define SP_GOROUTINES_H

#include "formats/format.h"

/* A header, parsed. Slices of the line. */
struct sp_gor_header {
    int64_t id;
    struct sp_str status; /* "chan receive (nil chan)"; without what follows */
    struct sp_str labels; /* between the braces of labels:{…} */
    struct sp_str more;   /* gp=… m=… */
    int64_t minutes;      /* 0: less than one, or not known */
    int64_t bubble;       /* of testing/synctest; 0: none */
    bool locked;          /* to its thread */
    bool scan, leaked;
};

/* False: it is none. */
bool sp_gor_header(const char *p, size_t n, struct sp_gor_header *out);

/* `main.(*T).f(0x1, {0x2, 0x3})`: the function, and what stands between the last parentheses. */
struct sp_gor_call {
    struct sp_str name, args;
    bool inlined; /* (...) */
};
bool sp_gor_call(const char *p, size_t n, struct sp_gor_call *out);

/* `\t/src/a b.go:21 +0x1d fp=…` without the tab; file n 0: it is none. */
struct sp_gor_place {
    struct sp_str at; /* "/src/a b.go:21" */
    uint64_t offset;
    bool has_offset;
};
bool sp_gor_place(const char *p, size_t n, struct sp_gor_place *out);

/* `created by main.serve in goroutine 1`; *parent is 0 where it is not said. */
bool sp_gor_creator(const char *p, size_t n, struct sp_str *name, int64_t *parent);
/* `...23 frames elided...`, `...additional frames elided...`: how many, -1 where it is not said. */
bool sp_gor_elided(const char *p, size_t n, int64_t *frames);

/* What a status means in the words of all formats: "BLOCKED". A literal. */
const char *sp_gor_state(struct sp_str status);

/*
 * Who named a function: the program, or the compiler: main.serve.gowrap1, which calls what a go or defer
 * statement names, and main.serve.func2.1, which has no name of its own.
 */
enum sp_gor_naming { SP_GOR_WRITTEN, SP_GOR_WRAPPER, SP_GOR_CLOSURE };
enum sp_gor_naming sp_gor_naming(struct sp_str function);
/* "net/http" of "net/http.(*Server).Serve" */
struct sp_str sp_gor_package(struct sp_str function);

int sp_gor_probe(const unsigned char *p, size_t n, bool whole, const char **reason);

#endif
