/* Visibilities sorted by their place in the grid. */
#include "config.h"
#include "core/gridder/sorted.h"

#include <string.h>
#include "core/backend/threads.h"
#include "core/kit/turn.h"
#include "core/kit/pages.h"
#include "core/gridder/rows.h"

typedef struct {
  const AstroGridRows *rows;
  const AstroGrid *grid;
  const AstroPlanes *planes;
  AstroSorted *sorted;
  AstroBuckets buckets;
  AstroSortedBand *groups; /* one a bucket; its band is not used */
  guint32 *from; /* number (row * channels + channel) of each visibility, bucket by bucket */
  guint step;    /* between two of them */
  gint failed;   /* memory ran out */
  GMutex lock;
  gsize room_bytes; /* to sort the largest bucket in */
  GSList *rooms;    /* rooms that are not in use */
} Sorting;

/* ---- in a bucket ---- */

/* The place of one visibility: half a cache line, since they are read in random order. */
typedef struct {
  double u, v, w; /* as AstroSorted has them; where there is one plane, w in wavelengths */
  guint16 plane;
  guint8 offset;
} Place;
G_STATIC_ASSERT(sizeof(Place) == 32);

/* Returns its group, counted from the bucket's first. */
static guint32 find_place(const Sorting *s, const AstroBucket *bucket, guint32 from, Place *place)
{
  const AstroGridRows *rows = s->rows;
  const AstroPlanes *planes = s->planes;
  const guint32 row = from / rows->channels;
  const double *uvw = rows->uvw + 3 * (guint64)row;
  const double per = rows->wavenumbers[from - row * rows->channels];
  const guint support = s->grid->spread.support;
  const guint u =
      astro_first_cell(uvw[0] * per * s->buckets.per_cell + s->buckets.middle, support, &place->u);
  const guint v =
      astro_first_cell(uvw[1] * per * s->buckets.per_cell + s->buckets.middle, support, &place->v);
  place->offset = u % astro_sorted_block(rows->is_double);
  place->plane = 0;
  place->w = uvw[2] * per;
  if (planes->step > 0)
    place->plane =
        astro_first_cell((uvw[2] * per - planes->first) / planes->step, planes->support, &place->w);
  return astro_sorted_group(u, v, rows->is_double) - bucket->first_group;
}

/* Phase of the value in turns: w times -n_middle. */
static double phase_of(const AstroPlanes *planes, const Place *place)
{
  const double steps = place->plane - (place->w + 1) / 2 + planes->support / 2.0;
  return -planes->n_middle * (planes->step > 0 ? planes->first + steps * planes->step : place->w);
}

/* to[i] becomes the i-th of those in from by their key; stable. counts has room for n_keys + 1. */
static void sort_by(const guint32 *from, guint32 *to, guint64 n, const guint32 *keys,
                    guint32 *counts, guint n_keys)
{
  memset(counts, 0, (n_keys + 1) * sizeof *counts);
  for (guint64 i = 0; i < n; i++)
    counts[keys[from[i]] + 1]++;
  for (guint k = 0; k < n_keys; k++)
    counts[k + 1] += counts[k];
  for (guint64 i = 0; i < n; i++)
    to[counts[keys[from[i]]]++] = from[i];
}

/* exp(2 pi i turns), to 1e-16; inline, since a call would take as long as all else here. */
static inline void phase_factor(double turns, double *re, double *im)
{
  const double whole = (turns + 0x1.8p52) - 0x1.8p52;
  ASTRO_TURN_BY_QUARTER(double, (turns - whole) * (G_PI / 2), *re, *im);
}

#define PUT(name, Real)                                                                            \
  static void name(const Sorting *s, guint64 at, const Place *place, gconstpointer values)         \
  {                                                                                                \
    const AstroSorted *sorted = s->sorted;                                                         \
    const guint products = sorted->products;                                                       \
    const Real *from = values;                                                                     \
    Real *to = (Real *)sorted->values + 2 * at * products;                                         \
    double re, im;                                                                                 \
    if (from)                                                                                      \
      phase_factor(phase_of(s->planes, place), &re, &im);                                          \
    for (guint p = 0; from && p < products; p++, from += 2, to += 2) {                             \
      to[0] = (Real)(from[0] * re - from[1] * im);                                                 \
      to[1] = (Real)(from[0] * im + from[1] * re);                                                 \
    }                                                                                              \
    ((Real *)sorted->u)[at] = (Real)place->u;                                                      \
    ((Real *)sorted->v)[at] = (Real)place->v;                                                      \
    ((Real *)sorted->w)[at] = s->planes->step > 0 ? (Real)place->w : 0;                            \
  }

PUT(put_single, float)
PUT(put_double, double)

/* content: the values of the visibility, or its number. */
static void put(const Sorting *s, guint64 at, const Place *place, gconstpointer content)
{
  gconstpointer values = s->sorted->numbers ? NULL : content;
  if (s->sorted->numbers)
    s->sorted->numbers[at] = *(const guint32 *)content;
  s->sorted->first_planes[at] = place->plane;
  s->sorted->offsets[at] = place->offset;
  if (s->sorted->is_double)
    put_double(s, at, place, values);
  else
    put_single(s, at, place, values);
}

static void note_groups(const Sorting *s, guint64 number, const guint32 *groups,
                        const guint32 *order)
{
  const AstroBucket *bucket = &s->buckets.buckets[number];
  AstroSortedBand *noted = &s->groups[number];
  for (guint64 i = 0; i < bucket->n; i++)
    noted->n_groups += i == 0 || groups[order[i]] != groups[order[i - 1]];
  noted->groups = g_new(AstroSortedGroup, noted->n_groups);
  AstroSortedGroup *next = noted->groups;
  for (guint64 i = 0; i < bucket->n; i++) {
    const guint32 key = bucket->first_group + groups[order[i]];
    if (i == 0 || groups[order[i]] != groups[order[i - 1]])
      *next++ = (AstroSortedGroup){ .start = bucket->start + i,
                                    .row = bucket->band * ASTRO_BAND_ROWS + key % ASTRO_BAND_ROWS,
                                    .block = key / ASTRO_BAND_ROWS };
    next[-1].n++;
  }
}

/* Rooms are used again: getting fresh memory costs more than the work done in it. */
static gpointer take_room(Sorting *s)
{
  g_mutex_lock(&s->lock);
  GSList *link = s->rooms;
  s->rooms = link ? link->next : NULL;
  g_mutex_unlock(&s->lock);
  if (!link)
    return astro_pages_alloc(s->room_bytes);
  gpointer room = link->data;
  g_slist_free_1(link);
  return room;
}

static void give_room(Sorting *s, gpointer room)
{
  g_mutex_lock(&s->lock);
  s->rooms = g_slist_prepend(s->rooms, room);
  g_mutex_unlock(&s->lock);
}

/* Bytes of what a visibility brings along: its values, or its number. */
static gsize content_bytes(const AstroGridRows *rows)
{
  return rows->values ? rows->products * (rows->is_double ? 16 : 8) : sizeof(guint32);
}

static gsize room_of_one(const AstroGridRows *rows)
{
  return sizeof(Place) + content_bytes(rows) + 4 * sizeof(guint32);
}

static void copy_contents(const Sorting *s, const AstroBucket *bucket, gpointer contents)
{
  const gsize bytes = content_bytes(s->rows);
  if (!s->sorted->numbers)
    memcpy(contents, (char *)s->sorted->values + bucket->start * bytes, bucket->n * bytes);
  for (guint64 i = 0; s->sorted->numbers && i < bucket->n; i++)
    ((guint32 *)contents)[i] = s->from[(bucket->start + i) * s->step];
}

static void sort_bucket(gpointer data, guint64 number)
{
  enum { AHEAD = 24 };
  Sorting *s = data;
  const AstroBucket *bucket = &s->buckets.buckets[number];
  const guint n_keys = MAX(bucket->n_groups, s->sorted->planes);
  const guint64 n = bucket->n;
  const gsize content = content_bytes(s->rows);

  if (n == 0)
    return;
  char *room = take_room(s);
  if (!room) {
    g_atomic_int_set(&s->failed, TRUE);
    return;
  }
  Place *places = (Place *)room;
  char *contents = (char *)(places + n);
  guint32 *groups = (guint32 *)(contents + n * content), *first_planes = groups + n;
  guint32 *one = first_planes + n, *two = one + n;
  g_autofree guint32 *counts = g_new(guint32, n_keys + 1);
  /* Everything in the bucket is copied here before any of it is overwritten. */
  for (guint64 i = 0; i < n; i++) {
    groups[i] = find_place(s, bucket, s->from[(bucket->start + i) * s->step], &places[i]);
    first_planes[i] = places[i].plane;
    one[i] = (guint32)i;
  }
  copy_contents(s, bucket, contents);
  sort_by(one, two, n, first_planes, counts, s->sorted->planes);
  sort_by(two, one, n, groups, counts, bucket->n_groups);
  for (guint64 i = 0; i < n; i++) {
    if (i + AHEAD < n) {
      __builtin_prefetch(&places[one[i + AHEAD]]);
      __builtin_prefetch(contents + one[i + AHEAD] * content);
    }
    put(s, bucket->start + i, &places[one[i]], contents + one[i] * content);
  }
  note_groups(s, number, groups, one);
  give_room(s, room);
}

/* Puts the groups of a band's buckets one after the other. */
static void join_groups(Sorting *s)
{
  const AstroBuckets *buckets = &s->buckets;
  for (guint i = 0; i < buckets->n_buckets; i++) {
    AstroSortedBand *band = &s->sorted->bands[buckets->buckets[i].band];
    band->n_groups += s->groups[i].n_groups;
  }
  for (guint i = 0; i < buckets->n_buckets; i++) {
    const AstroBucket *bucket = &buckets->buckets[i];
    AstroSortedBand *band = &s->sorted->bands[bucket->band];
    if (bucket->first_group == 0) {
      band->groups = g_new(AstroSortedGroup, band->n_groups);
      band->start = bucket->start;
      band->n_groups = 0;
    }
    for (guint k = 0; k < s->groups[i].n_groups; k++)
      band->groups[band->n_groups++] = s->groups[i].groups[k];
    band->n += bucket->n;
    g_free(s->groups[i].groups);
  }
}

/* ---- all of it ---- */

/* So many rooms have no more memory together than all visibilities would need, however many of them
 * lie in one place. */
static guint rooms_of(const Sorting *s)
{
  const guint64 n = s->buckets.n * room_of_one(s->rows) / MAX(s->room_bytes, 1);
  return (guint)CLAMP(n, 1, G_MAXINT);
}

/* The bytes kept of a visibility: its places in u, v and w, first plane, offset, and values. */
static gsize kept_of_one(guint products, gboolean is_double)
{
  return 3 * (is_double ? 8 : 4) + sizeof(guint16) + 1 + products * (is_double ? 16 : 8);
}

/* The most groups that there can be: a footprint begins in some row and block. */
static guint64 most_groups(const AstroGrid *grid, gboolean is_double, guint channels, guint64 n)
{
  const guint64 blocks = grid->size / astro_sorted_block(is_double) + 1;
  return MIN(n, channels * blocks * grid->size);
}

guint64 astro_sorted_bytes(const AstroGriddingConfig *config, const AstroGrid *grid, guint products,
                           guint64 n)
{
  return n * kept_of_one(products, config->is_double) +
         most_groups(grid, config->is_double, config->channels, n) * sizeof(AstroSortedGroup);
}

/* Beside these, while sorting: the bucket and a room for each, groups before they are joined, and
 * tables of buckets. */
guint64 astro_sorting_bytes(const AstroGriddingConfig *config, const AstroGrid *grid,
                            guint products, guint64 n)
{
  const AstroGridRows rows = { .products = products,
                               .is_double = config->is_double,
                               .values = grid };
  return n * (sizeof(guint16) + room_of_one(&rows)) +
         most_groups(grid, config->is_double, config->channels, n) * sizeof(AstroSortedGroup) +
         astro_buckets_bytes(grid);
}

static gboolean allocate(AstroSorted *sorted, gboolean has_values)
{
  const gsize bytes = sorted->is_double ? sizeof(double) : sizeof(float), n = MAX(sorted->n, 1);
  sorted->first_planes = astro_pages_alloc(n * sizeof *sorted->first_planes);
  sorted->offsets = astro_pages_alloc(n);
  sorted->u = astro_pages_alloc(n * bytes);
  sorted->v = astro_pages_alloc(n * bytes);
  sorted->w = astro_pages_alloc(n * bytes);
  sorted->values = astro_pages_alloc(n * 2 * bytes * sorted->products);
  if (!has_values)
    sorted->numbers = astro_pages_alloc(n * sizeof *sorted->numbers);
  if (!has_values && sorted->values)
    memset(sorted->values, 0, n * 2 * bytes * sorted->products);
  return sorted->first_planes && sorted->offsets && sorted->u && sorted->v && sorted->w &&
         sorted->values && (has_values || sorted->numbers);
}

AstroSorted *astro_sorted_new(const AstroGridRows *rows, guint first, guint n,
                              const AstroGrid *grid, const AstroPlanes *planes, guint threads,
                              GError **error)
{
  if (rows->rows * rows->channels > G_MAXUINT32) {
    astro_backend_refuse(error,
                         "%" G_GUINT64_FORMAT
                         " visibilities in one grid, at most %u are possible: expected an interval",
                         rows->rows * rows->channels, G_MAXUINT32);
    return NULL;
  }
  AstroSorted *sorted = g_new0(AstroSorted, 1);
  Sorting s = {
    .rows = rows,
    .grid = grid,
    .planes = planes,
    .sorted = sorted,
    .buckets = { .rows = rows, .grid = grid, .first = first, .channels = n, .threads = threads },
    .step = rows->is_double ? 2 : 1
  };
  g_mutex_init(&s.lock);
  sorted->products = rows->products;
  sorted->is_double = rows->is_double;
  sorted->planes = planes->n;
  s.failed = !astro_buckets_count(&s.buckets);
  sorted->n = s.buckets.n;
  sorted->n_bands = s.buckets.n_bands;
  sorted->bands = g_new0(AstroSortedBand, sorted->n_bands);
  s.groups = g_new0(AstroSortedBand, s.buckets.n_buckets);
  /* Where counting was given up, the rest must not run. */
  if (!s.failed && !astro_is_given_up() && allocate(sorted, rows->values != NULL)) {
    for (guint i = 0; i < s.buckets.n_buckets; i++)
      s.room_bytes = MAX(s.room_bytes, s.buckets.buckets[i].n * room_of_one(rows));
    s.from = sorted->u; /* overwritten by u only after these are read */
    astro_buckets_distribute(&s.buckets, s.from, s.step, sorted->values);
    if (!astro_is_given_up())
      astro_parallel(s.buckets.n_buckets, MIN(threads, rooms_of(&s)), sort_bucket, &s);
  } else {
    s.failed = TRUE;
  }
  join_groups(&s);
  const gboolean goes_on = astro_backend_goes_on(error);
  if (s.failed && goes_on)
    astro_backend_no_memory(error,
                            "no memory to sort %" G_GUINT64_FORMAT " visibilities of %u products",
                            rows->rows * n, rows->products);
  if (s.failed || !goes_on) {
    g_clear_pointer(&sorted, astro_sorted_free);
  }
  g_slist_free_full(s.rooms, free);
  g_mutex_clear(&s.lock);
  g_free(s.groups);
  astro_buckets_clear(&s.buckets);
  return sorted;
}

void astro_sorted_free(AstroSorted *sorted)
{
  for (guint band = 0; band < sorted->n_bands; band++)
    g_free(sorted->bands[band].groups);
  g_free(sorted->bands);
  free(sorted->first_planes);
  free(sorted->offsets);
  free(sorted->u);
  free(sorted->v);
  free(sorted->w);
  free(sorted->values);
  free(sorted->numbers);
  g_free(sorted);
}
