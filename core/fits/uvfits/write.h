/* The writer of UVFITS. */
#pragma once

#include "core/fits/fits.h"

G_BEGIN_DECLS

/* Weights are the counts of good samples, or 1 if there are no counts. Exact sums (CI32LE) are
 * divided by their counts, so that files hold means; without counts they stay sums. */
extern const AstroFitsWriterKind astro_uvfits_writer;

G_END_DECLS
