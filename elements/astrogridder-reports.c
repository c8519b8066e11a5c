/* Messages about visibilities and settings of no use. */
#include "elements/astrogridder-reports.h"

#include <math.h>
#include <string.h>

#include "core/backend/backend.h"
#include "core/kit/units.h"

void astro_gridder_warn_of_accuracy(GstElement *element, const AstroGridderSettings *s,
                                    const AstroGrid *grid)
{
  const AstroSpread *spread = &grid->spread;
  if (s->algorithm != ASTRO_ALGORITHM_WPROJECTION || !s->asks_accuracy ||
      s->accuracy >= astro_wprojection_reach(spread))
    return;
  g_autoptr(GString) better = g_string_new(NULL);
  for (guint interpolated = spread->interpolated; interpolated < 2; interpolated++) {
    const guint enough = astro_wprojection_oversampling(interpolated, s->accuracy);
    if (enough)
      g_string_append_printf(better, "kernel=%s oversampling=%u or ",
                             interpolated ? "interpolated" : "nearest",
                             MAX(enough, spread->oversampling));
  }
  GST_ELEMENT_WARNING(element, LIBRARY, SETTINGS,
                      ("accuracy is %g, but algorithm=wprojection with kernel=%s oversampling=%u "
                       "reaches about %.2g: expected %salgorithm=wstacking",
                       s->accuracy, spread->interpolated ? "interpolated" : "nearest",
                       spread->oversampling, astro_wprojection_reach(spread), better->str),
                      (NULL));
}

/* Graphs pass on all their settings, so that robust may be "set" to its default. */
void astro_gridder_warn_of_robust(GstElement *element, const AstroGridderSettings *s)
{
  if (s->robust == 0 || s->weighting == ASTRO_WEIGHTING_BRIGGS)
    return;
  g_autoptr(GEnumClass) weightings = g_type_class_ref(astro_weighting_get_type());
  GST_ELEMENT_WARNING(
      element, LIBRARY, SETTINGS,
      ("robust=%g has no effect with weighting=%s: expected weighting=briggs, or no "
       "robust",
       s->robust, g_enum_get_value(weightings, s->weighting)->value_nick),
      (NULL));
}

/* To three digits, as it is printed. */
static double round_down(double value)
{
  const double digit = pow(10, floor(log10(value)) - 2);
  return floor(value / digit) * digit;
}

/* Settings that would hold all visibilities: with the same number of smaller pixels a grid reaches
 * farther. */
static char *advise(const AstroResult *told, const AstroGrid *grid)
{
  const double cell = grid->pixel * ASTRO_DEGREES * 3600;
  const double reach = told->reach, longest = told->longest;
  const double enough = round_down(cell * reach / longest);
  return g_strdup_printf("cell %.4g arcsec reaches %.0f wavelengths, the longest baseline is %.0f: "
                         "expected a cell of at most %.3g arcsec, which is a field-of-view of "
                         "%.3g degrees",
                         cell, reach, longest, enough, enough * astro_grid_wanted(grid) / 3600);
}

void astro_gridder_warn_of_losses(GstElement *element, const AstroResult *told,
                                  const AstroGrid *grid, const AstroGridCounts *counts)
{
  const double lost = (double)counts->outside / (double)MAX(counts->outside + counts->used, 1);
  g_autofree char *advice = advise(told, grid);
  GST_ELEMENT_WARNING(
      element, STREAM, FAILED,
      ("%.3g%% of the visibilities lie outside the grid and are lost: the cell is too large for "
       "the baselines",
       100 * lost),
      ("%s", advice));
}

void astro_gridder_warn_of_gap(GstElement *element, GstClockTime begin, GstClockTime end)
{
  GST_ELEMENT_WARNING(element, STREAM, FAILED,
                      ("no grid is sent for %.9g to %.9g seconds after the start: none of its "
                       "visibilities can be used",
                       (double)begin / GST_SECOND, (double)end / GST_SECOND),
                      (NULL));
}

gboolean astro_gridder_check_delays(GstElement *element, AstroUndelayed *undelayed, gint64 ns,
                                    guint *warned, GError **error)
{
  const double turns = astro_undelayed_turns(undelayed, ns);
  const gboolean is_little = turns <= ASTRO_UNDELAYED_LITTLE;
  if (*warned > !is_little)
    return TRUE;
  if (!is_little && *warned == 0)
    return astro_backend_refuse(
        error,
        "the delays of the phase centre have not been taken out of these visibilities, whose "
        "phases are up to %.3g turns from those of their (u,v,w), so that no source would be "
        "found: "
        "expected astrodelay before the filter bank or behind it",
        turns);
  ++*warned;
  if (is_little)
    GST_ELEMENT_WARNING(element, STREAM, FAILED,
                        ("the delays of the phase centre have not been taken out: phases are up to "
                         "%.3g turns wrong, which is tolerable only at the array's zenith and for "
                         "a short while. astrodelay takes them out",
                         turns),
                        (NULL));
  else
    GST_ELEMENT_WARNING(element, STREAM, FAILED,
                        ("the phase centre has left the zenith and its delays have not been taken "
                         "out: phases are up to %.3g turns wrong from here on, and sources move "
                         "away from their positions. astrodelay takes them out",
                         turns),
                        (NULL));
  return TRUE;
}

/* One dead polarisation spoils all Stokes parameters. */
static const char *advise_products(const AstroGridderConfig *config)
{
  for (guint i = 0; config->prepare.pols == 2 && config->grid.products[i]; i++)
    if (strchr("IQUV", config->grid.products[i][0]))
      return ": a Stokes parameter needs all of its correlations; property pols can take a single "
             "one, such as XX or RR";
  return "";
}

gboolean astro_gridder_refuse_empty(const AstroResult *told, const AstroGridderConfig *config,
                                    const AstroGridCounts *counts, GError **error)
{
  guint64 left_out = counts->flagged + counts->not_finite + counts->outside;
  if (left_out == 0)
    return astro_backend_refuse(error, "no visibilities to grid: no baselines between stations");
  g_autofree char *advice = counts->outside ? advise(told, &config->grid) : NULL;
  return astro_backend_refuse(error,
                              "no visibilities to grid: of %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT
                              " are flagged, %" G_GUINT64_FORMAT " not finite, %" G_GUINT64_FORMAT
                              " outside the grid%s%s",
                              left_out, counts->flagged, counts->not_finite, counts->outside,
                              advice ? ": " : "", advice ? advice : advise_products(config));
}

void astro_gridder_tell(GstElement *element, guint64 grids, const AstroGridCounts *counts,
                        guint channels_together)
{
  GstStructure *s = gst_structure_new("astro-gridder", "grids", G_TYPE_UINT64, grids, "used",
                                      G_TYPE_UINT64, counts->used, "outside", G_TYPE_UINT64,
                                      counts->outside, "flagged", G_TYPE_UINT64, counts->flagged,
                                      "not-finite", G_TYPE_UINT64, counts->not_finite,
                                      "channels-together", G_TYPE_UINT, channels_together, NULL);
  gst_element_post_message(element, gst_message_new_element(GST_OBJECT(element), s));
}
