/* Boxed types, and accessors of arrays, for languages other than C. */
#include "config.h"
#include "core/stream/languages.h"
#include "core/stream/uvw-meta.h"

#include <math.h>
#include <string.h>

static gpointer copy_layout(gpointer layout)
{
  return g_memdup2(layout, sizeof(AstroLayout));
}

static gpointer copy_stream(gpointer stream)
{
  return g_memdup2(stream, sizeof(AstroStream));
}

G_DEFINE_BOXED_TYPE(AstroLayout, astro_layout, copy_layout, g_free)
G_DEFINE_BOXED_TYPE(AstroStream, astro_stream, copy_stream, g_free)
G_DEFINE_BOXED_TYPE(AstroObservation, astro_observation, astro_observation_ref,
                    astro_observation_unref)
G_DEFINE_BOXED_TYPE(AstroEarth, astro_earth, astro_earth_ref, astro_earth_unref)

const char *astro_layout_get_axis(const AstroLayout *layout, guint i)
{
  return i < layout->n_axes ? astro_axis_name(layout->axes[i]) : NULL;
}

guint64 astro_layout_get_extent(const AstroLayout *layout, guint i)
{
  return i < layout->n_axes ? layout->extents[i] : 0;
}

AstroLayout *astro_stream_get_layout(const AstroStream *stream)
{
  return copy_layout((gpointer)&stream->layout);
}

AstroLayout *astro_stream_get_shape(const AstroStream *stream, guint64 steps)
{
  AstroLayout shape;
  astro_stream_shape(stream, steps, &shape);
  return copy_layout(&shape);
}

/* ---- observations ---- */

gboolean astro_observation_get_station(const AstroObservation *observation, guint i,
                                       const char **name, double *x, double *y, double *z)
{
  if (i >= observation->n_stations)
    return FALSE;
  const double *position = observation->positions + 3 * i;
  *name = observation->names[i];
  *x = position[0];
  *y = position[1];
  *z = position[2];
  return TRUE;
}

gboolean astro_observation_set_station(AstroObservation *observation, guint i, const char *name,
                                       double x, double y, double z)
{
  if (i >= observation->n_stations)
    return FALSE;
  double *position = observation->positions + 3 * i;
  g_free(observation->names[i]);
  observation->names[i] = g_strdup(name);
  position[0] = x;
  position[1] = y;
  position[2] = z;
  return TRUE;
}

gboolean astro_observation_get_beam(const AstroObservation *observation, guint i, const char **name,
                                    AstroBeamKind *kind, AstroBeamFrame *frame, double *x,
                                    double *y)
{
  if (i >= observation->n_beams)
    return FALSE;
  const AstroBeam *beam = &observation->beams[i];
  *name = beam->name;
  *kind = beam->kind;
  *frame = beam->frame;
  *x = beam->x;
  *y = beam->y;
  return TRUE;
}

double *astro_observation_get_dms(const AstroObservation *observation, gsize *n)
{
  *n = observation->n_dms;
  return g_memdup2(observation->dms, observation->n_dms * sizeof *observation->dms);
}

void astro_observation_set_telescope(AstroObservation *observation, const char *telescope)
{
  g_free(observation->telescope);
  observation->telescope = g_strdup(telescope);
}

/* ---- counts ---- */

gboolean astro_buffer_set_counts(GstBuffer *buffer, const AstroStream *stream, const char *axes,
                                 guint32 full, const guint32 *counts, gsize n, GError **error)
{
  AstroLayout shape, counted;
  guint64 steps;

  if (!gst_buffer_is_writable(buffer))
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_SIZE,
                               "the buffer is shared, expected a writable one");
  if (!astro_stream_steps(stream, gst_buffer_get_size(buffer), &steps, error) ||
      !astro_layout_parse(&counted, axes, stream->quantity, error))
    return FALSE;
  astro_stream_shape(stream, steps, &shape);
  for (guint i = 0, from = 0; i < counted.n_axes; i++) {
    while (from < shape.n_axes && shape.axes[from] != counted.axes[i])
      from++;
    if (from == shape.n_axes) {
      g_autofree char *layout = astro_layout_to_string(&shape);
      return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                                 "counts over %s, expected axes of %s, in its order", axes, layout);
    }
    counted.extents[i] = shape.extents[from++];
  }
  if (n != astro_layout_samples(&counted))
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_SIZE,
                               "%" G_GSIZE_FORMAT " counts over %s, expected %" G_GUINT64_FORMAT, n,
                               axes, astro_layout_samples(&counted));
  for (gsize i = 0; i < n; i++)
    if (counts[i] > full)
      return astro_stream_refuse(error, ASTRO_STREAM_ERROR_SIZE,
                                 "a count of %u, expected at most the full one, %u", counts[i],
                                 full);
  AstroValidityMeta *meta = astro_buffer_add_validity(buffer, &counted, full);
  meta->slowest_first = counted.n_axes && shape.n_axes && counted.axes[0] == shape.axes[0];
  if (n)
    memcpy(meta->counts, counts, n * sizeof *counts);
  return TRUE;
}

guint32 *astro_buffer_get_counts(GstBuffer *buffer, gsize *n)
{
  const AstroValidityMeta *meta = astro_buffer_get_validity(buffer);
  *n = meta ? astro_validity_n_counts(meta) : 0;
  return meta ? g_memdup2(meta->counts, *n * sizeof *meta->counts) : NULL;
}

gboolean astro_buffer_set_uvw(GstBuffer *buffer, guint64 baselines, const double *uvw, gsize n,
                              GError **error)
{
  if (!gst_buffer_is_writable(buffer))
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_SIZE,
                               "the buffer is shared, expected a writable one");
  if (baselines == 0 || baselines > G_MAXSIZE / 3 || n % (3 * baselines) != 0)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_SIZE,
                               "%" G_GSIZE_FORMAT
                               " values of (u,v,w), expected 3 for each of %" G_GUINT64_FORMAT
                               " baselines at each step",
                               n, baselines);
  for (gsize i = 0; i < n; i++)
    if (!(fabs(uvw[i]) <= ASTRO_OBSERVATION_MAX_METRES))
      return astro_stream_refuse(error, ASTRO_STREAM_ERROR_SIZE,
                                 "a value of (u,v,w) is %g m, expected at most %g", uvw[i],
                                 ASTRO_OBSERVATION_MAX_METRES);
  AstroUvwMeta *meta = astro_buffer_add_uvw(buffer, n / (3 * baselines), baselines);
  if (n)
    memcpy(meta->uvw, uvw, n * sizeof *uvw);
  return TRUE;
}

double *astro_buffer_get_uvw(GstBuffer *buffer, gsize *n)
{
  const AstroUvwMeta *meta = (const AstroUvwMeta *)gst_buffer_get_meta(buffer, ASTRO_UVW_META_API);
  *n = meta ? 3 * meta->steps * meta->baselines : 0;
  return meta ? g_memdup2(meta->uvw, *n * sizeof *meta->uvw) : NULL;
}

char *astro_validity_meta_get_axes(const AstroValidityMeta *meta)
{
  return astro_layout_to_string(&meta->shape);
}
