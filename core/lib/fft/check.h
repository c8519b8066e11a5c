/* Checks for both backends, and the passes along axes of which a transform consists. */
#pragma once

#include "core/lib/fft/fft.h"
#include "core/stream/grid.h"

G_BEGIN_DECLS

gboolean astro_fft_check(gconstpointer config, GError **error);
gboolean astro_fft_check_call(const AstroFftConfig *config, const AstroBlock *in, guint n_in,
                              const AstroBlock *out, guint n_out, const guint64 *steps,
                              GError **error);

/* The tiles of a block's grids that hold anything: its lines along u are [grids][rows], and `share`
 * consecutive grids share a map. */
typedef struct {
  const guint8 *map; /* [grids / share][rows of tiles][tiles] */
  guint64 share, rows;
  guint tiles; /* in a line */
} AstroFftTouched;

/* For a call that has passed its check; FALSE: there is no map, so all tiles may hold something. */
gboolean astro_fft_touched(const AstroFftConfig *config, const AstroBlock *in, guint n_in,
                           AstroFftTouched *touched);

/* The part of the map for the tiles of a line. */
static inline const guint8 *astro_fft_touched_line(const AstroFftTouched *touched, guint64 line)
{
  const guint64 grid = line / touched->rows, row = line % touched->rows;
  return touched->map +
         (grid / touched->share * astro_grid_tiles((guint)touched->rows) + row / ASTRO_GRID_TILE) *
             touched->tiles;
}

/* Samples are [outer][n of the line][inner] in both input and output. Only those lines are computed
 * whose inner index, modulo period, is among n_lines from first_line on, and of each only n_wanted
 * samples from wanted on. */
typedef struct {
  guint64 outer, inner;
  guint64 period, first_line, n_lines;
  guint64 wanted, n_wanted;
  guint64 n;           /* length of the transform */
  guint64 n_in, n_out; /* samples in a line */
  guint64 origin_in, origin_out;
  gboolean real_in, real_out;
  gboolean inverse;
} AstroFftPass;

/* Fills the passes of a block in the order of execution, and returns their number: the pass with a
 * real input or output is first or last. */
guint astro_fft_passes(const AstroFftConfig *config, guint64 steps,
                       AstroFftPass passes[ASTRO_MAX_AXES]);

G_END_DECLS
