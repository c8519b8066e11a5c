/* Shared by the kernels of histogram: pairs of cells of two trees of points, what points are and
 * where sums go. WEIGHTED: there are sums of weights. */
#ifdef WEIGHTED
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#endif

#define GROUP 64 /* work items, and points of b in local memory */
#define LEAF 32  /* as LEAF_POINTS: x, y and z of so many points follow each other */

/* As OpenclSeed in counter.h: points from a slot on, the edges that their pairs may lie on both
 * sides of, and the place of the counts of their regions. */
typedef struct {
  uint a, n_a, b, n_b;
  uint first, last;
  uint region; /* of a, times the regions, and of b */
  uint is_self;
} Seed;

double3 position_of(__global const double *positions, uint slot)
{
  __global const double *leaf = positions + (ulong)(slot / LEAF) * 3 * LEAF + slot % LEAF;
  return (double3)(leaf[0], leaf[LEAF], leaf[2 * LEAF]);
}

uint place_of(__global const double *squares, uint first, uint last, double square)
{
  while (first < last) {
    const uint middle = (first + last) / 2;
    if (square >= squares[middle])
      first = middle + 1;
    else
      last = middle;
  }
  return first;
}

/* A double is added to by way of its bits. */
#ifdef WEIGHTED
#define ADD_SUM(at, more)                                                                          \
  for (ulong was = *(at), seen = ~was; was != seen;) {                                             \
    seen = was;                                                                                    \
    was = atom_cmpxchg(at, seen, as_ulong(as_double(seen) + (more)));                              \
  }
#endif

/* Counts have 64 bits in two words, low ones first: the addition that wraps the first one adds to
 * the second. */
void add_count(__global volatile uint *counts, ulong value, uint more)
{
  if (atomic_add(counts + 2 * value, more) > UINT_MAX - more)
    atomic_inc(counts + 2 * value + 1);
}
