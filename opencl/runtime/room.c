/* Memory on a device that grows as is needed. */
#include "config.h"
#include "opencl/runtime/opencl.h"

gboolean astro_opencl_make_room(const AstroPlace *place, const char *stage, AstroOpenclRoom *room,
                                gsize bytes, GError **error)
{
  if (bytes <= room->bytes)
    return TRUE;
  astro_opencl_free(place, &room->face);
  room->bytes = 0;
  if (!astro_opencl_alloc(place, stage, &room->face, bytes, 1, error))
    return FALSE;
  room->bytes = bytes;
  return TRUE;
}

gboolean astro_opencl_send(const AstroPlace *place, const char *stage, AstroOpenclRoom *room,
                           gconstpointer from, gsize bytes, GError **error)
{
  return astro_opencl_make_room(place, stage, room, bytes, error) &&
         astro_opencl_upload(place, room->face, from, bytes, error);
}
