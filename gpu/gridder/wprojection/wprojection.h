/* W-projection on the device: what its steps share. Visibilities are collected as records, a key
 * and values for each place among the taps that neighbouring channels of a row share (collect);
 * records are sorted by their keys and those of one place added up (merge); what is left is spread,
 * records of neighbouring cells together (spread). */
#pragma once

#include "gpu/gridder/gridder.h"

#include "core/gridder/wprojection/places.h"

enum {
  WPROJECTION_THREADS = 256,
  WPROJECTION_CLASSES = 63, /* planes of one support */
  WPROJECTION_TILE = 4,     /* cells along u and v, no more than ASTRO_TAPS_ROWS + 1 */
  WPROJECTION_SEGMENT = 16, /* channels that a thread collects */
};

/* A key's fields, the most significant first: class, grid, strip of tiles along u, tile in u, tile
 * in v within the strip, the set of taps among those of all planes, cell in v and u within the
 * tile. Hence records of a tile that want the same taps, shifted, are neighbours once sorted, and
 * so are tiles. */
struct WProjectionKeys {
  enum { TILE_BITS = 2, STRIP_BITS = 6 };
  guint classes, grids, cells, sets; /* bits; cells no less than STRIP_BITS */

  __host__ __device__ guint bits() const
  {
    return classes + grids + 2 * cells + sets;
  }
  __device__ guint64 make(guint clas, guint grid, guint u, guint v, guint set) const
  {
    guint64 key = (guint64)clas << grids | grid;
    key = key << (cells - STRIP_BITS) | v >> STRIP_BITS;
    key = key << (cells - TILE_BITS) | u >> TILE_BITS;
    key =
        key << (STRIP_BITS - TILE_BITS) | (v >> TILE_BITS & ((1u << (STRIP_BITS - TILE_BITS)) - 1));
    key = key << sets | set;
    return key << 2 * TILE_BITS | (v % WPROJECTION_TILE) << TILE_BITS | u % WPROJECTION_TILE;
  }
  static __device__ guint field(guint64 *key, guint n)
  {
    guint value = (guint)(*key & (((guint64)1 << n) - 1));
    *key >>= n;
    return value;
  }
};
static_assert(WPROJECTION_TILE == 1 << WProjectionKeys::TILE_BITS &&
                  WPROJECTION_TILE <= ASTRO_TAPS_ROWS + 1 &&
                  WPROJECTION_TILE <= ASTRO_TAPS_PADDING + 1,
              "tables have zeros around sets for every place in a tile");

/* A sorted record, all but its values: the first cell of the tile that its support begins in, and
 * what would be the tap there. Around a set's taps are the zeros that supports which begin
 * elsewhere in the tile need. */
struct alignas(16) WProjectionRecord {
  /* Of place: whether the record before is of another tile, or wants other taps; cells down and
   * right in the tile. */
  enum { NEW_TILE = 128, NEW_SET = 64 };
  gconstpointer taps;
  guint32 cell;  /* v and u, 16 bits each: fields of their own would be packed and unpacked in
                    spreading's loops */
  guint32 where; /* grid (16 bits), class (8), place (8) */

  __device__ guint u() const
  {
    return cell & 0xffff;
  }
  __device__ guint v() const
  {
    return cell >> 16;
  }
  __device__ guint grid() const
  {
    return where >> 16;
  }
  __device__ guint clas() const
  {
    return where >> 8 & 0xff;
  }
  __device__ bool is_new_tile() const
  {
    return where & NEW_TILE;
  }
  __device__ bool is_new_set() const
  {
    return where & NEW_SET;
  }
  /* From the set's first tap to what would be the tile's, complex values. */
  __device__ guint shift(guint stride) const
  {
    return (where >> WProjectionKeys::TILE_BITS) % WPROJECTION_TILE * stride +
           where % WPROJECTION_TILE;
  }
};

/* Rows to records, in pieces of segments: up to WPROJECTION_SEGMENT channels of a row, of one grid.
 */
struct WProjectionCollect {
  AstroWProjectionConfig config; /* its taps and their planes are on the device */
  const guint8 *class_of_plane;
  gboolean interpolated;
  WProjectionKeys keys;
  AstroGridRows rows;
  gboolean wide;            /* all of a visibility's values lie at multiples of 16 bytes */
  guint channels, segments; /* of a grid, of a row */
  guint64 first, n;         /* segments */
  guint8 *counts;           /* of a segment's records */
  guint32 *block_counts;    /* of records; then where a block's begin */
  guint64 base;             /* record that the piece's first is */
  guint64 *to_keys;
  guint32 *to_indices;
  gpointer to_values;
};

static inline guint wprojection_blocks(guint64 n)
{
  return (guint)((n + WPROJECTION_THREADS - 1) / WPROJECTION_THREADS);
}

gboolean wprojection_count(const WProjectionCollect *collect, cudaStream_t stream, GError **error);
gboolean wprojection_collect(const WProjectionCollect *collect, cudaStream_t stream,
                             GError **error);
/* Counts of blocks to where each begins, and their sum behind them. */
gboolean wprojection_scan(guint32 *counts, guint n, cudaStream_t stream, GError **error);

/* Records to sorted records, values of the same place added up. */
struct WProjectionMerge {
  const AstroTaps *taps; /* on the device, as its planes */
  WProjectionKeys keys;
  guint products;
  gboolean is_double;
  guint64 n, capacity;
  guint64 *keys_in, *keys_out;
  guint32 *indices_in, *indices_out;
  gconstpointer values; /* [record][product] */
  gpointer scratch;     /* of the sort */
  gsize scratch_bytes;
  guint32 *block_counts; /* and their sum: records that are left */
  WProjectionRecord *records;
  gpointer sums;         /* by groups of products, each [capacity][product of the group] */
  guint32 *class_starts; /* WPROJECTION_CLASSES + 1 */
  guint64 *spread;       /* records that are left are added to it */
  guint64 *largest;      /* bits of the largest real in sums, a double; or NULL */
};

gsize wprojection_sort_bytes(guint64 capacity, guint bits);
gboolean wprojection_merge(const WProjectionMerge *merge, cudaStream_t stream, GError **error);

/* Of a group of products, read and written as many bytes at once as there are, up to 16. */
template <typename Value, int N>
struct alignas(sizeof(Value) * N > 16 ? 16 : sizeof(Value) * N) WProjectionValues {
  Value v[N];
};

/* Products from the given one on that are spread at once. */
static inline __host__ __device__ guint wprojection_group(guint product, guint products)
{
  guint left = products - product;
  return left >= 4 ? 4 : left >= 2 ? 2 : 1;
}

/* Sums as integers, which are the same whatever order they are added in. What they count in follows
 * from the bounds of taps and records (each less than 2 to its exponent) and the largest value, so
 * that no sum overflows. */
struct WProjectionFixed {
  gint64 *grid;           /* as the grid; NULL: sums go straight to the grid */
  const guint64 *largest; /* as in merging */
  gint taps_exponent, records_exponent;
};

struct WProjectionSpread {
  const WProjectionRecord *records;
  gconstpointer sums; /* as merging leaves them */
  guint64 capacity;
  const guint32 *range; /* of records: the class's first, and the next class's */
  guint support, stride;
  guint size, products, product, group;
  gboolean is_double;
  gpointer grid;
  WProjectionFixed fixed;
  gint multiprocessors;
  guint shared_bytes; /* that a multiprocessor's blocks may share, each less what it has besides */
};

/* n: no more records than these. */
gboolean wprojection_spread(const WProjectionSpread *spread, guint64 n, cudaStream_t stream,
                            GError **error);
/* The same in single precision, where its code is there: taps brought to shared memory by the bulk
 * copy engine. */
gboolean wprojection_can_stage(gboolean *can, GError **error);
gboolean wprojection_spread_staged(const WProjectionSpread *spread, guint64 n, cudaStream_t stream,
                                   GError **error);
/* Adds sums to the grid and makes them 0. */
gboolean wprojection_unfix(const WProjectionFixed *fixed, gpointer grid, gsize n,
                           gboolean is_double, cudaStream_t stream, GError **error);
