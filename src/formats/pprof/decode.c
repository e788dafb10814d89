/*
 * Protobuf messages as structs: a table for each says which fields it has, what they are, and where they go.
 *
 * Decoding interprets nothing: ids and numbers of strings stay what they are, and nested messages stay bytes
 * of the input until somebody decodes them. A field of a wire type that its kind cannot have is as good as
 * unknown.
 */
#include "formats/pprof/pprof.h"

enum kind {
    UNKNOWN,
    NUMBER,   /* uint64_t, the last one counts */
    NUMBERS,  /* struct sp_pprof_numbers, each packed with others or alone */
    BYTES,    /* struct sp_str, the last one counts */
    BYTES_OF, /* struct sp_pprof_list */
    COUNTED   /* struct sp_pprof_amount: bytes that are decoded in another pass */
};

struct field {
    enum kind kind;
    uint32_t max; /* of NUMBERS: how many are kept; others are counted as one */
    size_t at;    /* in the struct */
    const struct sp_pprof_fields *message;
};

#define FIELDS 16u
struct sp_pprof_fields {
    const char *name;
    struct field v[FIELDS];
};

#define TO(type, member) .at = offsetof(struct sp_pprof_##type, member)

const struct sp_pprof_fields sp_pprof_value_type_fields = {
    "sample type", {[1] = {NUMBER, TO(value_type, type)}, [2] = {NUMBER, TO(value_type, unit)}}};

const struct sp_pprof_fields sp_pprof_label_fields = {"label",
                                                      {[1] = {NUMBER, TO(label_msg, key)},
                                                       [2] = {NUMBER, TO(label_msg, str)},
                                                       [3] = {NUMBER, TO(label_msg, num)},
                                                       [4] = {NUMBER, TO(label_msg, unit)}}};

const struct sp_pprof_fields sp_pprof_sample_fields = {
    "sample",
    {[1] = {NUMBERS, PPROF_STACK_MAX + 1, TO(sample_msg, locations)},
     [2] = {NUMBERS, PPROF_TYPES_MAX + 1, TO(sample_msg, values)},
     [3] = {BYTES_OF, TO(sample_msg, labels), .message = &sp_pprof_label_fields}}};

const struct sp_pprof_fields sp_pprof_mapping_fields = {"mapping",
                                                        {[1] = {NUMBER, TO(mapping_msg, id)},
                                                         [2] = {NUMBER, TO(mapping_msg, start)},
                                                         [3] = {NUMBER, TO(mapping_msg, limit)},
                                                         [4] = {NUMBER, TO(mapping_msg, offset)},
                                                         [5] = {NUMBER, TO(mapping_msg, file)},
                                                         [6] = {NUMBER, TO(mapping_msg, build_id)},
                                                         [7] = {NUMBER, TO(mapping_msg, has[0])},
                                                         [8] = {NUMBER, TO(mapping_msg, has[1])},
                                                         [9] = {NUMBER, TO(mapping_msg, has[2])},
                                                         [10] = {NUMBER, TO(mapping_msg, has[3])}}};

const struct sp_pprof_fields sp_pprof_line_fields = {"line",
                                                     {[1] = {NUMBER, TO(line_msg, function)},
                                                      [2] = {NUMBER, TO(line_msg, line)},
                                                      [3] = {NUMBER, TO(line_msg, column)}}};

const struct sp_pprof_fields sp_pprof_location_fields = {
    "location",
    {[1] = {NUMBER, TO(location_msg, id)},
     [2] = {NUMBER, TO(location_msg, mapping)},
     [3] = {NUMBER, TO(location_msg, address)},
     [4] = {BYTES_OF, TO(location_msg, lines), .message = &sp_pprof_line_fields},
     [5] = {NUMBER, TO(location_msg, folded)}}};

const struct sp_pprof_fields sp_pprof_function_fields = {"function",
                                                         {[1] = {NUMBER, TO(function_msg, id)},
                                                          [2] = {NUMBER, TO(function_msg, name)},
                                                          [3] = {NUMBER, TO(function_msg, system_name)},
                                                          [4] = {NUMBER, TO(function_msg, file)},
                                                          [5] = {NUMBER, TO(function_msg, start_line)}}};

const struct sp_pprof_fields sp_pprof_profile_fields = {
    "profile",
    {[PPROF_SAMPLE_TYPE] = {BYTES_OF, TO(profile_msg, sample_types), .message = &sp_pprof_value_type_fields},
     [PPROF_SAMPLE] = {COUNTED, TO(profile_msg, samples), .message = &sp_pprof_sample_fields},
     [PPROF_MAPPING] = {BYTES_OF, TO(profile_msg, mappings), .message = &sp_pprof_mapping_fields},
     [PPROF_LOCATION] = {BYTES_OF, TO(profile_msg, locations), .message = &sp_pprof_location_fields},
     [PPROF_FUNCTION] = {BYTES_OF, TO(profile_msg, functions), .message = &sp_pprof_function_fields},
     [PPROF_STRING] = {BYTES_OF, TO(profile_msg, strings)},
     [PPROF_DROP_FRAMES] = {NUMBER, TO(profile_msg, drop_frames)},
     [PPROF_KEEP_FRAMES] = {NUMBER, TO(profile_msg, keep_frames)},
     [PPROF_TIME] = {NUMBER, TO(profile_msg, time)},
     [PPROF_DURATION] = {NUMBER, TO(profile_msg, duration)},
     [PPROF_PERIOD_TYPE] = {BYTES, TO(profile_msg, period_type), .message = &sp_pprof_value_type_fields},
     [PPROF_PERIOD] = {NUMBER, TO(profile_msg, period)},
     [PPROF_COMMENT] = {NUMBERS, SP_NONE, TO(profile_msg, comments)},
     [PPROF_DEFAULT_TYPE] = {NUMBER, TO(profile_msg, default_sample_type)},
     [PPROF_DOC_URL] = {NUMBER, TO(profile_msg, doc_url)}}};

const struct sp_pprof_fields sp_pprof_id_fields = {"id", {[1] = {.kind = NUMBER}}};

const char *sp_pprof_message_name(const struct sp_pprof_fields *fields)
{
    return fields->name;
}

static bool pprof_field_fits(const struct field *to, uint32_t type)
{
    switch (to->kind) {
    case UNKNOWN:
        return false;
    case NUMBER:
        return type == SP_WIRE_VARINT;
    case NUMBERS:
        return type == SP_WIRE_VARINT || type == SP_WIRE_BYTES;
    default:
        return type == SP_WIRE_BYTES;
    }
}

static void pprof_note_damage(struct sp_pprof_decoder *d, const char *error)
{
    if (d->error || !error)
        return;
    d->error = error;
    d->at = d->wire.at;
}

/* Appends up to the field's most of them; damage ends them, but not the message. */
static bool pprof_decode_numbers(struct sp_pprof_decoder *d, struct sp_pprof_numbers *to, size_t max)
{
    const struct sp_wire_field *f = &d->field;
    uint64_t v = f->v;
    if (f->type == SP_WIRE_VARINT)
        return to->n >= max || sp_vec_push(to, v);
    size_t room = f->n < max - to->n ? f->n : max - to->n; /* none takes less than a byte */
    if (!sp_vec_reserve(to, to->n + room))
        return false;
    struct sp_wire numbers = sp_wire_numbers_of(f);
    uint64_t *out = to->v + to->n, *const end = out + room;
    while (sp_wire_number(&numbers, &v))
        if (out < end)
            *out++ = v;
    to->n = (size_t)(out - to->v);
    pprof_note_damage(d, numbers.error);
    return true;
}

bool sp_pprof_decode(struct sp_pprof_decoder *d, const struct sp_pprof_fields *fields, void *out)
{
    const struct sp_wire_field *f = &d->field;
    while (!d->nomem && sp_wire_next(&d->wire, &d->field)) {
        const struct field *field = &fields->v[f->number < FIELDS ? f->number : 0];
        void *to = (char *)out + field->at;
        struct sp_str bytes = {(const char *)f->p, (uint32_t)f->n};
        if (!pprof_field_fits(field, f->type))
            return true;
        switch (field->kind) {
        case NUMBER:
            *(uint64_t *)to = f->v;
            break;
        case NUMBERS:
            d->nomem = !pprof_decode_numbers(d, to, field->max);
            break;
        case BYTES:
            *(struct sp_str *)to = bytes;
            break;
        case BYTES_OF: {
            struct sp_pprof_list *list = to;
            d->nomem = f->n >= UINT32_MAX || list->n >= SP_NONE - 1 || !sp_vec_push(list, bytes);
            break;
        }
        case COUNTED:
            ((struct sp_pprof_amount *)to)->n++;
            ((struct sp_pprof_amount *)to)->bytes += f->n;
            break;
        case UNKNOWN:
            break;
        }
    }
    pprof_note_damage(d, d->wire.error);
    return false;
}

/* Does every field of a nested message look like one of it? */
static bool pprof_message_fits(const struct sp_wire_field *message, const struct sp_pprof_fields *fields)
{
    struct sp_wire w = sp_wire_of(message->p, message->n);
    for (struct sp_wire_field f; sp_wire_next(&w, &f);) {
        if (f.number >= FIELDS || !pprof_field_fits(&fields->v[f.number], f.type))
            return false;
        if (fields->v[f.number].kind == NUMBERS) {
            struct sp_wire numbers = sp_wire_numbers_of(&f);
            for (uint64_t v; sp_wire_number(&numbers, &v);)
                ;
            if (numbers.error)
                return false;
        }
    }
    return !w.error;
}

/*
 * Every field in sight must be one of a profile and look like it; nothing short of a sample type, or of
 * the string table with its empty first string, beside something else is taken as evidence.
 */
int sp_pprof_probe(const unsigned char *p, size_t n, bool whole, const char **reason)
{
    const struct field *const fields = sp_pprof_profile_fields.v;
    struct sp_wire w = sp_wire_of(p, n);
    bool type = false, string = false;
    unsigned others = 0;
    for (struct sp_wire_field f; sp_wire_next(&w, &f);) {
        if (f.number >= FIELDS) {
            if (!type && !others)
                return 0;
            continue; /* a field of a later day */
        }
        if (!pprof_field_fits(&fields[f.number], f.type))
            return 0;
        if (f.number == PPROF_STRING) {
            if (!string && f.n)
                return 0;
            string = true;
        } else if (fields[f.number].message) {
            bool good = pprof_message_fits(&f, fields[f.number].message);
            if ((!good && !(type && others > 1)) || (f.number == PPROF_SAMPLE_TYPE && !f.n && !type))
                return 0;
            type |= f.number == PPROF_SAMPLE_TYPE;
            others += f.number != PPROF_SAMPLE_TYPE;
        }
    }
    if (whole && w.error && w.end - w.at < 2)
        w.error = NULL; /* cut in a tag */
    if (whole && !w.error && !type)
        return 0;
    if (!(type && (others || string)) && !(string && others > 2))
        return 0;
    *reason = "fields of a profile in protobuf";
    return 95;
}
