/* When the minor cycles have come down to the noise. */
#pragma once

#include "core/clean/clean.h"

G_BEGIN_DECLS

/* Cycles that go on in the noise take its peaks away, and what is left looks quieter than it is. So
 * the noise is measured again and again while sources and their sidelobes still stand out, and
 * never after: from where nothing does, it stays as it is. */
typedef struct {
  const AstroCleanConfig *config;
  gconstpointer residual;
  gboolean is_double;
  double *sizes; /* room for a sample of them */
  double noise;
  gboolean is_final;
} AstroCleanStop;

/* residual: size x size numbers, which cycles change. */
void astro_clean_stop_init(AstroCleanStop *stop, const AstroCleanConfig *config,
                           gconstpointer residual, gboolean is_double);
void astro_clean_stop_clear(AstroCleanStop *stop);

/* Fills in the result's peaks and, where the last one ends the cycles, its end. */
gboolean astro_clean_stop(AstroCleanStop *stop, double peak, AstroCleanResult *result);

G_END_DECLS
