/*
 * spaa: reads every sampled profile, keeps it as SPAA, and answers what is hot.
 *
 * The whole interface. Examples are in docs/examples; compile with `pkg-config --cflags --libs spaa`.
 */
#ifndef SPAA_SPAA_H
#define SPAA_SPAA_H

#include <spaa/ask.h>
#include <spaa/builder.h>
#include <spaa/diagnostics.h>
#include <spaa/merge.h>
#include <spaa/profile.h>
#include <spaa/query.h>
#include <spaa/run.h>
#include <spaa/status.h>
#include <spaa/version.h>
#include <spaa/watch.h>

#endif
