/* The backend of astrocatsrc. */
#include "config.h"
#include "elements/astrocatsrc-points.h"

#include "core/backend/module.h"
#include "core/memory/memory.h"

/* Whoever counts pairs first needs the points on the host. So auto leaves a device alone. */
static AstroBackendKind kind_of(const AstroWorkChoice *choice)
{
  return choice->kind == ASTRO_BACKEND_AUTO ? ASTRO_BACKEND_CPU : choice->kind;
}

gboolean astro_even_points_open(AstroEvenPoints *points, const AstroFootprint *footprint,
                                const AstroWorkChoice *choice, char **why, GError **error)
{
  AstroPlace *place = &points->place;
  place->threads = choice->threads;
  points->backend = astro_backend_choose("uniform", astro_uniform_backends, kind_of(choice),
                                         choice->device, footprint, &place->device, why, error);
  if (points->backend &&
      (!place->device || (place->queue = place->device->funcs->queue_new(place->device, error))))
    points->instance = points->backend->create(footprint, place, &points->variant, error);
  if (points->instance)
    return TRUE;
  astro_even_points_close(points);
  return FALSE;
}

void astro_even_points_close(AstroEvenPoints *points)
{
  AstroPlace *place = &points->place;
  if (points->instance)
    points->backend->destroy(points->instance);
  if (place->queue)
    place->device->funcs->queue_free(place->device, place->queue);
  g_clear_pointer(&place->device, astro_device_unref);
  *points = (AstroEvenPoints){ 0 };
}

static gboolean make(AstroEvenPoints *points, guint8 *data, guint64 n, AstroRandom *random,
                     GError **error)
{
  const gsize bytes = n * sizeof(double);
  const AstroBlock out[] = { { data, bytes }, { data + bytes, bytes } };
  const AstroUniformCall call = { random };
  return points->backend->submit(points->instance, NULL, 0, out, G_N_ELEMENTS(out), &call, NULL,
                                 error);
}

static gboolean make_on_device(AstroEvenPoints *points, GstBuffer **buffer, guint64 n,
                               AstroRandom *random, GError **error)
{
  AstroPlace *place = &points->place;
  gpointer face;
  if (!astro_buffer_acquire(buffer, place->device, place->queue, GST_MAP_WRITE, &face, error))
    return FALSE;
  const gboolean made = make(points, face, n, random, error);
  return astro_buffer_release(*buffer, place->queue, GST_MAP_WRITE, FALSE, made ? error : NULL) &&
         made && points->backend->drain(points->instance, NULL, error);
}

gboolean astro_even_points_make(AstroEvenPoints *points, GstBuffer **buffer, guint64 n,
                                AstroRandom *random, GError **error)
{
  GstMapInfo map;
  if (n == 0)
    return TRUE;
  if (points->place.device)
    return make_on_device(points, buffer, n, random, error);
  if (!gst_buffer_map(*buffer, &map, GST_MAP_WRITE))
    return astro_catalogue_no_memory(error, n);
  const gboolean made = make(points, map.data, n, random, error);
  gst_buffer_unmap(*buffer, &map);
  return made;
}
