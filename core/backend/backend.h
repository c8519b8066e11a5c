/* Backends: who does the work of a stage.
 *
 * A stage has a small table for each backend: shape (allocates nothing: negotiation calls it
 * often), create, submit, drain, destroy. reference and cpu tables live in core/STAGE/, cuda tables
 * in the CUDA module. All of a stage's tables take the same configuration struct, declared in its
 * header. */
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
} AstroBackendKind;

#define ASTRO_TYPE_BACKEND_KIND astro_backend_kind_get_type()
GType astro_backend_kind_get_type(void);
const char *astro_backend_kind_name(AstroBackendKind kind);

#define ASTRO_BACKEND_ERROR astro_backend_error_quark()
typedef enum {
  ASTRO_BACKEND_ERROR_UNAVAILABLE, /* no such backend, module or device here */
  ASTRO_BACKEND_ERROR_SHAPE,       /* a configuration that this backend cannot take */
  ASTRO_BACKEND_ERROR_MEMORY,      /* out of memory, host or device: bytes needed and had */
  ASTRO_BACKEND_ERROR_DEVICE,      /* a device call failed: call and cause */
  ASTRO_BACKEND_ERROR_GIVEN_UP,    /* it was asked to stop (core/backend/threads.h) */
} AstroBackendError;
GQuark astro_backend_error_quark(void);
/* Set ASTRO_BACKEND_ERROR_SHAPE and ASTRO_BACKEND_ERROR_MEMORY; FALSE, for a check to return. */
#define astro_backend_refuse(error, ...)                                                           \
  astro_fail(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_SHAPE, __VA_ARGS__)
#define astro_backend_no_memory(error, ...)                                                        \
  astro_fail(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_MEMORY, __VA_ARGS__)

/* FALSE and an error where what this thread works on is to be given up, so that what it made is not
 * to be used. */
gboolean astro_backend_goes_on(GError **error);

guint64 astro_host_memory(void); /* bytes that this machine has */

/* What a backend instance is made for and where it runs. */
typedef struct {
  guint threads;         /* CPU threads at most; 0: the machine's */
  AstroDevice *device;   /* NULL on the CPU */
  AstroQueue *queue;     /* the device queue that submit queues on; NULL on the CPU */
  const AstroStop *stop; /* for what an instance does beside submit, which has it set; NULL: none */
} AstroPlace;

/* A block of samples: a host pointer for CPU backends, a device pointer for device backends. */
typedef struct {
  gpointer data;
  gsize bytes;
} AstroBlock;

typedef struct {
  const char *stage; /* "transpose" */
  AstroBackendKind kind;
  gsize config_bytes; /* sizeof the stage's configuration: a module built against another is refused
                       */
  /* Whether it can take this configuration. */
  gboolean (*shape)(gconstpointer config, GError **error);
  /* variant: the kernel's name for active-backend, a static string. */
  gpointer (*create)(gconstpointer config, const AstroPlace *place, const char **variant,
                     GError **error);
  /* Queues (device) or does (CPU) the work on blocks; which blocks, and what arguments are, is for
   * the stage to say. result: where what comes of it beside blocks goes; NULL: nobody asks. */
  gboolean (*submit)(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                     guint n_out, gconstpointer arguments, AstroResult *result, GError **error);
  /* Waits until all that was submitted is done; NULL where submit does the work. */
  gboolean (*drain)(gpointer instance, AstroResult *result, GError **error);
  void (*destroy)(gpointer instance);
  /* Whether a device backend's output blocks are host pointers, since its device has no room for
   * them; they are written when submit returns. NULL: they are not. */
  gboolean (*host_out)(gpointer instance);
  /* Whether the block out may be the block in, where both are as large. */
  gboolean in_place;
  /* What a stage's header says that its backend is made of, for tests and benchmarks of the parts;
   * NULL: nothing. */
  gconstpointer parts;
} AstroBackend;

ASTRO_END_DECLS
