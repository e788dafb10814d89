/*
 * What src/symbols says of the functions at addresses of a file, for the tests: a line of JSON for each
 * frame, inner ones first.
 *
 *     address_names [-s | -n] FILE < addresses
 *
 * -s: from the symbol table alone; -n: without lines.
 */
#include "symbols/symbols.h"

#include "base/buf.h"
#include "json/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_text(const char *key, const char *text)
{
    struct sp_buf b;
    sp_buf_init(&b, 0);
    if (text)
        sp_json_string(&b, text, strlen(text));
    printf("\"%s\":%s,", key, text ? sp_buf_cstr(&b) : "null");
    sp_buf_free(&b);
}

static void print_frame(uint64_t addr, const struct sp_resolved *r)
{
    printf("{\"at\":%" PRIu64 ",", addr);
    print_text("func", r->func);
    print_text("linkage", r->linkage);
    print_text("file", r->file);
    print_text("srcline", r->srcline);
    if (r->has_start)
        printf("\"start\":%" PRIu64 ",", r->start);
    printf("\"line\":%" PRIu32 ",\"depth\":%" PRIu32 ",\"local\":%s}\n", r->line, r->inline_depth,
           r->local ? "true" : "false");
}

int main(int argc, char **argv)
{
    bool alone = argc > 2 && !strcmp(argv[1], "-s"), lineless = alone || (argc > 2 && !strcmp(argv[1], "-n"));
    struct sp_symbol_opts opts = {.no_inline = alone, .no_lines = lineless};
    struct sp_module_key key = {.kind = SP_MODULE_FILE, .path = argv[argc - 1]};
    struct sp_resolved r[64];
    struct sp_symbols *s;
    struct sp_module *m;
    struct sp_diags diags;
    char line[64];
    sp_diags_init(&diags);
    if (argc < 2 || sp_symbols_new(&opts, &diags, &s) != SPAA_OK)
        return 1;
    bool ok = sp_symbols_module(s, &key, &m) == SPAA_OK;
    while (ok && fgets(line, sizeof line, stdin)) {
        uint64_t addr = strtoull(line, NULL, 16);
        size_t n = sp_module_resolve(m, addr, r, 64);
        for (size_t i = 0; i < n; i++)
            print_frame(addr, &r[i]);
        ok = sp_symbols_failed(s) == SPAA_OK;
    }
    sp_symbols_free(s);
    sp_diags_free(&diags);
    return !ok;
}
