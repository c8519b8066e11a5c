/* Gridding by W-projection, and pairs of points, as the publications measured them. */
#include "graphs/qualify-seeds.h"
#include "core/backend/module.h"
#include "graphs/counts.h"
#include "graphs/qualify-play.h"

#include <math.h>

void astro_qualify_seed_add(GPtrArray *results, const char *subject, double value,
                            const char *published)
{
  AstroQualifyResult *result = astro_qualify_result_new("seeds", subject);
  result->value = value;
  result->remark = g_strdup(published);
  g_ptr_array_add(results, result);
}

void astro_qualify_seed_miss(GPtrArray *results, const char *subject, const char *reason)
{
  astro_qualify_seed_add(results, subject, 0, reason);
  AstroQualifyResult *result = results->pdata[results->len - 1];
  result->state = ASTRO_QUALIFY_NOT_RUN;
}

/* ---- pipelines ---- */

typedef struct {
  AstroCounts *counts;
  gint64 since;
  double busy, whole; /* seconds */
} Clock;

static void start(GstElement *pipeline, gpointer data)
{
  Clock *clock = data;
  clock->counts = astro_counts_new(pipeline);
  clock->since = g_get_monotonic_time();
}

static void end(GstElement *pipeline, gpointer data)
{
  Clock *clock = data;
  g_autoptr(GstElement) element = gst_bin_get_by_name(GST_BIN(pipeline), "it");
  g_autoptr(GstStructure) told = astro_counts_of(clock->counts, element);
  guint64 busy = 0;
  clock->whole = (double)(g_get_monotonic_time() - clock->since) * 1e-6;
  clock->busy =
      gst_structure_get_uint64(told, "busy-ns", &busy) ? (double)busy * 1e-9 : clock->whole;
  astro_counts_free(clock->counts);
}

static char *time_line(const char *line, Clock *clock)
{
  const AstroQualifyPlay play = { .start = start, .end = end, .data = clock };
  return astro_qualify_play(line, &play);
}

/* ---- W-projection ---- */

/* A grid point's update by one visibility is one; 4 products, as in the publication. A GPU works
 * beside the host, so that its time is that of the whole run, less that of one without gridding. */
static void grid(guint support, const char *backend, guint seconds, GPtrArray *results)
{
  enum { STATIONS = 24, CHANNELS = 16, PRODUCTS = 4 };
  const double values = STATIONS * (STATIONS - 1) / 2. * CHANNELS * PRODUCTS * seconds;
  g_autofree char *subject =
      g_strdup_printf("W-projection, support %u, %s, 1e9 grid points/s", support, backend);
  g_autofree char *source = g_strdup_printf("astrovissrc stations=%d channels=%d integration=1 "
                                            "noise=1 duration=%u phase-centre=246.5,38",
                                            STATIONS, CHANNELS, seconds);
  g_autofree char *alone = g_strdup_printf("%s ! fakesink name=it sync=false async=false", source);
  g_autofree char *line = g_strdup_printf(
      "%s ! astrogridder name=it algorithm=wprojection support=%u size=1024 cell=10 padding=2 "
      "pols=XX,XY,YX,YY backend=%s ! fakesink sync=false async=false",
      source, support, backend);
  Clock clock = { 0 }, without = { 0 };
  char *trouble = time_line(alone, &without);
  trouble = trouble ? trouble : time_line(line, &clock);
  const double took = g_str_equal(backend, "cuda") ? clock.whole - without.whole : clock.busy;
  if (trouble)
    astro_qualify_seed_miss(results, subject, trouble);
  else
    astro_qualify_seed_add(results, subject, values * support * support / fmax(took, 1e-6) * 1e-9,
                           g_str_equal(backend, "cuda")
                               ? "Romein 2012: up to 93.6 on a GTX 680, 117.4 on an HD 7970"
                               : "Romein 2012: 20.8 to 33.9 on two Xeon E5-2680");
  g_free(trouble);
}

static void grid_all(gboolean has_device, GPtrArray *results)
{
  static const guint supports[] = { 16, 32, 64, 128, 256 };
  for (guint i = 0; i < G_N_ELEMENTS(supports); i++) {
    grid(supports[i], "cpu", MAX(16 * 256 / (supports[i] * supports[i]), 1), results);
    if (has_device)
      grid(supports[i], "cuda", 200, results);
  }
}

/* ---- pairs ---- */

static void count(guint points, const char *backend, GPtrArray *results)
{
  g_autofree char *subject = g_strdup_printf("pairs of %u points, %s, s", points, backend);
  g_autofree char *line = g_strdup_printf(
      "astrocatsrc points=%u ! it.data astrocatsrc points=%u seed=2 ! it.random astrohistogram "
      "name=it backend=%s ! fakesink sync=false async=false",
      points, points, backend);
  Clock clock = { 0 };
  g_autofree char *trouble = time_line(line, &clock);
  if (trouble)
    astro_qualify_seed_miss(results, subject, trouble);
  else
    astro_qualify_seed_add(
        results, subject, clock.busy,
        points == 97178
            ? "Kindratenko 2009: DD, DR and RR take 632.6 on an Opteron core, 95.1 on two FPGAs"
        : points == 32768 ? "Kindratenko 2009: 69.1 on an Opteron core"
                          : "DD, DR and RR, 0.01 to 10,000 arcmin, 5 bins a decade");
}

static double sum_of(const AstroQualifyOutput *a, const AstroQualifyOutput *b, double *off)
{
  const guint64 *x = (const guint64 *)(gconstpointer)a->values->data,
                *y = (const guint64 *)(gconstpointer)b->values->data;
  double all = 0;
  *off = 0;
  for (gsize i = 0; i < MIN(a->values->len, b->values->len) / sizeof *x; i++) {
    all += (double)x[i];
    *off += fabs((double)x[i] - (double)y[i]);
  }
  return all;
}

/* How many pairs below 4 arcmin are in other bins than by the formula, brute force in double. */
static void count_close(const char *backend, const char *precision, GPtrArray *results)
{
  static const char line[] =
      "astrocatsrc points=4000 footprint=band:0,2,-1,1 ! it.data astrocatsrc points=4000 seed=2 "
      "footprint=band:0,2,-1,1 ! it.random astrohistogram name=it max-angle=4 bins-per-decade=5 "
      "backend=%s precision=%s ! fakesink name=end sync=false async=false";
  g_autofree char *subject = g_strdup_printf(
      "pairs below 4 arcmin, %s, precision=%s, part in other bins", backend, precision);
  g_autofree char *exact = g_strdup_printf(line, "reference", "exact");
  g_autofree char *other = g_strdup_printf(line, backend, precision);
  AstroQualifyOutput expected, found;
  g_autofree char *trouble = astro_qualify_collect(exact, &expected);
  g_autofree char *also = astro_qualify_collect(other, &found);
  double off = 0;
  const double all = sum_of(&expected, &found, &off);
  if (trouble || also || all == 0)
    astro_qualify_seed_miss(results, subject, trouble ? trouble : also ? also : "no pairs");
  else
    astro_qualify_seed_add(results, subject, off / all,
                           "Kindratenko 2009: single precision is off below about 4 arcmin");
  astro_qualify_output_clear(&expected);
  astro_qualify_output_clear(&found);
}

static void count_all(gboolean has_device, GPtrArray *results)
{
  static const guint points[] = { 1024, 4096, 16384, 32768, 97178 };
  static const char *const precisions[] = { "exact", "single" };
  for (guint i = 0; i < G_N_ELEMENTS(points); i++) {
    count(points[i], "cpu", results);
    if (has_device)
      count(points[i], "cuda", results);
  }
  for (guint i = 0; i < G_N_ELEMENTS(precisions); i++) {
    count_close("cpu", precisions[i], results);
    if (has_device)
      count_close("cuda", precisions[i], results);
  }
}

void astro_qualify_seeds(GPtrArray *results)
{
  const AstroModule *module = astro_module_get(NULL);
  g_autoptr(AstroDevice) device =
      module && module->n_devices(NULL) > 0 ? astro_device_open(0, NULL) : NULL;
  astro_qualify_seed_correlator(NULL, results);
  if (device)
    astro_qualify_seed_correlator(device, results);
  grid_all(device != NULL, results);
  count_all(device != NULL, results);
}
