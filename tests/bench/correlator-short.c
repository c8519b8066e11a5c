/* Short integrations on a GPU, with blocks already there: each call correlates a block of a few
 * spectra and writes their visibilities. The limit is the traffic of a copy on the device, measured
 * alternately: spectra are read once, and visibilities written once. With the argument "all" each
 * of the kernels is measured too, beside the one that is chosen. With "choose" the two that share
 * runs of bytes are timed by turns over a grid of stations and spectra, and what is printed at the
 * end are the rows of gpu/correlator/choice.h. With "three" CI4 is timed so, by three products and
 * by four. */
#include "core/backend/module.h"
#include "core/correlator/correlator.h"
#include "gpu/correlator/choice.h"
#include "tests/bench/bench.h"
#include "tests/bench/device-work.h"

typedef struct {
  AstroFormat from;
  guint stations, channels, steps;
  double wanted;
} Shape;

enum { POLS = 2 };
#define LAYOUT "channel:station:pol:time"

static AstroCorrelatorConfig config_of(const Shape *shape)
{
  AstroCorrelatorConfig config = { .stations = shape->stations,
                                   .pols = POLS,
                                   .channels = shape->channels,
                                   .from = shape->from,
                                   .to = ASTRO_FORMAT_CF32LE,
                                   .channel_step = 1,
                                   .integration = shape->steps };
  astro_layout_parse(&config.layout, LAYOUT, ASTRO_QUANTITY_SPECTRA, NULL);
  for (guint a = 0; a < config.layout.n_axes; a++)
    config.layout.extents[a] = config.layout.axes[a] == ASTRO_AXIS_CHANNEL   ? shape->channels
                               : config.layout.axes[a] == ASTRO_AXIS_STATION ? shape->stations
                               : config.layout.axes[a] == ASTRO_AXIS_POL     ? POLS
                                                                             : 0;
  return config;
}

/* level: a kernel by its name; NULL: the one that is chosen. */
static void measure(const Shape *shape, const char *level)
{
  const AstroCorrelatorConfig config = config_of(shape);
  const gsize in = (gsize)shape->steps * shape->stations * POLS * shape->channels *
                   astro_format_info(shape->from)->bytes,
              out = astro_correlator_output_bytes(&config);
  const AstroCorrelatorArguments arguments = { .steps = shape->steps,
                                               .count = shape->steps,
                                               .dump = TRUE };
  const char *variant = NULL;
  DeviceWork work = { .backend = astro_module_backend("correlator"),
                      .arguments = &arguments,
                      .in = { bench_device_block(in, FALSE), in },
                      .out = { bench_device_block(out, FALSE), out } };
  device_work_copy(&work, in + out);
  if (level)
    g_setenv("ASTRO_CUDA", level, TRUE);
  device_work_make(&work, &config, &variant);
  g_unsetenv("ASTRO_CUDA");
  double ours, limit;
  device_work_pair(&work, &ours, &limit);
  g_autofree char *what = g_strdup_printf("%s, %u stations x %u channels, %u spectra%s%s: %.3f ms",
                                          astro_format_name(shape->from), shape->stations,
                                          shape->channels, shape->steps, level ? ", " : "",
                                          level ? level : "", 2 * (double)work.copied / ours * 1e3);
  bench_row(what, ours * 1e-9, limit * 1e-9, "GB/s", level ? 0 : shape->wanted);
  device_work_clear(&work);
}

/* ---- rows for the choice of a kernel ---- */

#define CHOICE_BYTES ((gsize)768 << 20) /* of spectra and visibilities */

/* Milliseconds of a call of each. */
static void time_both(const Shape *shape, const char *const levels[2], double ms[2])
{
  const AstroCorrelatorConfig config = config_of(shape);
  const gsize in = (gsize)shape->steps * shape->stations * POLS * shape->channels *
                   astro_format_info(shape->from)->bytes,
              out = astro_correlator_output_bytes(&config);
  const AstroCorrelatorArguments arguments = { .steps = shape->steps,
                                               .count = shape->steps,
                                               .dump = TRUE };
  const AstroBlock from = { bench_device_block(in, FALSE), in },
                   to = { bench_device_block(out, FALSE), out };
  DeviceWork work[2];
  for (guint i = 0; i < 2; i++) {
    const char *variant = NULL;
    work[i] = (DeviceWork){
      .backend = astro_module_backend("correlator"), .arguments = &arguments, .in = from, .out = to
    };
    g_setenv("ASTRO_CUDA", levels[i], TRUE);
    device_work_make(&work[i], &config, &variant);
    g_unsetenv("ASTRO_CUDA");
  }
  bench_pair(device_work_call, &work[0], device_work_call, &work[1], 5, &ms[0], &ms[1]);
  for (guint i = 0; i < 2; i++) {
    ms[i] *= 1e3 / CALLS;
    work[i].backend->destroy(work[i].instance);
  }
  device->funcs->free(device, from.data);
  device->funcs->free(device, to.data);
}

/* As many channels as have so many bytes of spectra and visibilities. */
static guint channels_for(AstroFormat from, guint stations, guint steps, gsize bytes)
{
  const guint n = stations * POLS;
  const gsize channel =
      (gsize)n * (n + 1) / 2 * 8 + (gsize)steps * n * astro_format_info(from)->bytes;
  return (guint)CLAMP(bytes / channel, 1, 8192);
}

/* Prints both times for each number of spectra. Returns the most up to which mma is quicker. */
static guint choose_for(guint stations)
{
  static const guint steps[] = { 64, 128, 192, 256, 320, 384, 512, 768 };
  static const char *const levels[] = { "mma", "wgmma" };
  guint most = 0;
  gboolean goes_on = TRUE;
  for (guint i = 0; i < G_N_ELEMENTS(steps); i++) {
    const Shape shape = { ASTRO_FORMAT_CI8, stations,
                          channels_for(ASTRO_FORMAT_CI8, stations, steps[i], CHOICE_BYTES),
                          steps[i], 0 };
    double ms[2];
    time_both(&shape, levels, ms);
    printf("%5u stations x %4u channels, %3u spectra: mma %7.3f, wgmma %7.3f ms\n", stations,
           shape.channels, steps[i], ms[0], ms[1]);
    goes_on &= ms[0] <= ms[1];
    if (goes_on)
      most = steps[i];
  }
  return most;
}

static void choose(void)
{
  static const guint stations[] = { 16, 32, 64, 96, 128, 192, 256, 576, 832, 1664 };
  guint most[G_N_ELEMENTS(stations)];
  for (guint i = 0; i < G_N_ELEMENTS(stations); i++)
    most[i] = choose_for(stations[i]);
  for (guint i = 0; i < G_N_ELEMENTS(stations); i++)
    printf("  { %u, %u },\n", stations[i] * POLS, most[i]);
}

/* CI4 by three products and by four, those by the kernel that is chosen for them. */
static void compare_three(void)
{
  static const guint stations[] = { 16, 32, 64, 96, 128, 256, 576, 1664 },
                     steps[] = { 16, 64, 128, 192, 256, 512 };
  for (guint i = 0; i < G_N_ELEMENTS(stations) * G_N_ELEMENTS(steps); i++) {
    const guint s = stations[i / G_N_ELEMENTS(steps)], k = steps[i % G_N_ELEMENTS(steps)];
    const Shape shape = { ASTRO_FORMAT_CI4, s,
                          channels_for(ASTRO_FORMAT_CI4, s, k, CHOICE_BYTES / 4), k, 0 };
    const double n = s * POLS, work = 8e-9 * n * (n + 1) / 2 * shape.channels * k;
    const char *const levels[] = { "three",
                                   k <= correlator_brief_steps(s * POLS) ? "mma" : "wgmma" };
    double ms[2];
    time_both(&shape, levels, ms);
    printf("%5u stations x %4u channels, %4u spectra: three %7.3f ms, %5.0f TOPS, %s %7.3f ms, "
           "%5.0f TOPS\n",
           s, shape.channels, k, ms[0], work / ms[0], levels[1], ms[1], work / ms[1]);
  }
}

/* ---- figures ---- */

static void measure_all(gboolean has_levels)
{
  static const Shape shapes[] = {
    { ASTRO_FORMAT_CI8, 64, 8192, 128, 0.85 }, { ASTRO_FORMAT_CI8, 128, 4096, 128, 0.85 },
    { ASTRO_FORMAT_CI8, 576, 512, 128, 0.85 }, { ASTRO_FORMAT_CI8, 832, 128, 128, 0.85 },
    { ASTRO_FORMAT_CI8, 64, 4096, 256, 0 },    { ASTRO_FORMAT_CI8, 128, 2048, 256, 0 },
    { ASTRO_FORMAT_CI8, 576, 256, 256, 0 },    { ASTRO_FORMAT_CI8, 64, 2048, 512, 0 },
    { ASTRO_FORMAT_CI8, 128, 1024, 512, 0 },   { ASTRO_FORMAT_CI8, 576, 128, 512, 0 },
    { ASTRO_FORMAT_CI8, 64, 1024, 1024, 0 },   { ASTRO_FORMAT_CI8, 128, 512, 1024, 0 },
    { ASTRO_FORMAT_CI4, 832, 128, 128, 0.85 }, { ASTRO_FORMAT_CI4, 1664, 128, 16, 0.85 },
    { ASTRO_FORMAT_CI8, 1664, 128, 16, 0.85 },
  };
  static const char *const levels[] = { NULL, "wgmma", "mma" };
  g_autofree char *title = g_strdup_printf(
      "%s: short integrations of two polarisations (limit: traffic of a device copy)",
      device->name);
  bench_head(title);
  for (guint i = 0; i < G_N_ELEMENTS(shapes); i++)
    for (guint l = 0; l < (has_levels ? G_N_ELEMENTS(levels) : 1); l++)
      measure(&shapes[i], levels[l]);
}

int main(int argc, char **argv)
{
  gst_init(&argc, &argv);
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (!bench_open_device("correlator-short") || !bench_load_copy())
    return 0;
  if (argc > 1 && g_str_equal(argv[1], "choose"))
    choose();
  else if (argc > 1 && g_str_equal(argv[1], "three"))
    compare_three();
  else
    measure_all(argc > 1 && g_str_equal(argv[1], "all"));
  device->funcs->queue_free(device, queue);
  astro_device_unref(device);
  return 0;
}
