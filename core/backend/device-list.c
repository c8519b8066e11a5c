/* Lists of devices, as a property or a parameter has them. */
#include "config.h"
#include "core/backend/device-list.h"

#include "core/backend/backend.h"

#include <string.h>

static guint refuse(const char *text, GError **error, const char *why)
{
  g_set_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_SHAPE,
              "devices is \"%s\": %s, expected indices and ranges of GPUs such as 0,1 or 0-3, or "
              "all",
              text, why);
  return 0;
}

/* One index, or two joined by '-'. */
static gboolean read_range(const char *part, gint64 range[2])
{
  char *end;
  if (!g_ascii_isdigit(*part))
    return FALSE;
  range[0] = range[1] = g_ascii_strtoll(part, &end, 10);
  if (*end == '-' && g_ascii_isdigit(end[1]))
    range[1] = g_ascii_strtoll(end + 1, &end, 10);
  return *end == '\0' && range[0] <= range[1];
}

guint astro_device_list_parse(const char *text, gint n, gint indices[ASTRO_MOST_DEVICES],
                              GError **error)
{
  g_autofree char *all = g_strdup_printf("0-%d", n - 1);
  g_auto(GStrv) parts = g_strsplit(strcmp(text, "all") ? text : all, ",", -1);
  guint found = 0;
  if (n <= 0)
    return refuse(text, error, "there is no GPU");
  for (guint i = 0; parts[i]; i++) {
    gint64 range[2];
    if (!read_range(g_strstrip(parts[i]), range))
      return refuse(text, error, "this cannot be read");
    if (range[1] >= n) {
      g_autofree char *why = g_strdup_printf("this machine has %d", n);
      return refuse(text, error, why);
    }
    for (gint64 k = range[0]; k <= range[1]; k++) {
      if (found == ASTRO_MOST_DEVICES)
        return refuse(text, error, "at most " G_STRINGIFY(ASTRO_MOST_DEVICES) " can share work");
      indices[found++] = (gint)k;
    }
  }
  return found > 0 ? found : refuse(text, error, "it names none");
}
