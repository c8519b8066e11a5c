/* A device module for machines without a GPU: the fake device of tests/core and, as its "cuda"
 * backends, the CPU's kernels, run late in the device's queues. Elements cannot tell it from a real
 * one: reading its blocks on the host crashes, work is done after submit has returned unless its
 * result is needed at once, and counts are known when it is drained. */
#include "config.h"

#include <string.h>

#include "core/backend/module.h"
#include "core/beamform/beamform.h"
#include "core/channelizer/channelizer.h"
#include "core/convert/convert.h"
#include "core/correlator/correlator.h"
#include "core/delay/delay.h"
#include "core/lib/fft/fft.h"
#include "core/gridder/backend.h"
#include "core/histogram/histogram.h"
#include "core/image/image.h"
#include "core/power/power.h"
#include "core/sideband/sideband.h"
#include "core/transpose/transpose.h"
#include "tests/tests.h"
#include "tests/core/fake-device.h"

/* Facts about a stage that the fake needs besides its CPU backend. */
typedef struct {
  const AstroBackend *cpu;
  /* Whether submit waits, because the caller looks at the result or frees the arguments. */
  gboolean (*waits)(gconstpointer arguments);
  /* A deep copy of arguments that the caller does not keep, to be freed. */
  gpointer (*keep)(gconstpointer config, gconstpointer arguments);
} LateStage;

typedef struct {
  const LateStage *stage;
  gpointer config;
  AstroPlace place;
  gpointer instance;
  AstroResult counted; /* by work that nobody waited for, until it is drained */
} Late;

enum { MOST_BLOCKS = 2 };

typedef struct {
  Late *late;
  AstroBlock in[MOST_BLOCKS], out[MOST_BLOCKS];
  guint n_in, n_out;
  gconstpointer arguments;
  gpointer kept; /* them, or NULL: the caller waits */
  AstroResult *result;
  gboolean *done; /* whether it was, where the caller waits */
  GError **error;
} LateWork;

static void late_free(gpointer data)
{
  Late *late = data;
  late->stage->cpu->destroy(late->instance);
  g_free(late->config);
}

static void late_work_free(gpointer data)
{
  LateWork *work = data;
  g_atomic_rc_box_release_full(work->late, late_free);
  g_free(work->kept);
  g_free(work);
}

static void late_kernel(guint8 *face, gsize bytes, gpointer data)
{
  LateWork *work = data;
  const Late *late = work->late;
  const gboolean done =
      late->stage->cpu->submit(late->instance, work->in, work->n_in, work->out, work->n_out,
                               work->arguments, work->result, work->error);
  if (work->done)
    *work->done = done;
  else
    g_assert_true(done);
}

static gpointer late_create(const LateStage *stage, gsize config_bytes, gconstpointer config,
                            const AstroPlace *place, const char **variant, GError **error)
{
  AstroPlace host = { .threads = 1 };
  gpointer instance = stage->cpu->create(config, &host, variant, error);
  if (!instance)
    return NULL;
  Late *late = g_atomic_rc_box_new0(Late); /* work of a device that was lost comes after destroy */
  late->stage = stage;
  late->config = g_memdup2(config, config_bytes);
  late->place = *place;
  late->instance = instance;
  *variant = "late";
  return late;
}

static void take_blocks(AstroBlock *to, const AstroBlock *from, guint n, FakeArea *areas,
                        guint *n_areas)
{
  g_assert_cmpuint(n, <=, MOST_BLOCKS);
  for (guint i = 0; i < n; i++) {
    areas[(*n_areas)++] = (FakeArea){ from[i].data, from[i].bytes };
    to[i] = (AstroBlock){ fake_real(from[i].data), from[i].bytes };
  }
}

static gboolean late_submit(gpointer instance, const AstroBlock *in, guint n_in,
                            const AstroBlock *out, guint n_out, gconstpointer arguments,
                            AstroResult *result, GError **error)
{
  Late *late = instance;
  const LateStage *stage = late->stage;
  const gboolean waits = !stage->keep || (stage->waits && stage->waits(arguments));
  LateWork *work = g_new0(LateWork, 1);
  FakeArea areas[FAKE_MAX_AREAS];
  guint n_areas = 0;
  gboolean done = TRUE;

  *work = (LateWork){ .late = g_atomic_rc_box_acquire(late),
                      .n_in = n_in,
                      .n_out = n_out,
                      .arguments = arguments,
                      .result = waits ? result : &late->counted };
  if (waits) {
    work->done = &done;
    work->error = error;
  } else if (arguments) {
    work->arguments = work->kept = stage->keep(late->config, arguments);
  }
  take_blocks(work->in, in, n_in, areas, &n_areas);
  take_blocks(work->out, out, n_out, areas, &n_areas);
  fake_queue_kernel_over(late->place.device, late->place.queue, late_kernel, areas, n_areas, work,
                         late_work_free);
  if (waits)
    fake_settle(late->place.queue);
  return done;
}

static gboolean late_drain(gpointer instance, AstroResult *result, GError **error)
{
  Late *late = instance;
  AstroDevice *device = late->place.device;
  AstroEvent *event = device->funcs->event_record(device, late->place.queue, error);
  gboolean ok = event && device->funcs->event_wait(device, event, error);

  if (event)
    device->funcs->event_free(device, event);
  if (!ok)
    return FALSE;
  if (result)
    result->clipped += late->counted.clipped;
  late->counted = (AstroResult){ 0 };
  return TRUE;
}

static void late_destroy(gpointer instance)
{
  g_atomic_rc_box_release_full(instance, late_free);
}

/* ---- arguments ---- */

#define KEEPS(name, Type)                                                                          \
  static gpointer keep_##name(gconstpointer config, gconstpointer arguments)                       \
  {                                                                                                \
    return g_memdup2(arguments, sizeof(Type));                                                     \
  }

KEEPS(convert, AstroConvertArguments)
KEEPS(correlator, AstroCorrelatorArguments)
KEEPS(fft, guint64)
KEEPS(sideband, AstroSidebandArguments)
KEEPS(transpose, AstroTransposeConfig)

/* Arguments with an array behind them, in one block. */
static gpointer keep_both(gconstpointer arguments, gsize bytes, gconstpointer array,
                          gsize array_bytes)
{
  guint8 *kept = g_malloc(bytes + array_bytes);
  memcpy(kept, arguments, bytes);
  if (array_bytes > 0)
    memcpy(kept + bytes, array, array_bytes);
  return kept;
}

static gpointer keep_channelizer(gconstpointer config, gconstpointer given)
{
  const AstroChannelizerArguments *arguments = given;
  AstroChannelizerArguments *kept = keep_both(arguments, sizeof *arguments, arguments->losses,
                                              arguments->n_losses * sizeof *arguments->losses);
  kept->losses = (const AstroLoss *)(kept + 1);
  return kept;
}

static gpointer keep_image(gconstpointer given_config, gconstpointer given)
{
  const AstroImageConfig *config = given_config;
  const AstroImageArguments *arguments = given;
  const gsize bytes = config->channels * config->n_in * sizeof *arguments->weights;
  AstroImageArguments *kept =
      keep_both(arguments, sizeof *arguments, arguments->weights, arguments->weights ? bytes : 0);
  kept->weights = (const double *)(kept + 1);
  return kept;
}

/* The caller owns the list of good samples and the counts, and may change them when submit has
 * returned. */
static gboolean correlator_waits(gconstpointer given)
{
  const AstroCorrelatorArguments *arguments = given;
  return arguments->dump || arguments->valid || arguments->parts;
}

/* The caller looks at the middle of a whole image at once. */
static gboolean image_waits(gconstpointer given)
{
  const AstroImageArguments *arguments = given;
  return arguments->last && arguments->middle_size > 0;
}

/* ---- the backends ---- */

#define LATE_STAGE(name, Config, ...)                                                              \
  static const LateStage stage_##name = { &astro_##name##_cpu, __VA_ARGS__ };                      \
  static gboolean shape_##name(gconstpointer config, GError **error)                               \
  {                                                                                                \
    return astro_##name##_cpu.shape(config, error);                                                \
  }                                                                                                \
  static gpointer create_##name(gconstpointer config, const AstroPlace *place,                     \
                                const char **variant, GError **error)                              \
  {                                                                                                \
    return late_create(&stage_##name, sizeof(Config), config, place, variant, error);              \
  }                                                                                                \
  static const AstroBackend late_##name = { .stage = #name,                                        \
                                            .kind = ASTRO_BACKEND_CUDA,                            \
                                            .config_bytes = sizeof(Config),                        \
                                            .shape = shape_##name,                                 \
                                            .create = create_##name,                               \
                                            .submit = late_submit,                                 \
                                            .drain = late_drain,                                   \
                                            .destroy = late_destroy };

LATE_STAGE(beamform, AstroBeamformConfig, NULL, NULL) /* its phases go with the block */
LATE_STAGE(channelizer, AstroChannelizerConfig, NULL, keep_channelizer)
LATE_STAGE(convert, AstroConvertConfig, NULL, keep_convert)
LATE_STAGE(correlator, AstroCorrelatorConfig, correlator_waits, keep_correlator)
LATE_STAGE(delay, AstroDelayConfig, NULL, NULL) /* its model goes on with the next block */
LATE_STAGE(fft, AstroFftConfig, NULL, keep_fft)
LATE_STAGE(image, AstroImageConfig, image_waits, keep_image)
LATE_STAGE(power, AstroPowerConfig, NULL, NULL) /* it counts samples at once */
LATE_STAGE(sideband, AstroSidebandConfig, NULL, keep_sideband)
LATE_STAGE(transpose, AstroTransposeConfig, NULL, keep_transpose)

/* As a device's, the gridder keeps all visibilities where it works, if there is room for them. */

static gpointer new_gridder(gconstpointer config, const AstroPlace *place, const char **variant,
                            GError **error)
{
  static AstroPrepareFuncs prepare;
  static AstroGridderParts parts;
  static gsize is_filled;
  if (g_once_init_enter(&is_filled)) {
    parts = *(const AstroGridderParts *)astro_gridder_cpu.parts;
    prepare = *parts.prepare;
    prepare.limit = NULL;
    prepare.stored = NULL;
    parts.prepare = &prepare;
    g_once_init_leave(&is_filled, TRUE);
  }
  return astro_gridder_backend_new(config, place, &parts);
}

static gboolean shape_gridder(gconstpointer config, GError **error)
{
  return astro_gridder_cpu.shape(config, error);
}

static gpointer create_gridder(gconstpointer given, const AstroPlace *place, const char **variant,
                               GError **error)
{
  static const AstroBackend unlimited = { .create = new_gridder,
                                          .submit = astro_gridder_backend_submit,
                                          .destroy = astro_gridder_backend_free };
  static const LateStage stage = { &unlimited, NULL, NULL }; /* dumps go with what buffers say */
  const AstroGridderConfig *config = given;
  AstroDeviceMemory memory;
  if (!place->device->funcs->memory(place->device, &memory, error) ||
      !astro_gridder_fits_device(config, config->algorithm->bytes(&config->gridder, &config->grid),
                                 memory.free, place->device->name, error))
    return NULL;
  return late_create(&stage, sizeof *config, config, place, variant, error);
}

static const AstroBackend late_gridder = { .stage = "gridder",
                                           .kind = ASTRO_BACKEND_CUDA,
                                           .config_bytes = sizeof(AstroGridderConfig),
                                           .shape = shape_gridder,
                                           .create = create_gridder,
                                           .submit = late_submit,
                                           .drain = late_drain,
                                           .destroy = late_destroy };

/* Catalogues and counts are on the host, for a device too. */
typedef struct {
  gpointer counter;
  FakeDevice *fake;
} HostHistogram;

static gpointer create_histogram(gconstpointer config, const AstroPlace *place,
                                 const char **variant, GError **error)
{
  AstroPlace host = { .threads = 1, .stop = place->stop };
  gpointer counter = astro_histogram_cpu.create(config, &host, variant, error);
  if (!counter)
    return NULL;
  HostHistogram *histogram = g_new(HostHistogram, 1);
  *histogram = (HostHistogram){ counter, (FakeDevice *)place->device };
  *variant = "late";
  return histogram;
}

static gboolean shape_histogram(gconstpointer config, GError **error)
{
  return astro_histogram_cpu.shape(config, error);
}

static gboolean submit_histogram(gpointer instance, const AstroBlock *in, guint n_in,
                                 const AstroBlock *out, guint n_out, gconstpointer arguments,
                                 AstroResult *result, GError **error)
{
  const HostHistogram *histogram = instance;
  if (fake_fails(histogram->fake, FAKE_COPY, error))
    return FALSE;
  g_usleep(histogram->fake->delay);
  return astro_histogram_cpu.submit(histogram->counter, in, n_in, out, n_out, arguments, result,
                                    error);
}

static gboolean drain_histogram(gpointer instance, AstroResult *result, GError **error)
{
  return TRUE;
}

static void destroy_histogram(gpointer instance)
{
  HostHistogram *histogram = instance;
  astro_histogram_cpu.destroy(histogram->counter);
  g_free(histogram);
}

static const AstroBackend late_histogram = { .stage = "histogram",
                                             .kind = ASTRO_BACKEND_CUDA,
                                             .config_bytes = sizeof(AstroHistogramConfig),
                                             .shape = shape_histogram,
                                             .create = create_histogram,
                                             .submit = submit_histogram,
                                             .drain = drain_histogram,
                                             .destroy = destroy_histogram };

static const AstroBackend *const backends[] = {
  &late_beamform, &late_channelizer, &late_convert, &late_correlator, &late_delay,     &late_fft,
  &late_gridder,  &late_histogram,   &late_image,   &late_sideband,   &late_transpose, &late_power,
  NULL,
};

/* As many as a test wants, which answer at different speeds. */
static gint n_devices(GError **error)
{
  const char *n = g_getenv("ASTRO_FAKE_DEVICES");
  return n ? (gint)g_ascii_strtoll(n, NULL, 10) : 1;
}

static AstroDevice *open_device(gint index, GError **error)
{
  AstroDevice *device = fake_device_new(7 + (guint32)index);
  ((FakeDevice *)device)->delay *= 1 + (guint)index;
  ((FakeDevice *)device)->alone = g_getenv("ASTRO_FAKE_ALONE") != NULL;
  device->index = index;
  if (index > 0) {
    g_free(device->name);
    device->name = g_strdup_printf("fake %d", index);
  }
  return device;
}

static char *describe(gint index)
{
  return g_strdup("a fake device for tests");
}

extern const AstroModule astro_module;
const AstroModule astro_module = {
  .abi = ASTRO_MODULE_ABI,
  .bytes = sizeof(AstroModule),
  .version = PACKAGE_VERSION,
  .n_devices = n_devices,
  .open = open_device,
  .describe = describe,
  .backends = backends,
};
