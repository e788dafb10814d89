/* speedscope: what the format can do, and what its files look like. */
#include "formats/speedscope/speedscope.h"

/*
 * Files name the schema; the few that do not have a table of frames, and profiles of the two types.
 */
static int ss_probe(const unsigned char *p, size_t n, bool whole, const char **reason)
{
    (void)whole;
    *reason = "JSON that names speedscope's schema";
    if (!sp_begins_json_object(p, n))
        return 0;
    if (memmem(p, n, "speedscope.app/file-format-schema", 33))
        return 98;
    *reason = "JSON with a table of frames and profiles as speedscope has them";
    bool table = memmem(p, n, "\"shared\"", 8) && memmem(p, n, "\"frames\"", 8);
    bool profile = memmem(p, n, "\"sampled\"", 9) || memmem(p, n, "\"evented\"", 9);
    return table && profile && memmem(p, n, "\"profiles\"", 10) ? 80 : 0;
}

const struct spaa_format spaa_format_speedscope = {
    .name = "speedscope",
    .title = "speedscope (also of py-spy)",
    .extensions = "speedscope.json speedscope",
    .media_type = "application/json",
    .comes_back = "the same stacks and sums by thread; evented profiles as sampled ones",
    .caps = SP_CAN_READ | SP_CAN_WRITE,
    .probe = ss_probe,
    .read = sp_ss_read,
    .write = sp_ss_write,
};
