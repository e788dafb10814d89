/* header: one row, what the profile says of itself. */
#include "sql/internal.h"

enum {
    ID,
    SOURCE_TOOL,
    VERSION,
    FRAME_ORDER,
    STACK_ID_MODE,
    TOOL,
    COMMAND,
    TOOL_VERSION,
    TIME_START,
    TIME_END,
    TIME_UNIT,
    FRAMES,
    GROUP_BY,
    CLOCK,
    DURATION,
    HOST_NAME,
    HOST_OS,
    HOST_ARCH,
    HOST_CPUS,
    LOST,
    TRUNCATED,
    UNFINISHED,
    THROTTLED_NS,
    EXTRA_JSON
};

static const struct sql_column columns[] = {
    {"id", SQL_INTEGER, SQL_ASCENDING, 1, "0: there is one row"},
    {"source_tool", SQL_TEXT, 0, 0, "perf, dtrace, …"},
    {"version", SQL_TEXT, 0, 0, "of SPAA"},
    {"frame_order", SQL_TEXT, 0, 0,
     "leaf_to_root or root_to_leaf, in the file; the tables here do not depend on it"},
    {"stack_id_mode", SQL_TEXT, 0, 0, "content_addressable or local"},
    {"tool", SQL_TEXT, 0, 0, "the profiler"},
    {"command", SQL_TEXT, 0, 0, "what it was called with"},
    {"tool_version", SQL_TEXT, 0, 0, "its version"},
    {"time_start", SQL_NUMERIC, 0, 0, "start of the profile, in time_unit"},
    {"time_end", SQL_NUMERIC, 0, 0, "its end"},
    {"time_unit", SQL_TEXT, 0, 0, "seconds, …"},
    {"frames", SQL_TEXT, 0, 0, "what makes two frames one: address, line, function"},
    {"group_by", SQL_TEXT, 0, 0, "what splits a call stack into records, by commas"},
    {"clock", SQL_TEXT, 0, 0, "the clock of times"},
    {"duration", SQL_NUMERIC, 0, 0, "seconds"},
    {"host_name", SQL_TEXT, 0, 0, "the machine"},
    {"host_os", SQL_TEXT, 0, 0, "its system"},
    {"host_arch", SQL_TEXT, 0, 0, "its architecture"},
    {"host_cpus", SQL_NUMERIC, 0, 0, "its processors"},
    {"lost", SQL_INTEGER, 0, 0, "samples that the profiler lost"},
    {"truncated", SQL_INTEGER, 0, 0, "stacks that the profiler cut off"},
    {"unfinished", SQL_INTEGER, 0, 0, "stacks whose callers could not be found to the end"},
    {"throttled_ns", SQL_INTEGER, 0, 0, "for how long events were throttled"},
    {"extra_json", SQL_TEXT, 0, 0, "members that SPAA does not define, as a JSON object"},
    {"more", SQL_TEXT, SQL_OLD, EXTRA_JSON, "extra_json"},
    {0},
};

static int sql_header_rows(struct sql_at *at, uint64_t *n)
{
    (void)at;
    *n = 1;
    return SQLITE_OK;
}

static void sql_header_groups(sqlite3_context *out, unsigned bits)
{
    char t[64] = "";
    size_t n = 0;
    for (unsigned i = 0; sp_group_names[i] && n < sizeof t; i++)
        if (bits >> i & 1)
            n += (size_t)snprintf(t + n, sizeof t - n, "%s%s", n ? "," : "", sp_group_names[i]);
    sql_copy(out, t, n);
}

static void sql_header_counted(sqlite3_context *out, uint64_t v)
{
    sqlite3_result_int64(out, v > INT64_MAX ? INT64_MAX : (sqlite3_int64)v);
}

static int sql_header_value(struct sql_at *at, int column, sqlite3_context *out)
{
    const struct sp_profile *p = at->q->profile;
    const struct sp_header *h = &p->header;
    const uint32_t texts[] = {[SOURCE_TOOL] = h->source_tool,
                              [VERSION] = h->version,
                              [TOOL] = h->tool,
                              [COMMAND] = h->command,
                              [TOOL_VERSION] = h->tool_version,
                              [TIME_UNIT] = h->time_unit,
                              [CLOCK] = h->clock,
                              [HOST_NAME] = h->host.name,
                              [HOST_OS] = h->host.os,
                              [HOST_ARCH] = h->host.arch,
                              [EXTRA_JSON] = 0};
    const uint32_t numbers[] = {[TIME_START] = h->time_start,
                                [TIME_END] = h->time_end,
                                [DURATION] = h->duration,
                                [HOST_CPUS] = h->host.cpus,
                                [EXTRA_JSON] = 0};
    switch (column) {
    case FRAME_ORDER:
        sql_text(out, h->root_first ? "root_to_leaf" : "leaf_to_root");
        break;
    case STACK_ID_MODE:
        sql_text(out, h->ids_local ? "local" : "content_addressable");
        break;
    case TIME_START:
    case TIME_END:
    case DURATION:
    case HOST_CPUS:
        sql_number_text(out, p, numbers[column]);
        break;
    case FRAMES:
        sql_text(out, sp_granularity_names[h->frames]);
        break;
    case GROUP_BY:
        sql_header_groups(out, h->group_by);
        break;
    case LOST:
        sql_header_counted(out, h->lost);
        break;
    case TRUNCATED:
        sql_header_counted(out, h->truncated);
        break;
    case UNFINISHED:
        sql_header_counted(out, h->unfinished);
        break;
    case THROTTLED_NS:
        sql_header_counted(out, h->throttled_ns);
        break;
    case EXTRA_JSON:
        sql_members(out, p, h->extra_json);
        break;
    default:
        sql_str(out, p, texts[column]);
    }
    return SQLITE_OK;
}

const struct sql_table sql_header = {"header",
                                     "one row: what the profile says of itself",
                                     columns,
                                     1,
                                     0,
                                     sql_header_rows,
                                     sql_header_value,
                                     NULL,
                                     NULL,
                                     NULL};
