/* Selection among so many items that all threads take part. A histogram of the coordinate tells in
 * which narrow range the k-th lies. Every chunk of the items is partitioned by itself; then items
 * that are on the wrong side of the whole are swapped in pairs. There are as many chunks for any
 * number of threads, so that the order of the items is the same. */
#include "core/histogram/halve.h"

#include "core/backend/threads.h"

#include <math.h>

#define CHUNKS 64
#define RANGES 1024
/* Fewer items are selected faster by one thread. */
#define MANY 65536

typedef struct {
  guint64 first, n;
} Stretch;

typedef struct {
  guint64 of[RANGES];
} Counts;

typedef struct {
  AstroVector *items;
  double *weights;
  guint64 n;
  guint axis;
  double low[CHUNKS][3], high[CHUNKS][3];
  double least, ranges_per_unit;       /* along the axis */
  Counts *counts;                      /* of each chunk */
  guint limit;                         /* items in ranges below it come first */
  guint64 n_first[CHUNKS];             /* in each chunk */
  Stretch late[CHUNKS], early[CHUNKS]; /* items that belong at the front, and at the back */
  guint64 n_swaps;
} Select;

static guint64 chunk_begin(const Select *s, guint64 chunk)
{
  return s->n / CHUNKS * chunk + MIN(chunk, s->n % CHUNKS);
}

/* Rises with x, however it is rounded. */
static guint range_of(const Select *s, const AstroVector *item)
{
  return (guint)MIN((item->x[s->axis] - s->least) * s->ranges_per_unit, RANGES - 1);
}

static void bound_chunk(gpointer data, guint64 chunk)
{
  Select *s = data;
  for (guint axis = 0; axis < 3; axis++) {
    double low = INFINITY, high = -INFINITY;
    for (guint64 i = chunk_begin(s, chunk); i < chunk_begin(s, chunk + 1); i++) {
      low = MIN(low, s->items[i].x[axis]);
      high = MAX(high, s->items[i].x[axis]);
    }
    s->low[chunk][axis] = low;
    s->high[chunk][axis] = high;
  }
}

static void count_chunk(gpointer data, guint64 chunk)
{
  Select *s = data;
  guint64 *counts = s->counts[chunk].of;
  for (guint r = 0; r < RANGES; r++)
    counts[r] = 0;
  for (guint64 i = chunk_begin(s, chunk); i < chunk_begin(s, chunk + 1); i++)
    counts[range_of(s, &s->items[i])]++;
}

static void partition_chunk(gpointer data, guint64 chunk)
{
  Select *s = data;
  guint64 first = chunk_begin(s, chunk), end = chunk_begin(s, chunk + 1);
  for (;;) {
    while (first < end && range_of(s, &s->items[first]) < s->limit)
      first++;
    while (first < end && range_of(s, &s->items[end - 1]) >= s->limit)
      end--;
    if (first >= end)
      break;
    astro_swap_items(s->items, s->weights, first++, --end);
  }
  s->n_first[chunk] = first - chunk_begin(s, chunk);
}

typedef struct {
  const Stretch *stretch;
  guint64 at;
} Cursor;

static Cursor cursor_at(const Stretch *stretch, guint64 at)
{
  for (; at >= stretch->n; stretch++)
    at -= stretch->n;
  return (Cursor){ stretch, at };
}

static guint64 next_place(Cursor *cursor)
{
  for (; cursor->at == cursor->stretch->n; cursor->at = 0)
    cursor->stretch++;
  return cursor->stretch->first + cursor->at++;
}

static void swap_share(gpointer data, guint64 share)
{
  Select *s = data;
  const guint64 begin = s->n_swaps * share / CHUNKS, end = s->n_swaps * (share + 1) / CHUNKS;
  if (begin == end)
    return;
  Cursor late = cursor_at(s->late, begin), early = cursor_at(s->early, begin);
  for (guint64 i = begin; i < end; i++)
    astro_swap_items(s->items, s->weights, next_place(&late), next_place(&early));
}

/* Brings items in ranges below the limit to the front. How many there are. */
static guint64 partition(Select *s, guint limit, guint threads)
{
  guint64 front = 0;
  s->limit = limit;
  astro_parallel(CHUNKS, threads, partition_chunk, s);
  for (guint c = 0; c < CHUNKS; c++)
    front += s->n_first[c];
  s->n_swaps = 0;
  for (guint c = 0; c < CHUNKS; c++) {
    const guint64 begin = chunk_begin(s, c), end = chunk_begin(s, c + 1),
                  middle = begin + s->n_first[c], late = MAX(begin, front);
    s->late[c] = (Stretch){ late, middle > late ? middle - late : 0 };
    s->early[c] = (Stretch){ middle, MIN(end, front) > middle ? MIN(end, front) - middle : 0 };
    s->n_swaps += s->late[c].n;
  }
  astro_parallel(CHUNKS, threads, swap_share, s);
  return front;
}

/* Sets low and high of the first chunk to those of all items. */
static void find_bounds(Select *s, guint threads)
{
  astro_parallel(CHUNKS, threads, bound_chunk, s);
  for (guint c = 1; c < CHUNKS; c++)
    for (guint axis = 0; axis < 3; axis++) {
      s->low[0][axis] = MIN(s->low[0][axis], s->low[c][axis]);
      s->high[0][axis] = MAX(s->high[0][axis], s->high[c][axis]);
    }
}

/* In which range item k is, and how many lie below it. */
static guint find_range(const Select *s, guint64 k, guint64 *below)
{
  *below = 0;
  for (guint r = 0;; r++) {
    guint64 here = 0;
    for (guint c = 0; c < CHUNKS; c++)
      here += s->counts[c].of[r];
    if (k < *below + here || r + 1 == RANGES)
      return r;
    *below += here;
  }
}

/* The bounds of the items are known. Work that is given up leaves them in any order. */
static void select_among(Select *s, guint64 k, guint threads)
{
  guint64 below;
  const double width = s->high[0][s->axis] - s->low[0][s->axis];
  s->least = s->low[0][s->axis];
  s->ranges_per_unit = RANGES / width;
  if (!(width > 0) || !isfinite(s->ranges_per_unit)) {
    astro_select(s->items, s->weights, s->n, k, s->axis);
    return;
  }
  astro_parallel(CHUNKS, threads, count_chunk, s);
  if (astro_is_given_up())
    return;
  const guint range = find_range(s, k, &below);
  const guint64 front = partition(s, range, threads);
  s->items += front;
  s->weights = s->weights ? s->weights + front : NULL;
  s->n -= front;
  s->n = partition(s, range + 1, threads);
  if (s->n > MANY)
    find_bounds(s, threads);
  if (astro_is_given_up())
    return;
  if (s->n > MANY)
    select_among(s, k - front, threads);
  else
    astro_select(s->items, s->weights, s->n, k - front, s->axis);
}

void astro_halve(AstroVector *items, double *weights, guint64 n, guint64 k, guint threads)
{
  Select *s = n > MANY ? g_try_new(Select, 1) : NULL;
  Counts *counts = s ? g_try_new(Counts, CHUNKS) : NULL;
  if (counts) {
    *s = (Select){ .items = items, .weights = weights, .n = n, .counts = counts };
    find_bounds(s, threads);
    s->axis = astro_widest_axis(s->low[0], s->high[0]);
    if (!astro_is_given_up())
      select_among(s, k, threads);
  } else {
    astro_select(items, weights, n, k, astro_axis_of(items, n));
  }
  g_free(counts);
  g_free(s);
}
