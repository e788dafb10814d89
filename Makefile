# The front door: meson and ninja do the work, in build/. `make help` lists what there is.
#
#   make PREFIX=/usr install-strip DESTDIR=...    LIBDIR=lib make install    FUZZ_SECONDS=60 make fuzz    SPAA_CORPUS=DIR make test

MESON ?= meson
NINJA ?= ninja
PYTHON ?= /usr/bin/python3
PREFIX ?= /usr/local
# Below PREFIX. On Debian the compiler knows where ld.so and pkg-config look; meson asks dpkg-architecture, which a
# system without dpkg-dev does not have, and takes lib64 then. Empty elsewhere: what meson finds.
LIBDIR ?= $(patsubst %,lib/%,$(shell $(or $(CC),cc) -print-multiarch 2>/dev/null))
FUZZ_SECONDS ?= 20
SOAK_INPUTS ?= 10000
B := build
ARCH ?= $(shell uname -m)
STATIC = build-static-$(ARCH)
CROSS = $(if $(filter $(ARCH),$(shell uname -m)),,--cross-file tools/cross/$(ARCH).ini)

# Not the programs that are recorded: their lines are what tests expect.
SOURCES = $$({ find include src cli fuzz tests/unit tests/oom -name '*.[ch]'; find bench tests -maxdepth 1 -name '*.[ch]'; } | sort)
PYTEST = $(PYTHON) -m pytest -q -p no:cacheprovider
PYTESTS = PYTHON=$(PYTHON) tools/pytest
TIDY = $$(find src cli -name '*.c' | sort)
SANITIZE = address,undefined
ASAN_TESTS ?= tests
ASAN_CC = $(if $(shell command -v clang),clang,gcc)

.DEFAULT_GOAL := all
.PHONY: all help setup demo test asan tsan fuzz soak bench bench-full check check-all cover format lint goldens install install-strip uninstall static site dist package package-test clean tools configured

all: $(B)/build.ninja tools ## build build/spaa (the default)
	@$(NINJA) -C $(B) --quiet

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 22

tools:
	@for tool in $(MESON) $(NINJA) pkg-config; do command -v $$tool >/dev/null || \
	    { echo "$$tool is missing: run \`make setup\`" >&2; exit 1; }; done

$(B)/build.ninja: | tools
	@$(MESON) setup $(B) "--prefix=$(PREFIX)" $(if $(LIBDIR),"--libdir=$(LIBDIR)") >/dev/null 2>$(B).log; rc=$$?; \
	    if [ $$rc != 0 ]; then cat $(B)/meson-logs/meson-log.txt 2>/dev/null | grep -E 'ERROR|not found' >&2; \
	    cat $(B).log >&2; rm -rf $(B) $(B).log; \
	    echo "cannot configure: run \`make setup\` if something is missing" >&2; exit 1; fi; rm -f $(B).log

# New unit tests and libraries that have been installed since are only seen when configuring.
configured: $(B)/build.ninja
	@if ! grep -q '"cmocka"' $(B)/meson-info/intro-dependencies.json || \
	    [ -n "$$(find tests/unit -newer $(B)/build.ninja -prune)" ]; then \
	    $(MESON) setup --reconfigure $(B) >/dev/null; touch $(B)/build.ninja; fi

setup: ## install the Debian packages the build needs (apt-get, sudo when not root)
	@tools/setup build

demo: ## build, and show what it does on recorded profiles
	@tools/setup build
	@$(MAKE) --no-print-directory all
	@demo/run.sh

test: ## every test: unit tests, then the command line
	@tools/setup test
	@$(MAKE) --no-print-directory configured
	@$(NINJA) -C $(B) --quiet
	@grep -q '"cmocka"' $(B)/meson-info/intro-dependencies.json || { echo "cmocka is missing" >&2; exit 1; }
	@$(MESON) test -C $(B) --no-rebuild --print-errorlogs
	@SPAA_BIN=$(CURDIR)/$(B)/spaa $(PYTESTS) tests

asan: ## every test under the address and undefined-behaviour sanitizers (build-asan/)
	@tools/setup test
	@[ -f build-asan/build.ninja ] || CC=$(ASAN_CC) $(MESON) setup build-asan -Db_sanitize=$(SANITIZE) \
	    -Db_lundef=false -Ddefault_library=static -Dc_args=-fno-sanitize-recover=all >/dev/null
	@$(NINJA) -C build-asan --quiet
	@$(MESON) test -C build-asan --no-rebuild --print-errorlogs --timeout-multiplier 10
	@SPAA_BIN=$(CURDIR)/build-asan/spaa $(PYTESTS) $(ASAN_TESTS)

tsan: ## what threads may do at the same time, under their sanitizer (build-tsan/)
	@tools/setup test
	@[ -f build-tsan/build.ninja ] || $(MESON) setup build-tsan -Db_sanitize=thread -Db_lundef=false \
	    -Ddefault_library=static >/dev/null
	@$(NINJA) -C build-tsan --quiet tests/unit_api_threads tests/unit_api_ask tests/unit_spaa_threads
	@$(MESON) test -C build-tsan --no-rebuild --print-errorlogs --timeout-multiplier 10 api_threads api_ask spaa_threads

fuzz: ## every fuzzer for FUZZ_SECONDS (20) each (build-fuzz/)
	@tools/setup test
	@FUZZ_SECONDS=$(FUZZ_SECONDS) fuzz/run

soak: all ## 10,000 inputs, many damaged, through one process: nothing may be left, or differ from a fresh process
	@SOAK_INPUTS=$(SOAK_INPUTS) $(B)/tests/soak tests/fixtures tests/conformance

bench: ## measure against the peers installed here, in the quick form: a minute or two
	@tools/setup bench
	@$(MAKE) --no-print-directory all
	@$(PYTHON) bench/run.py --quick

bench-full: ## the same on inputs of full size: a quarter of an hour
	@tools/setup bench
	@$(MAKE) --no-print-directory all
	@$(PYTHON) bench/run.py

check: ## what a change must pass: test, lint, sanitizers, a minute of fuzzing, with the time of each (tools/check)
	@tools/check

check-all: ## besides, every test under the sanitizers, the build with clang, coverage, measurements with their history
	@tools/check test lint asan-all tsan fuzz soak clang cover bench

# addr2line takes more lines of headers for others in a program that nothing was optimised in.
OWN_LINES = tests/formats/test_symbolize.py::test_our_own_binary_agrees_with_addr2line
cover: ## line coverage of the tests (build-cover/)
	@tools/setup test
	@[ -f build-cover/build.ninja ] || $(MESON) setup build-cover -Db_coverage=true -Ddefault_library=static \
	    -Doptimization=0 >/dev/null
	@$(NINJA) -C build-cover --quiet
	@find build-cover -name '*.gcda' -delete
	@$(MESON) test -C build-cover --no-rebuild --print-errorlogs --timeout-multiplier 5
	@SPAA_BIN=$(CURDIR)/build-cover/spaa $(PYTESTS) tests --deselect $(OWN_LINES)
	@tools/coverage build-cover

format: ## clang-format every C file in place
	@tools/setup dev
	@clang-format -i $(SOURCES)

lint: ## clang-format (check only) and clang-tidy of all of src and cli, or of the files of TIDY
	@tools/setup dev
	@$(MAKE) --no-print-directory all
	@clang-format --dry-run -Werror $(SOURCES)
	@[ -z "$(TIDY)" ] || $(PYTHON) tools/tidy $(B) $(TIDY)

goldens: ## write the golden files of the tests anew: read the diff before committing
	@tools/setup test
	@$(MAKE) --no-print-directory all
	@SPAA_UPDATE_GOLDENS=1 SPAA_BIN=$(CURDIR)/$(B)/spaa $(PYTEST) tests

LDCONFIG = [ -n "$(DESTDIR)" ] || [ "$$(id -u)" != 0 ] || ! command -v ldconfig >/dev/null || ldconfig
# Whole, where it has a blank, at which make takes names apart.
BLANK := $() $()
HERE = $(subst <blank>,$(BLANK),$(abspath $(subst $(BLANK),<blank>,$(DESTDIR))))

install: all ## install below PREFIX (/usr/local), honouring DESTDIR
	@$(MESON) configure $(B) "-Dprefix=$(PREFIX)" $(if $(LIBDIR),"-Dlibdir=$(LIBDIR)")
	@$(NINJA) -C $(B) build.ninja >/dev/null && $(NINJA) -C $(B) --quiet
	@DESTDIR="$(HERE)" $(MESON) install -C $(B) --no-rebuild --quiet $(INSTALL_FLAGS); rc=$$?; \
	    tools/uninstall --keep $(B); exit $$rc
	@$(LDCONFIG)

install-strip: ## the same without debug information
	@$(MAKE) --no-print-directory install INSTALL_FLAGS=--strip
	@for library in "$(HERE)$(PREFIX)"/$(if $(LIBDIR),"$(LIBDIR)",lib*)/libspaa.a; do \
	    [ ! -f "$$library" ] || strip --strip-debug "$$library"; done

uninstall: ## take away what was installed, with the same PREFIX and DESTDIR
	@tools/uninstall $(B) "$(HERE)" "$(PREFIX)"
	@$(LDCONFIG)

static: tools ## a program that needs no shared library, build-static-ARCH/spaa (ARCH=aarch64 make static: for 64-bit ARM)
	@[ -f $(STATIC)/build.ninja ] && exit; $(MESON) setup $(STATIC) $(CROSS) -Dstatic_program=true -Ddefault_library=static \
	    -Doptimization=s -Dc_args=-Oz -Ddebug=false -Db_staticpic=false -Db_pie=false >$(STATIC).log 2>&1; rc=$$?; \
	    if [ $$rc != 0 ]; then grep -E 'ERROR|not found' $(STATIC).log >&2 || cat $(STATIC).log >&2; \
	    rm -rf $(STATIC) $(STATIC).log; exit 1; fi; rm -f $(STATIC).log
	@$(NINJA) -C $(STATIC) --quiet spaa

site: ## the pages as a site (site/), links checked
	@command -v mkdocs >/dev/null || { echo "mkdocs is missing: apt-get install mkdocs" >&2; exit 1; }
	@mkdocs build --quiet

dist: ## the sources of HEAD as archives, the same bytes each time, with their SHA256SUMS (dist/)
	@tools/dist

package: ## Debian packages of HEAD: spaa, libspaa1, libspaa-dev (dist/)
	@tools/setup package
	@packaging/build_packages dist

package-test: ## packages in a bare Debian, lintian, static programs, archives: half an hour, needs root for some
	@tools/setup package
	@$(PYTEST) -rs packaging

clean: ## remove everything built
	@rm -rf build build-asan build-clang build-cover build-fuzz build-tsan build-static-* dist site
