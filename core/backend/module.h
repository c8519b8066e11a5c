/* Who finds the backends: the CUDA module, its devices, and the choice among a stage's tables; and
 * where an install lies. */
#pragma once

#include "core/backend/backend.h"
#include "core/backend/device.h"

ASTRO_BEGIN_DECLS

/* The versioned table that a module exports as astro_module. */
#define ASTRO_MODULE_ABI 5
typedef struct {
  guint32 abi;
  guint32 bytes; /* sizeof(AstroModule) */
  const char *version;
  gint (*n_devices)(GError **error); /* -1: no driver or one too old; the error says */
  AstroDevice *(*open)(gint index, GError **error);
  char *(*describe)(gint index);       /* a line about a device, for gst-astro devices */
  const AstroBackend *const *backends; /* up to a NULL */
} AstroModule;

/* The CUDA module, loaded on first use: $ASTRO_CUDA_MODULE, or beside the library in the install or
 * the build tree. NULL where there is none that fits; the reason is logged once and given in error.
 */
const AstroModule *astro_module_get(GError **error);
/* Its backend of a stage; NULL where there is none. */
const AstroBackend *astro_module_backend(const char *stage);
/* What astro_module_get uses; for tests. */
const AstroModule *astro_module_load(const char *path, GError **error);

/* The device of that index, opened once and then kept for the process. */
AstroDevice *astro_device_open(gint index, GError **error);

/* Chooses among a stage's own tables (up to a NULL: the reference and cpu ones) and the module's.
 * auto takes cuda where a device is there and takes the shape, then cpu; an explicit kind is taken
 * or is an error. On success *device is set for a device backend, else NULL, and *why says in a
 * sentence, the caller's, why it is that one. */
const AstroBackend *astro_backend_choose(const char *stage, const AstroBackend *const *own,
                                         AstroBackendKind kind, gint device_index,
                                         gconstpointer config, AstroDevice **device, char **why,
                                         GError **error);

/* Whether a device would do the stage's work, as far as can be told before there is a
 * configuration: for negotiation. */
gboolean astro_backend_prefers_device(const char *stage, AstroBackendKind kind, gint device_index);

/* Where an installed path lies now, the prefix moved or not: PATH as configured, the part under the
 * prefix kept. */
char *astro_relocate(const char *configured_path);
/* The folder that libgstastro-1.0 was loaded from. */
char *astro_library_folder(void);

ASTRO_END_DECLS
