/* Blocks, gathered samples, sums and visibilities of more than 2^32 bytes on a GPU: for some pairs
 * of inputs, in channels on both sides of where offsets need 32 and 33 bits, all sums are what the
 * formula gives. Skipped where the device has too little memory. */
#include "core/correlator/correlator.h"
#include "tests/device.h"
#include "tests/tests.h"
#include <stdlib.h>

enum { STATIONS = 512, POLS = 2, INPUTS = STATIONS * POLS, CHANNELS = 1100, STEPS = 2000 };
#define SAMPLES ((gsize)INPUTS * CHANNELS * STEPS)
#define BASELINES ((gsize)STATIONS * (STATIONS + 1) / 2)
#define CHANNEL_BYTES (BASELINES * POLS * POLS * sizeof(gint32) * 2)
/* Sums and visibilities are as large as each other, and a stage may hold four blocks of these. */
#define NEEDED ((gsize)44 << 30)

/* Sums of 4.2 MB a channel pass 2^31 bytes in channel 511 and 2^32 in channel 1022; samples do so
 * in channels 524 and 1048 where channels come first, and in all of them where time does. */
static const guint channels[] = { 0, 1, 511, 524, 1022, 1023, 1048, 1049, CHANNELS - 1 };
static const guint inputs[] = { 0, 1, 2, 63, 64, 127, 128, 511, 512, 1021, INPUTS - 1 };

static const struct {
  const char *name, *layout, *level;
  AstroFormat from;
  guint64 steps; /* that fill the block */
  gboolean loses;
} cases[] = {
  { "gathered", "time:channel:station:pol", "", ASTRO_FORMAT_CI8, STEPS, FALSE },
  { "gathered-losses", "time:channel:station:pol", "", ASTRO_FORMAT_CI8, STEPS, TRUE },
  { "gathered-mma", "time:station:pol:channel", "mma", ASTRO_FORMAT_CI8, STEPS, FALSE },
  { "nibbles", "time:channel:station:pol", "", ASTRO_FORMAT_CI4, 2 * STEPS, FALSE },
  { "in-place", "channel:station:pol:time", "", ASTRO_FORMAT_CI8, STEPS, FALSE },
  { "in-place-mma", "channel:station:pol:time", "mma", ASTRO_FORMAT_CI8, STEPS, FALSE },
  { "in-place-simt", "channel:station:pol:time", "simt", ASTRO_FORMAT_CI8, STEPS, FALSE },
};

typedef struct {
  AstroDevice *device;
  AstroQueue *queue;
  guint8 *pattern;
  gpointer block, out;
} Card;

/* Random bytes, which repeat in steps that are no power of two. */
#define PATTERN (((gsize)64 << 20) - 5)

static void copy(const Card *card, AstroCopyDirection direction, gpointer to, gconstpointer from,
                 gsize bytes)
{
  const AstroDeviceFuncs *f = card->device->funcs;
  AstroQueue *queue = direction == ASTRO_COPY_UP ? card->device->up : card->device->down;
  GError *error = NULL;
  f->queue_copy(card->device, queue, direction, to, from, bytes, &error);
  g_assert_no_error(error);
  AstroEvent *event = f->event_record(card->device, queue, &error);
  g_assert_no_error(error);
  g_assert_true(f->event_wait(card->device, event, &error));
  f->event_free(card->device, event);
}

/* ---- the formula ---- */

typedef struct {
  gint re, im;
} Sample;

/* The samples of an input in a channel. */
static void read_line(const Card *card, const AstroLayout *layout, AstroFormat from, guint channel,
                      guint input, guint64 steps, Sample *line)
{
  guint64 strides[ASTRO_MAX_AXES];
  astro_layout_strides(layout, strides);
  const guint64 first = channel * astro_layout_stride_of(layout, strides, ASTRO_AXIS_CHANNEL) +
                        input / POLS * astro_layout_stride_of(layout, strides, ASTRO_AXIS_STATION) +
                        input % POLS * astro_layout_stride_of(layout, strides, ASTRO_AXIS_POL),
                time = astro_layout_stride_of(layout, strides, ASTRO_AXIS_TIME);
  for (guint64 step = 0; step < steps; step++) {
    const guint64 at = first + step * time;
    if (from == ASTRO_FORMAT_CI4) {
      const guint8 both = card->pattern[at % PATTERN];
      line[step] = (Sample){ (gint8)both >> 4, (gint8)(both << 4) >> 4 };
    } else {
      line[step] = (Sample){ (gint8)card->pattern[2 * at % PATTERN],
                             (gint8)card->pattern[(2 * at + 1) % PATTERN] };
    }
  }
}

/* Some stations lose some samples. */
static gboolean is_lost(guint station, guint64 step)
{
  return (station == 32 && step >= 100 && step < 300) || (station == 511 && step == STEPS - 1) ||
         (station == 0 && step % 7 == 0);
}

static guint8 *make_valid(void)
{
  guint8 *valid = g_malloc((gsize)STEPS * STATIONS);
  for (guint64 step = 0; step < STEPS; step++)
    for (guint station = 0; station < STATIONS; station++)
      valid[step * STATIONS + station] = !is_lost(station, step);
  return valid;
}

static void check_channel(const Card *card, guint number, const AstroLayout *layout, guint channel)
{
  const guint64 steps = cases[number].steps;
  g_autofree gint32 *sums = g_malloc(CHANNEL_BYTES);
  Sample *lines[G_N_ELEMENTS(inputs)];
  copy(card, ASTRO_COPY_DOWN, sums, (guint8 *)card->out + channel * CHANNEL_BYTES, CHANNEL_BYTES);
  for (guint i = 0; i < G_N_ELEMENTS(inputs); i++) {
    lines[i] = g_new(Sample, steps);
    read_line(card, layout, cases[number].from, channel, inputs[i], steps, lines[i]);
  }
  for (guint i = 0; i < G_N_ELEMENTS(inputs); i++)
    for (guint j = 0; j <= i; j++) {
      const guint a = inputs[i] / POLS, b = inputs[j] / POLS;
      const gsize at =
          (((gsize)a * (a + 1) / 2 + b) * POLS + inputs[i] % POLS) * POLS + inputs[j] % POLS;
      gint64 re = 0, im = 0;
      for (guint64 step = 0; step < steps; step++) {
        const Sample x = lines[i][step], y = lines[j][step];
        if (cases[number].loses && (is_lost(a, step) || is_lost(b, step)))
          continue;
        re += x.re * y.re + x.im * y.im;
        im += x.im * y.re - x.re * y.im;
      }
      if (sums[2 * at] != re || sums[2 * at + 1] != im)
        g_error("%s, channel %u, inputs %u and %u: %d %+d i, expected %" G_GINT64_FORMAT
                " %+" G_GINT64_FORMAT " i",
                cases[number].name, channel, inputs[i], inputs[j], sums[2 * at], sums[2 * at + 1],
                re, im);
    }
  for (guint i = 0; i < G_N_ELEMENTS(inputs); i++)
    g_free(lines[i]);
}

/* ---- on the device ---- */

static void run_case(const Card *card, guint number)
{
  AstroCorrelatorConfig config = { .stations = STATIONS,
                                   .pols = POLS,
                                   .channels = CHANNELS,
                                   .from = cases[number].from,
                                   .to = ASTRO_FORMAT_CI32LE,
                                   .channel_step = 1 };
  GError *error = NULL;
  g_assert_true(
      astro_layout_parse(&config.layout, cases[number].layout, ASTRO_QUANTITY_SPECTRA, &error));
  AstroLayout whole = config.layout;
  for (guint i = 0; i < whole.n_axes; i++) {
    const AstroAxis axis = whole.axes[i];
    whole.extents[i] = axis == ASTRO_AXIS_TIME      ? cases[number].steps
                       : axis == ASTRO_AXIS_CHANNEL ? CHANNELS
                       : axis == ASTRO_AXIS_STATION ? STATIONS
                                                    : POLS;
    config.layout.extents[i] = axis == ASTRO_AXIS_TIME ? 0 : whole.extents[i];
  }
  const AstroBackend *backend = astro_module_backend("correlator");
  const AstroPlace place = { .device = card->device, .queue = card->queue };
  const char *variant;
  setenv("ASTRO_CUDA", cases[number].level, 1);
  gpointer instance = backend->create(&config, &place, &variant, &error);
  unsetenv("ASTRO_CUDA");
  g_assert_no_error(error);
  g_assert_false(backend->host_out && backend->host_out(instance));
  g_test_message("%s: %s", cases[number].name, variant);
  for (guint i = 0; i < G_N_ELEMENTS(channels); i++) /* garbage */
    copy(card, ASTRO_COPY_UP, (guint8 *)card->out + channels[i] * CHANNEL_BYTES, card->pattern,
         CHANNEL_BYTES);
  g_autofree guint8 *valid = cases[number].loses ? make_valid() : NULL;
  g_autofree guint32 *counts = g_new(guint32, CHANNELS * BASELINES); /* few of which are written */
  AstroResult told = { .counts = counts };
  guint64 different;
  const AstroCorrelatorArguments arguments = { .steps = cases[number].steps,
                                               .count = cases[number].steps,
                                               .begin = TRUE,
                                               .valid = valid,
                                               .valid_time = STATIONS,
                                               .valid_station = 1,
                                               .dump = TRUE,
                                               .n_counts = &different };
  const AstroBlock in = { card->block, 2 * SAMPLES }, out = { card->out, CHANNELS * CHANNEL_BYTES };
  g_assert_true(backend->submit(instance, &in, 1, &out, 1, &arguments, &told, &error));
  g_assert_true(backend->drain(instance, &told, &error));
  g_assert_cmpuint(told.samples, ==, cases[number].steps);
  for (guint i = 0; i < G_N_ELEMENTS(channels); i++)
    check_channel(card, number, &whole, channels[i]);
  backend->destroy(instance);
}

static void test_large(void)
{
  g_autoptr(AstroDevice) device = test_open_device();
  AstroDeviceMemory memory;
  GError *error = NULL;
  if (!device)
    return;
  if (!device->funcs->memory(device, &memory, NULL) || memory.free < NEEDED) {
    g_test_skip("the device has no 44 GiB of free memory");
    return;
  }
  Card card = { device, device->funcs->queue_new(device, &error), g_malloc(PATTERN), NULL, NULL };
  test_fill(card.pattern, PATTERN, 1);
  g_assert_true(device->funcs->alloc(device, 2 * SAMPLES, &card.block, &error));
  g_assert_true(device->funcs->alloc(device, CHANNELS * CHANNEL_BYTES, &card.out, &error));
  for (gsize at = 0; at < 2 * SAMPLES; at += PATTERN)
    copy(&card, ASTRO_COPY_UP, (guint8 *)card.block + at, card.pattern,
         MIN(PATTERN, 2 * SAMPLES - at));
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
    run_case(&card, i);
  device->funcs->free(device, card.block);
  device->funcs->free(device, card.out);
  device->funcs->queue_free(device, card.queue);
  g_free(card.pattern);
}

int main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  test_init_gstreamer(&argc, &argv);
  g_test_add_func("/correlator/large", test_large);
  return g_test_run();
}
