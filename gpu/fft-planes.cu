/* Planes: rows that have samples are transformed from the input to the output, only the columns of them that
 * somebody wants; then those columns, in two passes by way of a room of our own. */
#include "gpu/fft-rows.h"

enum {
  GROUP_BYTES = 32 << 20, /* of planes that go through all passes together, in the second cache */
  LEAST_WIDTH = 32,
  LINE_BYTES = 256, /* columns are made by so many bytes of a row */
  MOST_PLANES = 65535,
};

struct AstroFftPlanes {
  AstroFftConfig config;
  AstroPlace place;
  gboolean is_double;
  guint32 height, width;
  gsize sample_bytes;
  guint32 wanted, n_wanted; /* columns, whole lines of them */
  AstroFftRowsPass rows;
  AstroFftColumns columns;
  gpointer row_tables, column_tables, held, blank;
  gsize held_bytes, blank_bytes;
};

static gboolean is_double(const AstroFftConfig *config)
{
  return config->from == ASTRO_FORMAT_CF64LE;
}

static gboolean plan_rows(const AstroFftConfig *config, const AstroPlace *place, AstroFftRowsPass *pass)
{
  int bytes;
  return cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, place->device->index) == cudaSuccess &&
         astro_fft_rows_plan(config->extents[config->n_axes - 1], is_double(config), (gsize)bytes, pass);
}

gboolean astro_fft_planes_fit(const AstroFftConfig *config, const AstroPlace *place)
{
  const guint x = config->n_axes - 1, y = x - 1;
  AstroFftRowsPass pass;

  if (config->n_axes < 2 || config->from != config->to || !astro_format_info(config->from)->is_complex)
    return FALSE;
  for (guint i = 0; i < config->n_axes; i++)
    if (config->axes[i].transformed != (i == x || i == y))
      return FALSE;
  return config->extents[x] >= LEAST_WIDTH && config->extents[x] * config->extents[y] <= G_MAXUINT32 &&
         astro_fft_columns_first(config->extents[y]) &&
         plan_rows(config, place, &pass);
}

/* ---- instances ---- */

void astro_fft_planes_free(AstroFftPlanes *self)
{
  gpointer rooms[] = { self->row_tables, self->column_tables, self->held, self->blank };
  for (guint i = 0; i < G_N_ELEMENTS(rooms); i++)
    if (rooms[i])
      self->place.device->funcs->free(self->place.device, rooms[i]);
  g_free(self);
}

/* The host's tables are staged before the copy returns. */
static gboolean send(AstroFftPlanes *self, gconstpointer tables, gsize bytes, gpointer *to, GError **error)
{
  return self->place.device->funcs->alloc(self->place.device, bytes, to, error) &&
         CUDA_TRY(cudaMemcpyAsync(*to, tables, bytes, cudaMemcpyHostToDevice, astro_cuda_stream(self->place.queue)));
}

static gboolean send_tables(AstroFftPlanes *self, double scale, GError **error)
{
  const gsize row_bytes = astro_fft_rows_tables(&self->rows, self->is_double, NULL);
  const gsize column_bytes = astro_fft_columns_tables(self->height, scale, self->is_double, NULL);
  g_autofree gpointer rows = g_malloc(row_bytes), columns = g_malloc(column_bytes);

  astro_fft_rows_tables(&self->rows, self->is_double, rows);
  astro_fft_columns_tables(self->height, scale, self->is_double, columns);
  if (!send(self, rows, row_bytes, &self->row_tables, error) ||
      !send(self, columns, column_bytes, &self->column_tables, error))
    return FALSE;
  self->rows.tables = self->row_tables;
  self->columns.tables = self->column_tables;
  return TRUE;
}

/* What is wanted along an axis: all, where nothing is said. */
static void find_wanted(const AstroFftAxis *axis, guint32 n, guint32 grain, guint32 *wanted, guint32 *n_wanted)
{
  const guint32 end = axis->n_wanted ? (guint32)(axis->wanted + axis->n_wanted) : n;
  *wanted = (guint32)axis->wanted / grain * grain;
  *n_wanted = MIN((end + grain - 1) / grain * grain, n) - *wanted;
}

AstroFftPlanes *astro_fft_planes_new(const AstroFftConfig *config, double scale, const AstroPlace *place,
                                     GError **error)
{
  AstroFftPlanes *self = g_new0(AstroFftPlanes, 1);
  const AstroFftAxis *x = &config->axes[config->n_axes - 1], *y = x - 1;
  AstroFftRowsPass *rows = &self->rows;
  AstroFftColumns *columns = &self->columns;

  self->config = *config;
  self->place = *place;
  self->is_double = is_double(config);
  self->sample_bytes = self->is_double ? sizeof(double2) : sizeof(float2);
  self->height = (guint32)config->extents[config->n_axes - 2];
  self->width = (guint32)config->extents[config->n_axes - 1];
  plan_rows(config, place, rows);
  rows->origin_in = (guint32)x->origin_in;
  find_wanted(x, self->width, LINE_BYTES / self->sample_bytes, &self->wanted, &self->n_wanted);
  rows->origin_out = ((guint32)x->origin_out + self->width - self->wanted) % self->width;
  rows->n_wanted = self->n_wanted;
  rows->im = config->inverse ? -1.0f : 1.0f; /* an inverse transform is a forward one between conjugates */
  rows->height = AstroDivisor(self->height);
  rows->others = AstroDivisor(self->height / astro_fft_columns_first(self->height));
  rows->column_origin = (guint32)y->origin_in;
  columns->n = self->height;
  columns->width = columns->between_row = self->n_wanted;
  columns->in_row = self->width;
  columns->origin_in = (guint32)y->origin_in;
  columns->origin_out = (guint32)y->origin_out;
  find_wanted(y, self->height, 1, &columns->wanted, &columns->n_wanted);
  columns->conjugate = config->inverse;
  columns->is_double = self->is_double;
  if (send_tables(self, scale, error))
    return self;
  astro_fft_planes_free(self);
  return NULL;
}

/* ---- work ---- */

static gboolean need(AstroFftPlanes *self, gpointer *room, gsize *bytes, gsize wanted, GError **error)
{
  const AstroDeviceFuncs *funcs = self->place.device->funcs;

  if (*bytes >= wanted)
    return TRUE;
  if (!CUDA_TRY(cudaStreamSynchronize(astro_cuda_stream(self->place.queue))))
    return FALSE;
  if (*room)
    funcs->free(self->place.device, *room);
  *room = NULL;
  *bytes = 0;
  if (!funcs->alloc(self->place.device, wanted, room, error))
    return FALSE;
  *bytes = wanted;
  return TRUE;
}

static gboolean run_group(AstroFftPlanes *self, const guint8 *in, guint8 *out, guint32 planes, GError **error)
{
  cudaStream_t stream = astro_cuda_stream(self->place.queue);
  AstroFftRowsPass rows = self->rows;
  AstroFftColumns columns = self->columns;

  out += self->wanted * self->sample_bytes;
  rows.in = in;
  rows.out = out;
  rows.blank = (guint8 *)self->blank;
  columns.planes = planes;
  columns.in = columns.out = out;
  columns.blank = rows.blank;
  columns.between = self->held;
  return (self->is_double ? astro_fft_rows_double : astro_fft_rows_single)(&rows, planes * self->height, stream,
                                                                           error) &&
         astro_fft_columns(&columns, stream, error);
}

gboolean astro_fft_planes_run(AstroFftPlanes *self, gconstpointer in, gpointer out, guint64 steps, GError **error)
{
  const gsize plane_bytes = (gsize)self->height * self->width * self->sample_bytes;
  AstroFftPass passes[ASTRO_MAX_AXES];

  astro_fft_passes(&self->config, steps, passes); /* the first along x */
  const guint64 planes = passes[0].outer / self->height;
  const guint64 group = CLAMP(GROUP_BYTES / plane_bytes, 1, MIN(planes, MOST_PLANES));
  const gsize held_bytes = group * self->height * self->n_wanted * self->sample_bytes;
  if (!need(self, &self->held, &self->held_bytes, held_bytes, error) ||
      !need(self, &self->blank, &self->blank_bytes, group * self->height, error))
    return FALSE;
  for (guint64 plane = 0; plane < planes; plane += group)
    if (!run_group(self, (const guint8 *)in + plane * plane_bytes, (guint8 *)out + plane * plane_bytes,
                   (guint32)MIN(group, planes - plane), error))
      return FALSE;
  return TRUE;
}
