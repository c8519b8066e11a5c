/* Phase shift: visibilities of one phase centre turned to another,
 *
 *   V'_ij = V_ij exp(-2 pi i (d_i - d_j) f / c)
 *
 * of which d_i is how much nearer, in metres, station i is to the new centre than to the old one:
 * the difference of its w, as (u,v,w) have it for either centre, at the middle of the integration.
 * f is the middle of the channel. That is exact, whatever the distance between the centres; but
 * what was averaged stays so: channels and integrations that smear a source that far away do so
 * still. */
#pragma once

#include "core/backend/backend.h"
#include "core/stream/observation.h"
#include "core/stream/stream.h"
#include "core/stream/validity.h"

G_BEGIN_DECLS

/* Visibilities of layout channel:baseline:pol:pol, one triangle; CF32LE or CF64LE, in and out
 * alike, or CI32LE sums to CF32LE means. */
typedef struct {
  AstroStream in, out;
} AstroPhaseshiftConfig;

typedef struct {
  guint64 steps;
  const double *nearer;              /* d: [step][station], metres */
  const AstroValidityMeta *validity; /* of the block in; sums need it */
} AstroPhaseshiftArguments;

/* Where stations are as seen from either centre, as time goes on. */
typedef struct AstroShift AstroShift;

/* Both observations are of the same stations and the same start. */
AstroShift *astro_shift_new(AstroObservation *from, AstroObservation *to);
void astro_shift_free(AstroShift *shift);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroShift, astro_shift_free)
/* Between the centres: of a chord, at most 2. */
double astro_shift_distance(const AstroShift *shift);
/* d of each station then. One thread at a time. */
void astro_shift_at(AstroShift *shift, gint64 ns_since_start, double *nearer);

/* submit takes a block in and one out, which may be the same, and an AstroPhaseshiftArguments *. */
extern const AstroBackend astro_phaseshift_reference;
extern const AstroBackend astro_phaseshift_cpu;
extern const AstroBackend *const astro_phaseshift_backends[]; /* up to a NULL */

G_END_DECLS
