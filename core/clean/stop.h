/* Decides when the minor cycles end: at a threshold, or at the noise. */
#pragma once

#include "core/clean/method.h"

G_BEGIN_DECLS

/* Cycles that go on in the noise remove its peaks, and the residual then looks quieter than it is.
 * So the noise is measured repeatedly as long as sources and their sidelobes stand out, and no more
 * afterwards: it keeps its last value. */
typedef struct {
  const AstroCleanWork *work;
  const AstroCleanLimits *limits;
  gboolean is_double;
  double *sizes; /* buffer for a sample of absolute values */
  double noise;
  gboolean is_final;
} AstroCleanStop;

void astro_clean_stop_init(AstroCleanStop *stop, const AstroCleanWork *work,
                           const AstroCleanLimits *limits, gboolean is_double);
void astro_clean_stop_clear(AstroCleanStop *stop);

/* peak: the highest |residual| x weight. Fills in the result's peaks; TRUE, with the result's end,
 * if the cycles are to end. */
gboolean astro_clean_stop(AstroCleanStop *stop, double peak, AstroCleanResult *result);

G_END_DECLS
