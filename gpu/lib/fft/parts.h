/* The parts of the CUDA FFT: cuFFT, which is looked for at run time, copies that move origins, and
 * transforms of planes that move them on the way. */
#pragma once

#include "gpu/runtime/cuda.h"

extern "C" {
#include "core/lib/fft/check.h"
}

/* Room on the device for that many bytes at least: where there is less, what the queue has begun is
 * waited for. */
gboolean astro_fft_need_room(const AstroPlace *place, gpointer *room, gsize *bytes, gsize wanted,
                             GError **error);

/* ---- cuFFT ---- */

/* As cufft.h has them. */
enum {
  CUFFT_R2C = 0x2a,
  CUFFT_C2R = 0x2c,
  CUFFT_C2C = 0x29,
  CUFFT_D2Z = 0x6a,
  CUFFT_Z2D = 0x6c,
  CUFFT_Z2Z = 0x69,
};
enum { CUFFT_FORWARD = -1, CUFFT_INVERSE = 1 };

struct AstroCufft {
  int (*create)(int *plan);
  int (*destroy)(int plan);
  int (*set_auto_allocation)(int plan, int automatic);
  int (*make_plan)(int plan, int rank, long long *n, long long *in_extents, long long in_stride,
                   long long in_step, long long *out_extents, long long out_stride,
                   long long out_step, int type, long long batch, size_t *work_bytes);
  int (*set_stream)(int plan, cudaStream_t stream);
  int (*set_work_area)(int plan, void *area);
  int (*exec)(int plan, void *in, void *out, int direction);
};

/* libcufft.so.12: $ASTRO_CUFFT, or where the loader finds it, or the toolkit's. Loaded once; NULL
 * where there is none. */
const AstroCufft *astro_cufft_get(GError **error);
gboolean astro_cufft_ok(int status, const char *call, GError **error);

/* ---- copies ---- */

/* Copies samples; those of format real become complex ones and back. Sample i of an axis comes from
 * (i + roll) mod extent and is turned by i turn / period of a full turn. */
struct AstroFftMove {
  guint n_axes;
  struct {
    guint64 extent, roll, turn, period;
  } axes[ASTRO_MAX_AXES + 1]; /* whole frames are one more */
  gboolean backwards;         /* turns */
  double scale;
  AstroFormat from, to;
};
gboolean astro_fft_move(const AstroFftMove *move, gconstpointer in, gpointer out,
                        cudaStream_t stream, GError **error);

/* Bins that real samples have no imaginary part of lose it: those of a pass to real samples. */
gboolean astro_fft_clean(const AstroFftPass *pass, gboolean is_double, gpointer bins,
                         cudaStream_t stream, GError **error);

#ifdef __CUDACC__
/* i, or where that is past it, i less n: i is below 2 n. */
static __device__ __forceinline__ guint32 within(guint32 i, guint32 n)
{
  return min(i, i - n);
}

/* A pointer that the compiler shall not put together again for every sample. */
template <typename T> static __device__ __forceinline__ T *kept(T *pointer)
{
  asm("" : "+l"(pointer));
  __builtin_assume(__isGlobal(pointer));
  return pointer;
}

/* What is there, or zero, without a branch. */
static __device__ __forceinline__ float2 load_if(bool is_there, const float2 *from)
{
  float2 value = {};
  asm("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p ld.global.v2.f32 {%0, %1}, [%3]; }"
      : "+f"(value.x), "+f"(value.y)
      : "r"((guint32)is_there), "l"(from));
  return value;
}
static __device__ __forceinline__ double2 load_if(bool is_there, const double2 *from)
{
  double2 value = {};
  asm("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p ld.global.v2.f64 {%0, %1}, [%3]; }"
      : "+d"(value.x), "+d"(value.y)
      : "r"((guint32)is_there), "l"(from));
  return value;
}
#endif

/* ---- maps of touched tiles ---- */

/* Of planes of height x width samples, of which so many share a map and first_plane came before. */
struct AstroFftMap {
  const guint8 *touched; /* NULL: all are */
  guint64 share;
  guint32 height, width, first_plane;
};
/* Copies what lies in touched tiles; the rest of out becomes zeros. out may be in. */
gboolean astro_fft_take_touched(const AstroFftMap *map, gconstpointer in, gpointer out,
                                guint64 planes, gboolean is_double, cudaStream_t stream,
                                GError **error);

/* ---- planes ---- */

/* The last two axes of a block, both transformed: rows first, then columns, by kernels of our own.
 * What nobody wants is neither transformed nor written, and rows that are all zeros are read once,
 * tiles that were not touched never. Or the last axis alone, where something is left out or moved.
 */
typedef struct AstroFftPlanes AstroFftPlanes;

/* Whether it is that, of lengths that this device has kernels for. */
gboolean astro_fft_planes_fit(const AstroFftConfig *config, const AstroPlace *place);
AstroFftPlanes *astro_fft_planes_new(const AstroFftConfig *config, double scale,
                                     const AstroPlace *place, GError **error);
/* touched: the maps, or NULL. */
gboolean astro_fft_planes_run(AstroFftPlanes *planes, gconstpointer in, const guint8 *touched,
                              gpointer out, guint64 steps, GError **error);
void astro_fft_planes_free(AstroFftPlanes *planes);

/* ---- columns ---- */

/* Columns of n samples of some planes, transformed in two passes: the first from in to between, the
 * second to out, which may be in. Where a pass reads and writes, origins are moved along them. */
struct AstroFftColumns {
  guint32 n, width, planes;
  guint32 in_row, between_row; /* samples from row to row; of out as of in */
  guint32 origin_in, origin_out;
  guint32 wanted, n_wanted;                    /* rows of the output; others are left as they are */
  guint32 width_roll;                          /* columns of the input that come last */
  gboolean flip;                               /* every second column's sign, of the input's */
  gboolean conjugate_in, conjugate, is_double; /* conjugate: the output */
  gconstpointer in;
  /* Of rows of in, [plane][row of points of the first pass][point]: zeros, whatever is there. */
  const guint8 *blank;
  gpointer between, out;
  gconstpointer tables; /* astro_fft_columns_tables, on the device */
};
/* Points of the first pass; 0: there are no kernels for columns of n samples. */
guint32 astro_fft_columns_first(guint64 n);
/* Fills tables, if there are, and returns their bytes. scale: of the output. */
gsize astro_fft_columns_tables(guint32 n, double scale, gboolean is_double, gpointer tables);
gboolean astro_fft_columns(const AstroFftColumns *columns, cudaStream_t stream, GError **error);
