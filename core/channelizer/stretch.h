/* The unbroken stretch of samples that spectra are made of: the block in work, and of what came
 * before it the samples that spectra still to come need. */
#pragma once

#include "core/channelizer/channelizer.h"
#include "core/channelizer/samples.h"

G_BEGIN_DECLS

typedef struct {
  const AstroChannelizerConfig *config;
  guint inputs, pols, coarse; /* input = (station x pols + pol) x coarse + input channel */
  guint threads;
  AstroSamples samples; /* to single precision */

  guint64 begin, end; /* of the whole stretch */
  guint8 *held;       /* [input][taps x step samples] in the input's format */
  guint64 held_from, held_to;

  const guint8 *block; /* [input][steps]; NULL: zeros */
  guint64 first, steps;
  const AstroLoss *losses;
  guint n_losses;

  gboolean is_transposed; /* blocks are put in the order [input][time] */
  guint8 *transposed;
  gsize transposed_bytes;
} AstroStretch;

/* The configuration is kept by reference. */
gboolean astro_stretch_init(AstroStretch *stretch, const AstroChannelizerConfig *config,
                            guint threads, GError **error);
void astro_stretch_clear(AstroStretch *stretch);

/* The spectra that a call has to give, and whether it goes with what came before. Changes nothing.
 */
gboolean astro_stretch_spectra(const AstroStretch *stretch,
                               const AstroChannelizerArguments *arguments, AstroSpectra *spectra,
                               GError **error);

/* Takes a call's block (NULL: zeros), which astro_stretch_spectra found right. */
gboolean astro_stretch_open(AstroStretch *stretch, const AstroBlock *in,
                            const AstroChannelizerArguments *arguments, GError **error);

/* Samples from that index on; they must lie in what is held or in the block. Any thread. */
void astro_stretch_read(const AstroStretch *stretch, guint input, guint64 from, gsize n,
                        float *out);

/* The same samples where they lie, if they need no work; else NULL. */
const float *astro_stretch_look(const AstroStretch *stretch, guint input, guint64 from, gsize n);

/* Lets the block go and keeps what spectra from that one on need. */
void astro_stretch_close(AstroStretch *stretch, guint64 next_spectrum);

G_END_DECLS
