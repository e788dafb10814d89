/* What all parts of the reader use: strings of the table, members as JSON, and fields read where they stand.
 */
#include "formats/pprof/pprof.h"

void sp_pprof_put_hex(struct sp_buf *b, const void *bytes, size_t n)
{
    static const char hex[] = "0123456789abcdef";
    const unsigned char *p = bytes;
    sp_buf_puts(b, "\"hex\":\"");
    for (size_t i = 0; i < n; i++) {
        sp_buf_ch(b, hex[p[i] >> 4]);
        sp_buf_ch(b, hex[p[i] & 15]);
    }
    sp_buf_puts(b, "\"}");
}

uint64_t sp_pprof_id_hash(uint64_t id)
{
    return sp_hash_mix(id, 7);
}

uint32_t sp_pprof_find_in_map(const struct sp_pprof_ids *ids, uint64_t id)
{
    struct sp_probe at = sp_map_probe(&ids->map, sp_pprof_id_hash(id));
    for (uint32_t i; (i = sp_map_next(&ids->map, &at)) != SP_MAP_NONE;)
        if (ids->ids[i] == id)
            return i;
    return SP_NONE;
}

void sp_pprof_json(struct sp_buf *b, struct sp_str s)
{
    if (sp_utf8_prefix(s.p, s.n) == s.n) {
        sp_json_string(b, s.p, s.n);
    } else {
        sp_buf_ch(b, '{');
        sp_pprof_put_hex(b, s.p, s.n);
    }
}

bool sp_pprof_read(struct sp_pprof *pp, const struct sp_pprof_fields *fields, struct sp_str message,
                   void *out)
{
    struct sp_pprof_decoder d = sp_pprof_decoder_of(message.p, message.n);
    while (sp_pprof_decode(&d, fields, out)) {
        pp->odd++;
        pp->findings++;
    }
    if (d.error) {
        pp->findings++;
        sp_emit(pp->d, SP_L720, sp_pprof_at(pp, d.at), "in a %s: %s", sp_pprof_message_name(fields), d.error);
    }
    return !d.nomem;
}

uint32_t sp_pprof_str(struct sp_pprof *pp, uint64_t i)
{
    struct sp_str s = sp_pprof_text(pp, i);
    if (i >= pp->file.strings.n)
        return sp_profile_str(pp->p, s.p, s.n);
    if (!pp->strings[i])
        pp->strings[i] = sp_profile_str(pp->p, s.p, s.n);
    return pp->strings[i];
}

struct sp_str sp_pprof_text(struct sp_pprof *pp, uint64_t i)
{
    if (i < pp->file.strings.n)
        return pp->file.strings.v[i];
    if (i) {
        pp->findings++;
        sp_emit(pp->d, SP_L722, SP_AT_NOTHING, "string %llu of %zu", (unsigned long long)i,
                pp->file.strings.n);
    }
    return (struct sp_str){"", 0};
}
