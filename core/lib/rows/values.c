/* Finds the counts behind the values of a block of visibilities. */
#include "core/lib/rows/values.h"

void astro_row_tally_add(AstroRowTally *tally, const AstroRowTally *more)
{
  tally->values += more->values;
  tally->flagged += more->flagged;
  tally->not_finite += more->not_finite;
  tally->partial += more->partial;
  tally->filled += more->filled;
  tally->dropped += more->dropped;
  tally->most = MAX(tally->most, more->most);
  if (more->most)
    tally->least = tally->least ? MIN(tally->least, more->least) : more->least;
}

gboolean astro_row_values_begin(AstroRowValues *v, const AstroStream *stream, gconstpointer data,
                                guint64 frames, const AstroValidityMeta *validity, double scale,
                                GError **error)
{
  AstroValidityAxis axes[ASTRO_MAX_AXES];
  *v = (AstroRowValues){
    .format = stream->format,
    .data = data,
    .scale = scale,
    .channels = (guint)astro_stream_extent(stream, ASTRO_AXIS_CHANNEL),
    .pols = (guint)astro_stream_extent(stream, ASTRO_AXIS_POL),
    .baselines = astro_stream_extent(stream, ASTRO_AXIS_BASELINE),
  };
  if (!validity)
    return TRUE;
  AstroLayout shape;
  astro_stream_shape(stream, frames, &shape);
  if (!astro_validity_check(validity, &shape, error))
    return FALSE;
  v->meta = validity;
  v->shape = shape;
  v->lead = shape.n_axes == 5;
  astro_validity_axes(validity, &shape, axes);
  for (guint i = 0; i < shape.n_axes; i++) {
    v->of[i] = g_new(guint64, shape.extents[i]);
    for (guint64 k = 0; k < shape.extents[i]; k++)
      v->of[i][k] = k / axes[i].group * axes[i].stride;
  }
  return TRUE;
}

void astro_row_values_end(AstroRowValues *v)
{
  for (guint i = 0; i < v->shape.n_axes; i++)
    g_clear_pointer(&v->of[i], g_free);
  v->shape.n_axes = 0;
}

/* ---- rows ---- */

static gboolean has_counts(const AstroRowValues *v, guint64 frame, guint64 baseline)
{
  guint64 *const *of = v->of + v->lead;
  const guint64 base = (v->lead ? v->of[0][frame] : 0) + of[1][baseline];
  for (guint c = 0; c < v->channels; c++)
    for (guint p = 0; p < v->pols; p++)
      for (guint q = 0; q < v->pols; q++)
        if (v->meta->counts[base + of[0][c] + of[2][p] + of[3][q]] > 0)
          return TRUE;
  return FALSE;
}

guint64 astro_row_values_places(const AstroRowValues *v, guint64 frame, const guint8 *absent,
                                AstroRowPlace *places)
{
  guint64 n = 0;
  guint i = 0, j = 0;
  for (guint64 b = 0; b < v->baselines; b++) {
    if (!absent || !v->meta || !absent[frame * v->baselines + b] || has_counts(v, frame, b))
      places[n++] = (AstroRowPlace){ b, i, j };
    if (++j > i) {
      i++;
      j = 0;
    }
  }
  return n;
}
