/* Adds to the sky's part of a visibility what a correlator gives: gains, noise, losses, products,
 * format and counts. */
#pragma once

#include "core/lib/predict/predict.h"

typedef struct AstroFinish AstroFinish;

/* An integration in progress. counts: [channel][baseline], or NULL. */
typedef struct {
  guint64 number;
  gpointer out;
  guint32 *counts;
} AstroFinishBlock;

AstroFinish *astro_finish_new(const AstroPredictConfig *config, GError **error);
void astro_finish_free(AstroFinish *finish);

guint32 astro_finish_full(const AstroFinish *finish);

/* To be called before the rows of an integration. */
void astro_finish_begin(AstroFinish *finish, guint64 number);

/* Finishes the baselines of stations first to last - 1 with themselves and with those before them.
 * re and im start at station first and station 0; stride is the distance to the next row. Bands of
 * rows may be finished in parallel, but must always be the same bands, since the noise depends on
 * them. */
void astro_finish_rows(const AstroFinish *finish, const AstroFinishBlock *block, guint channel,
                       guint first, guint last, const double *re, const double *im, gsize stride);
