/* Flags a stream: lowers its counts of good samples to 0. */
#pragma once

#include "core/flag/flag.h"

G_BEGIN_DECLS

/* Gives `out` the counts of a block (meta; NULL: it has lost nothing), with 0 where the value is
 * flagged. rows: for each step the flags of its values, [unit][channel]; steps that share flags may
 * share a row. */
void astro_flag_apply(const AstroStream *stream, guint64 steps, const guint8 *const *rows,
                      const AstroValidityMeta *meta, GstBuffer *out);

/* How many values were judged, and which were flagged: those that had no good sample before are
 * neither. */
typedef struct {
  guint64 judged, flagged, coarse;
  guint64 *channels; /* flagged values of each channel */
} AstroFlagTally;

void astro_flag_tally(AstroFlagTally *tally, const guint8 *flags, guint64 rows, guint64 units,
                      guint channels);

G_END_DECLS
