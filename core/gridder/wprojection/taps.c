/* Memory of the tables of taps; build.c computes them. */
#include "config.h"
#include "core/gridder/wprojection/taps.h"

#define ALIGNMENT 64 /* of rows, in bytes: a cache line, and the longest vector */

static void set_up_plane(AstroTapsPlane *plane, guint support)
{
  guint whole = (support + ASTRO_TAPS_STEP - 1) / ASTRO_TAPS_STEP * ASTRO_TAPS_STEP;
  *plane = (AstroTapsPlane){ .support = support, .stride = whole + ASTRO_TAPS_PADDING };
  plane->set = (gsize)(support + ASTRO_TAPS_ROWS) * plane->stride;
}

guint64 astro_taps_bytes_of(guint oversampling, guint n_planes, const guint *supports,
                            gboolean is_double)
{
  guint64 length = 0;
  for (guint i = 0; i < n_planes; i++) {
    AstroTapsPlane plane;
    set_up_plane(&plane, supports[i]);
    length += astro_taps_length(&plane, oversampling);
  }
  return length * 2 * (is_double ? sizeof(double) : sizeof(float));
}

AstroTaps *astro_taps_new(guint oversampling, guint n_planes, const guint *supports,
                          gboolean is_double, GError **error)
{
  g_autoptr(AstroTaps) taps = g_new0(AstroTaps, 1);
  const gsize each = 2 * (is_double ? sizeof(double) : sizeof(float));
  const guint64 had = astro_host_memory();

  if ((guint64)n_planes * oversampling * oversampling > ASTRO_TAPS_MAX_SETS) {
    astro_backend_refuse(
        error, "%u w-planes with oversampling %u are too many: expected at most %d sets of taps",
        n_planes, oversampling, ASTRO_TAPS_MAX_SETS);
    return NULL;
  }
  taps->oversampling = oversampling;
  taps->n_planes = n_planes;
  taps->is_double = is_double;
  taps->w_step = 1;
  taps->planes = g_new0(AstroTapsPlane, n_planes);
  taps->bytes = astro_taps_bytes_of(oversampling, n_planes, supports, is_double);
  for (guint i = 0; i < n_planes; i++) {
    AstroTapsPlane *plane = &taps->planes[i];
    set_up_plane(plane, supports[i]);
    if (taps->bytes <= had)
      plane->block = g_try_malloc0(astro_taps_length(plane, oversampling) * each + ALIGNMENT);
    if (!plane->block) {
      astro_backend_no_memory(error,
                              "convolution functions of %u w-planes need %" G_GUINT64_FORMAT
                              " bytes, had %" G_GUINT64_FORMAT,
                              n_planes, taps->bytes, had);
      return NULL;
    }
    guint8 *aligned =
        (guint8 *)(((guintptr)plane->block + ALIGNMENT - 1) & ~(guintptr)(ALIGNMENT - 1));
    plane->taps = aligned + astro_taps_front(plane) * each;
  }
  return g_steal_pointer(&taps);
}

void astro_taps_free(AstroTaps *taps)
{
  for (guint i = 0; i < taps->n_planes; i++)
    g_free(taps->planes[i].block);
  g_free(taps->planes);
  g_free(taps);
}
