/* The energy, clocks and links of GPUs, as NVIDIA's management library tells them. It comes with
 * the driver and is loaded at run time, so that machines without it lack nothing else. */
#pragma once

#include <glib.h>
#include "core/kit/exports.h"

G_BEGIN_DECLS

typedef struct _AstroNvml AstroNvml;

/* From $ASTRO_NVML, else libnvidia-ml.so.1. NULL, with an error, if it is not there or does not
 * start. */
AstroNvml *astro_nvml_open(GError **error);
void astro_nvml_close(AstroNvml *nvml);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroNvml, astro_nvml_close)

char *astro_nvml_driver(const AstroNvml *nvml); /* its version; empty: not told */
guint astro_nvml_count(const AstroNvml *nvml);  /* GPUs that it knows of */
/* The one at that place of the PCI bus ("0000:1b:00.0"); negative: it knows of none there. */
gint astro_nvml_find(const AstroNvml *nvml, const char *bus);

char *astro_nvml_name(const AstroNvml *nvml, guint gpu);
/* Joules since the driver was loaded. FALSE: that GPU does not count them. */
gboolean astro_nvml_energy(const AstroNvml *nvml, guint gpu, double *joules);
/* Present clocks in MHz; 0: not told. */
void astro_nvml_clocks(const AstroNvml *nvml, guint gpu, guint *multiprocessors, guint *memory);
/* The link between two GPUs: "18 NVLinks", "one PCIe switch", ...; NULL: not told. */
char *astro_nvml_between(const AstroNvml *nvml, guint gpu, guint other);

G_END_DECLS
