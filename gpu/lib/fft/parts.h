/* Parts of the CUDA FFT: cuFFT, which is looked for at run time; copies that move origins; and
 * transforms of planes that move origins on the way. */
#pragma once

#include "gpu/runtime/cuda.h"

extern "C" {
#include "core/lib/fft/check.h"
}

/* Ensures a buffer of at least this many bytes on the device. If it has to grow, waits for the work
 * queued so far. */
gboolean astro_fft_need_room(const AstroPlace *place, gpointer *room, gsize *bytes, gsize wanted,
                             GError **error);

/* ---- cuFFT ---- */

/* The values in cufft.h. */
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

/* libcufft.so.12: from $ASTRO_CUFFT, or where the loader finds it, or from the toolkit. Loaded
 * once; NULL if there is none. */
const AstroCufft *astro_cufft_get(GError **error);
gboolean astro_cufft_ok(int status, const char *call, GError **error);

/* ---- copies ---- */

/* Copies samples, and converts real formats to complex ones and back. Sample i of an axis comes
 * from (i + roll) mod extent, and its phase is rotated by i turn / period of a cycle. */
struct AstroFftMove {
  guint n_axes;
  struct {
    guint64 extent, roll, turn, period;
  } axes[ASTRO_MAX_AXES + 1]; /* one more axis counts whole frames */
  gboolean backwards;         /* rotates the other way */
  double scale;
  AstroFormat from, to;
};
gboolean astro_fft_move(const AstroFftMove *move, gconstpointer in, gpointer out,
                        cudaStream_t stream, GError **error);

/* Clears the imaginary part of those bins that have none for real samples, in a pass to real ones.
 */
gboolean astro_fft_clean(const AstroFftPass *pass, gboolean is_double, gpointer bins,
                         cudaStream_t stream, GError **error);

#ifdef __CUDACC__
/* i mod n, for i below 2 n. */
static __device__ __forceinline__ guint32 within(guint32 i, guint32 n)
{
  return min(i, i - n);
}

/* A pointer that the compiler shall not compute anew for every sample. */
template <typename T> static __device__ __forceinline__ T *kept(T *pointer)
{
  asm("" : "+l"(pointer));
  __builtin_assume(__isGlobal(pointer));
  return pointer;
}

/* Loads a value, or gives zero, without a branch. */
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

/* The map for planes of height x width samples: so many share a map, and first_plane came before.
 */
struct AstroFftMap {
  const guint8 *touched; /* NULL: all tiles are */
  guint64 share;
  guint32 height, width, first_plane;
};
/* Copies touched tiles; the rest of out becomes zero. out may be in. */
gboolean astro_fft_take_touched(const AstroFftMap *map, gconstpointer in, gpointer out,
                                guint64 planes, gboolean is_double, cudaStream_t stream,
                                GError **error);

/* ---- planes ---- */

/* The last two axes of a block, both transformed, rows first and then columns, by kernels of our
 * own. Unwanted results are neither computed nor written, rows that are all zeros are read only
 * once, and untouched tiles never. Or the last axis alone, if something is left out or moved. */
typedef struct AstroFftPlanes AstroFftPlanes;

/* Whether the transform is of this kind, in lengths for which this device has kernels. */
gboolean astro_fft_planes_fit(const AstroFftConfig *config, const AstroPlace *place);
AstroFftPlanes *astro_fft_planes_new(const AstroFftConfig *config, double scale,
                                     const AstroPlace *place, GError **error);
/* touched: the maps, or NULL. */
gboolean astro_fft_planes_run(AstroFftPlanes *planes, gconstpointer in, const guint8 *touched,
                              gpointer out, guint64 steps, GError **error);
void astro_fft_planes_free(AstroFftPlanes *planes);

/* ---- columns ---- */

/* Columns of n samples in some planes, transformed in two passes: the first from in to between, the
 * second to out, which may be in. Origins are moved along columns as a pass reads and writes. */
struct AstroFftColumns {
  guint32 n, width, planes;
  guint32 in_row, between_row; /* samples from row to row; out is like in */
  guint32 origin_in, origin_out;
  guint32 wanted, n_wanted;                    /* rows of the output; others are not written */
  guint32 width_roll;                          /* columns of the input that come last */
  gboolean flip;                               /* negate every second column of the input */
  gboolean conjugate_in, conjugate, is_double; /* conjugate: the output */
  gconstpointer in;
  /* Marks rows of in that count as zeros, whatever they hold: [plane][row of points of the first
   * pass][point]. */
  const guint8 *blank;
  gpointer between, out;
  gconstpointer tables; /* astro_fft_columns_tables, on the device */
};
/* Points of the first pass; 0: there are no kernels for columns of n samples. */
guint32 astro_fft_columns_first(guint64 n);
/* Fills tables, unless NULL, and returns their size. scale: factor on the output. */
gsize astro_fft_columns_tables(guint32 n, double scale, gboolean is_double, gpointer tables);
gboolean astro_fft_columns(const AstroFftColumns *columns, cudaStream_t stream, GError **error);
