/* The weight of all pairs of two catalogues at any separation, which counts are divided by. */
#pragma once

#include "core/histogram/side.h"

G_BEGIN_DECLS

/* pairs: [region][region]. means: of pair_bits_means(), where points may have bits. */
void totals_of(const AstroHistogramConfig *config, const double *means, const Side *a,
               const Side *b, double *pairs);

G_END_DECLS
