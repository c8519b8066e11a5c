/* Fourier transforms along any axes of a block, by FFTW: y[k] = sum over j of x[j] exp(-+2 pi i
 * (j - origin) (k - origin) / n). Forward has the minus and no factor; inverse has the plus and
 * divides by n, so that the two undo each other. */
#pragma once

#include "core/backend/backend.h"
#include "core/stream/stream.h"

G_BEGIN_DECLS

typedef struct {
  gboolean transformed;
  guint64 origin_in, origin_out; /* indices of time, frequency or place zero */
  /* Of the output, indices that somebody wants: n_wanted from wanted on; 0: all. What else there is
   * may be left out: nothing is promised of it. */
  guint64 wanted, n_wanted;
} AstroFftAxis;

/* Where one side is real, the other holds extent / 2 + 1 bins of the last transformed axis, from
 * zero up: they say all. Real to complex is forward, complex to real inverse. */
typedef struct {
  AstroFormat from, to; /* CF32LE, CF64LE, F32LE, F64LE, of one precision */
  guint n_axes;
  guint64 extents[ASTRO_MAX_AXES]; /* of the real side where there is one; 0: the free axis */
  AstroFftAxis axes[ASTRO_MAX_AXES];
  gboolean inverse;
  /* The last two axes are v and u of grids of which touched tiles alone hold anything
   * (core/stream/grid.h): that many grids one after another, a channel's products, share a map of
   * them; 0: there are no maps. Rows without a touched tile need not be written where v is not
   * transformed. */
  guint64 share_map;
} AstroFftConfig;

/* Submit: one block in and one out; arguments are a guint64, the steps of the free axis. Without a
 * free axis, steps are whole frames one after another. Between complex samples the block out may be
 * the block in. With share_map a second block in may be the maps, one after another ([row of
 * tiles][tile] each); without it all tiles are touched. */
extern const AstroBackend astro_fft_reference, astro_fft_cpu;
extern const AstroBackend *const astro_fft_backends[];

/* The axis that is halved on the complex side; -1: both sides are complex. */
gint astro_fft_halved(const AstroFftConfig *config);
/* The extent of an axis on either side. */
guint64 astro_fft_extent(const AstroFftConfig *config, guint axis, gboolean out);

G_END_DECLS
