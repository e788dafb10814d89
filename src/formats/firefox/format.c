/* Profiles of the Firefox Profiler: what the format can do, and what its files look like. */
#include "formats/common/text/json_file.h"
#include "formats/firefox/firefox.h"

int sp_ff_probe(const unsigned char *p, size_t n, bool whole, const char **reason)
{
    (void)whole;
    *reason = "JSON with the version of a processed profile";
    if (!sp_begins_json_object(p, n))
        return 0;
    if (memmem(p, n, "\"preprocessedProfileVersion\"", 28))
        return 97;
    *reason = "JSON with tables of stacks and frames as Firefox has them";
    bool stacks = memmem(p, n, "\"stackTable\"", 12) != NULL,
         frames = memmem(p, n, "\"frameTable\"", 12) != NULL;
    return stacks && frames ? 80 : 0;
}

const struct spaa_format spaa_format_firefox = {
    .name = "firefox",
    .title = "Firefox Profiler, processed profile",
    .extensions = "firefox.json profile.json",
    .media_type = "application/json",
    .comes_back = "stacks and sums by thread; with --samples every sample and its time",
    .caps = SP_CAN_READ | SP_CAN_WRITE,
    .probe = sp_ff_probe,
    .read = sp_ff_read,
    .write = sp_ff_write,
};
