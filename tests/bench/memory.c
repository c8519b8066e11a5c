/* The memory that imaging takes: visibilities, gridder, transform, image and sink, each case in a
 * process of its own. The peak is the largest resident set less what the process held when its
 * elements had been made (program, libraries, plugins). It stands beside the minimum: a grid (for
 * W-stacking one plane), the table of convolution functions, the image. W-stacking also has to hold
 * visibilities from the first to the last plane: the second ratio includes their values and u, v,
 * w, in the grid's precision, in the minimum.
 *
 * Without arguments: all cases; with one, the number of a case, only that one, in this process. */
#include <glib/gstdio.h>
#include <stdlib.h>

#include "core/gridder/dumps.h"
#include "core/gridder/gridder.h"
#include "core/lib/sky/array.h"
#include "tests/bench/bench.h"
#include "tests/peak.h"

#define WANTED 1.3
#define STATIONS 44
#define CHANNELS 16
#define FREQUENCY 150e6
#define BANDWIDTH 195312.5
#define OVERSAMPLING 8
#define FIELD (2048 * 1.5) /* arcsec a side */

static const struct {
  const char *name, *stokes;
  gboolean is_wprojection;
  double accuracy;
  guint dumps, size; /* 10 s; pixels */
  gboolean is_uniform;
} cases[] = {
  { "wstacking 1e-4, I", "I", FALSE, 1e-4, 60, 2048 },
  { "wstacking 1e-4, I", "I", FALSE, 1e-4, 60, 4096 },
  { "wstacking 1e-4, IQUV", "IQUV", FALSE, 1e-4, 60, 2048 },
  { "wstacking 1e-4, IQUV", "IQUV", FALSE, 1e-4, 60, 4096 },
  { "wstacking 1e-7, I", "I", FALSE, 1e-7, 60, 2048 },
  { "wstacking 1e-7, I", "I", FALSE, 1e-7, 60, 4096 },
  { "wprojection, I", "I", TRUE, 1e-3, 60, 2048 },
  { "wprojection, I", "I", TRUE, 1e-3, 60, 4096 },
  { "wprojection, IQUV", "IQUV", TRUE, 1e-3, 60, 2048 },
  { "wstacking 1e-4, I, six hours", "I", FALSE, 1e-4, 2160, 2048 },
  { "wstacking 1e-4, IQUV, six hours", "IQUV", FALSE, 1e-4, 2160, 2048 },
  { "  I, uniform weights", "I", FALSE, 1e-4, 2160, 2048, TRUE },
};

/* The table's size as the element asks for it, with the longest baseline known. */
static guint64 table_bytes(guint number)
{
  g_autoptr(AstroObservation) array = astro_array_new("lofar-like", STATIONS, NULL, NULL);
  const AstroPrepareConfig prepare = { .channels = CHANNELS,
                                       .frequency = FREQUENCY,
                                       .bandwidth = BANDWIDTH };
  const AstroGriddingConfig config = { .channels = 1,
                                       .accuracy = cases[number].accuracy,
                                       .oversampling = OVERSAMPLING,
                                       .taper = ASTRO_SPREAD_KAISER_BESSEL,
                                       .longest = astro_prepare_longest(&prepare, array) };
  AstroGrid grid = { .image_size = cases[number].size,
                     .pixel = FIELD / cases[number].size / 3600 * (G_PI / 180) };
  g_autoptr(GError) error = NULL;
  if (!astro_wprojection.choose(&config, &grid, &error))
    g_error("%s", error->message);
  return astro_wprojection.bytes(&config, &grid);
}

static const char *verdict(double ratio)
{
  return ratio > WANTED ? " LARGE" : "";
}

static void run_case(guint number)
{
  const guint size = cases[number].size;
  g_autofree char *file = g_strdup_printf("%s/memory-%u.fits", g_get_tmp_dir(), number);
  g_autofree char *line = g_strdup_printf(
      "astrovissrc stations=%u array=lofar-like sky=0.002,0.0015,2;-0.003,0.001,1 frequency=%g "
      "bandwidth=%g channels=%u phase-centre=291.5,52.9 start-time=2026-11-20T15:00:00 "
      "duration=%u integration=10 ! astrogridder name=gridder size=%u cell=%.17g stokes=%s "
      "algorithm=%s accuracy=%g weighting=%s backend=cpu ! astrofft backend=cpu "
      "! astroimage name=image backend=cpu ! astrofitssink "
      "location=%s",
      STATIONS, FREQUENCY, BANDWIDTH, CHANNELS, 10 * cases[number].dumps, size, FIELD / size,
      cases[number].stokes, cases[number].is_wprojection ? "wprojection" : "wstacking",
      cases[number].accuracy, cases[number].is_uniform ? "uniform" : "natural", file);
  Peak peak;
  peak_run(line, &peak);
  const double mib = 1 << 20, table = cases[number].is_wprojection ? table_bytes(number) / mib : 0;
  const double least = (peak.grid + peak.image) / mib + table,
               values = (peak.values + peak.places) / mib;
  const double held = cases[number].is_wprojection ? 0 : values;
  const double ratio = peak.peak / mib / least, with_held = peak.peak / mib / (least + held);
  printf("%-32s %5u %8.1f %8.1f %8.1f %8.1f %8.1f %7.3f%-6s %7.3f%-6s  (at most %.2f)\n",
         cases[number].name, size, peak.grid / mib, table, peak.image / mib, values,
         peak.peak / mib, ratio, verdict(ratio), with_held, verdict(with_held), WANTED);
  gst_caps_unref(peak.grid_caps);
  g_unlink(file);
}

int main(int argc, char **argv)
{
  if (argc > 1) {
    gst_init(NULL, NULL);
    run_case(MIN((guint)strtoul(argv[1], NULL, 10), G_N_ELEMENTS(cases) - 1));
    return 0;
  }
  printf("\nMemory of imaging, MiB\n%-32s %5s %8s %8s %8s %8s %8s %-13s %s\n", "", "size", "grid",
         "table", "image", "visibil.", "peak", "ratio", "with v.");
  fflush(stdout);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *number = g_strdup_printf("%u", i);
    char *child[] = { argv[0], number, NULL };
    g_autoptr(GError) error = NULL;
    gint status;
    if (!g_spawn_sync(NULL, child, NULL, G_SPAWN_CHILD_INHERITS_STDIN, NULL, NULL, NULL, NULL,
                      &status, &error) ||
        !g_spawn_check_wait_status(status, &error))
      g_error("%s", error->message);
  }
  return 0;
}
