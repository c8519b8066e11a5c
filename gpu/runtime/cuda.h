/* Shared by all files of the CUDA module: errors that name the call and the cause, the device,
 * helpers for kernels. */
#pragma once

#include <cuda_runtime.h>

#include "core/backend/backend.h"
#include "core/backend/device.h"

/* One for each GPU: the part that core knows, then our own. */
typedef struct {
  AstroDevice base;
  GMutex lock;
  GPtrArray *idle_events; /* cudaEvent_t to be used again */
  GHashTable *faces;      /* device memory that alloc has given -> its bytes */
  gsize ours;             /* sum of those bytes */
  guint64 asked, reached; /* other devices, a bit each: those that were asked for, those reached */
} AstroCudaDevice;

/* For functions of AstroBackend and AstroDevice: returns FALSE with an error if the call failed. */
gboolean astro_cuda_ok(cudaError_t status, const char *call, GError **error);
#define CUDA_TRY(call) astro_cuda_ok((call), #call, error)

/* Allocates count values of this many bytes on a place's device. stage is named in the error. */
gboolean astro_cuda_alloc(const AstroPlace *place, const char *stage, gpointer face, gsize count,
                          gsize bytes, GError **error);

/* Frees device memory of a place, or NULL; sets the pointer to NULL. */
void astro_cuda_free(const AstroPlace *place, gpointer face);

/* Waits for all work queued at a place. */
gboolean astro_cuda_drain(const AstroPlace *place, GError **error);

/* Makes the device current for this thread. */
gboolean astro_cuda_enter(const AstroDevice *device, GError **error);

/* The architecture for whose instructions a kernel was compiled, 10 x major + minor. It is less
 * than the device's if the driver compiled PTX of an older one. What a kernel can do follows from
 * this architecture and not from that of the device, which has to be current. */
gboolean astro_cuda_architecture(const void *kernel, guint *architecture, GError **error);

/* Allows launches of a kernel all the shared memory that the current device gives a block. The
 * limit belongs to the kernel and not to a launch: if each thread set the limit that it needs, it
 * would change it for the others. */
gboolean astro_cuda_allow_shared(const void *kernel, GError **error);

static inline cudaStream_t astro_cuda_stream(AstroQueue *queue)
{
  return (cudaStream_t)queue;
}

extern const AstroDeviceFuncs astro_cuda_device_funcs;
AstroDevice *astro_cuda_device_new(gint index, GError **error);

extern const AstroBackend astro_cuda_beamform;
extern const AstroBackend astro_cuda_channelizer;
extern const AstroBackend astro_cuda_convert;
extern const AstroBackend astro_cuda_correlator;
extern const AstroBackend astro_cuda_degridder;
extern const AstroBackend astro_cuda_delay;
extern const AstroBackend astro_cuda_fft;
extern const AstroBackend astro_cuda_flag;
extern const AstroBackend astro_cuda_gridder;
extern const AstroBackend astro_cuda_histogram;
extern const AstroBackend astro_cuda_image;
extern const AstroBackend astro_cuda_power;
extern const AstroBackend astro_cuda_sideband;
extern const AstroBackend astro_cuda_transpose;
extern const AstroBackend astro_cuda_uniform;

/* Divides by a number known at launch: a multiply and a shift, exact for 31-bit operands. */
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
