/* The properties of astrogridder, and the grids that follow from them. */
#include "config.h"
#include "elements/astrogridder-settings.h"

#include "core/backend/budget.h"
#include "core/kit/enum.h"
#include "core/kit/share.h"
#include "elements/base/astroearth.h"
#include "elements/base/astroshares.h"

#include <math.h>
#include <string.h>

#include "core/gridder/wprojection/taps.h"
#include "core/kit/units.h"

#define RADIANS_PER_ARCSEC (ASTRO_DEGREE / 3600)

/* ---- enumerations ---- */

ASTRO_ENUM_TYPE(astro_stokes_get_type, "AstroStokes", { ASTRO_STOKES_I, "Total intensity", "I" },
                { ASTRO_STOKES_IQUV, "All four", "IQUV" })
ASTRO_ENUM_TYPE(astro_algorithm_get_type, "AstroAlgorithm",
                { ASTRO_ALGORITHM_WSTACKING, "Spread over w-planes, to the accuracy that is set",
                  "wstacking" },
                { ASTRO_ALGORITHM_WPROJECTION,
                  "Convolved with functions of w from a table, on one grid", "wprojection" },
                { ASTRO_ALGORITHM_DIRECT, "The exact sum for every pixel, slow", "direct" })
ASTRO_ENUM_TYPE(astro_weighting_get_type, "AstroWeighting",
                { ASTRO_WEIGHTING_NATURAL, "By the number of good samples", "natural" },
                { ASTRO_WEIGHTING_UNIFORM, "Every cell has the same weight", "uniform" },
                { ASTRO_WEIGHTING_BRIGGS, "Between the two, as robust says", "briggs" })

ASTRO_ENUM_TYPE(astro_taps_kind_get_type, "AstroTapsKind",
                { ASTRO_TAPS_NEAREST, "The nearest in the table", "nearest" },
                { ASTRO_TAPS_INTERPOLATED, "Interpolated between those around, in u, v and w",
                  "interpolated" })
ASTRO_ENUM_TYPE(astro_taper_get_type, "AstroTaper",
                { ASTRO_SPREAD_KAISER_BESSEL, "Kaiser-Bessel", "kaiser-bessel" },
                { ASTRO_SPREAD_SPHEROIDAL, "Prolate spheroidal", "spheroidal" })

static const AstroGridAlgorithm *const algorithms[] = {
  [ASTRO_ALGORITHM_WSTACKING] = &astro_wstacking,
  [ASTRO_ALGORITHM_WPROJECTION] = &astro_wprojection,
  [ASTRO_ALGORITHM_DIRECT] = &astro_direct,
};

const AstroGridAlgorithm *astro_gridder_settings_algorithm(const AstroGridderSettings *settings)
{
  return algorithms[settings->algorithm];
}

/* ---- grids ---- */

static gboolean read_centre(const char *text, double *l, double *m)
{
  char *end;
  *l = *m = 0;
  if (!text || !*text)
    return TRUE;
  *l = g_ascii_strtod(text, &end);
  if (end == text || *end != ',')
    return FALSE;
  text = end + 1;
  *m = g_ascii_strtod(text, &end);
  return end != text && !*end && isfinite(*l) && isfinite(*m);
}

static char **product_names(const AstroGridderSettings *s, gboolean psf)
{
  const gboolean named = s->pols && *s->pols;
  const char *text = named ? s->pols : s->stokes == ASTRO_STOKES_I ? "I" : "I:Q:U:V";
  g_autofree char *all = g_strconcat(text, psf ? ":" ASTRO_PRODUCT_PSF : "", NULL);
  return g_strsplit_set(all, ",:", -1);
}

/* With W-projection the convolution functions would be four times as large, and their table eight
 * times. */
static gboolean may_be_wide(const AstroGridderSettings *s, const AstroGrid *grid)
{
  double least, greatest;
  return s->algorithm != ASTRO_ALGORITHM_WPROJECTION && grid->image_size <= G_MAXINT &&
         astro_grid_n_range(grid, &least, &greatest, NULL);
}

static void widen(AstroGrid *grid)
{
  grid->middle = grid->image_size;
  grid->image_size *= 2;
}

gboolean astro_gridder_settings_choose(const AstroGridderSettings *s, const AstroGridChoice *choice,
                                       AstroGriddingConfig *config, AstroGrid *grid, GError **error)
{
  *config = (AstroGriddingConfig){ .is_double = choice->is_double,
                                   .channels = 1,
                                   .padding = s->padding,
                                   .accuracy = s->accuracy,
                                   .support = s->support,
                                   .oversampling = s->oversampling,
                                   .w_planes = s->w_planes,
                                   .interpolated = s->kernel == ASTRO_TAPS_INTERPOLATED,
                                   .taper = s->taper,
                                   .deterministic = s->deterministic };
  *grid = (AstroGrid){ .image_size = s->size };
  grid->pixel =
      s->cell > 0 ? s->cell * RADIANS_PER_ARCSEC : s->field * ASTRO_DEGREE / MAX(s->size, 1);
  read_centre(s->centre, &grid->centre_l, &grid->centre_m);
  if (choice->wide_psf)
    widen(grid);
  grid->products = product_names(s, choice->psf);
  if ((!choice->wide_psf || may_be_wide(s, grid)) &&
      astro_gridder_settings_algorithm(s)->choose(config, grid, error))
    return TRUE;
  astro_grid_clear(grid);
  return FALSE;
}

static gboolean check_products(const AstroGridderSettings *s, GError **error)
{
  g_auto(GStrv) names = product_names(s, FALSE);
  if (g_strv_length(names) > 4)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "property pols is \"%s\", expected one to four names joined by ','",
                               s->pols);
  for (guint i = 0; names[i]; i++)
    if (!astro_product_is_known(names[i]) || !strcmp(names[i], ASTRO_PRODUCT_PSF))
      return astro_stream_refuse(
          error, ASTRO_STREAM_ERROR_CAPS,
          "property pols is \"%s\": \"%s\" is no product, expected some of XX XY YX YY, "
          "RR RL LR LL, I Q U V joined by ','",
          s->pols, names[i]);
  return TRUE;
}

/* Values in place of those that will follow from the data. */
static AstroGridderSettings with_any(const AstroGridderSettings *s)
{
  AstroGridderSettings any = *s;
  if (any.size == 0)
    any.size = 64;
  if (!(any.cell > 0) && (!(any.field > 0) || s->size == 0)) {
    any.cell = 1;
    any.field = 0;
  }
  return any;
}

gboolean astro_gridder_settings_check(const AstroGridderSettings *s, GError **error)
{
  static const AstroGridChoice choice = { .is_double = TRUE };
  const AstroGridderSettings any = with_any(s);
  AstroGriddingConfig config;
  AstroGrid grid;
  double l, m;
  if (s->size % 2)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "property size is %u pixels, expected an even number, or 0 for one "
                               "from the stations",
                               s->size);
  if (s->cell > 0 && s->field > 0)
    return astro_stream_refuse(
        error, ASTRO_STREAM_ERROR_CAPS,
        "properties cell and field-of-view are both set, expected one of them");
  if (!read_centre(s->centre, &l, &m))
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "property centre is \"%s\", expected \"l,m\" (direction cosines)",
                               s->centre);
  if (!check_products(s, error) ||
      !astro_gridder_settings_choose(&any, &choice, &config, &grid, error))
    return FALSE;
  astro_grid_clear(&grid);
  return TRUE;
}

/* ---- caps ---- */

static void copy_field(GstStructure *to, const GstStructure *from, const char *field)
{
  const GValue *value = gst_structure_get_value(from, field);
  if (value && gst_value_is_fixed(value))
    gst_structure_set_value(to, field, value);
}

GstStructure *astro_gridder_settings_caps(const AstroGridderSettings *s, const GstStructure *from,
                                          const AstroGridChoice *choice)
{
  AstroGriddingConfig config;
  AstroGrid grid;
  guint rank, ranks;
  const gboolean has_planes = astro_gridder_settings_algorithm(s)->has_planes;
  if (!astro_gridder_settings_choose(s, choice, &config, &grid, NULL))
    return NULL;
  g_autofree char *layout =
      g_strconcat(has_planes ? "plane:" : "", s->per_channel ? "channel:" : "", "pol:v:u", NULL);
  g_autoptr(GstCaps) caps = gst_caps_new_simple(
      astro_quantity_media_type(ASTRO_QUANTITY_UVGRID), "format", G_TYPE_STRING,
      choice->is_double ? "CF64LE" : "CF32LE", "layout", G_TYPE_STRING, layout, "pols", G_TYPE_INT,
      (gint)g_strv_length(grid.products), "height", G_TYPE_INT, (gint)grid.size, "width",
      G_TYPE_INT, (gint)grid.size, "psf", G_TYPE_BOOLEAN, choice->psf, "wide-psf", G_TYPE_BOOLEAN,
      choice->wide_psf, NULL);
  if (has_planes)
    gst_caps_set_simple(caps, "planes", G_TYPE_INT, 1, NULL);
  astro_grid_to_caps(&grid, caps);
  astro_grid_clear(&grid);
  GstStructure *to = gst_structure_copy(gst_caps_get_structure(caps, 0));
  if (astro_share_read(s->share, &rank, &ranks, NULL) && ranks > 1)
    gst_structure_set(to, ASTRO_SHARES_FIELD, G_TYPE_INT, (gint)ranks, NULL);
  copy_field(to, from, "frequency");
  copy_field(to, from, "bandwidth");
  if (s->per_channel) {
    gst_structure_set(to, "channels", GST_TYPE_INT_RANGE, 1, G_MAXINT, NULL);
    copy_field(to, from, "channels");
  }
  return to;
}

/* ---- properties ---- */

const AstroField astro_gridder_settings_fields[] = {
  ASTRO_UINT(AstroGridderSettings, size, "size", "Size",
             "Pixels along a side of the image, an even number (0: from the field of view, or the "
             "shortest baseline)",
             0, G_MAXINT, 0),
  ASTRO_DOUBLE(AstroGridderSettings, cell, "cell", "Cell",
               "Side of a pixel of the image, arcsec (0: from the field of view and the size, or "
               "the longest baseline)",
               0, G_MAXDOUBLE, 0),
  ASTRO_DOUBLE(AstroGridderSettings, field, "field-of-view", "Field of view",
               "Width of the whole image, degrees, in place of cell", 0, G_MAXDOUBLE, 0),
  ASTRO_TEXT(AstroGridderSettings, pols, "pols", "Polarisations",
             "Products to grid, joined by ',', in place of stokes: some of XX XY YX YY, RR RL LR "
             "LL, I Q U V. Products that are gridded together have one beam: a visibility has the "
             "least of their weights",
             NULL),
  ASTRO_ENUM(AstroGridderSettings, stokes, "stokes", "Stokes", "Stokes parameters to grid",
             astro_stokes_get_type, ASTRO_STOKES_I),
  ASTRO_ENUM(AstroGridderSettings, weighting, "weighting", "Weighting",
             "How visibilities are weighted", astro_weighting_get_type, ASTRO_WEIGHTING_NATURAL),
  ASTRO_DOUBLE(AstroGridderSettings, robust, "robust", "Robust",
               "With weighting=briggs: -2 is nearly uniform, 2 nearly natural; values beyond "
               "change little more",
               -5, 5, 0),
  ASTRO_BOOLEAN(AstroGridderSettings, per_channel, "per-channel", "Per channel",
                "One grid for each channel, in place of one for all", FALSE),
  ASTRO_UINT(AstroGridderSettings, interval, "interval", "Interval",
             "Number of dumps of visibilities after which a grid is sent (0: one grid, at the end)",
             0, G_MAXUINT, 0),
  ASTRO_BOOLEAN(AstroGridderSettings, cumulative, "cumulative", "Cumulative",
                "With an interval: each grid holds all earlier visibilities too", FALSE),
  ASTRO_ENUM(AstroGridderSettings, algorithm, "algorithm", "Algorithm",
             "How visibilities are gridded", astro_algorithm_get_type, ASTRO_ALGORITHM_WSTACKING),
  ASTRO_DOUBLE(
      AstroGridderSettings, accuracy, "accuracy", "Accuracy",
      "Relative L2 error of the image; below 1e-5 grids of wstacking are in double precision",
      1e-12, 0.1, 1e-4, .told = G_STRUCT_OFFSET(AstroGridderSettings, asks_accuracy)),
  ASTRO_DOUBLE(AstroGridderSettings, smearing, "smearing", "Smearing",
               "Neighbouring channels are added up before they are gridded, as far as that makes a "
               "source in the image's corner fainter by no more than this fraction on the longest "
               "baseline (0: not at all)",
               0, 0.5, 0),
  ASTRO_NUMBER_OR_AUTO(
      AstroGridderSettings, support, "support", "Support",
      "Cells along a side that a visibility is spread over: a number from 1 to 256, or auto",
      "As few as the accuracy allows", ASTRO_TAPS_MAX_SUPPORT),
  ASTRO_DOUBLE(AstroGridderSettings, padding, "padding", "Padding",
               "Size of the grid over that of the image (0: the fastest)", 0, 8, 0),
  ASTRO_TEXT(AstroGridderSettings, centre, "centre", "Centre",
             "Centre of the image, \"l,m\": direction cosines from the phase centre", NULL),
  ASTRO_UINT(AstroGridderSettings, oversampling, "oversampling", "Oversampling",
             "wprojection: taps per cell in the table", 1, ASTRO_TAPS_MAX_OVERSAMPLING, 8),
  ASTRO_UINT(AstroGridderSettings, w_planes, "w-planes", "W-planes",
             "wprojection: how many values of w are in the table, 2 or more with "
             "kernel=interpolated (0: from the longest baseline and the field)",
             0, ASTRO_TAPS_MAX_PLANES, 0),
  ASTRO_ENUM(AstroGridderSettings, kernel, "kernel", "Kernel", "wprojection: which taps are used",
             astro_taps_kind_get_type, ASTRO_TAPS_NEAREST),
  ASTRO_ENUM(AstroGridderSettings, taper, "taper", "Taper",
             "wprojection: the function that keeps aliases low", astro_taper_get_type,
             ASTRO_SPREAD_KAISER_BESSEL),
  ASTRO_BOOLEAN(AstroGridderSettings, deterministic, "deterministic", "Deterministic",
                "On a GPU: adds in a fixed order, so that grids are the same to the last bit each "
                "time, at a cost; on the CPU they always are",
                FALSE),
  ASTRO_TEXT(AstroGridderSettings, max_memory, "max-memory", "Memory",
             ASTRO_BUDGET_HELP ", for this stage and those after it. Visibilities that do not fit "
                               "are kept in a file in TMPDIR",
             ASTRO_BUDGET_DEFAULT),
  ASTRO_TEXT(AstroGridderSettings, share, "share", "Share",
             ASTRO_SHARE_HELP "; all have all visibilities, and astroreduce behind astroimage adds "
                              "up their images",
             NULL),
  ASTRO_EARTH_FIELD(AstroGridderSettings, earth_orientation),
  { 0 },
};

void astro_gridder_settings_copy(gconstpointer element, AstroGridderSettings *to,
                                 const AstroGridderSettings *from)
{
  astro_fields_copy(astro_gridder_settings_fields, element, to, from, sizeof *to);
}

void astro_gridder_settings_clear(AstroGridderSettings *s)
{
  astro_fields_clear(astro_gridder_settings_fields, s);
}
