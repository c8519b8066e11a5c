/* Finds (u,v,w) of dumps. */
#include "config.h"
#include "core/gridder/degrid/dumped.h"

#include <math.h>
#include <string.h>

#include "core/kit/units.h"

void astro_dumped_clear(AstroDumped *self)
{
  astro_dumps_clear(&self->dumps);
  g_clear_pointer(&self->positions, g_free);
  g_clear_pointer(&self->uvw, g_free);
  g_clear_pointer(&self->folded, g_free);
  self->n = self->capacity = 0;
}

gboolean astro_dumped_init(AstroDumped *self, const AstroPrepareConfig *config,
                           const AstroGrid *grid, AstroObservation *observation, GError **error)
{
  memset(self, 0, sizeof *self);
  if (!astro_dumps_init(&self->dumps, config, grid, observation, error))
    return FALSE;
  self->positions = g_new(double, 3 * (gsize)self->dumps.stations);
  self->pairs = self->dumps.stations * (self->dumps.stations - 1) / 2;
  return TRUE;
}

static gboolean make_room(AstroDumped *self, GError **error)
{
  const gsize pairs = MAX(self->pairs, 1);
  if (self->n < self->capacity)
    return TRUE;
  const guint64 capacity = self->capacity + self->capacity / 2 + 1;
  double *uvw = g_try_realloc(self->uvw, capacity * pairs * 3 * sizeof *uvw);
  self->uvw = uvw ? uvw : self->uvw;
  guint8 *folded = g_try_realloc(self->folded, capacity * pairs);
  self->folded = folded ? folded : self->folded;
  if (!uvw || !folded)
    return astro_backend_no_memory(error, "no memory for (u,v,w) of %" G_GUINT64_FORMAT " dumps",
                                   capacity);
  self->capacity = capacity;
  return TRUE;
}

static gboolean refuse_long(const AstroDumped *self, guint i, guint j, double u, double v,
                            GError **error)
{
  const AstroObservation *o = self->dumps.observation;
  const AstroGrid *grid = &self->dumps.grid;
  const double arcsec = grid->pixel * ASTRO_DEGREES * 3600, reach = astro_grid_reach(grid);
  const double longest = MAX(fabs(u), fabs(v));
  if (!isfinite(u) || !isfinite(v))
    return astro_backend_refuse(error, "(u,v,w) of baseline %s-%s are not finite", o->names[i],
                                o->names[j]);
  return astro_backend_refuse(
      error,
      "baseline %s-%s has u = %.0f and v = %.0f wavelengths, and a model with pixels of %.4g "
      "arcsec has visibilities up to %.0f only: expected pixels of at most %.3g arcsec, or "
      "astroselect in front of this, without such baselines",
      o->names[i], o->names[j], u, v, arcsec, reach, arcsec * reach / longest);
}

static gboolean add_row(AstroDumped *self, guint i, guint j, const double uvw[3], GError **error)
{
  const AstroDumps *d = &self->dumps;
  const double highest = d->wavenumbers[d->config.channels - 1];
  const gsize row = self->n * self->pairs + (gsize)i * (i - 1) / 2 + j;
  const gboolean folded = uvw[2] < 0;
  if (!isfinite(uvw[2]) || !astro_grid_holds(&d->grid, uvw[0] * highest, uvw[1] * highest))
    return refuse_long(self, i, j, uvw[0] * highest + 0 * uvw[2], uvw[1] * highest, error);
  for (guint k = 0; k < 3; k++)
    self->uvw[3 * row + k] = folded ? -uvw[k] : uvw[k];
  self->folded[row] = folded;
  return TRUE;
}

gboolean astro_dumped_add(AstroDumped *self, gint64 middle_ns, const double *uvw, GError **error)
{
  double axes[3][3];
  if (!make_room(self, error))
    return FALSE;
  if (!uvw) {
    astro_track_axes(self->dumps.track, middle_ns, axes);
    astro_uvw_along(self->dumps.observation, axes, self->positions);
  }
  for (guint i = 1; i < self->dumps.stations; i++)
    for (guint j = 0; j < i; j++) {
      const gsize baseline = (gsize)i * (i + 1) / 2 + j;
      const double *a = &self->positions[3 * i], *b = &self->positions[3 * j];
      const double of_stations[3] = { a[0] - b[0], a[1] - b[1], a[2] - b[2] };
      if (!add_row(self, i, j, uvw ? &uvw[3 * baseline] : of_stations, error))
        return FALSE;
    }
  self->n++;
  return TRUE;
}

void astro_dumped_rows(const AstroDumped *self, AstroGridRows *rows)
{
  *rows = (AstroGridRows){ .rows = self->n * self->pairs,
                           .channels = self->dumps.config.channels,
                           .products = self->dumps.n_products,
                           .is_double = self->dumps.config.is_double,
                           .uvw = self->uvw,
                           .wavenumbers = self->dumps.wavenumbers };
}
