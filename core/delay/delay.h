/* Delay: every input is put where the wave from the phase centre reaches the centre of the array,
 * so that a source there has the same phase in all inputs, at all frequencies and times; and what
 * the instrument multiplied the signal by is divided out.
 *
 * Spectra are turned: each channel by exp(-2 pi i f tau), anew for every spectrum. Channel k of n
 * stands for the frequency at bandwidth (k + 1/2) / n above the lower edge of the band. That leaves
 * a coherence of 1 - tau / (a spectrum's length): take it for arrays that are small beside that.
 *
 * Voltages are delayed as a whole, by interpolation between samples, and turned by exp(-2 pi i f0
 * tau), f0 being the frequency that their zero stands for: the band's centre, of real ones its
 * lower edge. The inner 90% of the band are right to 4e-4 of a turn for any delay. Blocks come out
 * later than they came in by the largest delay, and in whole tiles of ASTRO_DELAY_TILE samples,
 * counted from sample 0, so that results do not depend on how the input was cut. */
#pragma once

#include "core/backend/backend.h"
#include "core/delay/model.h"
#include "core/stream/stream.h"

G_BEGIN_DECLS

#define ASTRO_DELAY_TILE 1024

/* Voltages or spectra, in and out alike but for the format: CI4, CI8, CI16LE or CF32LE each; or
 * voltages, I8, I16LE or F32LE each. */
typedef struct {
  AstroStream in, out;
} AstroDelayConfig;

typedef struct {
  AstroDelayModel *model;
  guint64 first, steps; /* of the block in; without a block, steps of zeros */
  gboolean restart;     /* voltages: forget what came before; before first lies nothing but zeros */
  guint64 out_first, out_steps; /* voltages: what to give; out_first and its end at a tile's edge,
                                 * but for the first of a stream and its end */
} AstroDelayArguments;

/* Voltages: the samples before and after a tile that it needs. */
guint64 astro_delay_margin(const AstroDelayModel *model, const AstroStream *stream);

/* submit takes at most one block in and at most one out. */
extern const AstroBackend astro_delay_reference;
extern const AstroBackend astro_delay_cpu;
extern const AstroBackend *const astro_delay_backends[]; /* up to a NULL */

G_END_DECLS
