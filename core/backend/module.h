/* Finds the modules for devices, CUDA's and OpenCL's, and their devices, chooses among the backends
 * of a stage, and finds installed files. */
#pragma once

#include "core/backend/backend.h"
#include "core/backend/device.h"

ASTRO_BEGIN_DECLS

/* The versioned table that a module exports as astro_module. */
#define ASTRO_MODULE_ABI 9
typedef struct {
  guint32 abi;
  guint32 bytes; /* sizeof(AstroModule) */
  const char *version;
  gint (*n_devices)(GError **error); /* -1: no driver, or too old a one; error says which */
  AstroDevice *(*open)(gint index, GError **error);
  char *(*describe)(gint index);       /* one line about a device, for "gst-astro devices" */
  const AstroBackend *const *backends; /* ends with NULL */
  /* Whether auto takes this device; if not, error says why. NULL: it takes all of them. */
  gboolean (*is_for_auto)(gint index, GError **error);
} AstroModule;

/* The kinds that modules bring, in the order in which auto tries them. */
#define ASTRO_N_DEVICE_KINDS 2
extern const AstroBackendKind astro_device_kinds[ASTRO_N_DEVICE_KINDS];
gboolean astro_backend_is_device(AstroBackendKind kind);
/* "CUDA", as it is written in sentences. */
const char *astro_device_kind_title(AstroBackendKind kind);

/* The module of a kind, loaded on first use from $ASTRO_CUDA_MODULE or $ASTRO_OPENCL_MODULE, or
 * from beside the library in the install or the build tree. NULL if none is found that fits; the
 * reason is logged once and given in error. */
const AstroModule *astro_module_of(AstroBackendKind kind, GError **error);
/* How many devices it has; -1, with an error: there is no module or no driver. */
gint astro_device_count(AstroBackendKind kind, GError **error);
/* The module's backend for a stage; NULL if there is none. */
const AstroBackend *astro_module_backend_of(AstroBackendKind kind, const char *stage);
/* Used by astro_module_of; public for tests. */
const AstroModule *astro_module_load(const char *path, GError **error);

/* The device with this index, opened once and then kept until the process ends. */
AstroDevice *astro_device_open_of(AstroBackendKind kind, gint index, GError **error);

/* The same of CUDA. */
const AstroModule *astro_module_get(GError **error);
const AstroBackend *astro_module_backend(const char *stage);
AstroDevice *astro_device_open(gint index, GError **error);

/* Chooses among a stage's own tables (the reference and cpu ones, ended by NULL) and the modules'.
 * auto takes cuda if there is a device that takes the configuration, then opencl where the device
 * is no CPU, else cpu; any other kind is taken or gives an error. On success *device is set for a
 * device backend, else NULL, and *why is a sentence with the reason, to be freed. */
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
