/* Shared by tests of the channelizer: random streams, cut into blocks, through any backend. */
#pragma once

#include "core/channelizer/channelizer.h"
#include "tests/core/on-device.h"
#include "tests/tests.h"

/* The devices' backends are the last, if there are any. */
static const AstroBackend *test_backends[5] = { &astro_channelizer_cpu,
                                                &astro_channelizer_reference };
static const AstroBackend *test_cuda, *test_opencl;

static inline void test_find_devices(void)
{
  test_cuda = test_on_device("channelizer");
  test_opencl = test_on_opencl("channelizer");
  test_backends[2] = test_cuda ? test_cuda : test_opencl;
  test_backends[3] = test_cuda ? test_opencl : NULL;
}

static inline AstroChannelizerConfig test_config(const char *format, const char *layout,
                                                 guint stations, guint pols, guint channels,
                                                 guint taps)
{
  AstroChannelizerConfig config = {
    .to = ASTRO_FORMAT_CF32LE,
    .channels = channels,
    .taps = taps,
    .beta = ASTRO_WINDOW_BETA,
    .gain = 1,
  };
  g_autofree char *text =
      g_strdup_printf("application/x-astro-voltages,format=%s,layout=%s,stations=%u,pols=%u",
                      format, layout, stations, pols);
  g_autoptr(GstCaps) caps = gst_caps_from_string(text);
  GError *error = NULL;
  astro_stream_from_caps(&config.in, caps, &error);
  g_assert_no_error(error);
  return config;
}

static inline guint test_n_inputs(const AstroChannelizerConfig *config)
{
  return (guint)(astro_stream_step_bytes(&config->in) / astro_stream_sample_bytes(&config->in));
}

static inline gpointer test_create(const AstroBackend *backend,
                                   const AstroChannelizerConfig *config, guint threads)
{
  AstroPlace place = { .threads = threads };
  const char *variant = NULL;
  GError *error = NULL;
  gpointer instance = backend->create(config, &place, &variant, &error);
  g_assert_no_error(error);
  g_assert_nonnull(instance);
  g_assert_nonnull(variant);
  return instance;
}

/* One call with a block of steps (in NULL: zeros). Its spectra go to out, which has room for
 * `total` spectra an input, after those that came before. */
typedef struct {
  const AstroBackend *backend;
  const AstroChannelizerConfig *config;
  gpointer instance;
  guint64 begin, end; /* of the stretch */
  AstroResult result;
} TestRun;

static inline AstroSpectra test_call(TestRun *run, gconstpointer in, guint64 steps,
                                     gboolean restart, const AstroLoss *losses, guint n_losses,
                                     guint8 *out, guint64 total, guint64 given)
{
  const AstroChannelizerConfig *config = run->config;
  AstroChannelizerArguments arguments = { run->end, steps, restart, losses, n_losses };
  gsize row = config->channels * astro_format_info(config->to)->bytes;
  guint inputs = test_n_inputs(config);
  GError *error = NULL;

  if (restart)
    run->begin = run->end;
  AstroSpectra before = astro_channelizer_spectra(config, run->begin, run->end);
  AstroSpectra all = astro_channelizer_spectra(config, run->begin, run->end + steps);
  AstroSpectra now = { all.first + before.count, all.count - before.count };
  gsize in_bytes = steps * astro_stream_step_bytes(&config->in);
  gsize out_bytes = now.count * row * inputs;
  guint8 *block = test_alloc(out_bytes);
  AstroBlock from = { (gpointer)in, in_bytes }, to = { block, out_bytes };
  gboolean ok = run->backend->submit(run->instance, &from, in != NULL, &to, now.count > 0,
                                     &arguments, &run->result, &error);
  g_assert_no_error(error);
  g_assert_true(ok);
  test_check_guard(block, out_bytes);
  const guint coarse = (guint)astro_stream_extent(&config->in, ASTRO_AXIS_CHANNEL);
  for (guint input = 0; out && input < inputs; input++)
    for (guint64 n = 0; n < now.count; n++)
      memcpy(out + (input * total + given + n) * row,
             block + ((input / coarse * now.count + n) * coarse + input % coarse) * row, row);
  test_free(block);
  run->end += steps;
  return now;
}

/* All spectra of a stream that begins at that sample, in blocks of at most that many steps (0: one
 * block). */
static inline guint8 *test_channelize(const AstroBackend *backend,
                                      const AstroChannelizerConfig *config, guint threads,
                                      gconstpointer in, guint64 first, guint64 steps, guint64 most,
                                      AstroSpectra *spectra, guint64 *clipped)
{
  TestRun run = { backend, config, test_create(backend, config, threads), first, first, { 0 } };
  gsize row = config->channels * astro_format_info(config->to)->bytes, bytes;
  GRand *rand = g_rand_new_with_seed((guint32)most);
  guint64 given = 0;

  *spectra = astro_channelizer_spectra(config, first, first + steps);
  bytes = spectra->count * row * test_n_inputs(config);
  guint8 *out = test_alloc(bytes);
  gboolean by_time = config->in.layout.axes[0] == ASTRO_AXIS_TIME || test_n_inputs(config) == 1;
  for (guint64 at = 0; at < steps;) {
    guint64 n = most ? (guint64)g_rand_int_range(rand, 1, (gint)most + 1) : steps;
    n = MIN(n, steps - at);
    gsize sample = astro_stream_sample_bytes(&config->in),
          step = astro_stream_step_bytes(&config->in);
    guint8 *block = test_alloc(n * step);
    if (by_time) {
      memcpy(block, (const guint8 *)in + at * step, n * step);
    } else {
      /* station:pol:time */
      for (guint input = 0; input < test_n_inputs(config); input++)
        memcpy(block + input * n * sample, (const guint8 *)in + (input * steps + at) * sample,
               n * sample);
    }
    AstroSpectra now = test_call(&run, block, n, at == 0, NULL, 0, out, spectra->count, given);
    g_assert_cmpuint(now.first, ==, spectra->first + given);
    given += now.count;
    test_free(block);
    at += n;
  }
  g_assert_cmpuint(given, ==, spectra->count);
  g_rand_free(rand);
  if (clipped)
    *clipped = run.result.clipped;
  backend->destroy(run.instance);
  return out;
}

/* Random samples up to about full scale of the format. */
static inline gpointer test_random_samples(AstroFormat format, gsize n, guint32 seed)
{
  const AstroFormatInfo *info = astro_format_info(format);
  guint8 *data = test_alloc(n * info->bytes);
  test_fill(data, n * info->bytes, seed);
  if (format == ASTRO_FORMAT_CF16LE)
    for (gsize i = 0; i < 2 * n; i++) /* below 2 */
      ((guint16 *)data)[i] &= 0xbfff;
  if (format == ASTRO_FORMAT_CF32LE || format == ASTRO_FORMAT_F32LE)
    for (gsize i = 0; i < n * info->bytes / 4; i++)
      ((float *)data)[i] = ((gint32 *)data)[i] * 0x1p-29f;
  return data;
}

static inline void test_add_for_backends(const char *name, GTestDataFunc test)
{
  g_autofree char *on_cuda = g_strdup_printf("/channelizer/%s/cuda", name),
                  *on_opencl = g_strdup_printf("/channelizer/%s/opencl", name);
  for (guint i = 0; i < 2; i++) {
    g_autofree char *path = g_strdup_printf("/channelizer/%s/%s", name,
                                            astro_backend_kind_name(test_backends[i]->kind));
    g_test_add_data_func(path, test_backends[i], test);
  }
  test_add_on_device(on_cuda, test_cuda, test);
  test_add_on_device(on_opencl, test_opencl, test);
}
