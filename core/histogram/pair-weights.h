/* Weights that belong to pairs of points, besides the product of those of its points.
 *
 * Bits. A survey is simulated N - offset times; bit k of a point says whether realisation k selects
 * it. Where both points of a pair have bits, its weight is N / (offset + bits that both have set):
 * the inverse of the probability that both are selected. Where one has bits, its own bits set
 * count, so that points without bits, such as random ones, are selected always. Where the divisor
 * is 0 the weight is `default_value`. This is what pycorr does with bitwise weights, nrealizations,
 * noffset and default_value.
 *
 * A table. The weight of a pair is interpolated between angles, in the square of the chord, which
 * is to say in the cosine. Pairs nearer than the first angle, or as far as the last one or farther,
 * have 1, as in pycorr.
 *
 * Totals. What a count is divided by is the weight of all pairs at any separation. That of a pair
 * of c and d set bits is then the mean over places of these bits, as if they were independent
 * (Bianchi and Verde 2020, eq. 22), as pycorr has it; tables do not enter. */
#pragma once

#include "core/histogram/points.h"
#include "core/kit/on-both.h"

#include <math.h>

G_BEGIN_DECLS

typedef struct _PairTable {
  guint n;
  double *squares, *weights; /* of chords, rising */
} PairTable;

/* Lines of an angle in degrees and a weight, the angles rising; # begins a comment. */
PairTable *pair_table_parse(const char *text, const char *name, GError **error);
PairTable *pair_table_read(const char *path, GError **error);
void pair_table_free(PairTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PairTable, pair_table_free)

/* N / (offset + k) for k bits in common. */
static inline double pair_bits_weight(const AstroPairBits *bits, guint k)
{
  const guint divisor = bits->offset + k;
  return divisor ? bits->realizations / (double)divisor : bits->default_value;
}

/* The weights of pairs with 0, 1, .. common bits, to be freed. */
double *pair_bits_weights(const AstroPairBits *bits);

/* Points of a catalogue with words of bits, whole numbers below 2^32. */
AstroPoints *points_with_bits(const PointColumns *columns, double *const *words, guint n_words,
                              guint n_regions, guint threads, const AstroStop *stop,
                              GError **error);
/* Memory of a point besides that of its tree, at most. */
guint64 bits_bytes_each(guint n_words);

/* How many bits of a point are set. */
guint pair_bits_set(double *const *words, guint n_words, guint64 i);

/* The mean weight of a pair with c and d set bits at [c (bits + 1) + d], to be freed. */
double *pair_bits_means(const AstroPairBits *bits);

typedef struct {
  const guint64 *bits_a, *bits_b; /* NULL: all are set */
  guint n_words;
  const double *weights; /* of common bits; NULL: bits are not looked at */
  PairTable table;       /* n 0: none */
  gboolean in_space;
} PairWeigher;

/* Whether pairs of these points have other weights than the products of those of the points. */
gboolean pairs_are_weighed(const AstroPoints *a, const AstroPoints *b, const PairTable *table);
PairWeigher pair_weigher(const AstroPoints *a, const AstroPoints *b, const double *weights,
                         const PairTable *table);

ON_BOTH static inline guint pair_set_bits(guint64 bits)
{
#ifdef __CUDA_ARCH__
  return (guint)__popcll(bits);
#else
  return (guint)__builtin_popcountll(bits);
#endif
}

ON_BOTH static inline guint pair_common_bits(const PairWeigher *w, gsize a, gsize b)
{
  guint n = 0;
  for (guint k = 0; k < w->n_words; k++) {
    const guint64 of_a = w->bits_a ? w->bits_a[a * w->n_words + k] : G_MAXUINT64,
                  of_b = w->bits_b ? w->bits_b[b * w->n_words + k] : G_MAXUINT64;
    n += pair_set_bits(of_a & of_b);
  }
  return n;
}

/* The square of the chord between the directions to two points. */
ON_BOTH static inline double pair_chord_square(const double a[3], const double b[3],
                                               gboolean in_space)
{
  const double of_a = in_space ? 1 / sqrt((a[0] * a[0] + a[1] * a[1]) + a[2] * a[2]) : 1,
               of_b = in_space ? 1 / sqrt((b[0] * b[0] + b[1] * b[1]) + b[2] * b[2]) : 1;
  const double dx = a[0] * of_a - b[0] * of_b, dy = a[1] * of_a - b[1] * of_b,
               dz = a[2] * of_a - b[2] * of_b;
  return (dx * dx + dy * dy) + dz * dz;
}

ON_BOTH static inline double pair_table_weight(const PairTable *table, double square)
{
  const double *squares = table->squares, *weights = table->weights;
  guint low = 0, high = table->n - 1;
  if (!(square >= squares[0] && square < squares[high]))
    return 1;
  while (high - low > 1) {
    const guint middle = (low + high) / 2;
    *(squares[middle] <= square ? &low : &high) = middle;
  }
  const double part = (square - squares[low]) / (squares[high] - squares[low]);
  return weights[low] + part * (weights[high] - weights[low]);
}

/* a, b: slots of the points; at_a, at_b: where they are. */
ON_BOTH static inline double pair_weight(const PairWeigher *w, gsize a, gsize b,
                                         const double at_a[3], const double at_b[3])
{
  const double by_bits = w->weights ? w->weights[pair_common_bits(w, a, b)] : 1;
  return w->table.n
             ? by_bits * pair_table_weight(&w->table, pair_chord_square(at_a, at_b, w->in_space))
             : by_bits;
}

G_END_DECLS
