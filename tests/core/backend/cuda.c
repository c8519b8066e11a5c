/* The CUDA backends compared with the references, called directly without a pipeline. Skipped
 * without a GPU. */
#include "core/backend/module.h"
#include "core/convert/convert.h"
#include "core/correlator/correlator.h"
#include "core/memory/memory.h"
#include "core/transpose/transpose.h"
#include "tests/core/box.h"
#include "tests/device.h"
#include "tests/tests.h"

#include <math.h>

/* One block through a CUDA backend and back, and through a reference. offset: bytes before the
 * block, so that it does not begin at a round address. */
typedef struct {
  const AstroBackend *reference;
  gconstpointer config;
  gconstpointer cuda_arguments, reference_arguments;
  AstroResult *cuda_result, *reference_result; /* NULL: nobody asks */
  gsize in_bytes, out_bytes, offset;
  guint32 seed;
} Case;

static GstMemory *garbage(AstroDevice *device, gsize bytes, guint32 seed)
{
  GstMemory *memory = astro_memory_new(bytes, device);
  GstMapInfo map;
  g_assert_true(gst_memory_map(memory, &map, GST_MAP_WRITE));
  test_fill(map.data, bytes, seed);
  gst_memory_unmap(memory, &map);
  return memory;
}

static void run_case(AstroDevice *device, const Case *c)
{
  const AstroBackend *cuda = astro_module_backend(c->reference->stage);
  AstroQueue *queue = device->funcs->queue_new(device, NULL);
  AstroPlace place = { .device = device, .queue = queue }, host = { 0 };
  g_autoptr(GError) error = NULL;
  const char *variant;
  GstMapInfo map;
  GstMemory *in = garbage(device, c->in_bytes + c->offset, c->seed);
  GstMemory *out = garbage(device, c->out_bytes + c->offset, ~c->seed);
  gpointer in_face, out_face, instance = cuda->create(c->config, &place, &variant, &error);

  g_assert_no_error(error);
  astro_memory_acquire(in, device, queue, GST_MAP_READ, &in_face, &error);
  g_assert_no_error(error);
  /* Read and written: the garbage is copied too, so that values that are not written show. */
  astro_memory_acquire(out, device, queue, GST_MAP_READWRITE, &out_face, &error);
  g_assert_no_error(error);
  AstroBlock from = { (guint8 *)in_face + c->offset, c->in_bytes };
  AstroBlock to = { (guint8 *)out_face + c->offset, c->out_bytes };
  cuda->submit(instance, &from, 1, &to, 1, c->cuda_arguments, c->cuda_result, &error);
  g_assert_no_error(error);
  astro_memory_release(out, queue, GST_MAP_READWRITE, TRUE, &error);
  g_assert_no_error(error);
  astro_memory_release(in, queue, GST_MAP_READ, FALSE, &error);
  g_assert_no_error(error);
  if (cuda->drain) {
    cuda->drain(instance, c->cuda_result, &error);
    g_assert_no_error(error);
  }

  g_autofree guint8 *sent = g_malloc(c->in_bytes + c->offset);
  g_autofree guint8 *wanted = g_malloc(c->out_bytes);
  test_fill(sent, c->in_bytes + c->offset, c->seed);
  gpointer slow = c->reference->create(c->config, &host, &variant, &error);
  AstroBlock a = { sent + c->offset, c->in_bytes }, b = { wanted, c->out_bytes };
  c->reference->submit(slow, &a, 1, &b, 1, c->reference_arguments, c->reference_result, &error);
  g_assert_no_error(error);
  c->reference->destroy(slow);

  astro_memory_settle(out, &error);
  g_assert_no_error(error);
  g_assert_true(gst_memory_map(out, &map, GST_MAP_READ));
  if (memcmp(map.data + c->offset, wanted, c->out_bytes) != 0) {
    gsize at = 0;
    while (map.data[c->offset + at] == wanted[at])
      at++;
    g_test_message("byte %zu of %zu: %02x, wanted %02x (seed %u)", at, c->out_bytes,
                   map.data[c->offset + at], wanted[at], c->seed);
    g_test_fail();
  }
  gst_memory_unmap(out, &map);
  cuda->destroy(instance);
  gst_memory_unref(in);
  gst_memory_unref(out);
  astro_memory_reap();
  device->funcs->queue_free(device, queue);
}

/* ---- transpose ---- */

static void shuffle(guint *order, guint n)
{
  for (guint i = 0; i < n; i++)
    order[i] = i;
  for (guint i = n; i > 1; i--) {
    guint j = (guint)g_test_rand_int_range(0, (gint)i), swap = order[i - 1];
    order[i - 1] = order[j];
    order[j] = swap;
  }
}

static void test_transpose(gconstpointer data)
{
  static const guint64 sizes[] = {
    1, 2, 3, 5, 7, 16, 17, 33, 64, 100, 128, 136, 200, 256, 264, 648
  };
  gsize sample_bytes = GPOINTER_TO_SIZE(data);
  g_autoptr(AstroDevice) device = test_open_device();

  for (guint i = 0; device && i < 200; i++) {
    AstroTransposeConfig config = { .n_axes = 2 + i % 4, .sample_bytes = sample_bytes };
    gsize samples = 1;
    for (guint a = 0; a < config.n_axes; a++) {
      config.extents[a] = sizes[g_test_rand_int_range(0, G_N_ELEMENTS(sizes))];
      while (samples * config.extents[a] > 1000000)
        config.extents[a] = (config.extents[a] + 1) / 2;
      samples *= config.extents[a];
    }
    shuffle(config.order, config.n_axes);
    Case c = { .reference = &astro_transpose_reference,
               .config = &config,
               .in_bytes = samples * sample_bytes,
               .out_bytes = samples * sample_bytes,
               .offset = i % 3 == 0 ? sample_bytes : 0,
               .seed = i };
    run_case(device, &c);
  }
}

/* Samples of a byte: full and partial tiles, rows that are folded, batches. */
static void test_transpose_bytes(void)
{
  static const AstroTransposeConfig configs[] = {
    { 3, { 128, 33, 256 }, { 2, 1, 0 }, 1 },
    { 3, { 24, 50, 264 }, { 2, 1, 0 }, 1 },
    { 4, { 16, 8, 40, 512 }, { 3, 2, 0, 1 }, 1 },
    { 3, { 264, 3, 520 }, { 2, 0, 1 }, 1 },
    { 2, { 1288, 776 }, { 1, 0 }, 1 },
    { 4, { 5, 136, 9, 256 }, { 3, 0, 2, 1 }, 1 },
    { 4, { 40, 7, 5, 248 }, { 1, 3, 2, 0 }, 1 },
    { 3, { 7, 2048, 400 }, { 0, 2, 1 }, 1 },
    { 3, { 260, 3, 388 }, { 1, 2, 0 }, 1 },
  };
  g_autoptr(AstroDevice) device = test_open_device();

  for (guint i = 0; device && i < G_N_ELEMENTS(configs); i++) {
    gsize bytes = 1;
    for (guint a = 0; a < configs[i].n_axes; a++)
      bytes *= configs[i].extents[a];
    for (gsize offset = 0; offset <= 8; offset += 4) {
      Case c = { .reference = &astro_transpose_reference,
                 .config = &configs[i],
                 .in_bytes = bytes,
                 .out_bytes = bytes,
                 .offset = offset,
                 .seed = i };
      run_case(device, &c);
    }
  }
}

/* More samples than kernels can count, in pieces of a pattern whose length divides no stride. */
static void test_transpose_past_31_bits(void)
{
  enum { PATTERN = 1 << 24 | 43, LOOKS = 2000, LOOK = 64 };
  static const AstroTransposeConfig configs[] = {
    { 2, { 264, 8200008 }, { 1, 0 }, 1 },
    { 3, { 9, 8200008, 31 }, { 2, 0, 1 }, 1 },
    { 3, { 11, 12, 16400000 }, { 1, 0, 2 }, 1 }, /* runs of the innermost axis */
  };
  g_autoptr(AstroDevice) device = test_open_device();
  const AstroBackend *cuda = device ? astro_module_backend("transpose") : NULL;
  g_autofree guint8 *pattern = g_malloc(PATTERN);
  g_autoptr(GError) error = NULL;
  const char *variant;

  test_fill(pattern, PATTERN, 1);
  for (guint i = 0; device && i < G_N_ELEMENTS(configs); i++) {
    const AstroTransposeConfig *config = &configs[i];
    const AstroDeviceFuncs *funcs = device->funcs;
    AstroPlace place = { .device = device, .queue = funcs->queue_new(device, NULL) };
    guint64 strides[3], bytes = 1;
    AstroBlock in = { 0 }, out = { 0 };
    for (guint a = config->n_axes; a-- > 0; bytes *= config->extents[a])
      strides[a] = bytes;
    g_assert_cmpuint(bytes, >, G_MAXINT32);
    in.bytes = out.bytes = bytes;
    g_assert_true(funcs->alloc(device, bytes, &in.data, &error));
    g_assert_true(funcs->alloc(device, bytes, &out.data, &error));
    for (guint64 at = 0; at < bytes; at += PATTERN)
      funcs->queue_copy(device, place.queue, ASTRO_COPY_UP, (guint8 *)in.data + at, pattern,
                        MIN(PATTERN, bytes - at), &error);
    gpointer instance = cuda->create(config, &place, &variant, &error);
    g_assert_true(cuda->submit(instance, &in, 1, &out, 1, NULL, NULL, &error));
    g_assert_no_error(error);
    for (guint look = 0; look < LOOKS; look++) {
      guint64 first = look == 0   ? 0
                      : look == 1 ? bytes - LOOK
                                  : (guint64)(g_test_rand_double() * (double)(bytes - LOOK));
      guint8 got[LOOK];
      funcs->queue_copy(device, place.queue, ASTRO_COPY_DOWN, got, (guint8 *)out.data + first, LOOK,
                        &error);
      AstroEvent *event = funcs->event_record(device, place.queue, &error);
      g_assert_true(funcs->event_wait(device, event, &error));
      funcs->event_free(device, event);
      for (guint b = 0; b < LOOK; b++) {
        guint64 rest = first + b, from = 0;
        for (guint a = config->n_axes; a-- > 0; rest /= config->extents[config->order[a]])
          from += rest % config->extents[config->order[a]] * strides[config->order[a]];
        g_assert_cmphex(got[b], ==, pattern[from % PATTERN]);
      }
    }
    cuda->destroy(instance);
    funcs->free(device, in.data);
    funcs->free(device, out.data);
    funcs->queue_free(device, place.queue);
  }
}

/* ---- convert ---- */

static void test_convert(gconstpointer data)
{
  static const guint64 sizes[] = { 0, 1, 2, 3, 15, 64, 65, 1000, 4097, 70001 };
  static const double scales[] = { 1,          0.5, 3.7, 1e-3, 1e6,
                                   -1,         0,   -17, 1e30, (double)INFINITY,
                                   (double)NAN };
  AstroFormat from = GPOINTER_TO_SIZE(data) / ASTRO_N_FORMATS,
              to = GPOINTER_TO_SIZE(data) % ASTRO_N_FORMATS;
  g_autoptr(AstroDevice) device = test_open_device();
  AstroConvertConfig config = { from, to };
  gsize in = astro_format_info(from)->bytes, out = astro_format_info(to)->bytes;

  for (guint i = 0; device && i < G_N_ELEMENTS(sizes); i++)
    for (guint s = 0; s < G_N_ELEMENTS(scales); s++) {
      AstroResult result = { 0 }, wanted = { 0 };
      AstroConvertArguments arguments = { scales[s], sizes[i] };
      Case c = { .reference = &astro_convert_reference,
                 .config = &config,
                 .cuda_arguments = &arguments,
                 .reference_arguments = &arguments,
                 .cuda_result = &result,
                 .reference_result = &wanted,
                 .in_bytes = sizes[i] * in,
                 .out_bytes = sizes[i] * out,
                 .offset = i % 2 ? MAX(in, out) : 0,
                 .seed = i };
      run_case(device, &c);
      g_assert_cmpuint(result.clipped, ==, wanted.clipped);
    }
}

/* Every sample of the small formats, to every format. */
static void test_convert_all_values(void)
{
  g_autoptr(AstroDevice) device = test_open_device();
  if (!device)
    return;
  const AstroBackend *cuda = astro_module_backend("convert");
  static const AstroFormat formats[] = { ASTRO_FORMAT_CI4, ASTRO_FORMAT_CI8, ASTRO_FORMAT_CF16LE };
  AstroQueue *queue = device->funcs->queue_new(device, NULL);
  AstroPlace place = { .device = device, .queue = queue }, host = { 0 };

  for (guint f = 0; f < G_N_ELEMENTS(formats); f++)
    for (AstroFormat to = ASTRO_FORMAT_CI4; to <= ASTRO_FORMAT_CI32LE; to++) {
      AstroConvertConfig config = { formats[f], to };
      const guint64 samples = 65536;
      const gsize in_bytes = samples * astro_format_info(formats[f])->bytes;
      const gsize out_bytes = samples * astro_format_info(to)->bytes;
      AstroResult result = { 0 }, expected = { 0 };
      const AstroConvertArguments arguments = { 0.75, samples };
      const char *variant;
      gpointer in_face, out_face;
      GstMapInfo map;
      GstMemory *in = astro_memory_new(in_bytes, device), *out = garbage(device, out_bytes, f);
      g_autofree guint8 *wanted = g_malloc(out_bytes);

      gst_memory_map(in, &map, GST_MAP_WRITE);
      for (guint32 i = 0; i < samples; i++)
        for (gsize b = 0; b < in_bytes / samples; b++)
          map.data[i * (in_bytes / samples) + b] = (guint8)(b % 2 ? i >> 8 : i);
      gpointer slow = astro_convert_reference.create(&config, &host, &variant, NULL);
      AstroBlock a = { map.data, in_bytes }, b = { wanted, out_bytes };
      g_assert_true(
          astro_convert_reference.submit(slow, &a, 1, &b, 1, &arguments, &expected, NULL));
      astro_convert_reference.destroy(slow);
      gst_memory_unmap(in, &map);

      gpointer instance = cuda->create(&config, &place, &variant, NULL);
      g_assert_true(astro_memory_acquire(in, device, queue, GST_MAP_READ, &in_face, NULL));
      g_assert_true(astro_memory_acquire(out, device, queue, GST_MAP_READWRITE, &out_face, NULL));
      AstroBlock from = { in_face, in_bytes }, onto = { out_face, out_bytes };
      g_assert_true(cuda->submit(instance, &from, 1, &onto, 1, &arguments, &result, NULL));
      astro_memory_release(out, queue, GST_MAP_READWRITE, TRUE, NULL);
      astro_memory_release(in, queue, GST_MAP_READ, FALSE, NULL);
      g_assert_true(cuda->drain(instance, &result, NULL));
      cuda->destroy(instance);
      gst_memory_map(out, &map, GST_MAP_READ);
      g_assert_cmpmem(map.data, map.size, wanted, out_bytes);
      gst_memory_unmap(out, &map);
      g_assert_cmpuint(result.clipped, ==, expected.clipped);
      gst_memory_unref(in);
      gst_memory_unref(out);
    }
  astro_memory_reap();
  device->funcs->queue_free(device, queue);
}

static void test_memory_refused(void)
{
  g_autoptr(AstroDevice) device = test_open_device();
  g_autoptr(GError) error = NULL;
  gpointer face = NULL;
  if (!device)
    return;
  g_assert_false(device->funcs->alloc(device, (gsize)1 << 45, &face, &error));
  g_assert_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_MEMORY);
  g_assert_nonnull(strstr(error->message, "35184372088832"));
}

static AstroCorrelatorConfig correlator_config(guint stations, guint channels)
{
  AstroCorrelatorConfig config = { .stations = stations,
                                   .pols = 2,
                                   .channels = channels,
                                   .from = ASTRO_FORMAT_CI8,
                                   .to = ASTRO_FORMAT_CF32LE,
                                   .channel_step = 1 };
  astro_layout_parse(&config.layout, "channel:time:station:pol", ASTRO_QUANTITY_SPECTRA, NULL);
  config.layout.extents[0] = channels;
  config.layout.extents[2] = stations;
  config.layout.extents[3] = 2;
  return config;
}

/* Instances given up in mid-integration, together many times the device's memory. */
static void test_given_up(void)
{
  enum { TIMES = 300, STEPS = 8 };
  g_autoptr(AstroDevice) device = test_open_device();
  if (!device)
    return;
  const AstroBackend *backend = astro_module_backend("correlator");
  const AstroCorrelatorConfig config = correlator_config(512, 256); /* sums of 1 GB */
  const gsize bytes = (gsize)STEPS * 512 * 2 * 256 * 2;
  AstroQueue *queue = device->funcs->queue_new(device, NULL);
  AstroPlace place = { .device = device, .queue = queue };
  g_autoptr(GError) error = NULL;
  AstroBlock in = { .bytes = bytes };

  g_assert_true(device->funcs->alloc(device, bytes, &in.data, NULL));
  for (guint i = 0; i < TIMES; i++) {
    AstroCorrelatorArguments arguments = { .steps = STEPS, .count = STEPS };
    gpointer instance = backend->create(&config, &place, NULL, &error);
    g_assert_no_error(error);
    g_assert_true(backend->submit(instance, &in, 1, NULL, 0, &arguments, NULL, &error));
    g_assert_no_error(error);
    backend->destroy(instance);
  }
  device->funcs->free(device, in.data);
  device->funcs->queue_free(device, queue);
}

/* More memory than any device has: the error says how much was needed, and the device goes on. */
static void test_sums_refused(void)
{
  g_autoptr(AstroDevice) device = test_open_device();
  if (!device)
    return;
  const AstroBackend *backend = astro_module_backend("correlator");
  AstroCorrelatorConfig config = correlator_config(100000, 100);
  AstroPlace place = { .device = device, .queue = device->funcs->queue_new(device, NULL) };
  g_autoptr(GError) error = NULL;

  g_assert_null(backend->create(&config, &place, NULL, &error));
  g_assert_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_MEMORY);
  g_assert_nonnull(strstr(error->message, "160001600000 bytes")); /* of one channel's sums */
  g_clear_error(&error);
  config = correlator_config(4, 4);
  gpointer instance = backend->create(&config, &place, NULL, &error);
  g_assert_no_error(error);
  backend->destroy(instance);
  device->funcs->queue_free(device, place.queue);
}

static void test_boxes(void)
{
  g_autoptr(AstroDevice) device = test_open_device();
  if (device)
    test_random_boxes(device);
}

static void add_tests(void)
{
  static const gsize sample_bytes[] = { 1, 2, 4, 8, 16 };
  for (guint i = 0; i < G_N_ELEMENTS(sample_bytes); i++) {
    g_autofree char *name = g_strdup_printf("/cuda/transpose/%zu", sample_bytes[i]);
    g_test_add_data_func(name, GSIZE_TO_POINTER(sample_bytes[i]), test_transpose);
  }
  g_test_add_func("/cuda/transpose/bytes", test_transpose_bytes);
  g_test_add_func("/cuda/transpose/past-31-bits", test_transpose_past_31_bits);
  for (AstroFormat from = 1; from < ASTRO_N_FORMATS; from++)
    for (AstroFormat to = 1; to < ASTRO_N_FORMATS; to++)
      if (astro_convert_possible(from, to)) {
        g_autofree char *name = g_strdup_printf(
            "/cuda/convert/%s/%s", astro_format_info(from)->name, astro_format_info(to)->name);
        g_test_add_data_func(name, GSIZE_TO_POINTER(from * ASTRO_N_FORMATS + to), test_convert);
      }
  g_test_add_func("/cuda/convert/all-values", test_convert_all_values);
  g_test_add_func("/cuda/boxes", test_boxes);
  g_test_add_func("/cuda/memory-refused", test_memory_refused);
  g_test_add_func("/cuda/given-up", test_given_up);
  g_test_add_func("/cuda/sums-refused", test_sums_refused);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
