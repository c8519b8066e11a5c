/* Measures the GPU of this machine: its bus, and its memory by a stage that only moves samples.
 * What it computes in a second at best comes from the description of that kind of GPU, since no
 * stage reaches it. */
#include "graphs/machine.h"
#include "core/backend/module.h"
#include "core/convert/convert.h"
#include "core/machine/measure.h"
#include "graphs/find.h"

#include <string.h>

#define BYTES ((gsize)256 << 20)
#define CALLS 16
#define TRIES 5

static const char *const described[] = { "machines/h100.machine", "machines/h200.machine" };

/* The description of this kind of GPU, or NULL. */
static AstroMachine *find_described(const char *device)
{
  for (guint i = 0; i < G_N_ELEMENTS(described); i++) {
    g_autofree char *path = astro_find_beside_graphs(described[i]);
    g_autoptr(AstroMachine) machine = path ? astro_machine_read(path, NULL) : NULL;
    if (machine && g_str_equal(machine->device, device))
      return g_steal_pointer(&machine);
  }
  return NULL;
}

typedef struct {
  AstroDevice *device;
  AstroQueue *queue;
  const AstroBackend *backend;
  gpointer instance;
  AstroBlock in, out;
} Converter;

static gboolean wait(const Converter *c, GError **error)
{
  const AstroDeviceFuncs *funcs = c->device->funcs;
  AstroEvent *event = funcs->event_record(c->device, c->queue, error);
  const gboolean ok = event && funcs->event_wait(c->device, event, error);
  if (event)
    funcs->event_free(c->device, event);
  return ok;
}

/* Seconds of some calls; negative, with an error, if one fails. */
static double convert_some(const Converter *c, GError **error)
{
  const AstroConvertArguments arguments = {
    .scale = 2, .samples = BYTES / astro_format_info(ASTRO_FORMAT_CF32LE)->bytes
  };
  const gint64 start = g_get_monotonic_time();
  AstroResult result = { 0 };
  for (guint i = 0; i < CALLS; i++)
    if (!c->backend->submit(c->instance, &c->in, 1, &c->out, 1, &arguments, &result, error))
      return -1;
  return wait(c, error) ? (double)(g_get_monotonic_time() - start) * 1e-6 : -1;
}

static double time_converter(Converter *c, GError **error)
{
  double best = 0;
  for (guint i = 0; i <= TRIES; i++) {
    const double seconds = convert_some(c, error);
    if (seconds <= 0)
      return 0;
    best = MAX(best, 2. * BYTES * CALLS / seconds);
  }
  return best;
}

static double measure_memory(AstroDevice *device, GError **error)
{
  const AstroConvertConfig config = { ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CF32LE };
  const AstroDeviceFuncs *funcs = device->funcs;
  Converter c = { .device = device, .backend = astro_module_backend("convert") };
  const char *variant = NULL;
  double rate = 0;
  c.in.bytes = c.out.bytes = BYTES;
  c.queue = funcs->queue_new(device, error);
  if (!c.queue)
    return 0;
  const AstroPlace place = { .device = device, .queue = c.queue };
  if (funcs->alloc(device, BYTES, &c.in.data, error) &&
      funcs->alloc(device, BYTES, &c.out.data, error) &&
      (c.instance = c.backend->create(&config, &place, &variant, error))) {
    rate = time_converter(&c, error);
    if (c.backend->drain)
      c.backend->drain(c.instance, NULL, NULL);
    c.backend->destroy(c.instance);
  }
  if (c.out.data)
    funcs->free(device, c.out.data);
  if (c.in.data)
    funcs->free(device, c.in.data);
  funcs->queue_free(device, c.queue);
  return rate;
}

static gboolean measure_device(AstroMachine *machine, AstroDevice *device, GError **error)
{
  AstroDeviceMemory memory;
  if (!device->funcs->memory(device, &memory, error))
    return FALSE;
  machine->bus_up = astro_measure_bus(device, ASTRO_COPY_UP, error);
  machine->bus_down = machine->bus_up > 0 ? astro_measure_bus(device, ASTRO_COPY_DOWN, error) : 0;
  machine->gpu.bandwidth = machine->bus_down > 0 ? measure_memory(device, error) : 0;
  machine->gpu.memory = (double)memory.whole;
  return machine->gpu.bandwidth > 0;
}

void astro_machine_measure_gpu(AstroMachine *machine, char **trouble)
{
  g_autoptr(GError) error = NULL;
  const AstroModule *module = astro_module_get(NULL);
  const gint n = module ? module->n_devices(NULL) : 0;
  g_autoptr(AstroDevice) device = n > 0 ? astro_device_open(0, &error) : NULL;
  *trouble = NULL;
  if (n <= 0)
    return;
  if (!device || !measure_device(machine, device, &error)) {
    *trouble = g_strdup(error ? error->message : "it was not measured");
    memset(&machine->gpu, 0, sizeof machine->gpu);
    machine->bus_up = machine->bus_down = 0;
    return;
  }
  machine->devices = n;
  machine->device = g_strdup(device->name);
  g_autoptr(AstroMachine) same = find_described(device->name);
  g_autofree char *measured = g_steal_pointer(&machine->source);
  machine->source =
      g_strconcat(measured,
                  same ? "; what the GPU computes and its power are those of its data "
                         "sheet"
                       : "; what the GPU computes is not known",
                  NULL);
  if (!same)
    return;
  memcpy(machine->gpu.operations, same->gpu.operations, sizeof same->gpu.operations);
  machine->gpu.power = same->gpu.power;
}
