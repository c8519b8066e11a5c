/* From the sky's part of a visibility to what a correlator gives: gains, noise, losses, products,
 * format and counts. */
#pragma once

#include "core/lib/predict/predict.h"

typedef struct AstroFinish AstroFinish;

/* An integration in work. counts: [channel][baseline], or NULL. */
typedef struct {
  guint64 number;
  gpointer out;
  guint32 *counts;
} AstroFinishBlock;

AstroFinish *astro_finish_new(const AstroPredictConfig *config, GError **error);
void astro_finish_free(AstroFinish *finish);

guint32 astro_finish_full(const AstroFinish *finish);

/* Before the rows of an integration. */
void astro_finish_begin(AstroFinish *finish, guint64 number);

/* The baselines of stations from first to last - 1 with themselves and those before them. re and im
 * of station first and station 0 on; stride to the next row. Bands of rows may be finished side by
 * side, and always the same bands: the noise goes by them. */
void astro_finish_rows(const AstroFinish *finish, const AstroFinishBlock *block, guint channel,
                       guint first, guint last, const double *re, const double *im, gsize stride);
