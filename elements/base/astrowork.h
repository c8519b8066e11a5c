/* Shared by AstroStage and AstroMerge: who shall do the work, who does it, and statistics. */
#pragma once

#include "core/backend/backend.h"
#include "core/backend/device-list.h"
#include "elements/base/astrofields.h"

ASTRO_BEGIN_DECLS

typedef struct {
  AstroBackendKind kind;
  gint device;
  guint threads;
} AstroWorkChoice;

/* Rows of properties: those of its members, and two that are read-only. */
#define ASTRO_WORK_BACKEND(type, member, help)                                                     \
  ASTRO_ENUM(type, member, "backend", "Backend", help, astro_backend_kind_get_type,                \
             ASTRO_BACKEND_AUTO)
#define ASTRO_WORK_DEVICE(type, member, most)                                                      \
  ASTRO_INT(type, member, "device", "Device",                                                      \
            "Index of the device that backend=cuda, opencl or auto uses", 0, most, 0)
#define ASTRO_WORK_DEVICES(type, member)                                                           \
  ASTRO_TEXT(                                                                                      \
      type, member, "devices", "Devices",                                                          \
      "GPUs that share the work, in place of device: indices and ranges such as 0,1 or 0-3, "      \
      "or all (empty: one)",                                                                       \
      NULL)
#define ASTRO_WORK_THREADS(type, member, help, most)                                               \
  ASTRO_UINT(type, member, "threads", "Threads", help, 0, most, 0)
#define ASTRO_WORK_ACTIVE(its_help, getter)                                                        \
  {                                                                                                \
    ASTRO_FIELD_SAYS(TEXT, "active-backend", "Active backend", its_help), .text = "none",          \
                                                                          .get = getter            \
  }
#define ASTRO_WORK_STATS(its_help, getter)                                                         \
  {                                                                                                \
    ASTRO_FIELD_SAYS(STRUCTURE, "stats", "Statistics", its_help), .get = getter                    \
  }

/* For the start: whether the element has the backend that was chosen, among its own tables
 * (NULL-terminated) or in the CUDA module. The error names those that it has. */
gboolean astro_work_check(const char *stage, const AstroBackend *const *own,
                          const AstroWorkChoice *choice, GError **error);

/* The devices that share the work: those of a text of the property devices, or the chosen one where
 * it is NULL or empty. How many; 0 with an error. */
guint astro_work_find_devices(const char *text, const AstroWorkChoice *choice,
                              gint indices[ASTRO_MOST_DEVICES], GError **error);

/* Logs which backend and kernel were chosen and why, on which device (NULL: none), with how many
 * threads. */
void astro_work_log(gpointer element, const AstroBackend *backend, const char *variant,
                    const AstroDevice *device, guint threads, const char *why);

/* "cpu/avx512"; `otherwise` if there is no backend. */
char *astro_work_name(const AstroBackend *backend, const char *variant, const char *otherwise);

typedef struct {
  guint64 buffers_in, buffers_out, bytes_in, bytes_out, host_copies, steps_again, steps_lost;
  guint64 busy_ns, input_wait_ns, output_wait_ns;
} AstroWorkStats;

void astro_work_add(AstroWorkStats *stats, const AstroWorkStats *more);

/* The structure of the property stats and of its message. not_told: the figure that the element
 * does not count. */
GstStructure *astro_work_tell(const AstroWorkStats *stats, const char *not_told,
                              const char *backend);

ASTRO_END_DECLS
