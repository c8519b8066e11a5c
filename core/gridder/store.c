/* Rows in a temporary file. A part of it has its rows' (u,v,w), the weights and the factors of one
 * channel after another, so that those of a channel can be read alone, and the values. */
#include "config.h"
#include "core/gridder/store.h"

#include <unistd.h>
#include "core/kit/pages.h"
#include "core/lib/files/nameless.h"

typedef struct {
  guint64 at, rows;
} Part;

struct _AstroRowStore {
  AstroRowStoreShape shape;
  int file;
  guint64 bytes, rows;
  GArray *parts; /* Part */
  gboolean has_factors;
  /* Room for a part. */
  double *uvw;
  float *weights, *factors;
  gpointer values;
};

/* ---- sizes ---- */

static gsize value_bytes(const AstroRowStoreShape *shape)
{
  return (gsize)shape->channels * shape->products * (shape->is_double ? 16 : 8);
}

static gsize weight_bytes(const AstroRowStoreShape *shape)
{
  return shape->has_weights ? shape->channels * sizeof(float) : 0;
}

static gsize uvw_bytes(void)
{
  return 3 * sizeof(double);
}

static gsize row_bytes(const AstroRowStoreShape *shape)
{
  return uvw_bytes() + 2 * weight_bytes(shape) + value_bytes(shape);
}

guint64 astro_row_store_bytes(const AstroRowStoreShape *shape, guint64 part_rows)
{
  return part_rows * row_bytes(shape);
}

static guint64 weights_at(const AstroRowStore *self, const Part *part, guint channel)
{
  return part->at + part->rows * (uvw_bytes() + channel * sizeof(float));
}

static guint64 factors_at(const AstroRowStore *self, const Part *part, guint channel)
{
  return weights_at(self, part, channel) + part->rows * weight_bytes(&self->shape);
}

static guint64 values_at(const AstroRowStore *self, const Part *part)
{
  return part->at + part->rows * (uvw_bytes() + 2 * weight_bytes(&self->shape));
}

/* ---- the file ---- */

static gboolean open_file(AstroRowStore *self, GError **error)
{
  g_autoptr(GError) why = NULL;
  self->file = astro_nameless_file("visibilities-XXXXXX", &why);
  if (self->file < 0)
    return astro_backend_no_memory(
        error,
        "the visibilities do not fit into max-memory, and there is no temporary file for them "
        "(%s): expected more memory, or a folder in TMPDIR that can be written",
        why->message);
  return TRUE;
}

static gboolean refuse_file(const AstroRowStore *self, const char *what, int why, GError **error)
{
  return astro_backend_no_memory(
      error,
      "%s a temporary file in %s with %" G_GUINT64_FORMAT
      " bytes of visibilities, which do not fit into max-memory: %s; expected more room there, "
      "another folder in TMPDIR, or more memory",
      what, g_get_tmp_dir(), self->bytes, g_strerror(why));
}

static gboolean write_at(AstroRowStore *self, gconstpointer data, gsize bytes, guint64 at,
                         GError **error)
{
  const int why = astro_write_at(self->file, data, bytes, at);
  if (why)
    return refuse_file(self, "cannot write", why, error);
  self->bytes = MAX(self->bytes, at + bytes);
  return astro_backend_goes_on(error);
}

static gboolean read_at(AstroRowStore *self, gpointer data, gsize bytes, guint64 at, GError **error)
{
  const int why = astro_read_at(self->file, data, bytes, at);
  return why ? refuse_file(self, "cannot read", why, error) : astro_backend_goes_on(error);
}

/* ---- stores ---- */

AstroRowStore *astro_row_store_new(const AstroRowStoreShape *shape, GError **error)
{
  AstroRowStore *self = g_new0(AstroRowStore, 1);
  const gsize weights = shape->part_rows * weight_bytes(shape);
  self->shape = *shape;
  self->parts = g_array_new(FALSE, FALSE, sizeof(Part));
  self->uvw = astro_pages_alloc(shape->part_rows * uvw_bytes());
  self->weights = astro_pages_alloc(weights);
  self->factors = astro_pages_alloc(weights);
  self->values = astro_pages_alloc(shape->part_rows * value_bytes(shape));
  self->file = -1;
  if (!self->uvw || !self->weights || !self->factors || !self->values)
    astro_backend_no_memory(error, "no memory for %" G_GUINT64_FORMAT " bytes of visibilities",
                            astro_row_store_bytes(shape, shape->part_rows));
  else if (open_file(self, error))
    return self;
  astro_row_store_free(self);
  return NULL;
}

void astro_row_store_free(AstroRowStore *self)
{
  if (self->file >= 0)
    close(self->file);
  g_array_unref(self->parts);
  free(self->uvw);
  free(self->weights);
  free(self->factors);
  free(self->values);
  g_free(self);
}

const AstroRowStoreShape *astro_row_store_shape(const AstroRowStore *self)
{
  return &self->shape;
}

guint64 astro_row_store_rows(const AstroRowStore *self)
{
  return self->rows;
}

guint astro_row_store_parts(const AstroRowStore *self)
{
  return self->parts->len;
}

/* ---- writing ---- */

/* Weights by channel, and factors of 1. */
static void turn_weights(AstroRowStore *self, const float *weights, guint64 rows)
{
  const guint channels = self->shape.channels;
  for (guint64 row = 0; row < rows; row++)
    for (guint c = 0; c < channels; c++) {
      self->weights[c * rows + row] = weights[row * channels + c];
      self->factors[c * rows + row] = 1;
    }
}

static gboolean add_part(AstroRowStore *self, const AstroGridRows *rows, const float *weights,
                         guint64 from, guint64 n, GError **error)
{
  const AstroRowStoreShape *shape = &self->shape;
  const Part part = { self->bytes, n };
  const gsize values = value_bytes(shape), all_weights = n * weight_bytes(shape);
  if (shape->has_weights)
    turn_weights(self, weights + from * shape->channels, n);
  if (!write_at(self, rows->uvw + 3 * from, n * uvw_bytes(), part.at, error) ||
      !write_at(self, self->weights, all_weights, weights_at(self, &part, 0), error) ||
      !write_at(self, self->factors, all_weights, factors_at(self, &part, 0), error) ||
      !write_at(self, (const char *)rows->values + from * values, n * values,
                values_at(self, &part), error))
    return FALSE;
  g_array_append_val(self->parts, part);
  self->rows += n;
  return TRUE;
}

gboolean astro_row_store_add(AstroRowStore *self, const AstroGridRows *rows, const float *weights,
                             GError **error)
{
  for (guint64 from = 0, n; from < rows->rows; from += n) {
    n = MIN(self->shape.part_rows, rows->rows - from);
    if (!add_part(self, rows, weights, from, n, error))
      return FALSE;
  }
  return TRUE;
}

/* ---- reading ---- */

static const Part *part_of(const AstroRowStore *self, guint number)
{
  return &g_array_index(self->parts, Part, number);
}

static void multiply(AstroRowStore *self, guint64 rows)
{
  const guint channels = self->shape.channels, n = 2 * self->shape.products;
  for (guint64 row = 0; row < rows; row++)
    for (guint c = 0; c < channels; c++) {
      const gsize at = (row * channels + c) * n;
      const double factor = self->factors[c * rows + row];
      for (guint i = 0; i < n; i++)
        if (self->shape.is_double)
          ((double *)self->values)[at + i] *= factor;
        else
          ((float *)self->values)[at + i] *= (float)factor;
    }
}

gboolean astro_row_store_read(AstroRowStore *self, guint number, AstroGridRows *rows,
                              GError **error)
{
  const AstroRowStoreShape *shape = &self->shape;
  const Part *part = part_of(self, number);
  if (!read_at(self, self->uvw, part->rows * uvw_bytes(), part->at, error) ||
      !read_at(self, self->values, part->rows * value_bytes(shape), values_at(self, part), error) ||
      (self->has_factors && !read_at(self, self->factors, part->rows * weight_bytes(shape),
                                     factors_at(self, part, 0), error)))
    return FALSE;
  if (self->has_factors)
    multiply(self, part->rows);
  *rows = (AstroGridRows){ .rows = part->rows,
                           .channels = shape->channels,
                           .products = shape->products,
                           .is_double = shape->is_double,
                           .uvw = self->uvw,
                           .wavenumbers = shape->wavenumbers,
                           .values = self->values };
  return TRUE;
}

gboolean astro_row_store_read_weights(AstroRowStore *self, guint number, guint first, guint n,
                                      AstroWeightedRows *rows, GError **error)
{
  const Part *part = part_of(self, number);
  for (gsize i = 0; i < part->rows * n; i++)
    self->factors[i] = 1;
  *rows = (AstroWeightedRows){ .rows = part->rows,
                               .uvw = self->uvw,
                               .weights = self->weights,
                               .factors = self->factors,
                               .row_step = 1,
                               .channel_step = part->rows };
  return read_at(self, self->uvw, part->rows * uvw_bytes(), part->at, error) &&
         read_at(self, self->weights, part->rows * n * sizeof(float), weights_at(self, part, first),
                 error);
}

gboolean astro_row_store_write_factors(AstroRowStore *self, guint number, guint first, guint n,
                                       GError **error)
{
  const Part *part = part_of(self, number);
  self->has_factors = TRUE;
  return write_at(self, self->factors, part->rows * n * sizeof(float),
                  factors_at(self, part, first), error);
}
