/* Sorts visibilities by bin and plane: keys, CUB's radix sort, and one move of the values to their
 * places. */
#include "gpu/gridder/room.h"
#include "gpu/gridder/wstacking/wstacking.h"

#include <cub/device/device_radix_sort.cuh>

enum { THREADS = 256 };

static guint blocks_of(guint64 n)
{
  return (guint)((n + THREADS - 1) / THREADS);
}

/* ---- where a visibility goes ---- */

/* The same as in core/gridder/sorted.c; without fused arithmetic, so that all kernels find the same
 * cell. */
static __device__ guint first_cell(double position, guint support, double *inside)
{
  const double edge = __dsub_rn(position, support * 0.5), first = ceil(edge);
  *inside = 2 * (first - edge) - 1;
  return (guint)first;
}

static __device__ double cell_of(const WstackingRows &r, double wavelengths)
{
  return __dadd_rn(__dmul_rn(wavelengths, r.per_cell), r.middle);
}

struct Uvw {
  double u, v, w; /* wavelengths */
};

static __device__ Uvw uvw_of(const WstackingRows &r, guint row, guint channel)
{
  const double *uvw = r.rows.uvw + 3 * (gsize)row, per = r.rows.wavenumbers[channel];
  return { __dmul_rn(uvw[0], per), __dmul_rn(uvw[1], per), __dmul_rn(uvw[2], per) };
}

template <typename Value>
static __device__ bool is_used(const WstackingRows &r, guint at, const Uvw &uvw)
{
  if (fabs(uvw.u) > r.reach || fabs(uvw.v) > r.reach)
    return false;
  if (!r.rows.values)
    return true;
  const Value *value = (const Value *)r.rows.values + (gsize)at * r.rows.products;
  for (guint p = 0; p < r.rows.products; p++)
    if (value[p].x != 0 || value[p].y != 0)
      return true;
  return false;
}

/* ---- range of w ---- */

static __host__ __device__ guint64 key_of_bits(guint64 bits)
{
  const guint64 sign = G_GUINT64_CONSTANT(1) << 63;
  return bits & sign ? ~bits : bits | sign;
}

double astro_wstacking_range_value(guint64 key)
{
  const guint64 sign = G_GUINT64_CONSTANT(1) << 63, bits = key & sign ? key & ~sign : ~key;
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

template <typename Value>
static __global__ void __launch_bounds__(THREADS)
    find_range(const __grid_constant__ WstackingRows r, guint64 *range)
{
  guint64 least = G_MAXUINT64, greatest = 0;
  for (guint64 i = (guint64)blockIdx.x * THREADS + threadIdx.x; i < r.n;
       i += (guint64)gridDim.x * THREADS) {
    const guint row = (guint)i / r.rows.channels;
    const Uvw uvw = uvw_of(r, row, (guint)i - row * r.rows.channels);
    const guint64 key = key_of_bits((guint64)__double_as_longlong(uvw.w));
    if ((key < least || key > greatest) && is_used<Value>(r, (guint)i, uvw)) {
      least = min(least, key);
      greatest = max(greatest, key);
    }
  }
  for (int i = 16; i > 0; i /= 2) {
    least = min(least, __shfl_xor_sync(~0u, least, i));
    greatest = max(greatest, __shfl_xor_sync(~0u, greatest, i));
  }
  if (threadIdx.x % 32 == 0 && least <= greatest) {
    atomicMin((unsigned long long *)&range[0], (unsigned long long)least);
    atomicMax((unsigned long long *)&range[1], (unsigned long long)greatest);
  }
}

gboolean astro_wstacking_range(const WstackingRows *rows, guint64 range[2], cudaStream_t stream,
                               GError **error)
{
  const guint blocks = MIN(blocks_of(rows->n), 2048);
  if (!CUDA_TRY(cudaMemsetAsync(range, 0xff, sizeof *range, stream)) ||
      !CUDA_TRY(cudaMemsetAsync(range + 1, 0, sizeof *range, stream)))
    return FALSE;
  if (rows->n == 0)
    return TRUE;
  if (rows->rows.is_double)
    find_range<double2><<<blocks, THREADS, 0, stream>>>(*rows, range);
  else
    find_range<float2><<<blocks, THREADS, 0, stream>>>(*rows, range);
  return CUDA_TRY(cudaGetLastError());
}

/* ---- keys ---- */

/* A key is bin * planes + first plane; for unused visibilities, one past all others. */
template <typename Key, typename Value>
static __global__ void __launch_bounds__(THREADS)
    make_keys(const __grid_constant__ WstackingRows r, guint side, Key past, Key *keys,
              guint32 *order)
{
  const guint64 i = (guint64)blockIdx.x * THREADS + threadIdx.x;
  if (i >= r.n)
    return;
  const guint row = (guint)i / r.rows.channels, channel = (guint)i - row * r.rows.channels;
  const Uvw uvw = uvw_of(r, row, channel);
  Key key = past;
  if (is_used<Value>(r, (guint)i, uvw)) {
    double inside;
    const guint u = first_cell(cell_of(r, uvw.u), r.support, &inside);
    const guint v = first_cell(cell_of(r, uvw.v), r.support, &inside);
    const guint plane =
        r.planes.step > 0 ? first_cell((uvw.w - r.planes.first) / r.planes.step, r.support, &inside)
                          : 0;
    const Key bin =
        ((Key)(channel / r.channels) * side + v / WSTACKING_BIN) * side + u / WSTACKING_BIN;
    key = bin * r.planes.n + min(plane, r.planes.n - 1);
  }
  keys[i] = key;
  order[i] = (guint32)i;
}

template <typename Key>
static __global__ void __launch_bounds__(THREADS)
    find_starts(const Key *keys, guint n, guint n_bins, guint planes, guint32 *starts)
{
  const guint64 bin = (guint64)blockIdx.x * THREADS + threadIdx.x;
  if (bin > n_bins)
    return;
  const Key wanted = (Key)bin * planes;
  guint64 from = 0, to = n;
  while (from < to) {
    const guint64 middle = (from + to) / 2;
    if (keys[middle] < wanted)
      from = middle + 1;
    else
      to = middle;
  }
  starts[bin] = (guint32)from;
}

/* ---- places and values ---- */

template <typename Real> static __device__ Real inside_as_kept(double inside, guint support);
template <> __device__ float inside_as_kept(double inside, guint support)
{
  return (float)((inside + 1) / support - 1);
}
template <> __device__ double inside_as_kept(double inside, guint support)
{
  return inside;
}

template <typename Key, typename Real>
static __global__ void __launch_bounds__(THREADS)
    put(const __grid_constant__ WstackingRows r, const Key *keys, const guint32 *order, Key past,
        const __grid_constant__ WstackingSorted to)
{
  typedef typename WstackingComplex<Real>::Type Value;
  const guint64 i = (guint64)blockIdx.x * THREADS + threadIdx.x;
  if (i >= r.n)
    return;
  const Key key = keys[i];
  if (key == past)
    return;
  const guint at = order[i], row = at / r.rows.channels, plane = (guint)(key % r.planes.n);
  const Uvw uvw = uvw_of(r, row, at - row * r.rows.channels);
  double u, v, w = 0, re, im;
  const guint cells = first_cell(cell_of(r, uvw.u), r.support, &u) % WSTACKING_BIN |
                      first_cell(cell_of(r, uvw.v), r.support, &v) % WSTACKING_BIN << 3;
  if (r.planes.step > 0)
    first_cell((uvw.w - r.planes.first) / r.planes.step, r.support, &w);
  ((WstackingPlace<Real> *)to.places)[i] = { inside_as_kept<Real>(u, r.support),
                                             inside_as_kept<Real>(v, r.support),
                                             inside_as_kept<Real>(w, r.support),
                                             cells | plane % WSTACKING_PLANES << 6 };
  to.planes[i] = (guint16)plane;
  if (to.numbers) {
    to.numbers[i] = at;
    to.bins[i] = (guint32)(key / r.planes.n);
    return;
  }
  const double turns = -uvw.w * r.planes.n_middle;
  sincospi(2 * (turns - rint(turns)), &im, &re);
  const Value *from = (const Value *)r.rows.values + (gsize)at * r.rows.products;
  Value *values = (Value *)to.values + i * r.rows.products;
  for (guint p = 0; p < r.rows.products; p++) {
    const Value value = from[p];
    values[p].x = (Real)(value.x * re - value.y * im);
    values[p].y = (Real)(value.x * im + value.y * re);
  }
}

/* ---- all of it ---- */

static int bits_of(guint64 key)
{
  int bits = 1;
  while (bits < 64 && key >> bits)
    bits++;
  return bits;
}

template <typename Key> static gsize cub_bytes(guint n, int bits)
{
  gsize bytes = 0;
  cub::DoubleBuffer<Key> keys(NULL, NULL);
  cub::DoubleBuffer<guint32> order(NULL, NULL);
  cub::DeviceRadixSort::SortPairs(NULL, bytes, keys, order, n, 0, bits);
  return bytes;
}

template <typename Key> static gsize bytes_with(guint n, int bits)
{
  return 2 * astro_room_whole(n * sizeof(Key)) + 2 * astro_room_whole(n * sizeof(guint32)) +
         astro_room_whole(cub_bytes<Key>(n, bits));
}

template <typename Key>
static gboolean sort_with(const WstackingRows *r, const WstackingSorted *to, guint64 past,
                          guint8 *room, cudaStream_t stream, GError **error)
{
  const gsize key_bytes = astro_room_whole(r->n * sizeof(Key)),
              order_bytes = astro_room_whole(r->n * sizeof(guint32));
  cub::DoubleBuffer<Key> keys((Key *)room, (Key *)(room + key_bytes));
  room += 2 * key_bytes;
  cub::DoubleBuffer<guint32> order((guint32 *)room, (guint32 *)(room + order_bytes));
  room += 2 * order_bytes;
  const int bits = bits_of(past);
  gsize bytes = cub_bytes<Key>(r->n, bits);
  const guint blocks = blocks_of(r->n);

  if (r->rows.is_double)
    make_keys<Key, double2>
        <<<blocks, THREADS, 0, stream>>>(*r, to->side, (Key)past, keys.Current(), order.Current());
  else
    make_keys<Key, float2>
        <<<blocks, THREADS, 0, stream>>>(*r, to->side, (Key)past, keys.Current(), order.Current());
  if (!CUDA_TRY(cudaGetLastError()) ||
      !CUDA_TRY(cub::DeviceRadixSort::SortPairs(room, bytes, keys, order, r->n, 0, bits, stream)))
    return FALSE;
  if (to->starts)
    find_starts<Key><<<blocks_of((guint64)to->n_bins + 1), THREADS, 0, stream>>>(
        keys.Current(), r->n, to->n_bins, r->planes.n, to->starts);
  if (r->rows.is_double)
    put<Key, double>
        <<<blocks, THREADS, 0, stream>>>(*r, keys.Current(), order.Current(), (Key)past, *to);
  else
    put<Key, float>
        <<<blocks, THREADS, 0, stream>>>(*r, keys.Current(), order.Current(), (Key)past, *to);
  return CUDA_TRY(cudaGetLastError());
}

gsize astro_wstacking_sort_bytes(guint n, guint n_bins, guint planes)
{
  const guint64 past = (guint64)n_bins * planes;
  return past <= G_MAXUINT32 ? bytes_with<guint32>(n, bits_of(past))
                             : bytes_with<guint64>(n, bits_of(past));
}

gboolean astro_wstacking_sort(const WstackingRows *rows, const WstackingSorted *to, gpointer room,
                              cudaStream_t stream, GError **error)
{
  const guint64 past = (guint64)to->n_bins * rows->planes.n;
  if (rows->n == 0)
    return !to->starts || CUDA_TRY(cudaMemsetAsync(
                              to->starts, 0, ((gsize)to->n_bins + 1) * sizeof *to->starts, stream));
  return past <= G_MAXUINT32 ? sort_with<guint32>(rows, to, past, (guint8 *)room, stream, error)
                             : sort_with<guint64>(rows, to, past, (guint8 *)room, stream, error);
}
