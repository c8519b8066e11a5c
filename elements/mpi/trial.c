/* Makes and checks blocks that try a way. */
#include "config.h"
#include "elements/mpi/trial.h"

#include "core/backend/backend.h"
#include "core/kit/fail.h"

#define WORDS 4099 /* more than NCCL sends in one piece without more ado */
#define SECONDS 30
#define MOST_SECONDS 3600

gint64 trial_seconds(void)
{
  static gint reported = 0;
  const char *told = g_getenv(TRIAL_VARIABLE);
  guint64 seconds = SECONDS;
  if (told && !g_ascii_string_to_unsigned(told, 10, 1, MOST_SECONDS, &seconds, NULL) &&
      g_atomic_int_compare_and_exchange(&reported, 0, 1))
    g_warning(TRIAL_VARIABLE "=%s is no number of seconds from 1 to %d: ignored", told,
              MOST_SECONDS);
  return (gint64)seconds;
}

/* Each word has a value of its own. */
static guint32 word_of(guint rank, guint i)
{
  return (rank + 1) * 0x9e3779b9u + i * 0x85ebca6bu;
}

GstBuffer *trial_new(Room *room, guint rank, GError **error)
{
  GstBuffer *block = room_take(room, WORDS * sizeof(guint32), TRUE, error);
  GstMapInfo map;
  if (!block)
    return NULL;
  if (!gst_buffer_map(block, &map, GST_MAP_WRITE)) {
    gst_buffer_unref(block);
    astro_fail(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_DEVICE,
               "a block that tries it cannot be written");
    return NULL;
  }
  for (guint i = 0; i < WORDS; i++)
    ((guint32 *)map.data)[i] = word_of(rank, i);
  gst_buffer_unmap(block, &map);
  return block;
}

char *trial_check(Way way, GstBuffer *block, guint rank)
{
  GstMapInfo map;
  guint right = 0;
  if (!block || !gst_buffer_map(block, &map, GST_MAP_READ))
    return g_strdup_printf("cannot read what came from rank %u by %s", rank, way_name(way));
  for (guint i = 0; i < map.size / sizeof(guint32); i++)
    right += ((const guint32 *)map.data)[i] == word_of(rank, i);
  const gboolean is_right = right == WORDS && map.size == WORDS * sizeof(guint32);
  gst_buffer_unmap(block, &map);
  return is_right ? NULL
                  : g_strdup_printf("got other bytes by %s than rank %u has sent: %u of %d words "
                                    "are right",
                                    way_name(way), rank, right, WORDS);
}

char *trial_tell_late(Way way, guint n, guint others)
{
  return g_strdup_printf("has got blocks by %s from %u of %u ranks within %d s (" TRIAL_VARIABLE
                         "), expected one from each",
                         way_name(way), n, others, (int)trial_seconds());
}
