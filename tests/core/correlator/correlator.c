/* The correlator's backends and all kernel variants compared with the reference: shapes of blocks,
 * their layouts, and how an integration is cut. */
#include "tests/core/correlator/correlator.h"
#include <sys/mman.h>
#include <unistd.h>

static void test_stations(gconstpointer format)
{
  static const guint stations[] = { 1, 3, 4, 19, 33, 64, 80, 127 };
  AstroFormat from = *(const AstroFormat *)format;
  gboolean is_float = astro_format_info(from)->is_float;
  for (guint s = 0; s < G_N_ELEMENTS(stations); s++)
    for (guint pols = 1; pols <= 2; pols++) {
      /* At full scale, CI32LE only has room for the sum of one 16-bit sample. */
      AstroFormat to =
          is_float || from == ASTRO_FORMAT_CI16LE ? ASTRO_FORMAT_CF32LE : ASTRO_FORMAT_CI32LE;
      TestRun r = { .config = test_config(stations[s], pols, 3, from, to),
                    .steps = 37,
                    .integration = 37 };
      r.data = test_data(&r.config, r.steps, s);
      test_check(&r);
      test_free((gpointer)r.data);
    }
}

/* Few and many channels and inputs, with two threads that take a channel each or share one. An
 * integration in one block is made at once, of short and of long blocks; one in parts is summed,
 * and so is a long one of many inputs. */
static void test_channels(gconstpointer format)
{
  static const guint parts[] = { 257, 5, 0 };
  static const struct {
    guint stations, pols, channels;
    guint64 steps;
    const guint *cuts;
  } sizes[] = {
    { 2, 2, 33, 1111, NULL },  { 20, 1, 9, 1111, NULL },
    { 127, 2, 9, 19, NULL },   { 129, 1, 8, 19, NULL },
    { 130, 2, 1, 19, NULL },   { 40, 2, 9, 262, parts },
    { 37, 1, 8, 262, parts },  { 131, 2, 1, 262, parts },
    { 200, 1, 8, 1030, NULL }, /* longer than floats' tiles */
  };
  AstroFormat from = *(const AstroFormat *)format;
  const guint n = G_N_ELEMENTS(sizes) - (astro_format_info(from)->is_float ? 0 : 1);
  for (guint s = 0; s < n; s++) {
    TestRun r = {
      .config = test_config(sizes[s].stations, sizes[s].pols, sizes[s].channels, from,
                            ASTRO_FORMAT_CF32LE),
      .steps = sizes[s].steps,
      .integration = sizes[s].steps,
      .cuts = sizes[s].cuts,
      .whole_block = TRUE,
      .threads = 2,
    };
    test_set_layout(&r.config, "channel:time:station:pol");
    r.data = test_data(&r.config, r.steps, s);
    test_check(&r);
    test_free((gpointer)r.data);
  }
}

/* Spectra at the very end of memory, with inputs and steps that do not fill a panel: nothing beyond
 * them is read. */
static void test_end_of_memory(gconstpointer format)
{
  static const guint stations[] = { 1, 5, 19 }, channels[] = { 1, 9 };
  static const guint64 steps[] = { 1, 67 };
  const gsize page = (gsize)sysconf(_SC_PAGESIZE);
  for (guint k = 0; k < 12; k++) {
    TestRun r = { .config = test_config(stations[k % 3], 1, channels[k / 3 % 2],
                                        *(const AstroFormat *)format, ASTRO_FORMAT_CF32LE),
                  .steps = steps[k / 6],
                  .integration = steps[k / 6] };
    test_set_layout(&r.config, "channel:time:station:pol");
    const gsize bytes = test_step_bytes(&r.config) * r.steps,
                room = (bytes + page - 1) / page * page;
    guint8 *data = test_data(&r.config, r.steps, k);
    guint8 *memory =
        mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    g_assert_true(memory != MAP_FAILED);
    g_assert_cmpint(mprotect(memory + room, page, PROT_NONE), ==, 0);
    r.data = memcpy(memory + room - bytes, data, bytes);
    test_check(&r);
    munmap(memory, room + page);
    test_free(data);
  }
}

/* Many inputs, so that a channel is one strip of tiles: an integration that is one block of several
 * passes, and one of several blocks. */
static void test_one_strip(void)
{
  static const guint cuts[] = { 260, 9, 0 };
  static const guint steps[] = { 520, 269 };
  for (guint i = 0; i < G_N_ELEMENTS(steps); i++) {
    TestRun r = {
      .config = test_config(185 + i, 2, 3, ASTRO_FORMAT_CI8, ASTRO_FORMAT_CF32LE),
      .steps = steps[i],
      .integration = steps[i],
      .cuts = i > 0 ? cuts : NULL,
      .threads = 2,
    };
    test_set_layout(&r.config, "channel:time:station:pol");
    r.data = test_data(&r.config, r.steps, i);
    test_check(&r);
    test_free((gpointer)r.data);
  }
}

/* Whether stations that are copies of a few others have the same visibilities. */
static void check_repeated(const AstroCorrelatorConfig *few, const float *wanted,
                           const AstroCorrelatorConfig *many, const float *found)
{
  const double most = astro_format_info(few->from)->is_float ? 2e-6 : 0;
  for (guint c = 0; c < few->channels; c++) {
    const float *of_few = wanted + c * few->stations * (few->stations + 1);
    for (guint i = 0; i < many->stations; i++)
      for (guint j = 0; j <= i; j++, found += 2) {
        const guint k = i % few->stations, l = j % few->stations, a = MAX(k, l), b = MIN(k, l);
        const float *mean = of_few + a * (a + 1) + 2 * b, im = k < l ? -mean[1] : mean[1];
        const double scale = sqrt((double)of_few[a * (a + 3)]) * sqrt((double)of_few[b * (b + 3)]);
        const double error = hypot((double)(found[0] - mean[0]), (double)(found[1] - im));
        if (!(error <= most * scale))
          g_error("channel %u baseline %u %u: error %g of %g", c, i, j, error, scale);
      }
  }
}

/* So many inputs that a channel is more than one strip, over passes and spans; threads that take a
 * channel each, and threads that share one. */
static void test_many_inputs(void)
{
  enum { FEW = 37, MANY = 1030 };
  static const struct {
    AstroFormat from;
    guint channels;
    guint64 steps;
  } cases[] = {
    { ASTRO_FORMAT_CF32LE, 4, 530 }, { ASTRO_FORMAT_CI8, 4, 530 },  { ASTRO_FORMAT_CI16LE, 4, 300 },
    { ASTRO_FORMAT_CF32LE, 1, 530 }, { ASTRO_FORMAT_CI8, 1, 1030 }, { ASTRO_FORMAT_CI16LE, 1, 300 },
  };
  for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
    if (test_passes_over(k))
      continue;
    const AstroFormat from = cases[k].from;
    const guint stations = MANY, channels = cases[k].channels;
    TestRun few = { .config = test_config(FEW, 1, channels, from, ASTRO_FORMAT_CF32LE),
                    .steps = cases[k].steps,
                    .integration = cases[k].steps,
                    .threads = 2 };
    TestRun many = few;
    many.config = test_config(stations, 1, channels, from, ASTRO_FORMAT_CF32LE);
    const gsize sample = astro_format_info(from)->bytes;
    guint8 *of_few = test_data(&few.config, few.steps, k);
    guint8 *of_many = test_alloc(test_step_bytes(&many.config) * many.steps);
    for (gsize row = 0; row < channels * many.steps; row++)
      for (gsize i = 0; i < stations; i++)
        memcpy(of_many + (row * stations + i) * sample, of_few + (row * FEW + i % FEW) * sample,
               sample);
    few.data = of_few;
    many.data = of_many;
    TestResult expected = test_correlate(&astro_correlator_reference, &few, NULL);
    for (guint l = 0; l < G_N_ELEMENTS(test_levels); l++) {
      setenv("ASTRO_CPU", astro_cpu_level_name(test_levels[l].level), 1);
      if (astro_cpu_level() < test_levels[l].level)
        continue;
      TestResult found = test_correlate(&astro_correlator_cpu, &many, NULL);
      check_repeated(&few.config, (const float *)expected.out, &many.config,
                     (const float *)found.out);
      test_result_clear(&found);
    }
    unsetenv("ASTRO_CPU");
    test_result_clear(&expected);
    test_free(of_few);
    test_free(of_many);
  }
}

/* Time innermost, which devices read in place if blocks are long and aligned. */
static void test_time_last(gconstpointer format)
{
  static const guint sizes[][3] = { { 130, 2, 1 }, { 150, 1, 2 }, { 3, 2, 5 }, { 64, 2, 1 } };
  static const char *const layouts[] = { "channel:station:pol:time", "station:pol:channel:time" };
  static const struct {
    guint64 steps, integration;
  } runs[] = { { 264, 264 }, { 1024, 512 }, { 1111, 1111 }, { 1600, 400 } };
  AstroFormat from = *(const AstroFormat *)format;
  for (guint s = 0; s < G_N_ELEMENTS(sizes); s++)
    for (guint k = s < 2 ? 0 : 1; k < (s < 2 ? 1 : G_N_ELEMENTS(runs)); k++) {
      TestRun r = {
        .config = test_config(sizes[s][0], sizes[s][1], sizes[s][2], from, ASTRO_FORMAT_CF32LE),
        .steps = runs[k].steps,
        .integration = runs[k].integration,
        .whole_block = TRUE,
      };
      test_set_layout(&r.config, layouts[(s + k) % 2]);
      r.data = test_data(&r.config, r.steps, s);
      test_check(&r);
      test_free((gpointer)r.data);
    }
}

/* The same in short blocks: a device multiplies those that are an integration where they lie, and
 * gathers those that are a part of one. Tiles are not full, and have a row of one half alone. */
static void test_short_time_last(gconstpointer format)
{
  static const guint eights[] = { 8, 0 }, parts[] = { 128, 0 }, grows[] = { 64, 16, 560, 0 };
  static const struct {
    guint stations, pols, channels;
    guint64 steps, integration;
    const guint *cuts;
  } cases[] = {
    { 65, 2, 3, 128, 128, NULL },  { 33, 2, 2, 256, 128, NULL },  { 130, 1, 2, 16, 16, NULL },
    { 31, 1, 5, 8, 8, NULL },      { 97, 2, 1, 40, 8, NULL },     { 64, 2, 3, 120, 120, NULL },
    { 70, 2, 2, 384, 384, parts }, { 3, 1, 2, 640, 640, grows },  { 161, 1, 2, 72, 24, eights },
    { 32, 2, 2, 512, 512, NULL },  { 129, 1, 1, 520, 520, NULL }, { 193, 1, 2, 9, 9, NULL },
  };
  for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
    TestRun r = {
      .config = test_config(cases[k].stations, cases[k].pols, cases[k].channels,
                            *(const AstroFormat *)format, ASTRO_FORMAT_CF32LE),
      .steps = cases[k].steps,
      .integration = cases[k].integration,
      .cuts = cases[k].cuts,
      .whole_block = !cases[k].cuts,
    };
    test_set_layout(&r.config, "channel:station:pol:time");
    r.data = test_data(&r.config, r.steps, k);
    test_check(&r);
    test_free((gpointer)r.data);
  }
}

/* So many tiles that a multiprocessor has several one after the other, on the diagonal and beside
 * it, with more chunks of time than are held at once, and fewer. */
static void test_many_tiles(gconstpointer format)
{
  static const struct {
    guint stations, channels, steps;
  } cases[] = { { 19, 300, 704 }, { 130, 90, 144 }, { 5, 410, 72 } };
  for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
    TestRun r = { .config = test_config(cases[k].stations, 1, cases[k].channels,
                                        *(const AstroFormat *)format, ASTRO_FORMAT_CI32LE),
                  .steps = cases[k].steps,
                  .integration = cases[k].steps };
    test_set_layout(&r.config, "channel:station:pol:time");
    r.data = test_data(&r.config, r.steps, k);
    test_check(&r);
    test_free((gpointer)r.data);
  }
}

static void test_cuts(gconstpointer format)
{
  static const guint cuts[][8] = {
    { 1, 0 }, { 7, 64, 1, 300, 0 }, { 257, 3, 0 }, { 64, 0 }, { 63, 65, 513, 0 }
  };
  static const guint integrations[] = { 1, 13, 64, 129, 257, 700, 1301 };
  AstroFormat from = *(const AstroFormat *)format;
  for (guint c = 0; c < G_N_ELEMENTS(cuts); c++)
    for (guint i = 0; i < G_N_ELEMENTS(integrations); i++) {
      TestRun r = {
        .config = test_config(5, 1, 3, from, ASTRO_FORMAT_CF32LE),
        .steps = 1301,
        .integration = integrations[i],
        .cuts = cuts[c],
        .whole_block = i % 2,
      };
      if (r.whole_block && c % 2)
        test_set_layout(&r.config, "channel:time:station:pol");
      r.data = test_data(&r.config, r.steps, c * 100 + i);
      test_check(&r);
      test_free((gpointer)r.data);
    }
}

/* Every order of axes gives the same. */
static void test_layouts(gconstpointer format)
{
  static const char *const axes[] = { "time", "channel", "station", "pol" };
  AstroFormat from = *(const AstroFormat *)format;
  enum { TIME = 41, CHANNELS = 37, STATIONS = 7, POLS = 2 };
  guint extents[] = { TIME, CHANNELS, STATIONS, POLS };
  TestRun plain = { .config = test_config(STATIONS, POLS, CHANNELS, from, ASTRO_FORMAT_CF32LE),
                    .steps = TIME,
                    .integration = TIME };
  gsize sample = astro_format_info(from)->bytes;
  guint8 *data = test_data(&plain.config, TIME, 1);
  plain.data = data;
  TestResult expected = test_correlate(&astro_correlator_reference, &plain, NULL);
  for (guint code = 0; code < 256; code++) {
    guint order[4] = { code & 3, code >> 2 & 3, code >> 4 & 3, code >> 6 & 3 };
    if (((1u << order[0]) | (1u << order[1]) | (1u << order[2]) | (1u << order[3])) != 15)
      continue;
    g_autofree char *text =
        g_strjoin(":", axes[order[0]], axes[order[1]], axes[order[2]], axes[order[3]], NULL);
    TestRun r = plain;
    guint8 *turned = test_alloc(test_step_bytes(&plain.config) * TIME);
    gsize stride[4], at = sample;
    for (gint i = 3; i >= 0; i--) {
      stride[order[i]] = at;
      at *= extents[order[i]];
    }
    const guint8 *from_sample = data;
    for (guint t = 0; t < TIME; t++)
      for (guint c = 0; c < CHANNELS; c++)
        for (guint s = 0; s < STATIONS; s++)
          for (guint p = 0; p < POLS; p++, from_sample += sample)
            memcpy(turned + t * stride[0] + c * stride[1] + s * stride[2] + p * stride[3],
                   from_sample, sample);
    test_set_layout(&r.config, text);
    r.data = turned;
    for (guint b = 0; test_backends[b]; b++) {
      TestResult found = test_correlate(test_backends[b], &r, NULL);
      test_compare(&r.config, &expected, &found);
      test_result_clear(&found);
    }
    test_free(turned);
  }
  test_result_clear(&expected);
  test_free(data);
}

/* Axes of length 1 may be left out, the time axis too. */
static void test_missing_axes(void)
{
  static const struct {
    guint stations, channels;
    const char *layout;
  } cases[] = { { 5, 1, "time:station" },
                { 5, 3, "channel:station" },
                { 1, 3, "time:channel" },
                { 1, 1, "time" } };
  for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
    TestRun r = { .config = test_config(cases[k].stations, 1, cases[k].channels, ASTRO_FORMAT_CI8,
                                        ASTRO_FORMAT_CI32LE),
                  .steps = 100,
                  .integration = 50 };
    r.data = test_data(&r.config, r.steps, k);
    TestResult expected = test_correlate(&astro_correlator_reference, &r, NULL);
    test_set_layout(&r.config, cases[k].layout);
    TestResult reference = test_correlate(&astro_correlator_reference, &r, NULL);
    test_compare(&r.config, &expected, &reference);
    test_check(&r);
    test_result_clear(&expected);
    test_result_clear(&reference);
    test_free((gpointer)r.data);
  }
}

/* Averaging channels is the correlation of their samples one after the other. */
static void test_channel_step(void)
{
  TestRun r = { .config = test_config(4, 2, 12, ASTRO_FORMAT_CI8, ASTRO_FORMAT_CI32LE),
                .steps = 20,
                .integration = 20 };
  r.data = test_data(&r.config, r.steps, 5);
  TestResult single = test_correlate(&astro_correlator_reference, &r, NULL);
  r.config.channel_step = 3;
  TestResult joint = test_correlate(&astro_correlator_reference, &r, NULL);
  guint parts = 10 * 4 * 2;
  g_assert_cmpuint(joint.bytes, ==, 4 * parts * 4);
  for (guint i = 0; i < 4 * parts; i++) {
    const gint32 *part = (const gint32 *)single.out + i / parts * 3 * parts + i % parts;
    g_assert_cmpint(((const gint32 *)joint.out)[i], ==, part[0] + part[parts] + part[2 * parts]);
  }
  test_result_clear(&single);
  test_result_clear(&joint);
  test_check(&r);
  r.config.to = ASTRO_FORMAT_CF32LE;
  r.config.triangle = ASTRO_TRIANGLE_FULL;
  test_check(&r);
  test_free((gpointer)r.data);
}

/* The number of threads does not change a bit, not even of floats, though with few channels a
 * thread takes a whole channel or several threads share one: over passes and the limit of a tile,
 * up to the largest channels that a thread takes in one strip. */
static void test_threads(void)
{
  static const struct {
    guint stations, channels;
    guint64 steps;
  } cases[] = { { 130, 1, 2300 }, { 130, 5, 300 }, { 130, 9, 300 }, { 512, 1, 2300 } };
  for (guint l = 0; l < G_N_ELEMENTS(test_levels); l++) {
    setenv("ASTRO_CPU", astro_cpu_level_name(test_levels[l].level), 1);
    for (guint k = 0; k < G_N_ELEMENTS(cases) && astro_cpu_level() == test_levels[l].level; k++) {
      if (test_passes_over(k))
        continue;
      TestRun r = { .config = test_config(cases[k].stations, 2, cases[k].channels,
                                          ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CF32LE),
                    .steps = cases[k].steps,
                    .integration = cases[k].steps,
                    .threads = 1 };
      r.data = test_data(&r.config, r.steps, 3);
      TestResult one = test_correlate(&astro_correlator_cpu, &r, NULL);
      for (r.threads = 0; r.threads < 4; r.threads += 2) {
        TestResult found = test_correlate(&astro_correlator_cpu, &r, NULL);
        g_assert_cmpmem(one.out, one.bytes, found.out, found.bytes);
        test_result_clear(&found);
      }
      test_result_clear(&one);
      test_free((gpointer)r.data);
    }
  }
  unsetenv("ASTRO_CPU");
}

static void add_tests(void)
{
  test_add_inputs("stations", test_stations);
  test_add_inputs("channels", test_channels);
  test_add_inputs("end-of-memory", test_end_of_memory);
  test_add_inputs("time-last", test_time_last);
  test_add_inputs("short-time-last", test_short_time_last);
  g_test_add_data_func("/correlator/many-tiles/CI4", &test_inputs[0], test_many_tiles);
  g_test_add_data_func("/correlator/many-tiles/CI8", &test_inputs[1], test_many_tiles);
  test_add_inputs("cuts", test_cuts);
  test_add_inputs("layouts", test_layouts);
  g_test_add_func("/correlator/one-strip", test_one_strip);
  g_test_add_func("/correlator/many-inputs", test_many_inputs);
  g_test_add_func("/correlator/missing-axes", test_missing_axes);
  g_test_add_func("/correlator/channel-step", test_channel_step);
  g_test_add_func("/correlator/threads", test_threads);
}

int main(int argc, char **argv)
{
  return test_correlator(argc, argv, add_tests);
}
