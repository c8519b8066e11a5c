#include "config.h"
#include "elements/base/astrowork.h"

#include "core/backend/device.h"

#include "core/backend/cpu.h"
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
