/* A device module for machines without a GPU: the fake device of tests/core and, as its "cuda"
 * backends, the CPU's kernels run late in the device's queues. Elements cannot tell it from the
 * real one. */
#include "config.h"
#include "core/backend/module.h"
#include "core/convert/convert.h"
#include "core/transpose/transpose.h"
#include "tests/tests.h"
#include "tests/core/fake-device.h"

typedef struct {
  const AstroBackend *cpu;
  gsize argument_bytes;
  AstroPlace place;
  gpointer instance;
  guint64 clipped, *total; /* convert: counted when the work is done, told at drain */
} Late;

typedef struct {
  Late *late;
  AstroBlock in, out;
  gpointer arguments;
} LateWork;

static void late_free(gpointer data)
{
  Late *late = data;
  late->cpu->destroy(late->instance);
}

static void late_work_free(gpointer data)
{
  LateWork *work = data;
  g_atomic_rc_box_release_full(work->late, late_free);
  g_free(work->arguments);
  g_free(work);
}

static void late_kernel(guint8 *face, gsize bytes, gpointer data)
{
  LateWork *work = data;
  work->in.data = fake_real(work->in.data);
  work->out.data = fake_real(work->out.data);
  g_assert_true(work->late->cpu->submit(work->late->instance, &work->in, 1, &work->out, 1,
                                        work->arguments, NULL));
}

static gpointer late_create(const AstroBackend *cpu, gsize argument_bytes, gconstpointer config,
                            const AstroPlace *place, const char **variant, GError **error)
{
  AstroPlace host = { .threads = 1 };
  gpointer instance = cpu->create(config, &host, variant, error);
  if (!instance)
    return NULL;
  Late *late = g_atomic_rc_box_new0(Late); /* work of a device that was lost comes after destroy */
  late->cpu = cpu;
  late->argument_bytes = argument_bytes;
  late->place = *place;
  late->instance = instance;
  *variant = "late";
  return late;
}

static gboolean late_submit(gpointer instance, const AstroBlock *in, guint n_in,
                            const AstroBlock *out, guint n_out, gpointer arguments, GError **error)
{
  Late *late = instance;
  LateWork *work = g_new0(LateWork, 1);

  g_assert_cmpuint(n_in, ==, 1);
  g_assert_cmpuint(n_out, ==, 1);
  *work = (LateWork){ g_atomic_rc_box_acquire(late), *in, *out,
                      g_memdup2(arguments, late->argument_bytes) };
  if (late->cpu == &astro_convert_cpu) {
    AstroConvertArguments *convert = work->arguments;
    late->total = convert->clipped;
    convert->clipped = &late->clipped;
  }
  fake_queue_kernel_between(late->place.device, late->place.queue, late_kernel, in->data, in->bytes,
                            out->data, out->bytes, work, late_work_free);
  return TRUE;
}

static gboolean late_drain(gpointer instance, GError **error)
{
  Late *late = instance;
  AstroDevice *device = late->place.device;
  AstroEvent *event = device->funcs->event_record(device, late->place.queue, error);
  gboolean ok = event && device->funcs->event_wait(device, event, error);

  if (event)
    device->funcs->event_free(device, event);
  if (late->total)
    *late->total += late->clipped;
  late->clipped = 0;
  return ok;
}

static void late_destroy(gpointer instance)
{
  g_atomic_rc_box_release_full(instance, late_free);
}

#define LATE(name, core, Config, Arguments)                                                        \
  static gpointer create_##name(gconstpointer config, const AstroPlace *place,                     \
                                const char **variant, GError **error)                              \
  {                                                                                                \
    return late_create(&core, sizeof(Arguments), config, place, variant, error);                   \
  }                                                                                                \
  static const AstroBackend late_##name = { .stage = #name,                                        \
                                            .kind = ASTRO_BACKEND_CUDA,                            \
                                            .config_bytes = sizeof(Config),                        \
                                            .create = create_##name,                               \
                                            .submit = late_submit,                                 \
                                            .drain = late_drain,                                   \
                                            .destroy = late_destroy };

LATE(convert, astro_convert_cpu, AstroConvertConfig, AstroConvertArguments)
LATE(transpose, astro_transpose_cpu, AstroTransposeConfig, AstroTransposeConfig)

static const AstroBackend *const backends[] = { &late_convert, &late_transpose, NULL };

static gint n_devices(GError **error)
{
  return 1;
}

static AstroDevice *open_device(gint index, GError **error)
{
  return fake_device_new(7);
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
