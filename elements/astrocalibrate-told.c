/* The messages of astrocalibrate. */
#include "config.h"
#include "elements/astrocalibrate-told.h"

/* Above both, a model lacks more than faint sources: chance makes neither of right ones. */
#define MOST_CHI_SQUARED 3
#define MOST_UNEXPLAINED 0.05

static int compare(gconstpointer a, gconstpointer b)
{
  const float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

/* The median S/N of good gains; 0: there are none. */
static double median_of(const AstroCalibrateSolved *solved, gsize values)
{
  g_autofree float *good = g_new(float, values);
  gsize n = 0;
  for (gsize k = 0; k < values; k++)
    if (solved->snr[k] > 0)
      good[n++] = solved->snr[k];
  qsort(good, n, sizeof *good, compare);
  return n ? (double)good[n / 2] : 0;
}

static const struct {
  const char *name;
  gsize offset;
} counters[] = {
#define COUNTER(name, member)                                                                      \
  {                                                                                                \
    name, G_STRUCT_OFFSET(AstroCalibrateTally, member)                                             \
  }
  COUNTER("solved", solved),
  COUNTER("no-data", no_data),
  COUNTER("unconnected", unconnected),
  COUNTER("undetermined", undetermined),
  COUNTER("not-converged", not_converged),
  COUNTER("low-snr", low_snr),
#undef COUNTER
};

static void put_tally(const AstroCalibrateTally *tally, GstStructure *to)
{
  for (guint k = 0; k < G_N_ELEMENTS(counters); k++)
    gst_structure_set(to, counters[k].name, G_TYPE_UINT64,
                      G_STRUCT_MEMBER(guint64, tally, counters[k].offset), NULL);
}

static void post(GstElement *element, const AstroCalibrateSolved *solved, gsize values,
                 double begin, double end)
{
  GstStructure *said = gst_structure_new(
      "calibrated", "begin", G_TYPE_DOUBLE, begin, "end", G_TYPE_DOUBLE, end, "iterations",
      G_TYPE_UINT, solved->iterations, "snr", G_TYPE_DOUBLE, median_of(solved, values), "rms",
      G_TYPE_DOUBLE, solved->rms, "chi-squared", G_TYPE_DOUBLE, solved->chi_squared, "unexplained",
      G_TYPE_DOUBLE, solved->unexplained, "visibilities", G_TYPE_UINT64, solved->visibilities,
      NULL);
  put_tally(&solved->tally, said);
  gst_element_post_message(element, gst_message_new_element(GST_OBJECT(element), said));
}

static void warn(AstroCalibrateTold *told, GstElement *element, const AstroCalibrateSolved *solved,
                 double begin, double end)
{
  const AstroCalibrateTally *tally = &solved->tally;
  if (solved->reference_moved && !told->said_moved)
    GST_ELEMENT_WARNING(element, STREAM, FORMAT,
                        ("the reference station has no data from %g to %g s: the phase of another "
                         "station is 0 there, expected a ref-station with data",
                         begin, end),
                        (NULL));
  if (solved->free_angles && !told->said_open)
    GST_ELEMENT_WARNING(element, STREAM, FORMAT,
                        ("type=full with a model that leaves %u angle%s of polarisation open: the "
                         "reference station's matrix is taken to be as near to unity as it can be, "
                         "expected a sky with sources of different polarisation (q=, u=, v=)",
                         solved->free_angles, solved->free_angles > 1 ? "s" : ""),
                        (NULL));
  if (tally->solved == 0 && !told->said_unsolved)
    GST_ELEMENT_WARNING(
        element, STREAM, FORMAT,
        ("no gains could be solved from %g to %g s, and its visibilities are flagged: of the gains "
         "%" G_GUINT64_FORMAT " have no data, %" G_GUINT64_FORMAT
         " no baselines to the reference station, %" G_GUINT64_FORMAT
         " are not determined by their baselines and the sky, %" G_GUINT64_FORMAT
         " did not converge and %" G_GUINT64_FORMAT " are below min-snr",
         begin, end, tally->no_data, tally->unconnected, tally->undetermined, tally->not_converged,
         tally->low_snr),
        (NULL));
  if (solved->chi_squared > MOST_CHI_SQUARED && solved->unexplained > MOST_UNEXPLAINED &&
      !told->said_unexplained)
    GST_ELEMENT_WARNING(
        element, STREAM, FORMAT,
        ("the model does not explain the visibilities from %g to %g s: with the gains that fit "
         "best "
         "it leaves %.0f %% of their power, beside noise (chi-squared %.3g): expected a model with "
         "all bright sources at their places",
         begin, end, 100 * solved->unexplained, solved->chi_squared),
        (NULL));
  told->said_unexplained |=
      solved->chi_squared > MOST_CHI_SQUARED && solved->unexplained > MOST_UNEXPLAINED;
  told->said_moved |= solved->reference_moved;
  told->said_open |= solved->free_angles > 0;
  told->said_unsolved |= tally->solved == 0;
}

void astro_calibrate_told_add(AstroCalibrateTold *told, GstElement *element,
                              const AstroCalibrateSolved *solved, gsize values, double begin,
                              double end)
{
  GST_OBJECT_LOCK(element);
  told->intervals++;
  told->unsolved += solved->tally.solved == 0;
  for (guint k = 0; k < G_N_ELEMENTS(counters); k++)
    G_STRUCT_MEMBER(guint64, &told->tally, counters[k].offset) +=
        G_STRUCT_MEMBER(guint64, &solved->tally, counters[k].offset);
  told->iterations = MAX(told->iterations, solved->iterations);
  told->rms = solved->rms;
  told->chi_squared = MAX(told->chi_squared, solved->chi_squared);
  told->unexplained = MAX(told->unexplained, solved->unexplained);
  GST_OBJECT_UNLOCK(element);
  post(element, solved, values, begin, end);
  warn(told, element, solved, begin, end);
}

void astro_calibrate_told_apply(AstroCalibrateTold *told, GstElement *element, guint64 gains,
                                guint64 unknown)
{
  GST_OBJECT_LOCK(element);
  told->applied += gains - unknown;
  told->unknown += unknown;
  GST_OBJECT_UNLOCK(element);
}

void astro_calibrate_told_unmodelled(AstroCalibrateTold *told, GstElement *element, double seconds)
{
  GST_OBJECT_LOCK(element);
  told->unmodelled++;
  GST_OBJECT_UNLOCK(element);
  if (!told->said_unmodelled)
    GST_ELEMENT_WARNING(element, STREAM, FORMAT,
                        ("pad model: there is no integration at %g s, and the visibilities have "
                         "one: it is not used to solve gains. Further ones are only counted in "
                         "stats (unmodelled-steps)",
                         seconds),
                        (NULL));
  told->said_unmodelled = TRUE;
}

void astro_calibrate_told_fill(const AstroCalibrateTold *told, GstElement *element,
                               GstStructure *to)
{
  GST_OBJECT_LOCK(element);
  gst_structure_set(to, "intervals", G_TYPE_UINT64, told->intervals, "unsolved-intervals",
                    G_TYPE_UINT64, told->unsolved, "iterations", G_TYPE_UINT, told->iterations,
                    "rms", G_TYPE_DOUBLE, told->rms, "most-chi-squared", G_TYPE_DOUBLE,
                    told->chi_squared, "most-unexplained", G_TYPE_DOUBLE, told->unexplained,
                    "applied-gains", G_TYPE_UINT64, told->applied, "unknown-gains", G_TYPE_UINT64,
                    told->unknown, "unmodelled-steps", G_TYPE_UINT64, told->unmodelled, NULL);
  put_tally(&told->tally, to);
  GST_OBJECT_UNLOCK(element);
}
