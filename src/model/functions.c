#include "model/functions.h"

#include "base/hash.h"
#include "base/num.h"

#include <string.h>

bool sp_is_no_name(struct sp_str name)
{
    uint64_t address;
    return !name.n || sp_str_is(name, "[unknown]") || sp_str_is(name, "??") ||
           sp_parse_0x(name.p, name.n, &address);
}

/* ---- parts and tiers in names ---- */

static bool functions_ends(struct sp_str s, const char *with)
{
    size_t n = strlen(with);
    return s.n >= n && memcmp(s.p + s.n - n, with, n) == 0;
}

static bool functions_begins(struct sp_str s, const char *with)
{
    size_t n = strlen(with);
    return s.n >= n && memcmp(s.p, with, n) == 0;
}

static bool functions_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

static struct sp_str shorter(struct sp_str s, size_t by)
{
    return (struct sp_str){s.p, s.n - (uint32_t)by};
}

/* Bytes of ".cold" or ".isra.0" at the end; 0: no part. */
static size_t functions_part(struct sp_str s)
{
    static const char *const words[] = {".cold", ".isra",       ".part",   ".constprop", ".lto_priv",
                                        ".llvm", ".localalias", ".__part", ".clone",     NULL};
    struct sp_str at = s;
    while (at.n && functions_hex(at.p[at.n - 1]))
        at.n--;
    bool numbered = at.n && at.n < s.n && at.p[at.n - 1] == '.';
    for (int pass = 0; pass < 2; pass++) {
        struct sp_str rest = pass ? s : shorter(at, 1);
        for (size_t i = 0; (pass || numbered) && words[i]; i++)
            if (functions_ends(rest, words[i]))
                return s.n - rest.n + strlen(words[i]);
    }
    return 0;
}

struct sp_str sp_linkage_whole(struct sp_str linkage)
{
    struct sp_str s = linkage;
    size_t n;
    while (memchr(s.p, '.', s.n) && (n = functions_part(s)) > 0 && n < s.n)
        s.n -= (uint32_t)n;
    return s;
}

/* Bytes of " [clone .isra.0]" or " (.isra.0)" at the end, as demanglers write parts. */
static size_t note_of_part(struct sp_str s)
{
    const char open = functions_ends(s, "]") ? '[' : '(';
    if (!functions_ends(s, "]") && !functions_ends(s, ")"))
        return 0;
    const char *at = s.n > 1 ? memrchr(s.p, open, s.n - 1) : NULL;
    if (!at || at == s.p || at[-1] != ' ')
        return 0;
    struct sp_str in = {at + 1, (uint32_t)(s.p + s.n - at) - 2};
    if (open == '[') {
        if (!functions_begins(in, "clone "))
            return 0;
        in = (struct sp_str){in.p + 6, in.n - 6};
    }
    while (in.n) {
        size_t n = functions_part(in);
        if (!n)
            return 0;
        in.n -= (uint32_t)n;
    }
    return (size_t)(s.p + s.n - at) + 1;
}

/* Bytes of what .NET puts behind a method's name to say how it was compiled: "[OptimizedTier1]". */
static size_t functions_tier(struct sp_str s)
{
    static const char *const tiers[] = {"[Tier0]",
                                        "[Tier1]",
                                        "[MinOptJitted]",
                                        "[Optimized]",
                                        "[QuickJitted]",
                                        "[OptimizedTier1]",
                                        "[OptimizedTier1OSR]",
                                        "[InstrumentedTier]",
                                        "[InstrumentedTierOptimized]",
                                        "[PreJIT]",
                                        "[ReadyToRun]",
                                        NULL};
    for (size_t i = 0; s.n && s.p[s.n - 1] == ']' && tiers[i]; i++)
        if (functions_ends(s, tiers[i]))
            return strlen(tiers[i]);
    return 0;
}

/*
 * Bytes of what V8 puts before the name of a function to say how it was compiled: "LazyCompile:*", "JS:~".
 * One without a name is its place: "JS:* /srv/app.js:3:1".
 */
static size_t mark_of_tier(struct sp_str s)
{
    static const char *const kinds[] = {"LazyCompile:", "Function:", "JS:", NULL};
    for (size_t i = 0; kinds[i]; i++) {
        size_t n = strlen(kinds[i]);
        if (!functions_begins(s, kinds[i]) || s.n <= n + 2 || !strchr("*~^+", s.p[n]))
            continue;
        if (s.p[n + 1] != ' ')
            return n + 1;
        struct sp_str place = {s.p + n + 2, s.n - (uint32_t)n - 2};
        bool known = *place.p == '/' || functions_begins(place, "file:") || functions_begins(place, "node:");
        if (known && !memchr(place.p, ' ', place.n))
            return n + 2;
    }
    return 0;
}

/* Bytes of ".__uniq.123", by which clang makes the linkage names of static functions unique. */
static size_t functions_uniq(struct sp_str s)
{
    static const char word[] = ".__uniq.";
    uint32_t n = s.n;
    while (n && s.p[n - 1] >= '0' && s.p[n - 1] <= '9')
        n--;
    struct sp_str head = {s.p, n};
    return n < s.n && functions_ends(head, word) ? s.n - n + sizeof word - 1 : 0;
}

struct sp_str sp_function_shown(struct sp_str demangled)
{
    struct sp_str s = demangled;
    size_t n = mark_of_tier(s);
    s = (struct sp_str){s.p + n, s.n - (uint32_t)n};
    for (;;) {
        s = sp_linkage_whole(s);
        n = note_of_part(s);
        n = n ? n : functions_tier(s);
        n = n ? n : functions_uniq(s);
        if (!n || n >= s.n)
            return s;
        s.n -= (uint32_t)n;
    }
}

/* ---- what tells functions apart ---- */

static bool is_mangled(struct sp_str s)
{
    return functions_begins(s, "_Z") || functions_begins(s, "_R") || functions_begins(s, "__Z");
}

/* Whether a mangled name may stand for other functions in other files: `_ZL1fv`, `_ZN12_GLOBAL__N_11fEv`. */
static bool says_internal(struct sp_str s)
{
    if (memmem(s.p, s.n, "_GLOBAL__N_", 11))
        return true;
    for (uint32_t i = 2; i + 1 < s.n; i++)
        if (s.p[i] == 'L' && s.p[i + 1] >= '1' && s.p[i + 1] <= '9')
            return true;
    return false;
}

bool sp_linkage_is_hashed(struct sp_str linkage)
{
    static const char hash[] = "17h";
    struct sp_str s = sp_linkage_whole(linkage);
    if (s.n <= 22 || !(functions_begins(s, "_ZN") || functions_begins(s, "__ZN")) || s.p[s.n - 1] != 'E' ||
        memcmp(s.p + s.n - 20, hash, 3) != 0)
        return false;
    uint32_t i = s.n - 17;
    while (i < s.n - 1 && functions_hex(s.p[i]))
        i++;
    return i == s.n - 1;
}

static bool is_of_rust(struct sp_str linkage)
{
    return functions_begins(linkage, "_R") || functions_begins(linkage, "__R") ||
           sp_linkage_is_hashed(linkage);
}

static struct sp_str last_part(struct sp_str path)
{
    const char *slash = path.n ? memrchr(path.p, '/', path.n) : NULL;
    return slash ? (struct sp_str){slash + 1, (uint32_t)(path.p + path.n - slash) - 1} : path;
}

/* The file as far as it tells a function from others: symbols know base names, some formats paths. */
static struct sp_str file_that_tells(const struct sp_profile *p, const struct sp_func_info *x)
{
    struct sp_str file = sp_pstr(p, x->file);
    return x->flags & SP_FUNC_PATH ? file : last_part(file);
}

/*
 * Whether a demangled name shows its parameters: then a mangled name says nothing more. Inlined copies, of
 * which debug information may have no linkage name, agree with the function itself, and so do constructors of
 * one class (C1, C2), which are one function.
 */
static bool shows_parameters(struct sp_str s)
{
    static const char anonymous[] = "(anonymous namespace)", call[] = "operator()";
    for (uint32_t i = 0; i < s.n; i++) {
        if (s.p[i] != '(')
            continue;
        struct sp_str rest = {s.p + i, s.n - i};
        bool is_call = i >= 8 && s.n - i > 1 && memcmp(s.p + i - 8, call, sizeof call - 1) == 0;
        if (!is_call && !functions_begins(rest, anonymous))
            return true;
        i += is_call;
    }
    return false;
}

uint32_t sp_function_tells(struct sp_profile *p, uint32_t name, uint32_t info)
{
    if (!info)
        return SP_STR_NONE;
    const struct sp_func_info *x = &p->func_infos.v[info - 1];
    struct sp_str linkage = sp_linkage_whole(sp_pstr(p, x->linkage)), file = file_that_tells(p, x);
    struct sp_str shown = sp_pstr(p, name);
    bool says_more =
        linkage.n && (functions_uniq(linkage) ||
                      (sp_str_cmp(sp_function_shown(linkage), shown) != 0 &&
                       !(is_mangled(linkage) && shows_parameters(shown)) && !is_of_rust(linkage)));
    bool local = x->flags & SP_FUNC_LOCAL && file.n && (!is_mangled(linkage) || says_internal(linkage));
    struct sp_buf b;
    if (!says_more && !local)
        return SP_STR_NONE;
    sp_buf_init(&b, 0);
    if (says_more)
        sp_buf_add(&b, linkage.p, linkage.n);
    if (local) {
        sp_buf_ch(&b, '@');
        sp_buf_add(&b, file.p, file.n);
    }
    uint32_t text = b.failed ? SP_STR_FAIL : sp_intern(&p->strs, b.data, b.len);
    sp_buf_free(&b);
    return text;
}

static bool has_parts(const struct sp_profile *p, const struct sp_func_info *x)
{
    return sp_linkage_parts(sp_pstr(p, x->linkage)).n > 0;
}

/* Code that was set aside, which may say where it starts itself. Other forms are a function's whole code. */
static bool is_piece(const struct sp_profile *p, const struct sp_func_info *x)
{
    struct sp_str parts = sp_linkage_parts(sp_pstr(p, x->linkage));
    return memmem(parts.p, parts.n, ".cold", 5) || memmem(parts.p, parts.n, ".part", 5) ||
           memmem(parts.p, parts.n, ".__part", 7);
}

/* What says more of a function: where it starts itself, its own linkage name, then its declaration. */
static unsigned says(const struct sp_profile *p, const struct sp_func_info *x)
{
    bool whole = !has_parts(p, x);
    return (x->flags & SP_FUNC_START && !is_piece(p, x) ? 8u : 0) | (whole && x->linkage ? 4u : 0) |
           (x->line ? 2u : 0) | (x->file ? 1u : 0);
}

static int functions_cmp_u64(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

int sp_func_info_cmp(const struct sp_profile *p, uint32_t a, uint32_t b)
{
    if (a == b || !a || !b)
        return (a == 0) - (b == 0);
    const struct sp_func_info *x = &p->func_infos.v[a - 1], *y = &p->func_infos.v[b - 1];
    int c = functions_cmp_u64(says(p, y), says(p, x));
    if (!c)
        c = functions_cmp_u64(x->start, y->start);
    if (!c)
        c = sp_str_cmp(sp_pstr(p, x->linkage), sp_pstr(p, y->linkage));
    if (!c)
        c = sp_str_cmp(sp_pstr(p, x->file), sp_pstr(p, y->file));
    if (!c)
        c = functions_cmp_u64(x->line, y->line);
    return c ? c : functions_cmp_u64(x->flags, y->flags);
}

/* ---- functions of one name that only their starts tell apart ---- */

/* Whether the start tells it from others that are equal otherwise. */
static bool start_counts(const struct sp_profile *p, uint32_t dso, uint32_t info)
{
    const unsigned both = SP_FUNC_START | SP_FUNC_LOCAL;
    const struct sp_func_info *x = info ? &p->func_infos.v[info - 1] : NULL;
    return x && (x->flags & both) == both && p->dsos.v[dso].build_id && !is_piece(p, x);
}

static bool of_one_start(const struct sp_profile *p, uint32_t dso, uint32_t a, uint32_t b)
{
    return a == b || !start_counts(p, dso, a) || !start_counts(p, dso, b) ||
           p->func_infos.v[a - 1].start == p->func_infos.v[b - 1].start;
}

static uint64_t function_hash(const struct sp_function *f)
{
    return sp_hash_mix(f->name, (uint64_t)f->tells << 32 | f->dso);
}

static bool of_one_name(const struct sp_function *a, const struct sp_function *b)
{
    return a->name == b->name && a->dso == b->dso && a->tells == b->tells;
}

bool sp_function_start(const struct sp_profile *p, uint32_t function, uint64_t *start)
{
    const struct sp_function *f = &p->functions.v[function];
    struct sp_probe at = sp_map_probe(&p->function_map, function_hash(f));
    if (!p->twins || !start_counts(p, f->dso, f->info))
        return false;
    *start = p->func_infos.v[f->info - 1].start;
    for (uint32_t i; (i = sp_map_next(&p->function_map, &at)) != SP_MAP_NONE;)
        if (i != function && of_one_name(&p->functions.v[i], f))
            return true;
    return false;
}

static uint64_t start_of(const struct sp_profile *p, uint32_t function)
{
    return p->func_infos.v[p->functions.v[function].info - 1].start;
}

/* Whether both are declared at one place of one file. */
static bool one_declaration(const struct sp_func_info *a, const struct sp_func_info *b)
{
    return a->line && a->line == b->line && a->file == b->file;
}

/*
 * Of the functions that differ from this one in their start only, that which starts where the frame says, as
 * a part does whose function is known, else the first that is declared where the frame says, else that which
 * starts first.
 */
static uint32_t settled_twin(const struct sp_profile *p, uint32_t function, uint32_t info)
{
    const struct sp_function *f = &p->functions.v[function];
    const struct sp_func_info *x = info ? &p->func_infos.v[info - 1] : NULL;
    struct sp_probe at = sp_map_probe(&p->function_map, function_hash(f));
    uint32_t first = function, declared = SP_NONE;
    for (uint32_t i; (i = sp_map_next(&p->function_map, &at)) != SP_MAP_NONE;) {
        if (!of_one_name(&p->functions.v[i], f))
            continue;
        if (x && x->flags & SP_FUNC_START && x->start == start_of(p, i))
            return i;
        if (start_of(p, i) < start_of(p, first))
            first = i;
        if (x && one_declaration(x, &p->func_infos.v[p->functions.v[i].info - 1]) &&
            (declared == SP_NONE || start_of(p, i) < start_of(p, declared)))
            declared = i;
    }
    return declared == SP_NONE ? first : declared;
}

bool sp_functions_settle(struct sp_profile *p)
{
    bool moved = false, by_function = p->header.frames >= SP_FRAMES_FUNCTION;
    for (size_t i = 0; p->twins && i < p->frames.n; i++) {
        struct sp_frame *f = &p->frames.v[i];
        uint32_t dso = p->functions.v[f->function].dso;
        if ((!f->info && by_function) || start_counts(p, dso, f->info) ||
            !start_counts(p, dso, p->functions.v[f->function].info))
            continue;
        uint32_t twin = settled_twin(p, f->function, f->info);
        moved = moved || twin != f->function;
        f->function = twin;
    }
    if (!moved)
        return true;
    sp_map_clear(&p->frame_map);
    for (uint32_t i = 0; i < p->frames.n; i++)
        if (!sp_map_add(&p->frame_map, sp_hash_key(&p->frames.v[i], sizeof *p->frames.v), i))
            return false;
    return true;
}

/* ---- making them ---- */

uint32_t sp_function_intern(struct sp_profile *p, uint32_t name, uint32_t dso)
{
    return sp_function_known(p, name, dso, 0);
}

uint32_t sp_function_known(struct sp_profile *p, uint32_t name, uint32_t dso, uint32_t info)
{
    struct sp_function key = {name, dso, sp_function_tells(p, name, info), info};
    if (key.tells == SP_STR_FAIL)
        return SP_NONE;
    struct sp_probe at = sp_map_probe(&p->function_map, function_hash(&key));
    bool twin = false;
    for (uint32_t i; (i = sp_map_next(&p->function_map, &at)) != SP_MAP_NONE;) {
        struct sp_function *f = &p->functions.v[i];
        if (!of_one_name(f, &key))
            continue;
        if (f->info != info && !of_one_start(p, dso, f->info, info)) {
            twin = true;
            continue;
        }
        if (f->info != info && sp_func_info_cmp(p, info, f->info) < 0)
            f->info = info;
        return i;
    }
    uint32_t n = (uint32_t)p->functions.n;
    if (p->functions.n >= SP_NONE - 1 || !sp_vec_reserve(&p->functions, p->functions.n + 1) ||
        !sp_map_add_at(&p->function_map, &at, n))
        return SP_NONE;
    p->twins = p->twins || twin;
    p->functions.v[p->functions.n++] = key;
    return n;
}

uint32_t sp_func_info_intern(struct sp_profile *p, const struct sp_func_info *info)
{
    static const struct sp_func_info nothing;
    if (memcmp(info, &nothing, sizeof nothing) == 0)
        return 0;
    uint64_t hash = sp_hash_key(info, sizeof *info);
    struct sp_probe at = sp_map_probe(&p->info_map, hash);
    for (uint32_t i; (i = sp_map_next(&p->info_map, &at)) != SP_MAP_NONE;)
        if (memcmp(&p->func_infos.v[i], info, sizeof *info) == 0)
            return i + 1;
    uint32_t n = (uint32_t)p->func_infos.n;
    if (p->func_infos.n >= SP_NONE - 2 || !sp_vec_reserve(&p->func_infos, p->func_infos.n + 1) ||
        !sp_map_add_at(&p->info_map, &at, n))
        return SP_NONE;
    p->func_infos.v[p->func_infos.n++] = *info;
    return n + 1;
}

/* Of the whole function: without what is a part's. */
static bool functions_whole(struct sp_profile *p, struct sp_func_info *x)
{
    if (!has_parts(p, x))
        return true;
    if (is_piece(p, x)) {
        x->start = 0;
        x->flags &= ~(unsigned)SP_FUNC_START;
    }
    struct sp_str whole = sp_linkage_whole(sp_pstr(p, x->linkage));
    x->linkage = sp_intern(&p->strs, whole.p, whole.n);
    return x->linkage != SP_STR_FAIL;
}

bool sp_frame_set_function(struct sp_profile *p, struct sp_frame *f, uint32_t name, uint32_t dso,
                           const struct sp_func_info *info, enum sp_granularity grain)
{
    struct sp_func_info x = *info;
    if (grain >= SP_FRAMES_LINE && !functions_whole(p, &x))
        return false;
    uint32_t number = sp_func_info_intern(p, &x);
    if (number == SP_NONE)
        return false;
    f->function = sp_function_known(p, name, dso, number);
    f->info = grain >= SP_FRAMES_FUNCTION ? 0 : number;
    return f->function != SP_NONE;
}

/* ---- what is known ---- */

const struct sp_func_info *sp_frame_known(const struct sp_profile *p, uint32_t frame)
{
    const struct sp_frame *f = &p->frames.v[frame];
    uint32_t info = f->info ? f->info : p->functions.v[f->function].info;
    return info ? &p->func_infos.v[info - 1] : NULL;
}

struct sp_str sp_function_file(const struct sp_profile *p, uint32_t function)
{
    const struct sp_func_info *x = sp_function_info(p, function);
    struct sp_str none = {"", 0}, tells = sp_pstr(p, p->functions.v[function].tells);
    if (!x || !tells.n || !(x->flags & SP_FUNC_LOCAL) || !x->file)
        return none;
    struct sp_str file = file_that_tells(p, x);
    bool told = tells.n > file.n && tells.p[tells.n - file.n - 1] == '@' &&
                memcmp(tells.p + tells.n - file.n, file.p, file.n) == 0;
    return told ? file : none;
}

struct sp_str sp_frame_symbol(const struct sp_profile *p, uint32_t frame)
{
    const struct sp_func_info *x = sp_frame_known(p, frame);
    if (!x || !x->linkage)
        return sp_pstr(p, sp_frame_function(p, frame)->name);
    struct sp_str linkage = sp_pstr(p, x->linkage);
    return p->frames.v[frame].info ? linkage
                                   : sp_linkage_whole(linkage); /* a part is known of the frame alone */
}

/* A dot with a word behind it, not the number of one. */
static bool begins_part(struct sp_str s, uint32_t i)
{
    return s.p[i] == '.' && i + 1 < s.n && (s.p[i + 1] < '0' || s.p[i + 1] > '9');
}

/* ".isra.0.cold" as " [clone .isra.0] [clone .cold]". */
static void put_parts(struct sp_buf *out, struct sp_str parts)
{
    for (uint32_t i = 0, end; i < parts.n; i = end) {
        end = i + 1;
        while (end < parts.n && !begins_part(parts, end))
            end++;
        sp_buf_puts(out, " [clone ");
        sp_buf_add(out, parts.p + i, end - i);
        sp_buf_ch(out, ']');
    }
}

void sp_put_symbol_shown(struct sp_buf *out, const struct sp_profile *p, uint32_t frame)
{
    struct sp_str name = sp_pstr(p, sp_frame_function(p, frame)->name), symbol = sp_frame_symbol(p, frame);
    if (sp_str_cmp(sp_function_shown(symbol), name) == 0) {
        sp_buf_add(out, symbol.p, symbol.n);
        return;
    }
    sp_buf_add(out, name.p, name.n);
    put_parts(out, sp_linkage_parts(symbol));
}
