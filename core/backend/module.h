/* Finds the CUDA module and its devices, chooses among the backends of a stage, and finds installed
 * files. */
#pragma once

#include "core/backend/backend.h"
#include "core/backend/device.h"

ASTRO_BEGIN_DECLS

/* The versioned table that a module exports as astro_module. */
#define ASTRO_MODULE_ABI 6
typedef struct {
  guint32 abi;
  guint32 bytes; /* sizeof(AstroModule) */
  const char *version;
  gint (*n_devices)(GError **error); /* -1: no driver, or too old a one; error says which */
  AstroDevice *(*open)(gint index, GError **error);
  char *(*describe)(gint index);       /* one line about a device, for "gst-astro devices" */
  const AstroBackend *const *backends; /* ends with NULL */
} AstroModule;

/* The CUDA module, loaded on first use from $ASTRO_CUDA_MODULE, or from beside the library in the
 * install or the build tree. NULL if none is found that fits; the reason is logged once and given
 * in error. */
const AstroModule *astro_module_get(GError **error);
/* The module's backend for a stage; NULL if there is none. */
const AstroBackend *astro_module_backend(const char *stage);
/* Used by astro_module_get; public for tests. */
const AstroModule *astro_module_load(const char *path, GError **error);

/* The device with this index, opened once and then kept until the process ends. */
AstroDevice *astro_device_open(gint index, GError **error);

/* Chooses among a stage's own tables (the reference and cpu ones, ended by NULL) and the module's.
 * auto takes cuda if there is a device that takes the configuration, else cpu; any other kind is
 * taken or gives an error. On success *device is set for a device backend, else NULL, and *why is a
 * sentence with the reason, to be freed. */
const AstroBackend *astro_backend_choose(const char *stage, const AstroBackend *const *own,
                                         AstroBackendKind kind, gint device_index,
                                         gconstpointer config, AstroDevice **device, char **why,
                                         GError **error);

/* Whether a device would do the stage's work, as far as that is known before there is a
 * configuration: for negotiation. */
gboolean astro_backend_prefers_device(const char *stage, AstroBackendKind kind, gint device_index);

/* Where an installed path is now, whether or not the prefix was moved: the path as configured, with
 * the present prefix. */
char *astro_relocate(const char *configured_path);
/* The folder from which libgstastro-1.0 was loaded. */
char *astro_library_folder(void);

ASTRO_END_DECLS
