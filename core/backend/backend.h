/* A backend does the work of a stage on one kind of hardware.
 *
 * A stage has a small table of functions per backend: shape (allocates nothing, as negotiation
 * calls it often), create, submit, drain, destroy. The reference and cpu tables live in
 * core/STAGE/, the cuda and opencl tables in modules. All tables of a stage take the same
 * configuration struct, which the stage's header declares. */
#pragma once

#include <gst/gst.h>
#include "core/backend/result.h"
#include "core/backend/threads.h"
#include "core/kit/fail.h"
#include "core/backend/handles.h"

ASTRO_BEGIN_DECLS

typedef enum {
  ASTRO_BACKEND_AUTO,
  ASTRO_BACKEND_REFERENCE,
  ASTRO_BACKEND_CPU,
  ASTRO_BACKEND_CUDA,
  ASTRO_BACKEND_OPENCL,
} AstroBackendKind;

#define ASTRO_TYPE_BACKEND_KIND astro_backend_kind_get_type()
GType astro_backend_kind_get_type(void);
const char *astro_backend_kind_name(AstroBackendKind kind);

#define ASTRO_BACKEND_ERROR astro_backend_error_quark()
typedef enum {
  ASTRO_BACKEND_ERROR_UNAVAILABLE, /* there is no such backend, module or device here */
  ASTRO_BACKEND_ERROR_SHAPE,       /* this backend cannot take the configuration */
  ASTRO_BACKEND_ERROR_MEMORY, /* out of memory on host or device: says bytes needed and available */
  ASTRO_BACKEND_ERROR_DEVICE, /* a device call failed: says which and why */
  ASTRO_BACKEND_ERROR_GIVEN_UP, /* the work was asked to stop (core/backend/threads.h) */
} AstroBackendError;
GQuark astro_backend_error_quark(void);
/* Set ASTRO_BACKEND_ERROR_SHAPE or ASTRO_BACKEND_ERROR_MEMORY and are FALSE, so that a check can
 * return them. */
#define astro_backend_refuse(error, ...)                                                           \
  astro_fail(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_SHAPE, __VA_ARGS__)
#define astro_backend_no_memory(error, ...)                                                        \
  astro_fail(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_MEMORY, __VA_ARGS__)

/* FALSE, with an error, if the calling thread's work is to be given up: what it has made so far
 * must not be used. */
gboolean astro_backend_goes_on(GError **error);

guint64 astro_host_memory(void); /* bytes of memory that this machine has */

/* Where an instance of a backend runs. */
typedef struct {
  guint threads;       /* upper limit of CPU threads; 0: as many as the machine has */
  AstroDevice *device; /* NULL on the CPU */
  AstroQueue *queue;   /* the device queue that submit queues on; NULL on the CPU */
  const AstroStop
      *stop; /* for work of an instance outside of submit, which has it set; NULL: never stop */
} AstroPlace;

/* A block of samples: a host pointer for CPU backends, a device pointer for device backends. */
typedef struct {
  gpointer data;
  gsize bytes;
} AstroBlock;

typedef struct {
  const char *stage; /* "transpose" */
  AstroBackendKind kind;
  gsize config_bytes; /* sizeof the stage's configuration: a module built for another is refused */
  /* Whether the backend can take this configuration. */
  gboolean (*shape)(gconstpointer config, GError **error);
  /* variant is set to the kernel's name for active-backend, a static string. */
  gpointer (*create)(gconstpointer config, const AstroPlace *place, const char **variant,
                     GError **error);
  /* Does the work on blocks (CPU) or queues it (device). The stage's header says which blocks and
   * what arguments are. result: for results besides the blocks; NULL if they are not
   * wanted. */
  gboolean (*submit)(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                     guint n_out, gconstpointer arguments, AstroResult *result, GError **error);
  /* Waits until all submitted work is done; NULL if submit does the work at once. */
  gboolean (*drain)(gpointer instance, AstroResult *result, GError **error);
  void (*destroy)(gpointer instance);
  /* Whether the output blocks of a device backend are host pointers, because the device has no room
   * for them; they are complete when submit returns. NULL: they are not. */
  gboolean (*host_out)(gpointer instance);
  /* Whether the output block may be the input block, if both have the same size. */
  gboolean in_place;
  /* Parts that the backend is made of, as the stage's header says, for tests and benchmarks of the
   * parts; NULL: none. */
  gconstpointer parts;
} AstroBackend;

ASTRO_END_DECLS
