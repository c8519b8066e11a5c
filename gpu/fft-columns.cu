/* Transforms of columns in two passes (n = n1 n2): each thread has some points of one column in registers, a block's
 * threads exchange them in shared memory. Lanes are neighbouring columns, so that all that is read and written are whole
 * rows of 256 bytes, and twiddles are the same for all lanes. */
#include "gpu/fft-parts.h"
#include "gpu/fft.h"

#include <math.h>

enum { ROW_BYTES = 256 };
/* Threads of a multiprocessor, at least: registers for as many. */
template <typename C, int R1> constexpr int RESIDENT = sizeof(C) == sizeof(double2) ? 640 : R1 == 16 ? 1280 : 1536;

/* A pass over all planes. Point p of transform t is row p from + t from_other, rolled, and goes to row p to + t to_other. */
struct Pass {
  guint32 n, width, transforms;
  guint32 from, from_other, from_roll, to, to_other, to_roll, width_roll;
  guint32 wanted, n_wanted; /* rows that are written */
  gsize roots, twists; /* what is multiplied by, from the tables' begin on */
  gboolean has_twists; /* results are multiplied by them */
  gboolean flip;
  double re, im; /* factors of what is read */
  double im_out; /* and of what is written */
  gconstpointer in, tables;
  gpointer out;
};

/* What is read once must not push tables out of the first cache. */
__device__ inline float2 read_once(const float2 *from)
{
  return __ldcg(from);
}
__device__ inline double2 read_once(const double2 *from)
{
  return __ldcg(from);
}

template <typename C, int R1, int R2>
__global__ void __launch_bounds__(ROW_BYTES / sizeof(C) * R2, RESIDENT<C, R1> / (ROW_BYTES / sizeof(C) * R2))
    columns(const __grid_constant__ Pass pass)
{
  using Part = decltype(C::x);
  constexpr int LANES = ROW_BYTES / sizeof(C);
  extern __shared__ double2 shared[];
  C *points = (C *)shared + threadIdx.x;
  const guint32 t = threadIdx.y, x = blockIdx.x * LANES + threadIdx.x, other = blockIdx.y;
  const bool inside = x < pass.width;
  const gsize plane = (gsize)blockIdx.z * pass.n * pass.width;
  const C *roots = (const C *)pass.tables + pass.roots;
  const C *twists = (const C *)pass.tables + pass.twists + other * (R1 * R2);

  {
    const guint32 rolled = x + pass.width_roll;
    const C *in = (const C *)pass.in + plane + (rolled >= pass.width ? rolled - pass.width : rolled);
    const Part sign = pass.flip && x & 1 ? -1 : 1, re = sign * (Part)pass.re, im = sign * (Part)pass.im;
    C v[R1];
#pragma unroll
    for (int r = 0; r < R1; r++) {
      guint32 row = (r * R2 + t) * pass.from + other * pass.from_other + pass.from_roll;
      row = row >= pass.n ? row - pass.n : row;
      v[r] = inside ? read_once(in + (gsize)row * pass.width) : C{};
    }
#pragma unroll
    for (int r = 0; r < R1; r++)
      v[r] = C{ v[r].x * re, v[r].y * im };
    fft<R1>(v);
#pragma unroll
    for (int r = 0; r < R1; r++) {
      C value = v[fft_place<R1>(r)];
      if (r)
        value = fft_mul(value, roots[r * t]);
      points[(r * R2 + t) * LANES] = value;
    }
  }
  __syncthreads();
  C *out = (C *)pass.out + plane + x;
#pragma unroll
  for (int first = 0; first < R1; first += R2) {
    const guint32 c = first + t;
    if (R1 % R2 && c >= R1)
      break;
    C v[R2];
#pragma unroll
    for (int r = 0; r < R2; r++)
      v[r] = points[(c * R2 + r) * LANES];
    fft<R2>(v);
#pragma unroll
    for (int r = 0; r < R2; r++) {
      const guint32 k = c + R1 * r;
      guint32 row = k * pass.to + other * pass.to_other + pass.to_roll;
      row = row >= pass.n ? row - pass.n : row;
      C value = v[fft_place<R2>(r)];
      if (pass.has_twists)
        value = fft_mul(value, twists[k]);
      value.y *= (Part)pass.im_out;
      if (inside && row - pass.wanted < pass.n_wanted)
        out[(gsize)row * pass.width] = value;
    }
  }
}

template <typename C, int R1, int R2> static gboolean launch(const Pass *pass, guint32 planes, cudaStream_t stream, GError **error)
{
  constexpr guint32 LANES = ROW_BYTES / sizeof(C), BYTES = R1 * R2 * ROW_BYTES;
  dim3 grid((pass->width + LANES - 1) / LANES, pass->transforms, planes), threads(LANES, R2);

  if (BYTES > 48 << 10 &&
      !CUDA_TRY(cudaFuncSetAttribute(columns<C, R1, R2>, cudaFuncAttributeMaxDynamicSharedMemorySize, BYTES)))
    return FALSE;
  columns<C, R1, R2><<<grid, threads, BYTES, stream>>>(*pass);
  return CUDA_TRY(cudaGetLastError());
}

#define ROW(r1, r2) { r1 *r2, { launch<float2, r1, r2>, launch<double2, r1, r2> } }
static const struct {
  guint32 points;
  gboolean (*launch[2])(const Pass *pass, guint32 planes, cudaStream_t stream, GError **error);
} kernels[] = { ROW(4, 4),  ROW(8, 3), ROW(8, 4),  ROW(8, 5),  ROW(16, 3), ROW(8, 7),
                ROW(8, 8),  ROW(16, 5), ROW(16, 7), ROW(16, 8), ROW(16, 16) };
#undef ROW

static gint kernel_of(guint64 points)
{
  for (guint i = 0; i < G_N_ELEMENTS(kernels); i++)
    if (kernels[i].points == points)
      return (gint)i;
  return -1;
}

/* The two are as near to each other as can be. */
guint32 astro_fft_columns_first(guint64 n)
{
  for (guint i = 0; i < G_N_ELEMENTS(kernels); i++) {
    guint32 points = kernels[i].points;
    if (n % points == 0 && points >= n / points && kernel_of(n / points) >= 0)
      return points;
  }
  return 0;
}

template <typename C> static void fill_tables(guint32 n, C *tables)
{
  const guint32 n1 = astro_fft_columns_first(n), n2 = n / n1;
  const auto root = [](guint64 k, guint32 n) {
    const double angle = 2 * G_PI * (double)k / n;
    return C{ (decltype(C::x))cos(angle), (decltype(C::x))-sin(angle) };
  };
  for (guint64 other = 0; other < n2; other++)
    for (guint64 k = 0; k < n1; k++)
      *tables++ = root(other * k, n);
  for (guint32 k = 0; k < n1; k++)
    *tables++ = root(k, n1);
  for (guint32 k = 0; k < n2; k++)
    *tables++ = root(k, n2);
}

gsize astro_fft_columns_tables(guint32 n, gboolean is_double, gpointer tables)
{
  const guint32 n1 = astro_fft_columns_first(n), n2 = n / n1;
  if (tables && is_double)
    fill_tables(n, (double2 *)tables);
  else if (tables)
    fill_tables(n, (float2 *)tables);
  return ((gsize)n + n1 + n2) * (is_double ? sizeof(double2) : sizeof(float2));
}

gboolean astro_fft_columns(const AstroFftColumns *c, cudaStream_t stream, GError **error)
{
  const guint32 n1 = astro_fft_columns_first(c->n), n2 = c->n / n1;
  Pass first = {
    .n = c->n,
    .width = c->width,
    .transforms = n2,
    .from = n2,
    .from_other = 1,
    .from_roll = c->origin_in,
    .to = n2,
    .to_other = 1,
    .width_roll = c->width_origin_in,
    .n_wanted = c->n,
    .roots = c->n,
    .has_twists = TRUE,
    .flip = c->flip,
    .re = c->scale,
    .im = c->inverse ? -c->scale : c->scale, /* an inverse is a forward one between conjugates */
    .im_out = 1,
    .in = c->in,
    .tables = c->tables,
    .out = c->between,
  };
  Pass second = {
    .n = c->n,
    .width = c->width,
    .transforms = n1,
    .from = 1,
    .from_other = n2,
    .to = n1,
    .to_other = 1,
    .to_roll = c->origin_out,
    .wanted = c->wanted,
    .n_wanted = c->n_wanted,
    .roots = (gsize)c->n + n1,
    .re = 1,
    .im = 1,
    .im_out = c->inverse ? -1.0 : 1.0,
    .in = c->between,
    .tables = c->tables,
    .out = c->out,
  };
  return kernels[kernel_of(n1)].launch[c->is_double](&first, c->planes, stream, error) &&
         kernels[kernel_of(n2)].launch[c->is_double](&second, c->planes, stream, error);
}
