/* Puts the steps of one of two lanes among those of the other: steps of the lane are laid out with
 * gaps, into which what the block has of the other lane goes. */
#include "config.h"
#include "core/recorders/lanes.h"

#include <string.h>

/* Vectors at any place in memory. */
#define VECTOR 16
typedef guint8 Bytes1 __attribute__((vector_size(VECTOR), may_alias, aligned(1)));
typedef guint16 Bytes2 __attribute__((vector_size(VECTOR), may_alias, aligned(1)));
typedef guint32 Bytes4 __attribute__((vector_size(VECTOR), may_alias, aligned(1)));
typedef guint64 Bytes8 __attribute__((vector_size(VECTOR), may_alias, aligned(1)));

/* a[0] b[0] a[1] b[1] ... of the first or second half of two vectors. */
#define FIRST_1 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define SECOND_1 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#define FIRST_2 0, 8, 1, 9, 2, 10, 3, 11
#define SECOND_2 4, 12, 5, 13, 6, 14, 7, 15
#define FIRST_4 0, 4, 1, 5
#define SECOND_4 2, 6, 3, 7
#define FIRST_8 0, 2
#define SECOND_8 1, 3

#define PLACE(bytes)                                                                               \
  static guint64 place_##bytes(guint8 *out, guint lane, const guint8 *in, guint64 n)               \
  {                                                                                                \
    const Bytes##bytes zeros = { 0 }, all = ~zeros;                                                \
    const Bytes##bytes keep = lane ? __builtin_shufflevector(all, zeros, FIRST_##bytes)            \
                                   : __builtin_shufflevector(zeros, all, FIRST_##bytes);           \
    guint64 i = 0;                                                                                 \
    for (; i + VECTOR / (bytes) <= n; i += VECTOR / (bytes)) {                                     \
      const Bytes##bytes steps = *(const Bytes##bytes *)(in + i * (bytes));                        \
      const Bytes##bytes a = lane ? zeros : steps, b = lane ? steps : zeros;                       \
      Bytes##bytes *to = (Bytes##bytes *)(out + 2 * i * (bytes));                                  \
      to[0] = (to[0] & keep) | __builtin_shufflevector(a, b, FIRST_##bytes);                       \
      to[1] = (to[1] & keep) | __builtin_shufflevector(a, b, SECOND_##bytes);                      \
    }                                                                                              \
    return i;                                                                                      \
  }
PLACE(1)
PLACE(2)
PLACE(4)
PLACE(8)

static guint64 (*const kernels[])(guint8 *out, guint lane, const guint8 *in, guint64 n) = {
  [1] = place_1, [2] = place_2, [4] = place_4, [8] = place_8
};

gboolean astro_recorder_has_lanes(guint lanes, gsize bytes)
{
  return lanes == 2 && bytes < G_N_ELEMENTS(kernels) && kernels[bytes];
}

void astro_recorder_place_lane(guint8 *out, guint lane, gsize bytes, guint64 step, const guint8 *in,
                               guint64 n)
{
  guint8 *steps = out + 2 * step * bytes;
  for (guint64 i = kernels[bytes](steps, lane, in, n); i < n; i++)
    memcpy(steps + (2 * i + lane) * bytes, in + i * bytes, bytes);
}
