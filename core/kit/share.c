/* Reads shares as users write them. */
#include "core/kit/share.h"

#include <gst/gst.h>

#include "core/kit/fail.h"

#define MOST_RANKS 1048576

gboolean astro_share_read(const char *text, guint *rank, guint *ranks, GError **error)
{
  guint64 first = 0, of = 1;
  g_auto(GStrv) parts = g_strsplit(text && *text ? text : "0/1", "/", 3);
  const gboolean is_share = g_strv_length(parts) == 2 &&
                            g_ascii_string_to_unsigned(parts[1], 10, 1, MOST_RANKS, &of, NULL) &&
                            g_ascii_string_to_unsigned(parts[0], 10, 0, of - 1, &first, NULL);
  *rank = (guint)first;
  *ranks = (guint)of;
  return is_share || astro_fail(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                                "share=%s, expected RANK/RANKS with RANK from 0 to RANKS - 1, as "
                                "in share=1/4",
                                text);
}
