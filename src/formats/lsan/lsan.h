/*
 * Reports of LeakSanitizer, alone or in AddressSanitizer's output, as gcc and clang print them:
 *
 *     ==4711==ERROR: LeakSanitizer: detected memory leaks
 *
 *     Direct leak of N byte(s) in M object(s) allocated from:
 *         #0 0x55e0b7d93388 in malloc (/srv/app+0xa4388) (BuildId: fe09…)
 *         #1 0x55e0b7dd0589 in make(int) /src/list.cpp:6:89            inlined into the next one
 *         #2 0x55e0b7dd0589 in lose_list() /src/list.cpp:9:65
 *         #3 0x7f6e9e645249  (/lib/libc.so.6+0x27249)                  without symbols
 *
 *     Suppressions used:
 *       count      bytes template
 *           4         48 helper
 *
 *     SUMMARY: AddressSanitizer: N byte(s) leaked in M allocation(s).
 *
 * By compiler-rt/lib/lsan/lsan_common.cpp and sanitizer_stacktrace_printer.cpp of LLVM 19. Indirect leaks are
 * reached through other leaks only. Addresses are within the call, not where it returns to; offsets are
 * addresses as linked, for they count from where the loader moved the file. Only the top leaks are listed
 * with max_leaks=N; the summary counts all. Lines may have anything before them (times of a log) and colours.
 */
#ifndef SP_LSAN_H
#define SP_LSAN_H

#include "formats/format.h"

enum sp_lsan_kind { SP_LSAN_DIRECT, SP_LSAN_INDIRECT };

struct sp_lsan_leak {
    enum sp_lsan_kind kind;
    int64_t bytes, objects;
};
bool sp_lsan_leak(const char *p, size_t n, struct sp_lsan_leak *out);

/* Slices of the line; n 0: not said. */
struct sp_lsan_frame {
    uint64_t address, offset;
    struct sp_str name;
    struct sp_str file;  /* "/src/list.cpp:6", without the column */
    struct sp_str where; /* the whole place, by which inlined functions of one address differ */
    struct sp_str module, build_id;
};
bool sp_lsan_frame(const char *p, size_t n, struct sp_lsan_frame *out);

/* The first line of a report: its process, 0 where it is not said. */
bool sp_lsan_head(const char *p, size_t n, int64_t *pid);
/* The last one. */
bool sp_lsan_summary(const char *p, size_t n, int64_t *bytes, int64_t *objects);
/* "      4         48 helper" */
bool sp_lsan_suppression(const char *p, size_t n, int64_t *count, int64_t *bytes, struct sp_str *name);

int sp_lsan_probe(const unsigned char *p, size_t n, bool whole, const char **reason);

#endif
