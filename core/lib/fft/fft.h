/* Fourier transforms along any axes of a block, by FFTW: y[k] = sum over j of x[j] exp(-+2 pi i (j
 * - origin) (k - origin) / n). Forward has the minus and no factor; inverse has the plus and
 * divides by n, so that each undoes the other. */
#pragma once

#include "core/backend/backend.h"
#include "core/backend/work.h"
#include "core/stream/stream.h"

G_BEGIN_DECLS

typedef struct {
  gboolean transformed;
  guint64 origin_in, origin_out; /* indices of zero time, frequency or position */
  /* The indices of the output that are needed: n_wanted from wanted on; 0: all. The others may be
   * left undefined. */
  guint64 wanted, n_wanted;
} AstroFftAxis;

/* If one side is real, the other holds the extent / 2 + 1 bins from zero up of the last transformed
 * axis, which determine the rest. Real to complex is forward, complex to real inverse. */
typedef struct {
  AstroFormat from, to; /* CF32LE, CF64LE, F32LE, F64LE, of one precision */
  guint n_axes;
  guint64 extents[ASTRO_MAX_AXES]; /* of the real side if there is one; 0: the free axis */
  AstroFftAxis axes[ASTRO_MAX_AXES];
  gboolean inverse;
  /* The last two axes are v and u of grids where only touched tiles hold anything
   * (core/stream/grid.h): this many consecutive grids, the products of a channel, share a map of
   * their tiles; 0: there are no maps. Rows without a touched tile need not be written if v is not
   * transformed. */
  guint64 share_map;
} AstroFftConfig;

/* Submit: one block in and one out; arguments are a guint64, the steps of the free axis. Without a
 * free axis, steps are whole frames one after another. If both sides are complex, the block out may
 * be the block in. With share_map a second block in may hold the maps, one after another ([row of
 * tiles][tile] each); without it all tiles count as touched. */
extern const AstroBackend astro_fft_reference, astro_fft_cpu;
extern const AstroBackend *const astro_fft_backends[];

/* An AstroTellWork. */
gboolean astro_fft_work(gconstpointer config, const AstroWorkSteps *steps, AstroWork *work);

/* The axis that is halved on the complex side; -1: both sides are complex. */
gint astro_fft_halved(const AstroFftConfig *config);
/* The extent of an axis of the input or output. */
guint64 astro_fft_extent(const AstroFftConfig *config, guint axis, gboolean out);

G_END_DECLS
