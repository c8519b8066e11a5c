/* Phase shift: rotates visibilities from one phase centre to another,
 *
 *   V'_ij = V_ij exp(-2 pi i (d_i - d_j) f / c)
 *
 * where d_i is how much nearer, in metres, station i is to the new centre than to the old one: the
 * difference between its w for the two centres at the middle of the integration. f is the middle of
 * the channel. This is exact for any distance between the centres; but averages stay averages: a
 * source far from the old centre remains smeared by the width of channels and integrations. */
#pragma once

#include "core/backend/backend.h"
#include "core/backend/work.h"
#include "core/stream/observation.h"
#include "core/stream/stream.h"
#include "core/stream/validity.h"

G_BEGIN_DECLS

/* Visibilities of layout channel:baseline:pol:pol, one triangle; CF32LE or CF64LE to the same
 * format, or CI32LE sums to CF32LE means. */
typedef struct {
  AstroStream in, out;
} AstroPhaseshiftConfig;

typedef struct {
  guint64 steps;
  const double *nearer;              /* d: [step][station], metres */
  const AstroValidityMeta *validity; /* of the input block; sums need it */
} AstroPhaseshiftArguments;

/* Positions of stations relative to both centres, as a function of time. */
typedef struct AstroShift AstroShift;

/* Both observations must have the same stations and the same start. */
AstroShift *astro_shift_new(AstroObservation *from, AstroObservation *to);
void astro_shift_free(AstroShift *shift);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroShift, astro_shift_free)
/* The distance between the centres, as a chord of the unit sphere: at most 2. */
double astro_shift_distance(const AstroShift *shift);
/* d of each station at that time. Not thread-safe. */
void astro_shift_at(AstroShift *shift, gint64 ns_since_start, double *nearer);

/* submit takes one input block, one output block, which may be the same, and an
 * AstroPhaseshiftArguments *. */
extern const AstroBackend astro_phaseshift_reference;
extern const AstroBackend astro_phaseshift_cpu;
extern const AstroBackend *const astro_phaseshift_backends[]; /* ends with NULL */

/* An AstroTellWork. */
gboolean astro_phaseshift_work(gconstpointer config, const AstroWorkSteps *steps, AstroWork *work);

G_END_DECLS
