/*
 * Numbers of the kernel's perf interface and of perf's files, repeated here so that recordings can be read on
 * any system. Sources: include/uapi/linux/perf_event.h, tools/lib/perf/include/perf/event.h.
 */
#ifndef SP_PERF_DATA_NUMBERS_H
#define SP_PERF_DATA_NUMBERS_H

#include <stdint.h>

/* Record types of the kernel, and those that perf itself writes. */
enum {
    PD_MMAP = 1,
    PD_LOST = 2,
    PD_COMM = 3,
    PD_EXIT = 4,
    PD_THROTTLE = 5,
    PD_UNTHROTTLE = 6,
    PD_FORK = 7,
    PD_SAMPLE = 9,
    PD_MMAP2 = 10,
    PD_LOST_SAMPLES = 13,
    PD_SWITCH = 14,
    PD_SWITCH_CPU_WIDE = 15,
    PD_KSYMBOL = 17,
    PD_CGROUP_NAME = 19,
    PD_CALLCHAIN_DEFERRED = 22,
    PD_KERNEL_LAST = 22,
    PD_USER_FIRST = 64,
    PD_HEADER_ATTR = 64,
    PD_EVENT_TYPE = 65,
    PD_TRACING_DATA = 66,
    PD_BUILD_ID = 67,
    PD_AUXTRACE = 71,
    PD_THREAD_MAP = 73,
    PD_EVENT_UPDATE = 78,
    PD_TIME_CONV = 79,
    PD_FEATURE = 80,
    PD_COMPRESSED = 81,
    PD_COMPRESSED2 = 83,
    PD_USER_LAST = 86,
    PD_TYPE_LIMIT = 65536, /* no writer uses types from here on: what looks like one is no record */
};

/* perf_event_header.misc */
enum {
    PD_MISC_MODE = 7,
    PD_MODE_UNKNOWN = 0,
    PD_MODE_KERNEL = 1,
    PD_MODE_USER = 2,
    PD_MODE_HYPERVISOR = 3,
    PD_MODE_GUEST_KERNEL = 4,
    PD_MODE_GUEST_USER = 5,
    PD_MISC_EXEC = 1 << 13,           /* COMM: by exec; FORK: made up by perf, maps follow */
    PD_MISC_DATA = 1 << 13,           /* MMAP, MMAP2: not executable */
    PD_MISC_SWITCH_OUT = 1 << 13,     /* SWITCH, SWITCH_CPU_WIDE: the thread leaves */
    PD_MISC_SWITCH_PREEMPT = 1 << 14, /* the same: it was put off the CPU */
    PD_MISC_BUILD_ID = 1 << 14,       /* MMAP2 carries a build-id instead of the inode */
    PD_MISC_BUILD_ID_SIZE = 1 << 15,
    PD_MISC_LOST_BPF = 1 << 15, /* LOST_SAMPLES: filtered out on purpose */
};

/* perf_event_attr.sample_type */
enum {
    PD_IP = 1 << 0,
    PD_TID = 1 << 1,
    PD_TIME = 1 << 2,
    PD_ADDR = 1 << 3,
    PD_READ = 1 << 4,
    PD_CALLCHAIN = 1 << 5,
    PD_ID = 1 << 6,
    PD_CPU = 1 << 7,
    PD_PERIOD = 1 << 8,
    PD_STREAM_ID = 1 << 9,
    PD_RAW = 1 << 10,
    PD_BRANCH_STACK = 1 << 11,
    PD_REGS_USER = 1 << 12,
    PD_STACK_USER = 1 << 13,
    PD_WEIGHT = 1 << 14,
    PD_DATA_SRC = 1 << 15,
    PD_IDENTIFIER = 1 << 16,
    PD_TRANSACTION = 1 << 17,
    PD_REGS_INTR = 1 << 18,
    PD_PHYS_ADDR = 1 << 19,
    PD_AUX = 1 << 20,
    PD_CGROUP = 1 << 21,
    PD_DATA_PAGE_SIZE = 1 << 22,
    PD_CODE_PAGE_SIZE = 1 << 23,
    PD_WEIGHT_STRUCT = 1 << 24,
};

enum { PD_READ_ENABLED = 1, PD_READ_RUNNING = 2, PD_READ_ID = 4, PD_READ_GROUP = 8, PD_READ_LOST = 16 };
/* perf_event_attr.branch_sample_type */
enum {
    PD_BRANCH_ANY = 1 << 3,
    PD_BRANCH_ANY_CALL = 1 << 4,
    PD_BRANCH_ANY_RETURN = 1 << 5,
    PD_BRANCH_IN_TX = 1 << 8,
    PD_BRANCH_NO_TX = 1 << 9,
    PD_BRANCH_CALL_STACK = 1 << 11,
    PD_BRANCH_TYPE_SAVE = 1 << 16,
    PD_BRANCH_HW_INDEX = 1 << 17,
    PD_BRANCH_COUNTERS = 1 << 19,
};

/* Context markers inside callchains: anything from PD_CONTEXT_MAX on is no address. */
#define PD_CONTEXT_HV            ((uint64_t)-32)
#define PD_CONTEXT_KERNEL        ((uint64_t)-128)
#define PD_CONTEXT_USER          ((uint64_t)-512)
#define PD_CONTEXT_USER_DEFERRED ((uint64_t)-640)
#define PD_CONTEXT_GUEST         ((uint64_t)-2048)
#define PD_CONTEXT_GUEST_KERNEL  ((uint64_t)-2176)
#define PD_CONTEXT_GUEST_USER    ((uint64_t)-2560)
#define PD_CONTEXT_MAX           ((uint64_t)-4095)
/* Ours: the stack goes on, but what was copied of it ends here. The kernel will hardly come down to it. */
#define PD_CONTEXT_TRUNCATED ((uint64_t)-4094)

/* perf_event_attr.type */
enum { PD_HARDWARE, PD_SOFTWARE, PD_TRACEPOINT, PD_HW_CACHE, PD_TYPE_RAW, PD_BREAKPOINT };

#endif
