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

/* The sky's part of the visibilities of a band of stations, which begins at its first station and
 * at station 0: I, and what the polarised sources add to it in the order of astro_stokes_order;
 * NULL: no source is polarised. stride: the distance to the next row. */
typedef struct {
  const double *re[4], *im[4];
  gsize stride;
} AstroFinishSums;

/* To be called before the rows of an integration. */
void astro_finish_begin(AstroFinish *finish, guint64 number);

/* Finishes the baselines of stations first to last - 1 with themselves and with those before them.
 * Bands of rows may be finished in parallel, but must always be the same bands, since the noise
 * depends on them. */
void astro_finish_rows(const AstroFinish *finish, const AstroFinishBlock *block, guint channel,
                       guint first, guint last, const AstroFinishSums *sums);
