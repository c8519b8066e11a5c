/* The tables of astrotpacf, as they follow from the caps of histograms. */
#include "config.h"
#include "elements/astrotpacf-caps.h"

#include "core/kit/fail.h"
#include "core/stream/stream.h"
#include "core/tpacf/angular-table.h"

static guint count_of(const GstStructure *s, const char *field)
{
  gint n = 1;
  gst_structure_get_int(s, field, &n);
  return (guint)MAX(n, 1);
}

static guint n_kinds_in(const char *kinds)
{
  guint n = kinds && *kinds;
  for (const char *c = kinds; c && *c; c++)
    n += *c == ':';
  return n;
}

/* The shape of a table for a histogram's caps. across is NONE for pairs by angle. */
AstroSpaceTable astro_tpacf_space(const AstroTpacfSettings *settings, const GstCaps *in)
{
  const GstStructure *s = gst_caps_get_structure(in, 0);
  const char *layout = gst_structure_get_string(s, "layout"),
             *kinds = gst_structure_get_string(s, "pairs");
  AstroSpaceTable table = { .statistic = settings->statistic, .wedges = settings->wedges };
  for (AstroAxis axis = ASTRO_AXIS_MU; layout && axis <= ASTRO_AXIS_PI; axis++)
    if (g_str_has_suffix(layout, axis == ASTRO_AXIS_MU ? ":bin:mu" : ":bin:pi"))
      table.across = axis;
  if (table.across == ASTRO_AXIS_NONE)
    return table;
  table.n_rows = count_of(s, "bins");
  table.n_columns = count_of(s, astro_axis_field(table.across));
  table.n_regions = count_of(s, "regions");
  table.n_kinds = n_kinds_in(kinds);
  return table;
}

AstroFieldsTable astro_tpacf_fields(const GstCaps *in)
{
  const GstStructure *s = gst_caps_get_structure(in, 0);
  const char *kinds = gst_structure_get_string(s, "pairs");
  const AstroPairFields fields = astro_pair_fields_of_kinds(kinds);
  return (AstroFieldsTable){ .fields = fields,
                             .n_bins = count_of(s, "bins"),
                             .n_regions = count_of(s, "regions"),
                             .has_random = n_kinds_in(kinds) > astro_pair_fields_planes(fields) };
}

char *astro_tpacf_columns(const AstroTpacfSettings *settings, const GstCaps *in)
{
  const GstStructure *s = gst_caps_get_structure(in, 0);
  const AstroSpaceTable space = astro_tpacf_space(settings, in);
  const char *kinds = gst_structure_get_string(s, "pairs");
  const AstroFieldsTable fields = astro_tpacf_fields(in);
  if (fields.fields != ASTRO_PAIR_FIELDS_NONE)
    return astro_fields_table_columns(&fields);
  if (space.across != ASTRO_AXIS_NONE)
    return astro_space_table_columns(&space, kinds ? kinds : "");
  gint bins = 0;
  gst_structure_get_int(s, "bins", &bins);
  const AstroAngularTable table = { (guint)MAX(bins, 0), count_of(s, "regions"),
                                    n_kinds_in(kinds) };
  return astro_angular_table_columns(&table, kinds);
}

/* Offers the table first, then its text. */
GstCaps *astro_tpacf_caps(const AstroTpacfSettings *settings, const GstCaps *in)
{
  const AstroSpaceTable space = astro_tpacf_space(settings, in);
  g_autofree char *columns = astro_tpacf_columns(settings, in);
  gint bins = 0;
  gst_structure_get_int(gst_caps_get_structure(in, 0), "bins", &bins);
  if (space.across != ASTRO_AXIS_NONE)
    bins = (gint)astro_space_table_rows(&space);
  GstCaps *caps =
      gst_caps_new_simple(astro_quantity_media_type(ASTRO_QUANTITY_CORRELATION_FUNCTION), "format",
                          G_TYPE_STRING, "F64LE", "layout", G_TYPE_STRING, "column:bin", "columns",
                          G_TYPE_STRING, columns, "bins", G_TYPE_INT, bins, NULL);
  gst_caps_append(caps, gst_caps_new_empty_simple(ASTRO_TPACF_CSV));
  return caps;
}

/* Each bin has a column in the covariance, and caps name all columns. */
#define MAX_COVARIANCE_BINS 65536
#define MAX_SPACE_ROWS (1u << 20)

static gboolean check_space(const AstroTpacfSettings *settings, const GstCaps *caps, GError **error)
{
  const AstroSpaceTable space = astro_tpacf_space(settings, caps);
  if (!astro_statistic_check(space.statistic, space.across, space.n_columns, space.wedges, error))
    return FALSE;
  if (space.across == ASTRO_AXIS_NONE)
    return TRUE;
  if (settings->integral_constraint)
    return astro_fail(error, ASTRO_TPACF_ERROR, ASTRO_TPACF_ERROR_STATISTIC,
                      "integral-constraint=true is for pairs by angle: expected a histogram of "
                      "kind=angular, or integral-constraint=false");
  return (guint64)space.n_rows * MAX(space.n_columns, space.wedges) <= MAX_SPACE_ROWS ||
         astro_fail(error, ASTRO_STREAM_ERROR, ASTRO_STREAM_ERROR_CAPS,
                    "%u bins with %u of %s in each, expected at most %u in all", space.n_rows,
                    space.n_columns, astro_axis_name(space.across), MAX_SPACE_ROWS);
}

/* Whether kinds are all planes of dd and perhaps rd, in order, as astrohistogram names them. */
static gboolean has_planes(const AstroFieldsTable *table, const char *kinds)
{
  static const char *const names[] = { "dd", "rd" };
  g_autoptr(GString) expected = g_string_new(NULL);
  for (guint k = 0; k <= (guint)table->has_random; k++)
    for (guint p = 0; p < astro_pair_fields_planes(table->fields); p++) {
      const char *plane = astro_pair_fields_plane(table->fields, p);
      g_string_append_printf(expected, "%s%s%s%s", k || p ? ":" : "", names[k], plane ? "_" : "",
                             plane ? plane : "");
    }
  return g_str_equal(expected->str, kinds);
}

/* A table of fields needs its planes; properties would be ignored. */
static gboolean check_fields(const AstroTpacfSettings *settings, const GstCaps *caps,
                             GError **error)
{
  const AstroFieldsTable fields = astro_tpacf_fields(caps);
  const char *kinds = gst_structure_get_string(gst_caps_get_structure(caps, 0), "pairs");
  if (fields.fields == ASTRO_PAIR_FIELDS_NONE)
    return TRUE;
  if (!has_planes(&fields, kinds) || astro_tpacf_space(settings, caps).across != ASTRO_AXIS_NONE)
    return astro_fail(error, ASTRO_STREAM_ERROR, ASTRO_STREAM_ERROR_CAPS,
                      "a histogram of fields=%s has pairs=%s, expected its planes alone, in order "
                      "and by angle, as astrohistogram sends them",
                      astro_pair_fields_name(fields.fields), kinds);
  if (settings->statistic == ASTRO_STATISTIC_AUTO && !settings->integral_constraint &&
      settings->estimator == ASTRO_ESTIMATOR_LANDY_SZALAY)
    return TRUE;
  return astro_fail(error, ASTRO_TPACF_ERROR, ASTRO_TPACF_ERROR_STATISTIC,
                    "a histogram of fields=%s gives means of products: expected statistic=auto, "
                    "integral-constraint=false and no estimator",
                    astro_pair_fields_name(fields.fields));
}

gboolean astro_tpacf_check_caps(const AstroTpacfSettings *settings, const GstCaps *caps,
                                GError **error)
{
  gint bins = 0, regions = 1;
  const GstStructure *s = gst_caps_get_structure(caps, 0);
  gst_structure_get_int(s, "bins", &bins);
  gst_structure_get_int(s, "regions", &regions);
  if (!check_space(settings, caps, error) || !check_fields(settings, caps, error))
    return FALSE;
  return regions < 2 || bins <= MAX_COVARIANCE_BINS ||
         astro_fail(error, ASTRO_STREAM_ERROR, ASTRO_STREAM_ERROR_CAPS,
                    "a covariance of %d bins, expected at most %d", bins, MAX_COVARIANCE_BINS);
}
