/* Sideband: a band that came upside down the right way up.
 *
 * A mixer's lower sideband, and real samples of an even Nyquist zone, hold the lowest frequency
 * where the highest is expected. Turned are
 *
 * - complex voltages by conjugation: what lay below the band's centre lies above it;
 *
 * - real voltages by a change of sign of every odd time step, counted from the stream's begin: a
 *   tone of f cycles a sample becomes one of 1/2 - f;
 *
 * - spectra by the order of their channels, and conjugation of each.
 *
 * Floats change their sign bit and nothing else. Integers take their negative; the least of them,
 * -8 of CI4, has none and becomes the greatest, 7. */
#pragma once

#include "core/backend/backend.h"
#include "core/stream/stream.h"
#include "core/stream/validity.h"

G_BEGIN_DECLS

typedef struct {
  AstroStream stream; /* voltages or spectra, as they come and go */
} AstroSidebandConfig;

typedef struct {
  guint64 first; /* time step of the block's first sample */
  guint64 steps;
} AstroSidebandArguments;

/* The counts of a turned block: of channels, where they are counted, in the turned order. */
void astro_sideband_turn_validity(AstroValidityMeta *meta);

/* submit takes one block in and one out, which may be the same for the cpu backend, and an
 * AstroSidebandArguments *. */
extern const AstroBackend astro_sideband_reference;
extern const AstroBackend astro_sideband_cpu;
extern const AstroBackend *const astro_sideband_backends[]; /* up to a NULL */

G_END_DECLS
