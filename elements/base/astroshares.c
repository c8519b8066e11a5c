/* The query for sums over processes. */
#include "config.h"
#include "elements/base/astroshares.h"

#include "core/kit/fail.h"

#define NAME "astro-shares"

guint astro_shares_of(const GstStructure *caps)
{
  gint shares = 1;
  gst_structure_get_int(caps, ASTRO_SHARES_FIELD, &shares);
  return (guint)MAX(shares, 1);
}

gboolean astro_shares_sum(GstPad *src, guint shares, const AstroSharesPart *parts, guint n,
                          gboolean *is_here, GError **error)
{
  g_autoptr(GstQuery) query = gst_query_new_custom(
      GST_QUERY_CUSTOM, gst_structure_new(NAME, "shares", G_TYPE_UINT, shares, "parts",
                                          G_TYPE_POINTER, parts, "n", G_TYPE_UINT, n, NULL));
  if (gst_pad_peer_query(src, query) &&
      gst_structure_get_boolean(gst_query_get_structure(query), "here", is_here))
    return TRUE;
  return astro_fail(error, GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED,
                    "the grid is one of %u parts (share= of astrogridder), and no element behind "
                    "this one adds them up: expected astroreduce, in a job of %u ranks",
                    shares, shares);
}

gboolean astro_shares_is_asked(GstQuery *query, guint *shares, const AstroSharesPart **parts,
                               guint *n)
{
  const GstStructure *s = gst_query_get_structure(query);
  return GST_QUERY_TYPE(query) == GST_QUERY_CUSTOM && s && gst_structure_has_name(s, NAME) &&
         gst_structure_get(s, "shares", G_TYPE_UINT, shares, "parts", G_TYPE_POINTER, parts, "n",
                           G_TYPE_UINT, n, NULL);
}

void astro_shares_answer(GstQuery *query, gboolean is_here)
{
  gst_structure_set(gst_query_writable_structure(query), "here", G_TYPE_BOOLEAN, is_here, NULL);
}
