/* Chooses a backend for a stage, and opens devices. */
#include "config.h"
#include "core/backend/module.h"

#include <string.h>
#include <unistd.h>

G_DEFINE_QUARK(astro_backend_error, astro_backend_error)

gboolean astro_backend_goes_on(GError **error)
{
  if (!astro_is_given_up())
    return TRUE;
  return astro_fail(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_GIVEN_UP,
                    "interrupted in the middle of long work: the unfinished result is not "
                    "kept");
}

guint64 astro_host_memory(void)
{
  return (guint64)sysconf(_SC_PHYS_PAGES) * (guint64)sysconf(_SC_PAGESIZE);
}

static const GEnumValue kinds[] = {
  { ASTRO_BACKEND_AUTO, "CUDA if there is a device, else the CPU", "auto" },
  { ASTRO_BACKEND_REFERENCE, "The plain formula, slow but obvious", "reference" },
  { ASTRO_BACKEND_CPU, "The fastest kernel that this machine's CPU runs", "cpu" },
  { ASTRO_BACKEND_CUDA, "An NVIDIA GPU; an error if there is none", "cuda" },
  { 0, NULL, NULL },
};

GType astro_backend_kind_get_type(void)
{
  static gsize type = 0;
  if (g_once_init_enter(&type))
    g_once_init_leave(&type, g_enum_register_static("AstroBackendKind", kinds));
  return type;
}

const char *astro_backend_kind_name(AstroBackendKind kind)
{
  g_return_val_if_fail(kind <= ASTRO_BACKEND_CUDA, NULL);
  return kinds[kind].value_nick;
}

#define MAX_DEVICES 64

AstroDevice *astro_device_open(gint index, GError **error)
{
  static GMutex lock;
  static AstroDevice *devices[MAX_DEVICES];
  const AstroModule *module = astro_module_get(error);

  if (!module)
    return NULL;
  gint n = module->n_devices(error);
  if (n < 0)
    return NULL;
  if (index < 0 || index >= MIN(n, MAX_DEVICES)) {
    g_set_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_UNAVAILABLE,
                "there is no device %d, this machine has %d CUDA device%s", index, n,
                n == 1 ? "" : "s");
    return NULL;
  }
  g_mutex_lock(&lock);
  if (!devices[index])
    devices[index] = module->open(index, error);
  AstroDevice *device = devices[index] ? astro_device_ref(devices[index]) : NULL;
  g_mutex_unlock(&lock);
  return device;
}

static gboolean takes(const AstroBackend *backend, gconstpointer config, GError **error)
{
  return !backend->shape || backend->shape(config, error);
}

static const AstroBackend *find(const AstroBackend *const *backends, const char *stage,
                                AstroBackendKind kind)
{
  for (; backends && *backends; backends++)
    if ((*backends)->kind == kind && strcmp((*backends)->stage, stage) == 0)
      return *backends;
  return NULL;
}

const AstroBackend *astro_module_backend(const char *stage)
{
  const AstroModule *module = astro_module_get(NULL);
  return module ? find(module->backends, stage, ASTRO_BACKEND_CUDA) : NULL;
}

static const AstroBackend *choose_cuda(const char *stage, gsize config_bytes, gint device_index,
                                       gconstpointer config, AstroDevice **device, GError **error)
{
  const AstroModule *module = astro_module_get(error);
  if (!module)
    return NULL;

  const AstroBackend *backend = find(module->backends, stage, ASTRO_BACKEND_CUDA);
  if (!backend || backend->config_bytes != config_bytes) {
    g_set_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_UNAVAILABLE,
                backend ? "the CUDA module's %s was built for another configuration"
                        : "the CUDA module has no %s",
                stage);
    return NULL;
  }
  *device = astro_device_open(device_index, error);
  if (!*device)
    return NULL;
  if (takes(backend, config, error))
    return backend;
  g_clear_pointer(device, astro_device_unref);
  return NULL;
}

gboolean astro_backend_prefers_device(const char *stage, AstroBackendKind kind, gint device_index)
{
  const AstroModule *module = kind == ASTRO_BACKEND_AUTO ? astro_module_get(NULL) : NULL;

  if (!module)
    return kind == ASTRO_BACKEND_CUDA;
  return find(module->backends, stage, ASTRO_BACKEND_CUDA) &&
         module->n_devices(NULL) > device_index;
}

static const AstroBackend *choose_own(const char *stage, const AstroBackend *const *own,
                                      AstroBackendKind kind, gconstpointer config, GError **error)
{
  const AstroBackend *backend = find(own, stage, kind);
  if (!backend) {
    g_set_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_UNAVAILABLE,
                "%s has no backend \"%s\"", stage, astro_backend_kind_name(kind));
    return NULL;
  }
  return takes(backend, config, error) ? backend : NULL;
}

const AstroBackend *astro_backend_choose(const char *stage, const AstroBackend *const *own,
                                         AstroBackendKind kind, gint device_index,
                                         gconstpointer config, AstroDevice **device, char **why,
                                         GError **error)
{
  g_autoptr(GError) why_not = NULL;

  *device = NULL;
  *why = NULL;
  if (kind != ASTRO_BACKEND_AUTO) {
    const AstroBackend *backend =
        kind == ASTRO_BACKEND_CUDA
            ? choose_cuda(stage, own[0]->config_bytes, device_index, config, device, error)
            : choose_own(stage, own, kind, config, error);
    if (backend)
      *why = g_strdup_printf("backend=%s was set", astro_backend_kind_name(kind));
    return backend;
  }
  const AstroBackend *cuda =
      choose_cuda(stage, own[0]->config_bytes, device_index, config, device, &why_not);
  if (cuda) {
    *why = g_strdup_printf("auto takes cuda on device %d", device_index);
    return cuda;
  }
  const AstroBackend *cpu = choose_own(stage, own, ASTRO_BACKEND_CPU, config, error);
  if (cpu)
    *why = g_strdup_printf("auto takes cpu: %s", why_not->message);
  return cpu;
}
