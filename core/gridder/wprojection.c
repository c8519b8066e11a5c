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
#define PIECE_RECORDS 4096 /* about as many in each */
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
};

/* -- collecting -- */

typedef struct {
  AstroWProjection *self;
  const AstroGridRows *rows;
  guint first, n;         /* channels */
  guint64 row, rows_each; /* of the first piece; of each */
  guint64 *keys;
  guint8 *values;
  guint64 room; /* records of a piece */
  guint64 n_records[PIECES], gridded[PIECES], outside[PIECES];
} Collect;

/* Records being made, of one run of visibilities with the same place. */
typedef struct {
  guint64 *keys;
  guint8 *values;
  guint64 n;
  guint n_corners;
  guint64 corner_keys[8];
  double *sums; /* corners x products, complex */
} Run;

static void end_run(const AstroWProjection *self, Run *run)
{
  const guint reals = 2 * self->config.products;
  for (guint corner = 0; corner < run->n_corners; corner++, run->n++) {
    const double *sums = run->sums + (gsize)corner * reals;
    guint8 *value = run->values + run->n * self->value_bytes;
    run->keys[run->n] = run->corner_keys[corner];
    for (guint i = 0; i < reals; i++)
      if (self->config.taps->is_double)
        ((double *)value)[i] = sums[i];
      else
        ((float *)value)[i] = (float)sums[i];
  }
  run->n_corners = 0;
}

static gboolean begin_run(const AstroWProjection *self, Run *run, const AstroTapsPoint *point,
                          guint n_corners)
{
  const AstroTaps *taps = self->config.taps;
  const guint n = taps->oversampling;
  for (guint corner = 0; corner < n_corners; corner++) {
    AstroTapsPoint at = astro_taps_corner(point, corner);
    AstroTapsPlace u, v;
    if (!astro_taps_inside(&self->config, &at, &u, &v))
      return FALSE;
    guint set = (at.plane * n + v.set) * n + u.set;
    run->corner_keys[corner] = KEY(self->class_of_plane[at.plane], u.cell, v.cell, set);
  }
  memset(run->sums, 0, sizeof(double) * 2 * n_corners * self->config.products);
  run->n_corners = n_corners;
  return TRUE;
}

/* Adds weight times what is at values. */
static inline __attribute__((always_inline)) void add_values(double *sums, gconstpointer values,
                                                             gsize at, guint reals,
                                                             gboolean is_double, double weight)
{
  for (guint i = 0; i < reals; i++)
    sums[i] +=
        weight * (is_double ? ((const double *)values)[at + i] : ((const float *)values)[at + i]);
}

/* Adds weight times exp(-2 pi i turns) times what is at values. */
static void add_turned(double *sums, gconstpointer values, gsize at, guint reals,
                       gboolean is_double, double weight, double turns)
{
  double sine, cosine;
  sincos(2 * G_PI * (turns - floor(turns)), &sine, &cosine);
  for (guint i = 0; i < reals; i += 2) {
    double real = is_double ? ((const double *)values)[at + i] : ((const float *)values)[at + i];
    double imaginary =
        is_double ? ((const double *)values)[at + i + 1] : ((const float *)values)[at + i + 1];
    sums[i] += weight * (real * cosine + imaginary * sine);
    sums[i + 1] += weight * (imaginary * cosine - real * sine);
  }
}

static inline __attribute__((always_inline)) gboolean any_value(gconstpointer values, gsize at,
                                                                guint reals, gboolean is_double)
{
  gboolean any = FALSE;
  for (guint i = 0; i < reals; i++)
    any |= is_double ? ((const double *)values)[at + i] != 0 : ((const float *)values)[at + i] != 0;
  return any;
}

static inline __attribute__((always_inline)) void
collect_row(const Collect *work, guint64 row, Run *run, guint64 *gridded, guint64 *outside,
            const gboolean is_double, const gboolean interpolated, const guint reals)
{
  const AstroWProjection *self = work->self;
  const AstroGridRows *rows = work->rows;
  AstroTapsLine line = astro_taps_line(&self->config, rows->uvw + 3 * row);
  AstroTapsPoint last = { 0 };

  for (guint channel = work->first; channel < work->first + work->n; channel++) {
    gsize at = (row * rows->channels + channel) * reals;
    AstroTapsPoint point;
    double fractions[3];
    if (!any_value(rows->values, at, reals, is_double))
      continue;
    if (!astro_taps_point(&line, rows->wavenumbers[channel], interpolated, &point, fractions)) {
      ++*outside;
      continue;
    }
    if (!run->n_corners || point.u != last.u || point.v != last.v || point.plane != last.plane) {
      end_run(self, run);
      if (!begin_run(self, run, &point, interpolated ? 8 : 1)) {
        ++*outside;
        continue;
      }
      last = point;
    }
    ++*gridded;
    for (guint corner = 0; corner < (interpolated ? 8 : 1); corner++) {
      double *sums = run->sums + (gsize)corner * reals;
      double weight = interpolated ? astro_taps_corner_weight(fractions, corner) : 1;
      if (line.turns == 0)
        add_values(sums, rows->values, at, reals, is_double, weight);
      else
        add_turned(sums, rows->values, at, reals, is_double, weight,
                   line.turns * rows->wavenumbers[channel]);
    }
  }
  end_run(self, run);
}

typedef void (*CollectRow)(const Collect *work, guint64 row, Run *run, guint64 *gridded,
                           guint64 *outside);

#define COLLECT(name, is_double, interpolated, reals)                                              \
  static void name(const Collect *work, guint64 row, Run *run, guint64 *gridded, guint64 *outside) \
  {                                                                                                \
    collect_row(work, row, run, gridded, outside, is_double, interpolated, reals);                 \
  }
COLLECT(collect_single, FALSE, FALSE, 2 * work->self->config.products)
COLLECT(collect_single_4, FALSE, FALSE, 8)
COLLECT(collect_single_interpolated, FALSE, TRUE, 2 * work->self->config.products)
COLLECT(collect_double, TRUE, FALSE, 2 * work->self->config.products)
COLLECT(collect_double_interpolated, TRUE, TRUE, 2 * work->self->config.products)

static CollectRow collect_row_of(const AstroWProjection *self)
{
  gboolean interpolated = self->config.taps->interpolated;
  if (self->config.taps->is_double)
    return interpolated ? collect_double_interpolated : collect_double;
  if (interpolated)
    return collect_single_interpolated;
  return self->config.products == 4 ? collect_single_4 : collect_single;
}

static void collect_piece(gpointer data, guint64 piece)
{
  Collect *work = data;
  const AstroWProjection *self = work->self;
  CollectRow collect = collect_row_of(self);
  guint64 row = work->row + piece * work->rows_each;
  guint64 end = MIN(row + work->rows_each, work->rows->rows);
  Run run = { .keys = work->keys + piece * work->room,
              .values = work->values + piece * work->room * self->value_bytes,
              .sums = g_new(double, 16 * self->config.products) };

  work->gridded[piece] = work->outside[piece] = 0;
  for (; row < end; row++)
    collect(work, row, &run, &work->gridded[piece], &work->outside[piece]);
  work->n_records[piece] = run.n;
  g_free(run.sums);
}

void astro_wprojection_add(AstroWProjection *self, const AstroGridRows *rows, guint first, guint n,
                           gpointer grid)
{
  const guint64 of_row = (guint64)n * (self->config.taps->interpolated ? 8 : 1);
  Collect work = { .self = self, .rows = rows, .first = first, .n = n };

  if (n == 0)
    return;
  work.rows_each = MAX(PIECE_RECORDS / of_row, 1);
  work.room = work.rows_each * of_row;
  work.keys = g_new(guint64, PIECES * work.room);
  work.values = g_malloc(PIECES * work.room * self->value_bytes);
  for (; work.row < rows->rows; work.row += PIECES * work.rows_each) {
    guint64 pieces = MIN((rows->rows - work.row + work.rows_each - 1) / work.rows_each, PIECES);
    astro_parallel(pieces, self->config.threads, collect_piece, &work);
    for (guint64 i = 0; i < pieces; i++) {
      self->counts.gridded += work.gridded[i];
      self->counts.outside += work.outside[i];
      for (guint64 from = 0, some; from < work.n_records[i]; from += some) {
        if (self->n == self->capacity)
          astro_wprojection_flush(self, grid);
        some = MIN(work.n_records[i] - from, self->capacity - self->n);
        memcpy(self->keys + self->n, work.keys + i * work.room + from, some * sizeof(guint64));
        memcpy(self->values + self->n * self->value_bytes,
               work.values + (i * work.room + from) * self->value_bytes, some * self->value_bytes);
        self->n += some;
      }
    }
  }
  g_free(work.keys);
  g_free(work.values);
}

/* -- sorting and adding up -- */

typedef struct {
  AstroWProjection *self;
  gpointer grid;
  Group *groups;
  guint n_groups;
  guint64 *entries, *scratch; /* then in place of scratch: */
  gconstpointer *taps;        /* of each record, as they were for row 0 of the grid */
  guint32 *first_rows;
  guint8 *values;
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
    double reach_a_row = (double)n[i] * (narrow - class->support + 1) * class->support;
    gboolean few = reach_a_row < 4 * size * size / 4;
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
    flush->entries[group->first + group->n++] =
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
  guint64 *entries = flush->entries + group->first;
  guint64 n = group->n, left = 0;

  if (n == 0)
    return;
  const guint64 *sorted = sort_entries(entries, flush->scratch + group->first, n);
  if (sorted != entries)
    memcpy(entries, sorted, n * sizeof *entries);
  guint8 *sum = flush->values + group->first * self->value_bytes;
  for (guint64 i = 0; i < n; i++) {
    const guint8 *value = self->values + ENTRY_INDEX(entries[i]) * self->value_bytes;
    if (i && ENTRY_PLACE(entries[i]) == ENTRY_PLACE(entries[i - 1])) {
      add_up(self, sum, value);
      continue;
    }
    sum = flush->values + (group->first + left) * self->value_bytes;
    memcpy(sum, value, self->value_bytes);
    flush->first_rows[group->first + left] = ENTRY_V(entries[i]);
    flush->taps[group->first + left] = taps_of(self, entries[i]);
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
  const guint32 *first_rows = flush->first_rows + group->first;
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
    work.taps = flush->taps + group->first + low;
    work.values =
        flush->values + (group->first + low) * self->value_bytes + (gsize)product * 2 * each;
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
  flush.entries = g_new(guint64, self->n);
  flush.scratch = g_new(guint64, self->n);
  flush.taps = g_new(gconstpointer, self->n);
  flush.first_rows = g_new(guint32, self->n);
  flush.values = g_malloc(self->n * self->value_bytes);
  group_entries(&flush);
  astro_parallel(flush.n_groups, self->config.threads, sort_group, &flush);
  for (guint i = 0; i < flush.n_groups; i++)
    self->counts.spread += flush.groups[i].n;
  astro_parallel((self->config.size + BAND - 1) / BAND, self->config.threads, spread_band, &flush);
  self->n = 0;
  g_free(flush.groups);
  g_free(flush.entries);
  g_free(flush.scratch);
  g_free(flush.taps);
  g_free(flush.first_rows);
  g_free(flush.values);
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
    if (class == MAX_CLASSES) {
      g_set_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_SHAPE,
                  "w-planes have more than %d different supports", MAX_CLASSES);
      return FALSE;
    }
    if (class == self->n_classes)
      self->classes[self->n_classes++].support = support;
    self->class_of_plane[i] = (guint8) class;
  }
  if (self->config.size >= least && self->config.size < 1 << CELL_BITS)
    return TRUE;
  g_set_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_SHAPE,
              "the grid is %u cells wide, expected %u to %d", self->config.size, least,
              (1 << CELL_BITS) - 1);
  return FALSE;
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
  self->capacity = CLAMP(memory / (2 * self->value_bytes + 40), MIN_RECORDS, MAX_RECORDS);
  self->keys = g_new(guint64, self->capacity);
  self->values = g_malloc(self->capacity * self->value_bytes);
  return self;
}

void astro_wprojection_free(AstroWProjection *self)
{
  g_free(self->class_of_plane);
  g_free(self->keys);
  g_free(self->values);
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
