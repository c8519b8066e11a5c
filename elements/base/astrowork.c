/* Properties and statistics of who does the work, shared by AstroStage and AstroMerge. */
#include "config.h"
#include "elements/base/astrowork.h"

#include "core/backend/cpu.h"
#include "core/backend/device.h"
#include "core/backend/module.h"
#include "elements/base/astrolog.h"

static const struct {
  const char *name;
  gsize offset;
} counts[] = {
  { "buffers-in", G_STRUCT_OFFSET(AstroWorkStats, buffers_in) },
  { "buffers-out", G_STRUCT_OFFSET(AstroWorkStats, buffers_out) },
  { "bytes-in", G_STRUCT_OFFSET(AstroWorkStats, bytes_in) },
  { "bytes-out", G_STRUCT_OFFSET(AstroWorkStats, bytes_out) },
  { "busy-ns", G_STRUCT_OFFSET(AstroWorkStats, busy_ns) },
  { "input-wait-ns", G_STRUCT_OFFSET(AstroWorkStats, input_wait_ns) },
  { "output-wait-ns", G_STRUCT_OFFSET(AstroWorkStats, output_wait_ns) },
  { "host-copies", G_STRUCT_OFFSET(AstroWorkStats, host_copies) },
  { "steps-again", G_STRUCT_OFFSET(AstroWorkStats, steps_again) },
  { "steps-lost", G_STRUCT_OFFSET(AstroWorkStats, steps_lost) },
};

char *astro_work_name(const AstroBackend *backend, const char *variant, const char *otherwise)
{
  if (!backend)
    return g_strdup(otherwise);
  return g_strdup_printf("%s/%s", astro_backend_kind_name(backend->kind), variant ? variant : "");
}

/* "auto, reference, cpu" */
static char *list_backends(const char *stage, const AstroBackend *const *own)
{
  GString *list = g_string_new(astro_backend_kind_name(ASTRO_BACKEND_AUTO));
  for (; *own; own++)
    g_string_append_printf(list, ", %s", astro_backend_kind_name((*own)->kind));
  for (guint i = 0; i < ASTRO_N_DEVICE_KINDS; i++)
    if (astro_module_backend_of(astro_device_kinds[i], stage))
      g_string_append_printf(list, ", %s", astro_backend_kind_name(astro_device_kinds[i]));
  return g_string_free(list, FALSE);
}

static gboolean has_kind(const AstroBackend *const *own, AstroBackendKind kind)
{
  while (*own && (*own)->kind != kind)
    own++;
  return *own != NULL;
}

static gboolean refuse_kind(const char *stage, const AstroBackend *const *own,
                            AstroBackendKind kind, GError **error)
{
  g_autofree char *list = list_backends(stage, own);
  return astro_fail(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_UNAVAILABLE,
                    "backend=%s: this element has none of that kind, expected one of %s",
                    astro_backend_kind_name(kind), list);
}

static gboolean check_device(const char *stage, const AstroBackend *const *own,
                             const AstroWorkChoice *choice, GError **error)
{
  if (astro_module_of(choice->kind, NULL) && !astro_module_backend_of(choice->kind, stage))
    return refuse_kind(stage, own, choice->kind, error);
  g_autoptr(GError) why = NULL;
  g_autoptr(AstroDevice) device = astro_device_open_of(choice->kind, choice->device, &why);
  if (device)
    return TRUE;
  g_autofree char *list = list_backends(stage, own);
  return astro_fail(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_UNAVAILABLE,
                    "backend=%s: %s. The backends of this element here are %s",
                    astro_backend_kind_name(choice->kind), why->message, list);
}

gboolean astro_work_check(const char *stage, const AstroBackend *const *own,
                          const AstroWorkChoice *choice, GError **error)
{
  if (astro_backend_is_device(choice->kind))
    return check_device(stage, own, choice, error);
  return choice->kind == ASTRO_BACKEND_AUTO || has_kind(own, choice->kind) ||
         refuse_kind(stage, own, choice->kind, error);
}

guint astro_work_find_devices(const char *text, const AstroWorkChoice *choice,
                              gint indices[ASTRO_MOST_DEVICES], GError **error)
{
  g_autoptr(GError) why = NULL;
  indices[0] = choice->device;
  if (!astro_field_given(text))
    return 1;
  const gboolean is_auto = choice->kind == ASTRO_BACKEND_AUTO;
  if (!is_auto && !astro_backend_is_device(choice->kind)) {
    astro_backend_refuse(error, "devices=%s with backend=%s, expected backend=cuda, opencl or auto",
                         text, astro_backend_kind_name(choice->kind));
    return 0;
  }
  const gint n = astro_device_count(is_auto ? ASTRO_BACKEND_CUDA : choice->kind, &why);
  if (n > 0)
    return astro_device_list_parse(text, n, indices, error);
  astro_fail(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_UNAVAILABLE, "devices=%s: %s", text,
             why ? why->message : "this machine has no GPU");
  return 0;
}

void astro_work_log(gpointer element, const AstroBackend *backend, const char *variant,
                    const AstroDevice *device, guint threads, const char *why)
{
  if (device)
    ASTRO_INFO(element, "backend %s, kernel %s, on %s: %s", astro_backend_kind_name(backend->kind),
               variant, device->name, why);
  else
    ASTRO_INFO(element,
               "backend %s, kernel %s, on a CPU of level %s with at most %u threads (0: one a "
               "core): %s",
               astro_backend_kind_name(backend->kind), variant,
               astro_cpu_level_name(astro_cpu_level()), threads, why);
}

void astro_work_add(AstroWorkStats *stats, const AstroWorkStats *more)
{
  for (guint i = 0; i < G_N_ELEMENTS(counts); i++)
    G_STRUCT_MEMBER(guint64, stats, counts[i].offset) +=
        G_STRUCT_MEMBER(guint64, more, counts[i].offset);
}

GstStructure *astro_work_tell(const AstroWorkStats *stats, const char *not_told,
                              const char *backend)
{
  GstStructure *told = gst_structure_new_empty("astro-stats");
  for (guint i = 0; i < G_N_ELEMENTS(counts); i++)
    if (!g_str_equal(counts[i].name, not_told))
      gst_structure_set(told, counts[i].name, G_TYPE_UINT64,
                        G_STRUCT_MEMBER(guint64, stats, counts[i].offset), NULL);
  gst_structure_set(told, "backend", G_TYPE_STRING, backend, NULL);
  return told;
}
