/* Sideband: reverses a band whose frequencies fall where they should rise.
 *
 * A mixer's lower sideband, and real samples of an even Nyquist zone, have the lowest frequency
 * where the highest is expected. They are put right as follows:
 *
 * - complex voltages are conjugated: what was below the centre of the band is then above it;
 *
 * - real voltages change sign at every odd time step, counted from the start of the stream: a tone
 * of
 *   f cycles per sample becomes one of 1/2 - f;
 *
 * - spectra get the order of their channels reversed, and each sample is conjugated.
 *
 * Floats change only their sign bit. Integers are negated; the lowest value, such as -8 of CI4,
 * cannot be negated and saturates to the highest, 7. */
#pragma once

#include "core/backend/backend.h"
#include "core/stream/stream.h"
#include "core/stream/validity.h"

G_BEGIN_DECLS

typedef struct {
  AstroStream stream; /* voltages or spectra; input and output are the same */
} AstroSidebandConfig;

typedef struct {
  guint64 first; /* time step of the block's first sample */
  guint64 steps;
} AstroSidebandArguments;

/* Reverses the counts of a block if they are given per channel. */
void astro_sideband_reverse_validity(AstroValidityMeta *meta);

/* submit takes one input block, one output block, which may be the same for the CPU backend, and an
 * AstroSidebandArguments *. */
extern const AstroBackend astro_sideband_reference;
extern const AstroBackend astro_sideband_cpu;
extern const AstroBackend *const astro_sideband_backends[]; /* ends with NULL */

G_END_DECLS
