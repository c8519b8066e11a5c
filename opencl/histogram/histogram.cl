/* Counts the pairs of two cells of a tree of points by the bin rule of core/histogram/histogram.h.
 * WEIGHTED: products of weights are added up too. Behind seeds.cl. */

#define MOST_PLACES 1026 /* below the first edge, the bins, from the last edge on */

/* A group a seed. Pairs that fall into one place one after the other are added to it together. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
count_pairs(FACE(seeds), FACE(squares), FACE(a), FACE(b), FACE(weights_a), FACE(weights_b),
            FACE(counts), FACE(sums), const uint n_edges, const uint has_weights)
{
  AT(const Seed, seeds);
  AT(const double, squares);
  AT(const double, a);
  AT(const double, b);
  AT(volatile uint, counts);
  __local volatile uint places[MOST_PLACES];
  __local double x[GROUP], y[GROUP], z[GROUP];
#ifdef WEIGHTED
  AT(const double, weights_a);
  AT(const double, weights_b);
  AT(volatile ulong, sums);
  __local volatile ulong weights[MOST_PLACES];
  __local double w[GROUP];
#endif
  const Seed seed = seeds[get_group_id(0)];
  const uint item = (uint)get_local_id(0);
  for (uint k = seed.first + item; k <= seed.last; k += GROUP) {
    places[k] = 0;
#ifdef WEIGHTED
    weights[k] = 0;
#endif
  }
  for (uint from = 0; from < seed.n_b; from += GROUP) {
    const uint n = min(seed.n_b - from, (uint)GROUP);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < n) {
      const double3 at = position_of(b, seed.b + from + item);
      x[item] = at.x;
      y[item] = at.y;
      z[item] = at.z;
#ifdef WEIGHTED
      w[item] = has_weights & 2 ? weights_b[seed.b + from + item] : 1;
#endif
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = item; i < seed.n_a; i += GROUP) {
      const double3 at = position_of(a, seed.a + i);
      uint held = seed.first, together = 0;
#ifdef WEIGHTED
      const double weight = has_weights & 1 ? weights_a[seed.a + i] : 1;
      double sum = 0;
#endif
      for (uint j = 0; j < n; j++) {
        if (seed.is_self && from + j <= i)
          continue;
        const double dx = at.x - x[j], dy = at.y - y[j], dz = at.z - z[j];
        const double square = (dx * dx + dy * dy) + dz * dz;
        const uint place = place_of(squares, seed.first, seed.last, square);
        if (place != held) {
          if (together)
            atomic_add(&places[held], together);
          together = 0;
#ifdef WEIGHTED
          ADD_SUM(&weights[held], sum);
          sum = 0;
#endif
          held = place;
        }
        together++;
#ifdef WEIGHTED
        sum += weight * w[j];
#endif
      }
      if (together)
        atomic_add(&places[held], together);
#ifdef WEIGHTED
      ADD_SUM(&weights[held], sum);
#endif
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint k = seed.first + item; k <= seed.last; k += GROUP) {
    const uint more = places[k];
    const ulong value = (ulong)seed.region * (n_edges - 1) + k - 1;
    if (k == 0 || k == n_edges || more == 0)
      continue;
    add_count(counts, value, more);
#ifdef WEIGHTED
    ADD_SUM(sums + value, as_double(weights[k]));
#endif
  }
}
