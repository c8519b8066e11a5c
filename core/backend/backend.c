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
  { ASTRO_BACKEND_AUTO,
    "CUDA if there is a device, else OpenCL if its device is no CPU, else the CPU", "auto" },
  { ASTRO_BACKEND_REFERENCE, "The plain formula, slow but obvious", "reference" },
  { ASTRO_BACKEND_CPU, "The fastest kernel that this machine's CPU runs", "cpu" },
  { ASTRO_BACKEND_CUDA, "An NVIDIA GPU; an error if there is none", "cuda" },
  { ASTRO_BACKEND_OPENCL, "A device by OpenCL, of any vendor; an error if there is none",
    "opencl" },
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
  g_return_val_if_fail(kind <= ASTRO_BACKEND_OPENCL, NULL);
  return kinds[kind].value_nick;
}

#define MAX_DEVICES 64

AstroDevice *astro_device_open_of(AstroBackendKind kind, gint index, GError **error)
{
  static GMutex lock;
  static AstroDevice *opened[ASTRO_BACKEND_OPENCL + 1][MAX_DEVICES];
  AstroDevice **devices = opened[kind];
  const gint n = astro_device_count(kind, error);

  if (n < 0)
    return NULL;
  if (index < 0 || index >= MIN(n, MAX_DEVICES)) {
    g_set_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_UNAVAILABLE,
                "there is no device %d, this machine has %d %s device%s", index, n,
                astro_device_kind_title(kind), n == 1 ? "" : "s");
    return NULL;
  }
  const AstroModule *module = astro_module_of(kind, NULL);
  g_mutex_lock(&lock);
  if (!devices[index] && (devices[index] = module->open(index, error)))
    devices[index]->kind = kind;
  AstroDevice *device = devices[index] ? astro_device_ref(devices[index]) : NULL;
  g_mutex_unlock(&lock);
  return device;
}

AstroDevice *astro_device_open(gint index, GError **error)
{
  return astro_device_open_of(ASTRO_BACKEND_CUDA, index, error);
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

const AstroBackend *astro_module_backend_of(AstroBackendKind kind, const char *stage)
{
  const AstroModule *module = astro_module_of(kind, NULL);
  return module ? find(module->backends, stage, kind) : NULL;
}

const AstroBackend *astro_module_backend(const char *stage)
{
  return astro_module_backend_of(ASTRO_BACKEND_CUDA, stage);
}

static gboolean is_for_auto(const AstroModule *module, gint index, GError **error)
{
  const gint n = module->is_for_auto ? module->n_devices(NULL) : -1;
  return index >= n || index < 0 || module->is_for_auto(index, error);
}

static const AstroBackend *choose_device(const char *stage, gsize config_bytes,
                                         AstroBackendKind kind, gboolean by_auto, gint device_index,
                                         gconstpointer config, AstroDevice **device, GError **error)
{
  const AstroModule *module = astro_module_of(kind, error);
  if (!module)
    return NULL;

  const AstroBackend *backend = find(module->backends, stage, kind);
  if (!backend || backend->config_bytes != config_bytes) {
    g_set_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_UNAVAILABLE,
                backend ? "the %s module's %s was built for another configuration"
                        : "the %s module has no %s",
                astro_device_kind_title(kind), stage);
    return NULL;
  }
  if (by_auto && !is_for_auto(module, device_index, error))
    return NULL;
  *device = astro_device_open_of(kind, device_index, error);
  if (!*device)
    return NULL;
  if (takes(backend, config, error))
    return backend;
  g_clear_pointer(device, astro_device_unref);
  return NULL;
}

gboolean astro_backend_prefers_device(const char *stage, AstroBackendKind kind, gint device_index)
{
  if (kind != ASTRO_BACKEND_AUTO)
    return astro_backend_is_device(kind);
  for (guint i = 0; i < ASTRO_N_DEVICE_KINDS; i++) {
    const AstroModule *module = astro_module_of(astro_device_kinds[i], NULL);
    if (module && find(module->backends, stage, astro_device_kinds[i]) &&
        module->n_devices(NULL) > device_index && is_for_auto(module, device_index, NULL))
      return TRUE;
  }
  return FALSE;
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
  *device = NULL;
  *why = NULL;
  if (kind != ASTRO_BACKEND_AUTO) {
    const AstroBackend *backend = astro_backend_is_device(kind)
                                      ? choose_device(stage, own[0]->config_bytes, kind, FALSE,
                                                      device_index, config, device, error)
                                      : choose_own(stage, own, kind, config, error);
    if (backend)
      *why = g_strdup_printf("backend=%s was set", astro_backend_kind_name(kind));
    return backend;
  }
  g_autoptr(GString) why_not = g_string_new(NULL);
  for (guint i = 0; i < ASTRO_N_DEVICE_KINDS; i++) {
    g_autoptr(GError) reason = NULL;
    const AstroBackend *found = choose_device(stage, own[0]->config_bytes, astro_device_kinds[i],
                                              TRUE, device_index, config, device, &reason);
    if (found) {
      *why = g_strdup_printf("auto takes %s on device %d%s%s", astro_backend_kind_name(found->kind),
                             device_index, i ? ": " : "", why_not->str);
      return found;
    }
    g_string_append_printf(why_not, "%s%s", i ? "; " : "", reason->message);
  }
  const AstroBackend *cpu = choose_own(stage, own, ASTRO_BACKEND_CPU, config, error);
  if (cpu)
    *why = g_strdup_printf("auto takes cpu: %s", why_not->str);
  return cpu;
}
