/* What the CUDA module's files share: errors that name the call and the cause, the device, helpers
 * for kernels. */
#pragma once

#include <cuda_runtime.h>

#include "core/backend/backend.h"
#include "core/backend/device.h"

/* One a GPU: the common part, then ours. */
typedef struct {
  AstroDevice base;
  GMutex lock;
  GPtrArray *idle_events; /* cudaEvent_t that wait for their next use */
  GHashTable *faces;      /* what alloc gave out: its bytes */
  gsize ours;             /* their sum */
} AstroCudaDevice;

/* For an AstroBackend's and an AstroDevice's functions: FALSE and an error where the call failed.
 */
gboolean astro_cuda_ok(cudaError_t status, const char *call, GError **error);
#define CUDA_TRY(call) astro_cuda_ok((call), #call, error)

/* Memory of a place for count values of so many bytes. stage: for the error where there is none. */
gboolean astro_cuda_alloc(const AstroPlace *place, const char *stage, gpointer face, gsize count,
                          gsize bytes, GError **error);

/* Frees what a backend's place gave it, and NULL; sets it to NULL. */
void astro_cuda_free(const AstroPlace *place, gpointer face);

/* Waits for what was queued at a place. */
gboolean astro_cuda_drain(const AstroPlace *place, GError **error);

/* Makes the device of a place current for this thread. */
gboolean astro_cuda_enter(const AstroDevice *device, GError **error);

/* The architecture whose instructions a kernel was compiled for, 10 x major + minor. It is less
 * than the device's where the driver made the code of an older one's PTX; so what a kernel can do
 * follows from this and not from the device, which must be current. */
gboolean astro_cuda_architecture(const void *kernel, guint *architecture, GError **error);

/* Lets a kernel's launches have all of the shared memory that the current device gives a block.
 * What is allowed belongs to the kernel and not to a launch: threads that allowed what each needs
 * would take it from one another. */
gboolean astro_cuda_allow_shared(const void *kernel, GError **error);

static inline cudaStream_t astro_cuda_stream(AstroQueue *queue)
{
  return (cudaStream_t)queue;
}

extern const AstroDeviceFuncs astro_cuda_device_funcs;
AstroDevice *astro_cuda_device_new(gint index, GError **error);

extern const AstroBackend astro_cuda_channelizer;
extern const AstroBackend astro_cuda_convert;
extern const AstroBackend astro_cuda_correlator;
extern const AstroBackend astro_cuda_delay;
extern const AstroBackend astro_cuda_fft;
extern const AstroBackend astro_cuda_gridder;
extern const AstroBackend astro_cuda_histogram;
extern const AstroBackend astro_cuda_image;
extern const AstroBackend astro_cuda_sideband;
extern const AstroBackend astro_cuda_transpose;

/* Division by a number known at launch: a multiply and a shift, exact for 31-bit operands. */
struct AstroDivisor {
  guint32 by, multiplier, shift;

  AstroDivisor() = default;
  explicit AstroDivisor(guint32 divisor) : by(divisor)
  {
    for (shift = 0; shift < 31 && (1u << shift) < divisor; shift++)
      ;
    multiplier =
        (guint32)(((G_GUINT64_CONSTANT(1) << 32) * ((G_GUINT64_CONSTANT(1) << shift) - divisor)) /
                      divisor +
                  1);
  }

#ifdef __CUDACC__
  __device__ guint32 divide(guint32 n) const
  {
    return (__umulhi(n, multiplier) + n) >> shift;
  }
#endif
};
