/* Visibilities are collected as records, one for each place among the taps that neighbours of a row
 * share, then sorted by the grid's columns that their support begins in, and added up where they
 * are of the same place. Bands of the grid's rows are then tasks of their own: each goes through
 * the groups of columns, and for each row of the grid sums all records that reach it in registers,
 * over the window that a group's supports lie in. Sums at a cell are in an order that depends on
 * the records alone. */
#include "config.h"
#include "core/backend/threads.h"
#include "core/gridder/wprojection-kernels.h"
#include "core/gridder/wprojection-places.h"

#include <string.h>

#define PIECES 32          /* of rows, collected at once */
#define PIECE_RECORDS 2048 /* at most about as many of each */
#define BAND 16            /* rows of the grid in a task */
#define MAX_CLASSES 63     /* of planes of one support */
#define MIN_RECORDS 65536
#define MAX_RECORDS (1 << 22)

/* A record's key: class of support, first cells in u and v, index of the set among all planes. */
#define SET_BITS 22
#define CELL_BITS 16
#define KEY(class, u, v, set)                                                                      \
  ((((guint64)(class) << CELL_BITS | (guint64)(v)) << CELL_BITS | (guint64)(u)) << SET_BITS |      \
   (guint64)(set))
#define KEY_SET(key) ((guint)((key) & ((1u << SET_BITS) - 1)))
#define KEY_U(key) ((guint)((key) >> SET_BITS & ((1u << CELL_BITS) - 1)))
#define KEY_V(key) ((guint)((key) >> (SET_BITS + CELL_BITS) & ((1u << CELL_BITS) - 1)))
#define KEY_CLASS(key) ((guint)((key) >> (SET_BITS + 2 * CELL_BITS)))

/* While they are sorted: first cells in v and, from the window's left, u, set, and which it is. */
#define INDEX_BITS 22
#define SHIFT_BITS 4
#define ENTRY(v, shift, set, index)                                                                \
  ((((guint64)(v) << SHIFT_BITS | (guint64)(shift)) << SET_BITS | (guint64)(set)) << INDEX_BITS |  \
   (guint64)(index))
#define ENTRY_INDEX(entry) ((guint)((entry) & ((1u << INDEX_BITS) - 1)))
#define ENTRY_PLACE(entry) ((entry) >> INDEX_BITS)
#define ENTRY_SET(entry) ((guint)((entry) >> INDEX_BITS & ((1u << SET_BITS) - 1)))
#define ENTRY_SHIFT(entry) ((guint)((entry) >> (INDEX_BITS + SET_BITS) & ((1u << SHIFT_BITS) - 1)))
#define ENTRY_V(entry) ((guint)((entry) >> (INDEX_BITS + SET_BITS + SHIFT_BITS)))

typedef struct {
  guint support;
  guint window;  /* cells */
  guint columns; /* of the grid that a group's supports begin in */
  guint groups, first_group;
} Class;

/* Records of a class that begin in neighbouring columns. */
typedef struct {
  guint64 first, n;
} Group;

struct _AstroWProjection {
  AstroWProjectionConfig config;
  const AstroSpreadKernels *kernels;
  AstroWProjectionCounts counts;
  gsize value_bytes; /* of a record */
  guint n_classes;
  Class classes[MAX_CLASSES];
  guint8 *class_of_plane;
  /* waiting */
  guint64 n, capacity;
  guint64 *keys;
  guint8 *values;
  /* of pieces of rows that are collected at once */
  guint64 room, *piece_keys;
  guint8 *piece_values;
  /* as they are spread */
  guint64 *entries;
  guint8 *sums;        /* of each record that is left */
  gconstpointer *taps; /* as they were for row 0 of the grid, where entries were being sorted */
  guint32 *first_rows; /* where keys were */
};

/* -- collecting -- */

typedef struct {
  AstroWProjection *self;
  const AstroGridRows *rows;
  guint first, n;         /* channels */
  gboolean ordered;       /* their frequencies ascend or descend */
  guint64 row, rows_each; /* of the first piece; of each */
  guint64 room;           /* records of a piece */
  guint64 n_records[PIECES], gridded[PIECES], outside[PIECES];
} Collect;

/* What a piece makes of its rows. */
typedef struct {
  const Collect *work;
  guint64 *keys;
  guint8 *values;
  double *sums; /* of a run: corners x products, complex */
  guint64 n, gridded, outside;
} Piece;

static inline double real_at(gconstpointer values, gsize at, gboolean is_double)
{
  return is_double ? ((const double *)values)[at] : ((const float *)values)[at];
}

static gboolean any_value(gconstpointer values, gsize at, guint reals, gboolean is_double)
{
  gboolean any = FALSE;
  for (guint i = 0; i < reals; i++)
    any |= real_at(values, at + i, is_double) != 0;
  return any;
}

/* The keys of a point's corners, FALSE where one of them is outside. */
static gboolean find_keys(const AstroWProjection *self, const AstroTapsPoint *point,
                          guint n_corners, guint64 *keys)
{
  const AstroTaps *taps = self->config.taps;
  const guint n = taps->oversampling;
  for (guint corner = 0; corner < n_corners; corner++) {
    AstroTapsPoint at = astro_taps_corner(point, corner);
    AstroTapsPlace u, v;
    if (!astro_taps_inside(&self->config, &at, &u, &v))
      return FALSE;
    guint set = (at.plane * n + v.set) * n + u.set;
    keys[corner] = KEY(self->class_of_plane[at.plane], u.cell, v.cell, set);
  }
  return TRUE;
}

/* How many channels from the first on are at the same point: all coordinates grow together. */
static guint run_length(const Collect *work, const AstroTapsLine *line, guint channel,
                        const AstroTapsPoint *point)
{
  const double *wavenumbers = work->rows->wavenumbers;
  const gboolean interpolated = work->self->config.taps->interpolated;
  guint same = channel, other = work->first + work->n;
  AstroTapsPoint at;
  double unused[3];

  if (!work->ordered)
    return 1;
  for (guint probe = other - 1; other - same > 1; probe = (same + other) / 2) {
    if (probe == same)
      break;
    if (astro_taps_point(line, wavenumbers[probe], interpolated, &at, unused) &&
        astro_taps_same(&at, point))
      same = probe;
    else
      other = probe;
  }
  return same + 1 - channel;
}

/* Sums of values of neighbouring channels, each turned and, where there are corners, weighted. */
static inline __attribute__((always_inline)) void add_plain(double *sums, gconstpointer values,
                                                            gsize at, guint n, const guint reals,
                                                            const gboolean is_double)
{
  for (guint k = 0; k < n; k++, at += reals)
    for (guint i = 0; i < reals; i++)
      sums[i] += real_at(values, at + i, is_double);
}

static void add_weighted(const Collect *work, const AstroTapsLine *line, guint channel, gsize at,
                         guint n_corners, double *sums)
{
  const AstroGridRows *rows = work->rows;
  const guint products = rows->products;
  double wavenumber = rows->wavenumbers[channel], turns = line->turns * wavenumber;
  double sine, cosine, fractions[3] = { 0 };
  AstroTapsPoint point;

  sincos(-2 * G_PI * (turns - floor(turns)), &sine, &cosine);
  astro_taps_point(line, wavenumber, n_corners > 1, &point, fractions);
  for (guint corner = 0; corner < n_corners; corner++) {
    double weight = n_corners > 1 ? astro_taps_corner_weight(fractions, corner) : 1;
    double by_real = weight * cosine, by_imaginary = weight * sine;
    for (guint p = 0; p < products; p++, sums += 2) {
      double real = real_at(rows->values, at + 2 * p, rows->is_double);
      double imaginary = real_at(rows->values, at + 2 * p + 1, rows->is_double);
      sums[0] += real * by_real - imaginary * by_imaginary;
      sums[1] += real * by_imaginary + imaginary * by_real;
    }
  }
}

static void add_run(const Collect *work, const AstroTapsLine *line, guint channel, gsize at,
                    guint n, guint n_corners, double *sums)
{
  const AstroGridRows *rows = work->rows;
  const guint reals = 2 * rows->products;

  memset(sums, 0, sizeof *sums * reals * n_corners);
  if (n_corners > 1 || line->turns != 0)
    for (guint k = 0; k < n; k++)
      add_weighted(work, line, channel + k, at + (gsize)k * reals, n_corners, sums);
  else if (rows->is_double)
    add_plain(sums, rows->values, at, n, reals, TRUE);
  else if (reals == 8)
    add_plain(sums, rows->values, at, n, 8, FALSE);
  else
    add_plain(sums, rows->values, at, n, reals, FALSE);
}

/* Records of what is not zero. */
static void put_run(Piece *piece, const guint64 *keys, guint n_corners)
{
  const AstroWProjection *self = piece->work->self;
  const gboolean is_double = self->config.taps->is_double;
  const guint reals = 2 * self->config.products;
  const double *sums = piece->sums;

  for (guint corner = 0; corner < n_corners; corner++, sums += reals) {
    guint8 *value = piece->values + piece->n * self->value_bytes;
    gboolean any = FALSE;
    for (guint i = 0; i < reals; i++) {
      any |= sums[i] != 0;
      if (is_double)
        ((double *)value)[i] = sums[i];
      else
        ((float *)value)[i] = (float)sums[i];
    }
    piece->keys[piece->n] = keys[corner];
    piece->n += any;
  }
}

static void collect_row(Piece *piece, guint64 row)
{
  const Collect *work = piece->work;
  const AstroWProjection *self = work->self;
  const AstroGridRows *rows = work->rows;
  const gboolean interpolated = self->config.taps->interpolated;
  const guint n_corners = interpolated ? 8 : 1, reals = 2 * rows->products;
  const guint end = work->first + work->n;
  AstroTapsLine line = astro_taps_line(&self->config, rows->uvw + 3 * row);

  for (guint channel = work->first, n; channel < end; channel += n) {
    gsize at = (row * rows->channels + channel) * reals;
    AstroTapsPoint point;
    double fractions[3];
    guint64 keys[8];
    if (astro_taps_point(&line, rows->wavenumbers[channel], interpolated, &point, fractions) &&
        find_keys(self, &point, n_corners, keys)) {
      n = run_length(work, &line, channel, &point);
      add_run(work, &line, channel, at, n, n_corners, piece->sums);
      put_run(piece, keys, n_corners);
      piece->gridded += n;
    } else {
      n = 1;
      piece->outside += any_value(rows->values, at, reals, rows->is_double);
    }
  }
}

static void collect_piece(gpointer data, guint64 index)
{
  Collect *work = data;
  const AstroWProjection *self = work->self;
  guint64 row = work->row + index * work->rows_each;
  guint64 end = MIN(row + work->rows_each, work->rows->rows);
  g_autofree double *sums = g_new(double, 16 * self->config.products);
  Piece piece = { .work = work,
                  .keys = self->piece_keys + index * work->room,
                  .values = self->piece_values + index * work->room * self->value_bytes,
                  .sums = sums };

  for (; row < end; row++)
    collect_row(&piece, row);
  work->n_records[index] = piece.n;
  work->gridded[index] = piece.gridded;
  work->outside[index] = piece.outside;
}

static gboolean is_ordered(const double *numbers, guint n)
{
  gboolean up = TRUE, down = TRUE;
  for (guint i = 1; i < n; i++) {
    up = up && numbers[i] >= numbers[i - 1];
    down = down && numbers[i] <= numbers[i - 1];
  }
  return up || down;
}

/* The records of a piece, spread before where there is no room. */
static void take_piece(AstroWProjection *self, const Collect *work, guint64 piece, gpointer grid)
{
  const guint64 *keys = self->piece_keys + piece * work->room;
  const guint8 *values = self->piece_values + piece * work->room * self->value_bytes;
  guint64 n = work->n_records[piece];

  for (guint64 from = 0, some; from < n; from += some) {
    if (self->n == self->capacity)
      astro_wprojection_flush(self, grid);
    some = MIN(n - from, self->capacity - self->n);
    memcpy(self->keys + self->n, keys + from, some * sizeof *keys);
    memcpy(self->values + self->n * self->value_bytes, values + from * self->value_bytes,
           some * self->value_bytes);
    self->n += some;
  }
  self->counts.gridded += work->gridded[piece];
  self->counts.outside += work->outside[piece];
}

void astro_wprojection_add(AstroWProjection *self, const AstroGridRows *rows, guint first, guint n,
                           gpointer grid)
{
  const guint64 of_row = MAX((guint64)n * (self->config.taps->interpolated ? 8 : 1), 1);
  Collect work = { .self = self,
                   .rows = rows,
                   .first = first,
                   .n = n,
                   .ordered = is_ordered(rows->wavenumbers + first, n) };

  work.rows_each = MAX(PIECE_RECORDS / of_row, 1);
  work.room = work.rows_each * of_row;
  if (self->room < work.room) {
    self->room = work.room;
    self->piece_keys = g_renew(guint64, self->piece_keys, PIECES * work.room);
    self->piece_values = g_realloc(self->piece_values, PIECES * work.room * self->value_bytes);
  }
  for (; work.row < rows->rows; work.row += PIECES * work.rows_each) {
    guint64 pieces = MIN((rows->rows - work.row + work.rows_each - 1) / work.rows_each, PIECES);
    astro_parallel(pieces, self->config.threads, collect_piece, &work);
    for (guint64 i = 0; i < pieces; i++)
      take_piece(self, &work, i, grid);
  }
}

/* -- sorting and adding up -- */

typedef struct {
  AstroWProjection *self;
  gpointer grid;
  Group *groups;
  guint n_groups;
} Flush;

static guint group_left(const AstroWProjection *self, const Class *class, guint group)
{
  return MIN(group * class->columns, self->config.size - class->window);
}

/* A wider window takes in more columns, so that more records are summed in registers before the
 * grid is touched, and works on more zeros. */
static void choose_windows(AstroWProjection *self)
{
  guint64 n[MAX_CLASSES] = { 0 };
  for (guint64 i = 0; i < self->n; i++)
    n[KEY_CLASS(self->keys[i])]++;
  for (guint i = 0; i < self->n_classes; i++) {
    Class *class = &self->classes[i];
    guint narrow = (class->support + ASTRO_TAPS_STEP - 1) / ASTRO_TAPS_STEP * ASTRO_TAPS_STEP;
    double size = self->config.size;
    double in_reach = (double)n[i] * (narrow - class->support + 1) * class->support;
    /* Records crowd in the grid's middle: four in reach of a row there are far less on average. */
    gboolean few = in_reach < size * size / 16;
    class->window = few && narrow + ASTRO_TAPS_PADDING <= self->config.size
                        ? narrow + ASTRO_TAPS_PADDING
                        : narrow;
    class->columns = class->window - class->support + 1;
    class->groups = (self->config.size + class->columns - 1) / class->columns;
    class->first_group = i ? class[-1].first_group + class[-1].groups : 0;
  }
}

static guint group_of(const AstroWProjection *self, guint64 key)
{
  const Class *class = &self->classes[KEY_CLASS(key)];
  return class->first_group + KEY_U(key) / class->columns;
}

/* Each group's entries together, in the order of records. */
static void group_entries(Flush *flush)
{
  const AstroWProjection *self = flush->self;
  guint64 sum = 0;

  for (guint64 i = 0; i < self->n; i++)
    flush->groups[group_of(self, self->keys[i])].n++;
  for (guint i = 0; i < flush->n_groups; i++) {
    flush->groups[i].first = sum;
    sum += flush->groups[i].n;
    flush->groups[i].n = 0;
  }
  for (guint64 i = 0; i < self->n; i++) {
    guint64 key = self->keys[i];
    const Class *class = &self->classes[KEY_CLASS(key)];
    guint column = KEY_U(key) / class->columns;
    Group *group = &flush->groups[class->first_group + column];
    self->entries[group->first + group->n++] =
        ENTRY(KEY_V(key), KEY_U(key) - group_left(self, class, column), KEY_SET(key), i);
  }
}

/* By place, and by index in places: eight bits at a time from INDEX_BITS on. Returns where the
 * sorted ones are. */
static guint64 *sort_entries(guint64 *entries, guint64 *scratch, guint64 n)
{
  guint64 different = 0;
  for (guint64 i = 1; i < n; i++)
    different |= entries[i] ^ entries[0];
  for (guint bit = INDEX_BITS; bit < 64; bit += 8) {
    guint64 counts[256] = { 0 }, sum = 0;
    if (!(different >> bit & 255))
      continue;
    for (guint64 i = 0; i < n; i++)
      counts[entries[i] >> bit & 255]++;
    for (guint i = 0; i < 256; i++) {
      guint64 here = counts[i];
      counts[i] = sum;
      sum += here;
    }
    for (guint64 i = 0; i < n; i++)
      scratch[counts[entries[i] >> bit & 255]++] = entries[i];
    guint64 *sorted = scratch;
    scratch = entries;
    entries = sorted;
  }
  return entries;
}

/* Where the set's taps would be for row 0 of the grid and a window's left. */
static gconstpointer taps_of(const AstroWProjection *self, guint64 entry)
{
  const AstroTaps *taps = self->config.taps;
  const guint sets = taps->oversampling * taps->oversampling, set = ENTRY_SET(entry);
  const AstroTapsPlane *plane = &taps->planes[set / sets];
  gssize offset = (gssize)((set % sets) * plane->set) -
                  (gssize)((gsize)ENTRY_V(entry) * plane->stride + ENTRY_SHIFT(entry));
  gssize each = 2 * (taps->is_double ? sizeof(double) : sizeof(float));
  return (gconstpointer)((gssize)plane->taps + offset * each);
}

static void add_up(const AstroWProjection *self, guint8 *sum, const guint8 *value)
{
  for (guint i = 0; i < 2 * self->config.products; i++)
    if (self->config.taps->is_double)
      ((double *)sum)[i] += ((const double *)value)[i];
    else
      ((float *)sum)[i] += ((const float *)value)[i];
}

static void sort_group(gpointer data, guint64 index)
{
  const Flush *flush = data;
  const AstroWProjection *self = flush->self;
  Group *group = &flush->groups[index];
  guint64 *entries = self->entries + group->first;
  guint64 n = group->n, left = 0;

  if (n == 0)
    return;
  const guint64 *sorted = sort_entries(entries, (guint64 *)self->taps + group->first, n);
  if (sorted != entries)
    memcpy(entries, sorted, n * sizeof *entries);
  guint8 *sum = self->sums + group->first * self->value_bytes;
  for (guint64 i = 0; i < n; i++) {
    const guint8 *value = self->values + ENTRY_INDEX(entries[i]) * self->value_bytes;
    if (i && ENTRY_PLACE(entries[i]) == ENTRY_PLACE(entries[i - 1])) {
      add_up(self, sum, value);
      continue;
    }
    sum = self->sums + (group->first + left) * self->value_bytes;
    memcpy(sum, value, self->value_bytes);
    self->first_rows[group->first + left] = ENTRY_V(entries[i]);
    self->taps[group->first + left] = taps_of(self, entries[i]);
    left++;
  }
  group->n = left;
}

/* -- spreading -- */

/* The first of n ascending numbers that is at least what is asked. */
static guint64 first_at_least(const guint32 *numbers, guint64 n, gint64 least)
{
  guint64 low = 0;
  while (low < n) {
    guint64 middle = (low + n) / 2;
    if ((gint64)numbers[middle] < least)
      low = middle + 1;
    else
      n = middle;
  }
  return low;
}

/* Products from the given one on, as many as the width has, of rows from up to end. */
static void spread_group(const Flush *flush, const Class *class, guint index, guint from, guint end,
                         guint product, guint width)
{
  const AstroWProjection *self = flush->self;
  const gboolean is_double = self->config.taps->is_double;
  const Group *group = &flush->groups[class->first_group + index];
  const guint32 *first_rows = self->first_rows + group->first;
  const gsize each = is_double ? sizeof(double) : sizeof(float), size = self->config.size;
  const gsize stride = (class->support + ASTRO_TAPS_STEP - 1) / ASTRO_TAPS_STEP * ASTRO_TAPS_STEP +
                       ASTRO_TAPS_PADDING;
  AstroSpreadFunc spread =
      is_double ? self->kernels->spread_double[width] : self->kernels->spread_single[width];
  guint8 *grid =
      (guint8 *)flush->grid + (product * size * size + group_left(self, class, index)) * 2 * each;
  AstroSpreadWork work = { .value_stride = 2 * self->config.products,
                           .taps_stride = 2 * stride,
                           .vectors_8 = class->window / 8,
                           .grid_stride = 2 * size,
                           .product_stride = 2 * size * size };
  guint64 low = first_at_least(first_rows, group->n, (gint64)from - class->support + 1), high = low;

  for (guint row = from; row < end && low < group->n; row += work.rows) {
    work.rows = MIN(ASTRO_SPREAD_ROWS(width), end - row);
    while (low < group->n && first_rows[low] + class->support <= row)
      low++;
    while (high < group->n && first_rows[high] < row + work.rows)
      high++;
    if (high <= low)
      continue;
    work.n = high - low;
    work.taps = self->taps + group->first + low;
    work.values = self->sums + (group->first + low) * self->value_bytes + (gsize)product * 2 * each;
    work.taps_row = row * 2 * stride;
    work.grid = grid + row * size * 2 * each;
    spread(&work);
  }
}

static void spread_band(gpointer data, guint64 band)
{
  const Flush *flush = data;
  const AstroWProjection *self = flush->self;
  guint from = (guint)band * BAND, end = MIN(from + BAND, self->config.size);

  for (guint i = 0; i < self->n_classes; i++)
    for (guint group = 0; group < self->classes[i].groups; group++)
      for (guint product = 0, width; product < self->config.products;
           product += ASTRO_SPREAD_PRODUCTS(width)) {
        width = ASTRO_SPREAD_4;
        while (product + ASTRO_SPREAD_PRODUCTS(width) > self->config.products)
          width--;
        spread_group(flush, &self->classes[i], group, from, end, product, width);
      }
}

void astro_wprojection_flush(AstroWProjection *self, gpointer grid)
{
  if (self->n == 0)
    return;
  choose_windows(self);
  const Class *last = &self->classes[self->n_classes - 1];
  Flush flush = { .self = self, .grid = grid, .n_groups = last->first_group + last->groups };
  flush.groups = g_new0(Group, flush.n_groups);
  group_entries(&flush);
  astro_parallel(flush.n_groups, self->config.threads, sort_group, &flush);
  for (guint i = 0; i < flush.n_groups; i++)
    self->counts.spread += flush.groups[i].n;
  astro_parallel((self->config.size + BAND - 1) / BAND, self->config.threads, spread_band, &flush);
  self->n = 0;
  g_free(flush.groups);
}

/* -- life -- */

static const AstroSpreadKernels *const variants[] = {
  &astro_spread_kernels_avx512,
  &astro_spread_kernels_avx2,
  &astro_spread_kernels_c,
};

static gboolean classify(AstroWProjection *self, GError **error)
{
  const AstroTaps *taps = self->config.taps;
  guint least = ASTRO_TAPS_STEP;
  self->class_of_plane = g_new(guint8, taps->n_planes);
  for (guint i = 0; i < taps->n_planes; i++) {
    guint class = 0, support = taps->planes[i].support;
    least = MAX(least, (support + ASTRO_TAPS_STEP - 1) / ASTRO_TAPS_STEP * ASTRO_TAPS_STEP);
    while (class < self->n_classes && self->classes[class].support != support)
      class ++;
    if (class == MAX_CLASSES)
      return astro_backend_refuse(error, "w-planes have more than %d different supports",
                                  MAX_CLASSES);
    if (class == self->n_classes)
      self->classes[self->n_classes++].support = support;
    self->class_of_plane[i] = (guint8) class;
  }
  if (self->config.size >= least && self->config.size < 1 << CELL_BITS)
    return TRUE;
  return astro_backend_refuse(error, "the grid is %u cells wide, expected %u to %d",
                              self->config.size, least, (1 << CELL_BITS) - 1);
}

AstroWProjection *astro_wprojection_new(const AstroWProjectionConfig *config, GError **error)
{
  AstroWProjection *self = g_new0(AstroWProjection, 1);
  const AstroCpuLevel level = astro_cpu_level();
  guint variant = 0;

  self->config = *config;
  while (variants[variant]->variant.level > level)
    variant++;
  self->kernels = variants[variant];
  self->value_bytes =
      2 * config->products * (config->taps->is_double ? sizeof(double) : sizeof(float));
  if (!classify(self, error)) {
    astro_wprojection_free(self);
    return NULL;
  }
  guint64 memory = config->memory ? config->memory : 64 << 20;
  self->capacity = CLAMP(memory / (2 * self->value_bytes + 24), MIN_RECORDS, MAX_RECORDS);
  self->keys = g_new(guint64, self->capacity);
  self->values = g_malloc(self->capacity * self->value_bytes);
  self->entries = g_new(guint64, self->capacity);
  self->taps = g_new(gconstpointer, self->capacity);
  self->first_rows = (guint32 *)self->keys;
  self->sums = g_malloc(self->capacity * self->value_bytes);
  return self;
}

void astro_wprojection_free(AstroWProjection *self)
{
  g_free(self->class_of_plane);
  g_free(self->keys);
  g_free(self->values);
  g_free(self->piece_keys);
  g_free(self->piece_values);
  g_free(self->entries);
  g_free(self->taps);
  g_free(self->sums);
  g_free(self);
}

const char *astro_wprojection_variant(const AstroWProjection *self)
{
  return self->kernels->variant.name;
}

void astro_wprojection_counts(const AstroWProjection *self, AstroWProjectionCounts *counts)
{
  *counts = self->counts;
}
