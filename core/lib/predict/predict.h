/* Visibilities of an array under a sky of point sources, predicted by the measurement equation in
 * double precision: V_ij = sum over sources of S exp(+2 pi i (u l + v m + w (n - 1))), where S is
 * the coherency of the source in the observation's basis. Of an unpolarised one XX = YY = flux and
 * XY = YX = 0. Spectral lines are averaged over the channel, whatever the number of points. */
#pragma once

#include "core/lib/sky/sky.h"
#include "core/stream/stream.h"

G_BEGIN_DECLS

/* The pieces of an integration that a station loses or keeps. */
#define ASTRO_PREDICT_PIECES 8

typedef struct {
  /* Visibilities, CF32LE or CF64LE, channel:baseline:pol:pol; with frequency, bandwidth and rate.
   */
  AstroStream stream;
  AstroObservation *observation; /* with a start and a phase centre */
  const AstroSky *sky;           /* resolved; must live as long as the AstroPredict */
  /* Noise of the receivers, Jy: its mean is added to the autocorrelations, and every visibility
   * fluctuates by noise / sqrt(bandwidth x time), like the product of two receivers' noise. The
   * noise of the sources themselves is left out. */
  double noise;
  double gain_error;  /* rms of the stations' gains around 1 */
  double phase_error; /* rms of the phases of their gains, radians */
  double loss;        /* fraction of the pieces of integrations that a station loses */
  guint points; /* over whose mean a visibility is taken, along time and along frequency each; 1:
                   the visibility at the middle of the integration and channel, without smearing */
  guint64 seed;
  guint threads;
} AstroPredictConfig;

typedef struct AstroPredict AstroPredict;

AstroPredict *astro_predict_new(const AstroPredictConfig *config, GError **error);
void astro_predict_free(AstroPredict *predict);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroPredict, astro_predict_free)

/* The number of samples in a visibility without losses: bandwidth of a channel x time. */
guint32 astro_predict_full(const AstroPredict *predict);

/* Computes an integration. counts, of good samples, are [channel][baseline]; NULL if there are no
 * losses. The same number gives the same noise and losses, whatever was computed before. */
void astro_predict_fill(AstroPredict *predict, guint64 number, gint64 start_ns, gint64 duration_ns,
                        gpointer out, guint32 *counts);

G_END_DECLS
