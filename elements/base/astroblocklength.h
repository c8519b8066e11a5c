/* How long blocks had best be. A stage that sums up, such as astrocorrelator, is fastest if a block
 * has no end inside what it multiplies at once. It says so in its answer to an ALLOCATION query;
 * stages upstream pass it on in steps of their own input, and a source whose user has set no length
 * of blocks keeps to it. Where integrations change in mid-stream, one stage after the other asks
 * again, with its next block. Nothing but speed depends on it. Of several branches behind a tee
 * none is heard. */
#pragma once

#include <gst/gst.h>

#include "core/kit/exports.h"
#include "elements/base/astrostage.h"

ASTRO_BEGIN_DECLS

/* Blocks end at steps phase, phase + steps, phase + 2 x steps, ... or at some of these. */
typedef struct {
  guint64 steps; /* 0: any length is as good */
  guint64 phase; /* below steps */
} AstroBlockLength;

/* For the answer. */
void astro_block_length_add(GstQuery *query, const AstroBlockLength *length);
/* The length that the answer says; 0 steps: it says none. */
AstroBlockLength astro_block_length_find(GstQuery *query);

/* The last good end of a block that begins at a step and has at most so many; if there is none, the
 * block has that many. */
guint64 astro_block_length_end(const AstroBlockLength *length, guint64 begin, guint64 most);

/* For decide_allocation: keeps what downstream says. If upstream was told something else before, it
 * has to ask again. */
void astro_stage_take_block_length(AstroStage *stage, GstQuery *query);

/* For the propose_allocation of a stage that has made all steps before n of its output once all
 * before n x factor + lead of its input have come, and then no more: adds what downstream has said,
 * in steps of the input. A stage that makes a block of each block need not. */
void astro_stage_add_block_length(AstroStage *stage, GstQuery *query, guint64 factor, guint64 lead);

ASTRO_END_DECLS
