/* The unbroken stretch of samples from which spectra are made: the present block, and those samples
 * before it that are still needed. */
#pragma once

#include "core/channelizer/channelizer.h"
#include "core/lib/formats/samples.h"

G_BEGIN_DECLS

typedef struct {
  const AstroChannelizerConfig *config;
  guint inputs, pols, coarse; /* input = (station x pols + pol) x coarse + input channel */
  guint threads;
  AstroSamples samples; /* converts to single precision */

  guint64 begin, end; /* of the whole stretch */
  guint8 *held;       /* [input][taps x step samples] in the input's format */
  guint64 held_from, held_to;

  const guint8 *block; /* [input][steps]; NULL: zeros */
  guint64 first, steps;
  const AstroLoss *losses;
  guint n_losses;

  gboolean is_transposed; /* blocks must be transposed to [input][time] */
  guint8 *transposed;
  gsize transposed_bytes;
} AstroStretch;

/* The configuration is referenced, not copied. */
gboolean astro_stretch_init(AstroStretch *stretch, const AstroChannelizerConfig *config,
                            guint threads, GError **error);
void astro_stretch_clear(AstroStretch *stretch);

/* Finds the spectra that a call must make, and checks that it continues the stretch. Changes
 * nothing. */
gboolean astro_stretch_spectra(const AstroStretch *stretch,
                               const AstroChannelizerArguments *arguments, AstroSpectra *spectra,
                               GError **error);

/* Accepts a call's block (NULL: zeros), which astro_stretch_spectra has checked. */
gboolean astro_stretch_open(AstroStretch *stretch, const AstroBlock *in,
                            const AstroChannelizerArguments *arguments, GError **error);

/* Reads samples from an index on, which must be held or in the block. Thread-safe. */
void astro_stretch_read(const AstroStretch *stretch, guint input, guint64 from, gsize n,
                        float *out);

/* A pointer to the same samples, if they are in memory in single precision; else NULL. */
const float *astro_stretch_look(const AstroStretch *stretch, guint input, guint64 from, gsize n);

/* Releases the block, and keeps the samples that spectra from next_spectrum on need. */
void astro_stretch_close(AstroStretch *stretch, guint64 next_spectrum);

G_END_DECLS
