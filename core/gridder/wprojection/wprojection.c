/* W-projection of one grid on the CPU: its memory, and when waiting records are spread. */
#include "config.h"
#include "core/gridder/wprojection/records.h"

#define MIN_RECORDS 65536
#define MAX_RECORDS (1 << 22)

static const AstroWProjectionKernels *const variants[] = ASTRO_KERNELS(astro_wprojection_kernels);

static gboolean classify(AstroWProjection *self, GError **error)
{
  const AstroTaps *taps = self->config.taps;
  guint least = ASTRO_TAPS_STEP;
  self->class_of_plane = g_new(guint8, taps->n_planes);
  for (guint i = 0; i < taps->n_planes; i++) {
    const AstroTapsPlane *plane = &taps->planes[i];
    guint8 class = 0;
    least = MAX(least, plane->stride - ASTRO_TAPS_PADDING);
    while (class < self->n_classes && self->classes[class].support != plane->support)
      class += 1;
    if (class == MAX_CLASSES)
      return astro_backend_refuse(error, "w-planes have more than %d different supports",
                                  MAX_CLASSES);
    if (class == self->n_classes)
      self->classes[self->n_classes++] =
          (SupportClass){ .support = plane->support, .stride = plane->stride };
    self->class_of_plane[i] = class;
  }
  if (self->config.size >= least && self->config.size < 1 << CELL_BITS)
    return TRUE;
  return astro_backend_refuse(error, "the grid is %u cells wide, expected %u to %d",
                              self->config.size, least, (1 << CELL_BITS) - 1);
}

static gsize bytes_of_value(guint products, gboolean is_double)
{
  return 2 * products * (is_double ? sizeof(double) : sizeof(float));
}

static guint64 records_in(guint64 memory, gsize value_bytes)
{
  return CLAMP(memory / (2 * value_bytes + 24), MIN_RECORDS, MAX_RECORDS);
}

guint64 astro_wprojection_bytes(guint64 memory, guint products, gboolean is_double)
{
  const gsize value = bytes_of_value(products, is_double);
  return records_in(memory, value) * (2 * value + 24) +
         ASTRO_PIECES * ASTRO_PIECE_RECORDS * (value + sizeof(guint64));
}

AstroWProjection *astro_wprojection_new(const AstroWProjectionConfig *config, GError **error)
{
  AstroWProjection *self = g_new0(AstroWProjection, 1);

  self->config = *config;
  self->kernels = ASTRO_KERNELS_PICK(variants);
  self->value_bytes = bytes_of_value(config->products, config->taps->is_double);
  if (!classify(self, error)) {
    astro_wprojection_free(self);
    return NULL;
  }
  guint64 memory = config->memory ? config->memory : 64 << 20;
  self->capacity = records_in(memory, self->value_bytes);
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

void astro_wprojection_flush(AstroWProjection *self, gpointer grid)
{
  Flush flush = { .self = self, .grid = grid };
  if (self->n == 0)
    return;
  astro_wprojection_merge(&flush);
  if (!astro_is_given_up())
    astro_wprojection_spread(&flush);
  self->n = 0;
  g_free(flush.groups);
}
