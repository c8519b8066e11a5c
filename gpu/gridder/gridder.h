/* Gridding algorithms on the device, as core/gridder/gridder.h has them on the CPU: what the stages
 * "gridder" and "gridding" drive. */
#pragma once

#include "gpu/runtime/cuda.h"

extern "C" {
#include "core/gridder/gridder.h"
}

/* All work is queued on place->queue, with its device current; rows and grid are there when the
 * queue comes to them and may be freed, in the order of the queue, once a function has returned.
 * grid is channels x products x size x size complex numbers, aligned to 64 bytes; plane fills it,
 * add adds to it. */
typedef struct {
  const AstroGridAlgorithm *host; /* whose choose says size, cell and spread */
  /* Of device memory that create will hold (tables), beyond grids and rows. */
  guint64 (*bytes)(const AstroGridderConfig *config, const AstroGrid *grid);
  /* variant: the kernel's name, a static string. grid is what choose made of it. */
  AstroGridding *(*create)(const AstroGridderConfig *config, const AstroGrid *grid,
                           const AstroPlace *place, const char **variant, GError **error);
  /* The next three as those of the CPU, with device pointers in rows and grid. */
  gboolean (*begin)(AstroGridding *gridder, const AstroGridRows *rows, guint *planes,
                    GError **error);
  gboolean (*plane)(AstroGridding *gridder, gpointer grid, guint8 *touched, double *w,
                    double *w_step, GError **error);
  gboolean (*add)(AstroGridding *gridder, const AstroGridRows *rows, gpointer grid, GError **error);
  gboolean (*finish)(AstroGridding *gridder, gpointer grid,
                     GError **error); /* NULL: nothing ever waits */
  void (*destroy)(AstroGridding *gridder);
  /* Visibilities that were spread since create, after adding up; waits for the device. NULL:
   * nothing is added up. */
  gboolean (*count)(AstroGridding *gridder, guint64 *spread, GError **error);
} AstroCudaGridder;

extern const AstroCudaGridder astro_cuda_direct, astro_cuda_wprojection, astro_cuda_wstacking;

/* The one that does what host does; NULL: there is none. */
const AstroCudaGridder *astro_cuda_gridder_of(const AstroGridAlgorithm *host);
