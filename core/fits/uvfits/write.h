#pragma once

#include "core/fits/fits.h"

G_BEGIN_DECLS

/* Weights are the counts of valid samples; 1 where nothing is known of them. Exact sums (CI32LE)
 * are divided by their counts, so that a file always holds means; without counts they stay sums. */
extern const AstroFitsWriterKind astro_uvfits_writer;

G_END_DECLS
