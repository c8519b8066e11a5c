/* Distributes visibilities over buckets of neighbouring columns of the grid. */
#include "config.h"
#include "core/gridder/buckets.h"

#include "core/backend/threads.h"
#include "core/kit/pages.h"
#include "core/gridder/rows.h"

#define PARTS ASTRO_ROWS_PARTS
#define OUT G_MAXUINT16
#define MAX_COLUMNS 8192
/* A bucket has about 1 / SHARES of all visibilities, or a single column with more. */
#define SHARES 512
/* Buckets are chosen by a sample: 1 / SAMPLE_OF of the visibilities. */
#define SAMPLE_OF 64
#define MAX_SAMPLES (1 << 18)

/* ---- choosing buckets ---- */

/* The column of a visibility at u, v (wavelengths); the columns of a band follow each other. */
static gsize column_of(const AstroBuckets *self, double u, double v)
{
  const guint support = self->grid->spread.support;
  double inside;
  const guint first_u = astro_first_cell(u * self->per_cell + self->middle, support, &inside);
  const guint first_v = astro_first_cell(v * self->per_cell + self->middle, support, &inside);
  return (gsize)(first_v / ASTRO_BAND_ROWS) * self->columns +
         (astro_sorted_group(first_u, first_v, self->rows->is_double) >> self->shift);
}

/* Counts the samples in each column. There is one sample in each stretch of visibilities, at a
 * random place, since rows are alike. Returns how many lie in the grid. */
static guint64 take_samples(const AstroBuckets *self, guint32 *counts)
{
  const guint64 n = self->rows->rows * self->channels;
  const guint64 samples = CLAMP(n / SAMPLE_OF, MIN(n, 1), MAX_SAMPLES);
  guint64 random = 1, held = 0;
  for (guint64 i = 0; i < samples; i++) {
    const guint64 from = n * i / samples, stretch = n * (i + 1) / samples - from;
    random = random * 6364136223846793005u + 1442695040888963407u;
    const guint64 at = from + (random >> 33) % stretch;
    const double *uvw = self->rows->uvw + 3 * (at / self->channels);
    const double per = self->rows->wavenumbers[self->first + at % self->channels];
    if (!astro_grid_holds(self->grid, uvw[0] * per, uvw[1] * per))
      continue;
    counts[column_of(self, uvw[0] * per, uvw[1] * per)]++;
    held++;
  }
  return held;
}

/* A bucket takes columns of its band until it has its share. */
static void find_buckets(AstroBuckets *self)
{
  g_autofree guint32 *counts = g_new0(guint32, (gsize)self->n_bands * self->columns);
  /* Rounded up, so that there are at most 2 * SHARES of them, beside one a band. */
  const guint64 share = take_samples(self, counts) / SHARES + 1;
  guint n = 0;
  self->buckets = g_new0(AstroBucket, (gsize)self->n_bands + 2 * SHARES);
  for (guint band = 0; band < self->n_bands; band++) {
    guint64 held = 0;
    for (guint column = 0; column < self->columns; column++) {
      const gsize at = (gsize)band * self->columns + column;
      if (column == 0 || (held > 0 && held + counts[at] > share && n + self->n_bands < OUT)) {
        self->buckets[n++] = (AstroBucket){ .band = band, .first_group = column << self->shift };
        held = 0;
      }
      held += counts[at];
      self->buckets[n - 1].n_groups += 1u << self->shift;
      self->bucket_at[at] = (guint16)(n - 1);
    }
  }
  self->n_buckets = n;
}

/* ---- counting ---- */

static guint16 find_bucket(const AstroBuckets *self, guint64 row, guint channel)
{
  const double per = self->rows->wavenumbers[channel], *uvw = self->rows->uvw + 3 * row;
  if (!astro_grid_holds(self->grid, uvw[0] * per, uvw[1] * per) ||
      astro_rows_is_zero(self->rows, row * self->rows->channels + channel))
    return OUT;
  return self->bucket_at[column_of(self, uvw[0] * per, uvw[1] * per)];
}

static void count_part(gpointer data, guint64 part)
{
  AstroBuckets *self = data;
  guint64 from, to;
  astro_rows_part(self->rows->rows, part, &from, &to);
  guint16 *bucket = self->bucket_of + from * self->channels;
  for (guint64 row = from; row < to; row++)
    for (guint c = self->first; c < self->first + self->channels; c++, bucket++) {
      *bucket = find_bucket(self, row, c);
      if (*bucket != OUT)
        self->starts[*bucket * PARTS + part]++;
    }
}

static void counts_to_starts(AstroBuckets *self)
{
  for (guint i = 0; i < self->n_buckets; i++) {
    AstroBucket *bucket = &self->buckets[i];
    bucket->start = self->n;
    for (guint part = 0; part < PARTS; part++) {
      const guint64 n = self->starts[i * PARTS + part];
      self->starts[i * PARTS + part] = self->n;
      self->n += n;
    }
    bucket->n = self->n - bucket->start;
  }
}

gboolean astro_buckets_count(AstroBuckets *self)
{
  const guint last =
      astro_sorted_group(self->grid->size - 1, ASTRO_BAND_ROWS - 1, self->rows->is_double);
  g_mutex_init(&self->lock);
  self->per_cell = 1 / self->grid->cell;
  self->middle = self->grid->size / 2;
  self->n_bands = (self->grid->size + ASTRO_BAND_ROWS - 1) / ASTRO_BAND_ROWS;
  while (last >> self->shift >= MAX_COLUMNS)
    self->shift++;
  self->columns = (last >> self->shift) + 1;
  self->bucket_at = g_new(guint16, (gsize)self->n_bands * self->columns);
  find_buckets(self);
  self->starts = g_new0(guint64, (gsize)self->n_buckets * PARTS);
  self->bucket_of = astro_pages_alloc(self->rows->rows * self->channels * sizeof *self->bucket_of);
  if (!self->bucket_of)
    return FALSE;
  astro_parallel(PARTS, self->threads, count_part, self);
  counts_to_starts(self);
  return TRUE;
}

/* The bucket and the samples of each column; and the starts of each bucket's parts. */
guint64 astro_buckets_bytes(const AstroGrid *grid)
{
  const guint64 bands = (grid->size + ASTRO_BAND_ROWS - 1) / ASTRO_BAND_ROWS;
  return bands * MAX_COLUMNS * (sizeof(guint16) + sizeof(guint32)) +
         (bands + 2 * SHARES) * (PARTS * sizeof(guint64) + 2 * sizeof(AstroBucket));
}

void astro_buckets_clear(AstroBuckets *self)
{
  g_mutex_clear(&self->lock);
  g_free(self->buckets);
  g_free(self->bucket_at);
  g_free(self->starts);
  free(self->bucket_of);
}

/* ---- distributing ---- */

typedef struct {
  AstroBuckets *buckets;
  guint32 *from;
  guint step, words; /* a visibility's values, in words of 8 bytes */
  guint64 *values;
} Distribution;

/* A page goes back once all parts are done that have values in it. */
static void give_back(AstroBuckets *self, guint64 part)
{
  const AstroGridRows *rows = self->rows;
  const gsize row = (gsize)rows->channels * rows->products * (rows->is_double ? 16 : 8);
  guint64 first = part, end = part + 1, from, to, unused;
  if (!rows->spent || self->channels != rows->channels)
    return;
  g_mutex_lock(&self->lock);
  self->done[part] = TRUE;
  while (first > 0 && self->done[first - 1])
    first--;
  while (end < PARTS && self->done[end])
    end++;
  astro_rows_part(rows->rows, first, &from, &unused);
  astro_rows_part(rows->rows, end - 1, &unused, &to);
  astro_pages_give_back((char *)rows->values + from * row, (to - from) * row);
  g_mutex_unlock(&self->lock);
}

static void distribute_part(gpointer data, guint64 part)
{
  const Distribution *target = data;
  AstroBuckets *self = target->buckets;
  const guint words = target->words;
  guint64 from, to;
  astro_rows_part(self->rows->rows, part, &from, &to);
  const guint16 *bucket = self->bucket_of + from * self->channels;
  for (guint64 row = from; row < to; row++)
    for (guint c = self->first; c < self->first + self->channels; c++, bucket++) {
      if (*bucket == OUT)
        continue;
      const guint64 at = self->starts[*bucket * PARTS + part]++;
      const guint64 number = row * self->rows->channels + c;
      const guint64 *values = (const guint64 *)self->rows->values + number * words;
      target->from[at * target->step] = (guint32)number;
      for (guint i = 0; i < words; i++)
        target->values[at * words + i] = values[i];
    }
  give_back(self, part);
}

void astro_buckets_distribute(AstroBuckets *self, guint32 *from, guint step, gpointer values)
{
  const guint words = self->rows->products * (self->rows->is_double ? 2 : 1);
  Distribution target = { .buckets = self,
                          .from = from,
                          .step = step,
                          .words = self->rows->values ? words : 0,
                          .values = values };
  astro_parallel(PARTS, self->threads, distribute_part, &target);
  g_clear_pointer(&self->bucket_of, free);
}
