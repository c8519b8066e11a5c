#include "config.h"
#include "core/gridder/sorted.h"

#include <math.h>
#include <string.h>
#include "core/backend/threads.h"
#include "core/gridder/pages.h"

/* Parts of the rows, counted and dealt out side by side; as many whatever the threads. */
#define PARTS 64
#define MAX_PLANES 32768
#define OUT G_MAXUINT16

typedef struct {
  const AstroGridRows *rows;
  const AstroGrid *grid;
  const AstroPlanes *planes;
  AstroSorted *sorted;
  guint first, channels;
  double per_cell;  /* cells a wavelength */
  double middle;    /* cell of the origin */
  guint16 *band_of; /* of each visibility; OUT: it is not used */
  gint failed;      /* to get memory */
  guint64 *starts;  /* of each band and part, then where the next of them goes */
  GMutex lock;
  gsize room_bytes; /* to sort the largest band in */
  GSList *rooms;    /* that nobody is in */
  guint32 *order;   /* visibilities, row * channels + channel, by band */
} Sorting;

static gboolean is_zero(const AstroGridRows *rows, guint64 at)
{
  if (rows->is_double) {
    const double *value = (const double *)rows->values + at * rows->products * 2;
    for (guint i = 0; i < 2 * rows->products; i++)
      if (value[i] != 0)
        return FALSE;
  } else {
    const float *value = (const float *)rows->values + at * rows->products * 2;
    for (guint i = 0; i < 2 * rows->products; i++)
      if (value[i] != 0)
        return FALSE;
  }
  return TRUE;
}

/* Cells from the grid's first to the first that a visibility is spread over; inside is -1 to 1. */
static inline guint first_cell(double position, guint support, double *inside)
{
  const double edge = position - support / 2.0;
  const gint32 whole = (gint32)edge, first = whole + (edge > whole);
  *inside = 2 * (first - edge) - 1;
  return (guint)first;
}

/* ---- planes ---- */

typedef struct {
  const AstroGridRows *rows;
  const AstroGrid *grid;
  double least[PARTS], greatest[PARTS];
} Range;

static void part_of(guint64 rows, guint64 part, guint64 *from, guint64 *to)
{
  *from = rows * part / PARTS;
  *to = rows * (part + 1) / PARTS;
}

static void find_range(gpointer data, guint64 part)
{
  Range *range = data;
  const AstroGridRows *rows = range->rows;
  double least = INFINITY, greatest = 0;
  guint64 from, to;
  part_of(rows->rows, part, &from, &to);
  for (guint64 row = from; row < to; row++) {
    const double *uvw = rows->uvw + 3 * row;
    for (guint c = 0; c < rows->channels; c++) {
      const double per = rows->wavenumbers[c], w = uvw[2] * per;
      if ((w < least || w > greatest) && !is_zero(rows, row * rows->channels + c) &&
          astro_grid_holds(range->grid, uvw[0] * per, uvw[1] * per)) {
        least = MIN(least, w);
        greatest = MAX(greatest, w);
      }
    }
  }
  range->least[part] = least;
  range->greatest[part] = greatest;
}

gboolean astro_planes_of_range(AstroPlanes *planes, const AstroGridderConfig *config,
                               const AstroGrid *grid, double least, double greatest, GError **error)
{
  double n_least, n_greatest;

  if (!astro_grid_n_range(grid, &n_least, &n_greatest, error))
    return FALSE;
  least = MIN(least, greatest);
  const double half_n = (n_greatest - n_least) / 2, half_w = (greatest - least) / 2;
  *planes = (AstroPlanes){ .first = (least + greatest) / 2,
                           .support = grid->spread.support,
                           .n = 1,
                           .n_middle = (n_greatest + n_least) / 2 };
  /* All w are as good as one where no phase in the image differs by what matters. */
  if (2 * G_PI * half_n * half_w < config->accuracy / 10)
    return TRUE;
  planes->step = 1 / (2 * MIN((double)grid->size / grid->image_size, 2) * half_n);
  planes->first = least - planes->step * planes->support / 2.0;
  const double n = (greatest - least) / planes->step + planes->support + 2;
  if (n <= MAX_PLANES) {
    double inside;
    planes->n = planes->support +
                first_cell((greatest - planes->first) / planes->step, planes->support, &inside);
    return TRUE;
  }
  g_set_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_SHAPE,
              "w from %.0f to %.0f wavelengths over this field needs %.0f planes, at most %d are "
              "possible: a smaller field, or shorter baselines",
              least, greatest, n, MAX_PLANES);
  return FALSE;
}

gboolean astro_planes_choose(AstroPlanes *planes, const AstroGridderConfig *config,
                             const AstroGrid *grid, const AstroGridRows *rows, GError **error)
{
  Range range = { .rows = rows, .grid = grid };
  double least = INFINITY, greatest = 0;

  astro_parallel(PARTS, config->threads, find_range, &range);
  for (guint part = 0; part < PARTS; part++) {
    least = MIN(least, range.least[part]);
    greatest = MAX(greatest, range.greatest[part]);
  }
  return astro_planes_of_range(planes, config, grid, least, greatest, error);
}

/* ---- into bands ---- */

static guint16 find_band(const Sorting *s, guint64 row, guint channel)
{
  const double per = s->rows->wavenumbers[channel], *uvw = s->rows->uvw + 3 * row;
  double inside;
  if (!astro_grid_holds(s->grid, uvw[0] * per, uvw[1] * per) ||
      is_zero(s->rows, row * s->rows->channels + channel))
    return OUT;
  return (guint16)(first_cell(uvw[1] * per * s->per_cell + s->middle, s->grid->spread.support,
                              &inside) /
                   ASTRO_BAND_ROWS);
}

static void count_part(gpointer data, guint64 part)
{
  Sorting *s = data;
  guint64 from, to;
  part_of(s->rows->rows, part, &from, &to);
  guint16 *band = s->band_of + from * s->channels;
  for (guint64 row = from; row < to; row++)
    for (guint c = s->first; c < s->first + s->channels; c++, band++) {
      *band = find_band(s, row, c);
      if (*band != OUT)
        s->starts[*band * PARTS + part]++;
    }
}

static void deal_part(gpointer data, guint64 part)
{
  Sorting *s = data;
  guint64 from, to;
  part_of(s->rows->rows, part, &from, &to);
  const guint16 *band = s->band_of + from * s->channels;
  for (guint64 row = from; row < to; row++)
    for (guint c = s->first; c < s->first + s->channels; c++, band++)
      if (*band != OUT)
        s->order[s->starts[*band * PARTS + part]++] = (guint32)(row * s->rows->channels + c);
}

static void counts_to_starts(Sorting *s)
{
  AstroSorted *sorted = s->sorted;
  guint64 at = 0;
  for (guint band = 0; band < sorted->n_bands; band++) {
    sorted->bands[band].start = at;
    for (guint part = 0; part < PARTS; part++) {
      const guint64 n = s->starts[band * PARTS + part];
      s->starts[band * PARTS + part] = at;
      at += n;
    }
    sorted->bands[band].n = at - sorted->bands[band].start;
  }
  sorted->n = at;
}

/* ---- in a band ---- */

/* Where one visibility goes: half a cache line, since they are read in no order. */
typedef struct {
  double u, v, w; /* inside the edges; of one plane alone, w in wavelengths */
  guint32 from;   /* visibility of the rows */
  guint16 plane;
  guint8 offset;
} Place;
G_STATIC_ASSERT(sizeof(Place) == 32);

/* Returns its group: block * ASTRO_BAND_ROWS + row in the band. */
static guint32 find_place(const Sorting *s, guint64 band, guint32 from, Place *place)
{
  const AstroGridRows *rows = s->rows;
  const AstroPlanes *planes = s->planes;
  const guint32 row = from / rows->channels;
  const double *uvw = rows->uvw + 3 * (guint64)row;
  const double per = rows->wavenumbers[from - row * rows->channels];
  const guint support = s->grid->spread.support, block = astro_sorted_block(rows->is_double);
  const guint u = first_cell(uvw[0] * per * s->per_cell + s->middle, support, &place->u);
  const guint v = first_cell(uvw[1] * per * s->per_cell + s->middle, support, &place->v);
  place->from = from;
  place->offset = u % block;
  place->plane = 0;
  place->w = uvw[2] * per;
  if (planes->step > 0)
    place->plane =
        first_cell((uvw[2] * per - planes->first) / planes->step, planes->support, &place->w);
  return u / block * ASTRO_BAND_ROWS + (v - (guint)band * ASTRO_BAND_ROWS);
}

/* That the value is turned by: w times -n_middle. */
static double turns_of(const AstroPlanes *planes, const Place *place)
{
  const double steps = place->plane - (place->w + 1) / 2 + planes->support / 2.0;
  return -planes->n_middle * (planes->step > 0 ? planes->first + steps * planes->step : place->w);
}

/* order[i] becomes the i-th of those in from by their key; stable. counts has n_keys + 1 places. */
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

/* exp(2 pi i turns), to 1e-16: the series of a quarter of the angle, doubled twice. Inline and
 * without a call, which would take as long as all else here. */
static inline void turn_of(double turns, double *re, double *im)
{
  static const double sine[] = {
    -1.0 / 6,        1.0 / 120,        -1.0 / 5040,         1.0 / 362880,
    -1.0 / 39916800, 1.0 / 6227020800, -1.0 / 1307674368000
  };
  static const double cosine[] = { -1.0 / 2,           1.0 / 24,
                                   -1.0 / 720,         1.0 / 40320,
                                   -1.0 / 3628800,     1.0 / 479001600,
                                   -1.0 / 87178291200, 1.0 / 20922789888000 };
  const double whole = (turns + 0x1.8p52) - 0x1.8p52, x = (turns - whole) * (G_PI / 2), x2 = x * x;
  double s = sine[6], c = cosine[7];
  for (guint k = 6; k-- > 0;)
    s = s * x2 + sine[k];
  for (guint k = 7; k-- > 0;)
    c = c * x2 + cosine[k];
  s = x + x * x2 * s;
  c = 1 + x2 * c;
  for (guint k = 0; k < 2; k++) {
    const double twice = 2 * s * c;
    c = 1 - 2 * s * s;
    s = twice;
  }
  *re = c;
  *im = s;
}

#define PUT(name, Real)                                                                            \
  static void name(const Sorting *s, guint64 at, const Place *place)                               \
  {                                                                                                \
    const AstroSorted *sorted = s->sorted;                                                         \
    const guint products = sorted->products;                                                       \
    const Real *from = (const Real *)s->rows->values + 2 * (gsize)place->from * products;          \
    Real *to = (Real *)sorted->values + 2 * at * products;                                         \
    double re, im;                                                                                 \
    turn_of(turns_of(s->planes, place), &re, &im);                                                 \
    for (guint p = 0; p < products; p++, from += 2, to += 2) {                                     \
      to[0] = (Real)(from[0] * re - from[1] * im);                                                 \
      to[1] = (Real)(from[0] * im + from[1] * re);                                                 \
    }                                                                                              \
    ((Real *)sorted->u)[at] = (Real)place->u;                                                      \
    ((Real *)sorted->v)[at] = (Real)place->v;                                                      \
    ((Real *)sorted->w)[at] = s->planes->step > 0 ? (Real)place->w : 0;                            \
  }

PUT(put_single, float)
PUT(put_double, double)

static void put(const Sorting *s, guint64 at, const Place *place)
{
  s->sorted->first_planes[at] = place->plane;
  s->sorted->offsets[at] = place->offset;
  if (s->sorted->is_double)
    put_double(s, at, place);
  else
    put_single(s, at, place);
}

/* Places and values come in no order: they are asked for some visibilities before. */
static inline void look_ahead(const Sorting *s, const Place *places, const guint32 *order,
                              guint64 i, guint64 n)
{
  enum { NEAR = 24, FAR = 64 };
  const gsize value = s->rows->products * (s->rows->is_double ? 16 : 8);
  if (i + FAR < n)
    __builtin_prefetch(&places[order[i + FAR]]);
  if (i + NEAR < n)
    __builtin_prefetch((const char *)s->rows->values + places[order[i + NEAR]].from * value);
}

static void note_groups(const Sorting *s, guint64 number, const guint32 *groups,
                        const guint32 *order)
{
  AstroSortedBand *band = &s->sorted->bands[number];
  for (guint64 i = 0; i < band->n; i++)
    band->n_groups += i == 0 || groups[order[i]] != groups[order[i - 1]];
  band->groups = g_new(AstroSortedGroup, band->n_groups);
  AstroSortedGroup *group = band->groups - 1;
  for (guint64 i = 0; i < band->n; i++) {
    const guint32 key = groups[order[i]];
    if (i == 0 || key != groups[order[i - 1]])
      *++group =
          (AstroSortedGroup){ .start = band->start + i,
                              .row = (guint32)number * ASTRO_BAND_ROWS + key % ASTRO_BAND_ROWS,
                              .block = key / ASTRO_BAND_ROWS };
    group->n++;
  }
}

/* Rooms are used again: fresh memory costs more than what is done in it. */
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

enum { ROOM_OF_ONE = sizeof(Place) + 4 * sizeof(guint32) };

static void sort_band(gpointer data, guint64 number)
{
  Sorting *s = data;
  AstroSortedBand *band = &s->sorted->bands[number];
  const guint blocks = s->grid->size / astro_sorted_block(s->rows->is_double);
  const guint n_groups = blocks * ASTRO_BAND_ROWS, n_keys = MAX(n_groups, s->sorted->planes);
  const guint64 n = band->n;

  if (n == 0)
    return;
  char *room = take_room(s);
  if (!room) {
    g_atomic_int_set(&s->failed, TRUE);
    return;
  }
  Place *places = (Place *)room;
  guint32 *groups = (guint32 *)(places + n), *first_planes = groups + n;
  guint32 *one = first_planes + n, *two = one + n;
  g_autofree guint32 *counts = g_new(guint32, n_keys + 1);
  for (guint64 i = 0; i < n; i++) {
    groups[i] = find_place(s, number, s->order[band->start + i], &places[i]);
    first_planes[i] = places[i].plane;
    one[i] = (guint32)i;
  }
  sort_by(one, two, n, first_planes, counts, s->sorted->planes);
  sort_by(two, one, n, groups, counts, n_groups);
  for (guint64 i = 0; i < n; i++) {
    look_ahead(s, places, one, i, n);
    put(s, band->start + i, &places[one[i]]);
  }
  note_groups(s, number, groups, one);
  give_room(s, room);
}

/* ---- all of it ---- */

static gboolean allocate(AstroSorted *sorted)
{
  const gsize bytes = sorted->is_double ? sizeof(double) : sizeof(float), n = MAX(sorted->n, 1);
  sorted->first_planes = astro_pages_alloc(n * sizeof *sorted->first_planes);
  sorted->offsets = astro_pages_alloc(n);
  sorted->u = astro_pages_alloc(n * bytes);
  sorted->v = astro_pages_alloc(n * bytes);
  sorted->w = astro_pages_alloc(n * bytes);
  sorted->values = astro_pages_alloc(n * 2 * bytes * sorted->products);
  return sorted->first_planes && sorted->offsets && sorted->u && sorted->v && sorted->w &&
         sorted->values;
}

AstroSorted *astro_sorted_new(const AstroGridRows *rows, guint first, guint n,
                              const AstroGrid *grid, const AstroPlanes *planes, guint threads,
                              GError **error)
{
  if (rows->rows * rows->channels > G_MAXUINT32) {
    g_set_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_SHAPE,
                "%" G_GUINT64_FORMAT " visibilities are more than %u: use an interval",
                rows->rows * rows->channels, G_MAXUINT32);
    return NULL;
  }
  AstroSorted *sorted = g_new0(AstroSorted, 1);
  Sorting s = { .rows = rows,
                .grid = grid,
                .planes = planes,
                .sorted = sorted,
                .first = first,
                .channels = n,
                .per_cell = 1 / grid->cell,
                .middle = grid->size / 2 };
  g_mutex_init(&s.lock);
  sorted->products = rows->products;
  sorted->is_double = rows->is_double;
  sorted->n_bands = (grid->size + ASTRO_BAND_ROWS - 1) / ASTRO_BAND_ROWS;
  sorted->bands = g_new0(AstroSortedBand, sorted->n_bands);
  sorted->planes = planes->n;
  s.starts = g_new0(guint64, (gsize)sorted->n_bands * PARTS);
  s.band_of = astro_pages_alloc(rows->rows * n * sizeof *s.band_of);
  if (s.band_of) {
    astro_parallel(PARTS, threads, count_part, &s);
    counts_to_starts(&s);
    s.order = astro_pages_alloc(sorted->n * sizeof *s.order);
  }
  if (s.order && allocate(sorted)) {
    for (guint band = 0; band < sorted->n_bands; band++)
      s.room_bytes = MAX(s.room_bytes, sorted->bands[band].n * ROOM_OF_ONE);
    astro_parallel(PARTS, threads, deal_part, &s);
    astro_parallel(sorted->n_bands, threads, sort_band, &s);
  } else {
    s.failed = TRUE;
  }
  if (s.failed) {
    g_set_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_MEMORY,
                "no memory to sort %" G_GUINT64_FORMAT " visibilities of %u products",
                rows->rows * n, rows->products);
    g_clear_pointer(&sorted, astro_sorted_free);
  }
  g_slist_free_full(s.rooms, free);
  g_mutex_clear(&s.lock);
  free(s.band_of);
  free(s.order);
  g_free(s.starts);
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
  g_free(sorted);
}
