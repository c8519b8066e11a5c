/* W-projection on the device: declarations that its steps share. Visibilities are collected as
 * records, a key and values for each run of neighbouring channels of a row at the same point of the
 * taps' lattice (records.cu). Records are sorted by their keys, and those with the same key are
 * added up (merge.cu). The rest is spread, records of neighbouring cells together (spread.cu,
 * staged.cu). */
#pragma once

#include "gpu/gridder/gridder.h"

#include "core/gridder/wprojection/places.h"

enum {
  WPROJECTION_THREADS = 256,
  WPROJECTION_CLASSES = 63, /* planes of one support */
  WPROJECTION_TILE = 4,     /* cells along u and v, no more than ASTRO_TAPS_ROWS + 1 */
  WPROJECTION_SEGMENT = 16, /* channels that a thread collects */
};

/* The fields of a key, the most significant first: class, grid, strip of tiles along u, tile in u,
 * tile in v within the strip, the set of taps among those of all planes, cell in v and u within the
 * tile. Once sorted, records of a tile that need the same taps, shifted, are neighbours, and so are
 * tiles. */
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

/* A sorted record without its values: the first cell of the tile that its footprint begins in, and
 * the tap that would be there. The zeros around a set's taps serve footprints that begin elsewhere
 * in the tile. */
struct alignas(16) WProjectionRecord {
  /* Bits of place: whether the record before is of another tile, or needs other taps. The other
   * bits are cells down and right in the tile. */
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
  /* From the set's first tap to the one that would be the tile's, in complex values. */
  __device__ guint shift(guint stride) const
  {
    return (where >> WProjectionKeys::TILE_BITS) % WPROJECTION_TILE * stride +
           where % WPROJECTION_TILE;
  }
};

/* Collecting records of rows, in pieces of segments: up to WPROJECTION_SEGMENT channels of a row,
 * for one grid. */
struct WProjectionCollect {
  AstroWProjectionConfig config; /* its taps and their planes are on the device */
  const guint8 *class_of_plane;
  gboolean interpolated;
  WProjectionKeys keys;
  AstroGridRows rows;
  gboolean wide;            /* all of a visibility's values lie at multiples of 16 bytes */
  guint channels, segments; /* channels in a grid; segments in a row */
  guint64 first, n;         /* segments */
  guint8 *counts;           /* of a segment's records */
  guint32 *block_counts;    /* of records; later where each block's begin */
  guint64 base;             /* index of the piece's first record */
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
/* Turns counts of blocks into where each begins, with their sum behind them. */
gboolean wprojection_scan(guint32 *counts, guint n, cudaStream_t stream, GError **error);

/* Sorting records, and adding up the values of those with the same key. */
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
  guint32 *block_counts; /* and their sum: how many records are left */
  WProjectionRecord *records;
  gpointer sums;         /* by groups of products, each [capacity][product of the group] */
  guint32 *class_starts; /* WPROJECTION_CLASSES + 1 */
  guint64 *spread;       /* the number of records that are left is added to it */
  guint64 *largest;      /* bits of the largest real in sums, a double; or NULL */
};

gsize wprojection_sort_bytes(guint64 capacity, guint bits);
gboolean wprojection_merge(const WProjectionMerge *merge, cudaStream_t stream, GError **error);

/* The values of a group of products, read and written in pieces as large as possible, up to 16
 * bytes. */
template <typename Value, int N>
struct alignas(sizeof(Value) * N > 16 ? 16 : sizeof(Value) * N) WProjectionValues {
  Value v[N];
};

/* How many products from the given one on are spread at once. */
static inline __host__ __device__ guint wprojection_group(guint product, guint products)
{
  guint left = products - product;
  return left >= 4 ? 4 : left >= 2 ? 2 : 1;
}

/* Sums as integers, which do not depend on the order of adding. Their unit follows from the bounds
 * of taps and records (each less than 2 to its exponent) and the largest value, so that no sum
 * overflows. */
struct WProjectionFixed {
  gint64 *grid;           /* laid out as the grid; NULL: sums are added to the grid itself */
  const guint64 *largest; /* as WProjectionMerge has it */
  gint taps_exponent, records_exponent;
};

struct WProjectionSpread {
  const WProjectionRecord *records;
  gconstpointer sums; /* as WProjectionMerge left them */
  guint64 capacity;
  const guint32 *range; /* first record of the class, and of the next class */
  guint support, stride;
  guint size, products, product, group;
  gboolean is_double;
  gpointer grid;
  WProjectionFixed fixed;
  gint multiprocessors;
  guint shared_bytes; /* shared memory for all blocks of a multiprocessor, less what each of them
                         needs besides */
};

/* n: at most so many records. */
gboolean wprojection_spread(const WProjectionSpread *spread, guint64 n, cudaStream_t stream,
                            GError **error);
/* The same in single precision, where the device can: taps are brought to shared memory by the bulk
 * copy engine. */
gboolean wprojection_can_stage(gboolean *can, GError **error);
gboolean wprojection_spread_staged(const WProjectionSpread *spread, guint64 n, cudaStream_t stream,
                                   GError **error);
/* Adds the sums to the grid and sets them to 0. */
gboolean wprojection_unfix(const WProjectionFixed *fixed, gpointer grid, gsize n,
                           gboolean is_double, cudaStream_t stream, GError **error);
