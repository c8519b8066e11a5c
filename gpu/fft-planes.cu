/* Planes: rows that have samples are transformed from the input to the output, only the columns of them that
 * somebody wants; then those columns, in two passes by way of a room of our own. */
#include "gpu/fft-rows.h"

enum {
  GROUP_BYTES = 32 << 20, /* of planes that go through all passes together, in the second cache */
  LEAST_WIDTH = 32,
  LINE_BYTES = 256, /* columns are made by so many bytes of a row */
  MOST_PLANES = 65535,
};

/* Where all of large planes is wanted, and where rows do not fit our kernels, they are cuFFT's: it is quicker with
 * them, but leaves nothing out. What is moved, the columns move then. */
struct AstroFftPlanes {
  AstroFftConfig config;
  AstroPlace place;
  gboolean is_double;
  guint32 height, width;
  gsize sample_bytes, plane_bytes;
  guint32 wanted, n_wanted; /* columns, whole lines of them */
  AstroFftRowsPass rows;
  AstroFftColumns columns;
  gpointer row_tables, column_tables, held, blank;
  gsize held_bytes, blank_bytes;
  const AstroCufft *cufft; /* NULL: rows are ours */
  int plan;
  gpointer work;
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

/* Columns can move an origin that is a change of signs. */
static gboolean suits_cufft(const AstroFftAxis *x, guint64 width)
{
  return x->origin_in == 0 || x->origin_in * 2 == width;
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
         (plan_rows(config, place, &pass) || suits_cufft(&config->axes[x], config->extents[x]));
}

/* ---- instances ---- */

void astro_fft_planes_free(AstroFftPlanes *self)
{
  gpointer rooms[] = { self->row_tables, self->column_tables, self->held, self->blank, self->work };
  if (self->cufft && self->plan >= 0)
    self->cufft->destroy(self->plan);
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

static gboolean send_row_tables(AstroFftPlanes *self, GError **error)
{
  const gsize bytes = astro_fft_rows_tables(&self->rows, self->is_double, NULL);
  g_autofree gpointer tables = g_malloc(bytes);

  astro_fft_rows_tables(&self->rows, self->is_double, tables);
  if (!send(self, tables, bytes, &self->row_tables, error))
    return FALSE;
  self->rows.tables = self->row_tables;
  return TRUE;
}

static gboolean send_column_tables(AstroFftPlanes *self, double scale, GError **error)
{
  const gsize bytes = astro_fft_columns_tables(self->height, scale, self->is_double, NULL);
  g_autofree gpointer tables = g_malloc(bytes);

  astro_fft_columns_tables(self->height, scale, self->is_double, tables);
  if (!send(self, tables, bytes, &self->column_tables, error))
    return FALSE;
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

static gboolean take_cufft(AstroFftPlanes *self, const AstroFftAxis *x, GError **error)
{
  const AstroCufft *cufft = self->cufft = astro_cufft_get(NULL);
  long long n = self->width;
  size_t bytes = 0;

  self->plan = -1;
  self->columns.width_roll = (guint32)(self->width - x->origin_out) % self->width;
  self->columns.flip = x->origin_in != 0;
  self->columns.conjugate_in = self->config.inverse;
  return astro_cufft_ok(cufft->create(&self->plan), "cufftCreate", error) &&
         astro_cufft_ok(cufft->set_auto_allocation(self->plan, 0), "cufftSetAutoAllocation", error) &&
         astro_cufft_ok(cufft->make_plan(self->plan, 1, &n, &n, 1, n, &n, 1, n, self->is_double ? CUFFT_Z2Z : CUFFT_C2C,
                                         self->height, &bytes),
                        "cufftMakePlanMany64", error) &&
         astro_cufft_ok(cufft->set_stream(self->plan, astro_cuda_stream(self->place.queue)), "cufftSetStream", error) &&
         (bytes == 0 || (self->place.device->funcs->alloc(self->place.device, bytes, &self->work, error) &&
                         astro_cufft_ok(cufft->set_work_area(self->plan, self->work), "cufftSetWorkArea", error)));
}

static gboolean set_rows(AstroFftPlanes *self, const AstroFftAxis *x, const AstroFftAxis *y, GError **error)
{
  const gboolean has_kernels = plan_rows(&self->config, &self->place, &self->rows);
  AstroFftRowsPass *rows = &self->rows;

  self->n_wanted = self->width;
  if (has_kernels)
    find_wanted(x, self->width, LINE_BYTES / self->sample_bytes, &self->wanted, &self->n_wanted);
  if (!has_kernels || (self->n_wanted == self->width && self->plane_bytes >= GROUP_BYTES && suits_cufft(x, self->width)))
    return take_cufft(self, x, error);
  rows->origin_in = (guint32)x->origin_in;
  rows->origin_out = ((guint32)x->origin_out + self->width - self->wanted) % self->width;
  rows->n_wanted = self->n_wanted;
  rows->im = self->config.inverse ? -1.0f : 1.0f; /* an inverse transform is a forward one between conjugates */
  rows->height = AstroDivisor(self->height);
  rows->others = AstroDivisor(self->height / astro_fft_columns_first(self->height));
  rows->column_origin = (guint32)y->origin_in;
  return send_row_tables(self, error);
}

static gboolean set_columns(AstroFftPlanes *self, const AstroFftAxis *y, double scale, GError **error)
{
  AstroFftColumns *columns = &self->columns;

  columns->n = self->height;
  columns->width = columns->between_row = self->n_wanted;
  columns->in_row = self->width;
  columns->origin_in = (guint32)y->origin_in;
  columns->origin_out = (guint32)y->origin_out;
  find_wanted(y, self->height, 1, &columns->wanted, &columns->n_wanted);
  columns->conjugate = self->config.inverse;
  columns->is_double = self->is_double;
  return send_column_tables(self, scale, error);
}

AstroFftPlanes *astro_fft_planes_new(const AstroFftConfig *config, double scale, const AstroPlace *place,
                                     GError **error)
{
  AstroFftPlanes *self = g_new0(AstroFftPlanes, 1);
  const AstroFftAxis *x = &config->axes[config->n_axes - 1], *y = x - 1;

  self->config = *config;
  self->place = *place;
  self->is_double = is_double(config);
  self->sample_bytes = self->is_double ? sizeof(double2) : sizeof(float2);
  self->height = (guint32)config->extents[config->n_axes - 2];
  self->width = (guint32)config->extents[config->n_axes - 1];
  self->plane_bytes = (gsize)self->height * self->width * self->sample_bytes;
  if (set_rows(self, x, y, error) && set_columns(self, y, scale, error))
    return self;
  astro_fft_planes_free(self);
  return NULL;
}

/* ---- work ---- */

static gboolean run_rows(AstroFftPlanes *self, const guint8 *in, guint8 *out, guint32 planes, GError **error)
{
  AstroFftRowsPass rows = self->rows;

  if (self->cufft) {
    for (guint32 i = 0; i < planes; i++)
      if (!astro_cufft_ok(self->cufft->exec(self->plan, (gpointer)(in + i * self->plane_bytes), out + i * self->plane_bytes,
                                            self->config.inverse ? CUFFT_INVERSE : CUFFT_FORWARD),
                          "cufftXtExec", error))
        return FALSE;
    return TRUE;
  }
  rows.in = in;
  rows.out = out;
  rows.blank = (guint8 *)self->blank;
  return (self->is_double ? astro_fft_rows_double : astro_fft_rows_single)(
      &rows, planes * self->height, astro_cuda_stream(self->place.queue), error);
}

static gboolean run_group(AstroFftPlanes *self, const guint8 *in, guint8 *out, guint32 planes, GError **error)
{
  AstroFftColumns columns = self->columns;

  out += self->wanted * self->sample_bytes;
  columns.planes = planes;
  columns.in = columns.out = out;
  columns.blank = self->cufft ? NULL : (const guint8 *)self->blank;
  columns.between = self->held;
  return run_rows(self, in, out, planes, error) &&
         astro_fft_columns(&columns, astro_cuda_stream(self->place.queue), error);
}

gboolean astro_fft_planes_run(AstroFftPlanes *self, gconstpointer in, gpointer out, guint64 steps, GError **error)
{
  AstroFftPass passes[ASTRO_MAX_AXES];

  astro_fft_passes(&self->config, steps, passes); /* the first along x */
  const guint64 planes = passes[0].outer / self->height;
  const guint64 group = CLAMP(GROUP_BYTES / self->plane_bytes, 1, MIN(planes, MOST_PLANES));
  const gsize held_bytes = group * self->height * self->n_wanted * self->sample_bytes;
  if (!astro_fft_need_room(&self->place, &self->held, &self->held_bytes, held_bytes, error) ||
      !astro_fft_need_room(&self->place, &self->blank, &self->blank_bytes, group * self->height, error))
    return FALSE;
  for (guint64 plane = 0; plane < planes; plane += group)
    if (!run_group(self, (const guint8 *)in + plane * self->plane_bytes, (guint8 *)out + plane * self->plane_bytes,
                   (guint32)MIN(group, planes - plane), error))
      return FALSE;
  return TRUE;
}
