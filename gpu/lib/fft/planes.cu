/* Planes. Rows that have samples are transformed from the input to the output, but only their
 * wanted columns; then these columns, in two passes through a buffer of our own. */
#include "gpu/lib/fft/rows.h"

enum {
  GROUP_BYTES = 32 << 20, /* of planes that go through all passes together, in the L2 cache */
  LEAST_WIDTH = 32,
  LINE_BYTES = 256, /* columns are computed in groups of this many bytes of a row */
  MOST_PLANES = 65535,
};

/* Rows are left to cuFFT if all of a large plane is wanted, or if they do not fit our kernels: it
 * is faster with them, but cannot leave anything out. The columns' passes then move the origins. */
struct AstroFftPlanes {
  AstroFftConfig config;
  AstroPlace place;
  gboolean is_double, has_columns;
  guint32 height, width;
  gsize sample_bytes, plane_bytes;
  guint32 wanted, n_wanted; /* columns, in whole lines */
  AstroFftRowsPass rows;
  AstroFftColumns columns;
  gpointer row_tables, column_tables, held, blank, listed;
  gsize held_bytes, blank_bytes, listed_bytes;
  const AstroCufft *cufft; /* NULL: rows have kernels of our own */
  int plan;
  gpointer work;
};

static gboolean is_double(const AstroFftConfig *config)
{
  return config->from == ASTRO_FORMAT_CF64LE;
}

static gboolean plan_rows(const AstroFftConfig *config, const AstroPlace *place,
                          AstroFftRowsPass *pass)
{
  int bytes;
  return cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin,
                                place->device->index) == cudaSuccess &&
         astro_fft_rows_plan(config->extents[config->n_axes - 1], is_double(config),
                             (gsize)bytes - FFT_ROWS_TILES, pass);
}

/* The columns' passes can move an origin along rows that only changes signs. */
static gboolean suits_cufft(const AstroFftAxis *x, guint64 width)
{
  return x->origin_in == 0 || x->origin_in * 2 == width;
}

/* Rows alone are worth our own kernels only if something is left out or moved. */
static gboolean suits_rows(const AstroFftConfig *config, const AstroPlace *place)
{
  const AstroFftAxis *x = &config->axes[config->n_axes - 1];
  AstroFftRowsPass pass;
  return !config->inverse && (config->share_map || x->n_wanted || x->origin_in || x->origin_out) &&
         plan_rows(config, place, &pass);
}

gboolean astro_fft_planes_fit(const AstroFftConfig *config, const AstroPlace *place)
{
  const guint x = config->n_axes - 1, y = x - 1;
  AstroFftRowsPass pass;

  if (config->n_axes < 2 || config->from != config->to ||
      !astro_format_info(config->from)->is_complex)
    return FALSE;
  for (guint i = 0; i < config->n_axes; i++)
    if (config->axes[i].transformed ? i < y : i == x)
      return FALSE;
  if (config->extents[x] < LEAST_WIDTH || config->extents[y] == 0 ||
      config->extents[x] * config->extents[y] > G_MAXUINT32)
    return FALSE;
  if (!config->axes[y].transformed)
    return suits_rows(config, place);
  return astro_fft_columns_first(config->extents[y]) &&
         (plan_rows(config, place, &pass) || suits_cufft(&config->axes[x], config->extents[x]));
}

/* ---- instances ---- */

void astro_fft_planes_free(AstroFftPlanes *self)
{
  gpointer rooms[] = { self->row_tables, self->column_tables, self->held,
                       self->blank,      self->listed,        self->work };
  if (self->cufft && self->plan >= 0)
    self->cufft->destroy(self->plan);
  for (guint i = 0; i < G_N_ELEMENTS(rooms); i++)
    astro_cuda_free(&self->place, &rooms[i]);
  g_free(self);
}

/* The copy returns only once it has read the host's tables. */
static gboolean send(AstroFftPlanes *self, gconstpointer tables, gsize bytes, gpointer *to,
                     GError **error)
{
  return self->place.device->funcs->alloc(self->place.device, bytes, to, error) &&
         CUDA_TRY(cudaMemcpyAsync(*to, tables, bytes, cudaMemcpyHostToDevice,
                                  astro_cuda_stream(self->place.queue)));
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

/* Finds the wanted range along an axis; all, if none is set. */
static void find_wanted(const AstroFftAxis *axis, guint32 n, guint32 grain, guint32 *wanted,
                        guint32 *n_wanted)
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
         astro_cufft_ok(cufft->set_auto_allocation(self->plan, 0), "cufftSetAutoAllocation",
                        error) &&
         astro_cufft_ok(cufft->make_plan(self->plan, 1, &n, &n, 1, n, &n, 1, n,
                                         self->is_double ? CUFFT_Z2Z : CUFFT_C2C, self->height,
                                         &bytes),
                        "cufftMakePlanMany64", error) &&
         astro_cufft_ok(cufft->set_stream(self->plan, astro_cuda_stream(self->place.queue)),
                        "cufftSetStream", error) &&
         (bytes == 0 ||
          (self->place.device->funcs->alloc(self->place.device, bytes, &self->work, error) &&
           astro_cufft_ok(cufft->set_work_area(self->plan, self->work), "cufftSetWorkArea",
                          error)));
}

static gboolean set_rows(AstroFftPlanes *self, const AstroFftAxis *x, const AstroFftAxis *y,
                         GError **error)
{
  const gboolean has_kernels = plan_rows(&self->config, &self->place, &self->rows);
  AstroFftRowsPass *rows = &self->rows;

  self->n_wanted = self->width;
  if (has_kernels)
    find_wanted(x, self->width, LINE_BYTES / self->sample_bytes, &self->wanted, &self->n_wanted);
  if (!has_kernels || (self->has_columns && self->n_wanted == self->width &&
                       self->plane_bytes >= GROUP_BYTES && suits_cufft(x, self->width)))
    return take_cufft(self, x, error);
  rows->origin_in = (guint32)x->origin_in;
  rows->origin_out = ((guint32)x->origin_out + self->width - self->wanted) % self->width;
  rows->n_wanted = self->n_wanted;
  rows->im = self->config.inverse ? -1.0f : 1.0f; /* inverse: a forward transform of conjugates */
  rows->height = AstroDivisor(self->height);
  if (self->has_columns)
    rows->others = AstroDivisor(self->height / astro_fft_columns_first(self->height));
  rows->column_origin = (guint32)y->origin_in;
  rows->tiles = astro_grid_tiles(self->width);
  rows->tile_rows = AstroDivisor(astro_grid_tiles(self->height));
  rows->share = AstroDivisor((guint32)MAX(self->config.share_map, 1));
  rows->listed_rows = AstroDivisor(rows->share.by * ASTRO_GRID_TILE);
  return send_row_tables(self, error);
}

static gboolean set_columns(AstroFftPlanes *self, const AstroFftAxis *y, double scale,
                            GError **error)
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

AstroFftPlanes *astro_fft_planes_new(const AstroFftConfig *config, double scale,
                                     const AstroPlace *place, GError **error)
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
  self->has_columns = y->transformed;
  if (set_rows(self, x, y, error) && (!self->has_columns || set_columns(self, y, scale, error)))
    return self;
  astro_fft_planes_free(self);
  return NULL;
}

/* ---- work ---- */

/* cuFFT needs zeros in untouched tiles. */
static gboolean run_cufft(AstroFftPlanes *self, const guint8 *in, guint8 *out, guint32 planes,
                          const AstroFftMap *map, GError **error)
{
  const cudaStream_t stream = astro_cuda_stream(self->place.queue);

  if (map->touched && !astro_fft_take_touched(map, in, out, planes, self->is_double, stream, error))
    return FALSE;
  for (guint32 i = 0; i < planes; i++)
    if (!astro_cufft_ok(
            self->cufft->exec(
                self->plan, (gpointer)((map->touched ? out : in) + i * self->plane_bytes),
                out + i * self->plane_bytes, self->config.inverse ? CUFFT_INVERSE : CUFFT_FORWARD),
            "cufftXtExec", error))
      return FALSE;
  return TRUE;
}

static gboolean list_rows(AstroFftPlanes *self, AstroFftRowsPass *rows, guint32 planes,
                          GError **error)
{
  const guint32 maps = planes / rows->share.by;

  if (!astro_fft_need_room(&self->place, &self->listed, &self->listed_bytes,
                           (1 + (gsize)maps * rows->tile_rows.by) * sizeof *rows->listed, error))
    return FALSE;
  rows->listed = (guint32 *)self->listed;
  return astro_fft_rows_list(rows, maps, (guint32 *)self->listed,
                             astro_cuda_stream(self->place.queue), error);
}

static gboolean run_rows(AstroFftPlanes *self, const guint8 *in, guint8 *out, guint32 planes,
                         const AstroFftMap *map, GError **error)
{
  AstroFftRowsPass rows = self->rows;

  if (self->cufft)
    return run_cufft(self, in, out, planes, map, error);
  rows.in = in;
  rows.out = out;
  rows.blank = self->has_columns ? (guint8 *)self->blank : NULL;
  rows.touched = map->touched;
  rows.first_plane = map->first_plane;
  if (map->touched && !self->has_columns && !list_rows(self, &rows, planes, error))
    return FALSE;
  return (self->is_double ? astro_fft_rows_double : astro_fft_rows_single)(
      &rows, planes * self->height, astro_cuda_stream(self->place.queue), error);
}

static gboolean run_group(AstroFftPlanes *self, const guint8 *in, guint8 *out, guint32 planes,
                          const AstroFftMap *map, GError **error)
{
  AstroFftColumns columns = self->columns;

  out += self->wanted * self->sample_bytes;
  columns.planes = planes;
  columns.in = columns.out = out;
  columns.blank = self->cufft ? NULL : (const guint8 *)self->blank;
  columns.between = self->held;
  return run_rows(self, in, out, planes, map, error) &&
         (!self->has_columns ||
          astro_fft_columns(&columns, astro_cuda_stream(self->place.queue), error));
}

static gboolean make_room(AstroFftPlanes *self, guint64 group, GError **error)
{
  return astro_fft_need_room(&self->place, &self->held, &self->held_bytes,
                             group * self->height * self->n_wanted * self->sample_bytes, error) &&
         astro_fft_need_room(&self->place, &self->blank, &self->blank_bytes, group * self->height,
                             error);
}

gboolean astro_fft_planes_run(AstroFftPlanes *self, gconstpointer in, const guint8 *touched,
                              gpointer out, guint64 steps, GError **error)
{
  AstroFftPass passes[ASTRO_MAX_AXES];
  AstroFftMap map = { touched, self->config.share_map, self->height, self->width };

  astro_fft_passes(&self->config, steps, passes); /* passes[0] is along x */
  const guint64 planes = passes[0].outer / self->height;
  const guint64 maps_rows = (guint64)self->rows.tile_rows.by * ASTRO_GRID_TILE * MAX(map.share, 1);
  const guint64 most = self->has_columns ? MIN(GROUP_BYTES / self->plane_bytes, MOST_PLANES)
                                         : G_MAXINT32 / maps_rows * MAX(map.share, 1);
  const guint64 group = CLAMP(most, 1, planes);
  if (self->has_columns && !make_room(self, group, error))
    return FALSE;
  for (guint64 plane = 0; plane < planes; plane += group) {
    map.first_plane = (guint32)plane;
    if (!run_group(self, (const guint8 *)in + plane * self->plane_bytes,
                   (guint8 *)out + plane * self->plane_bytes, (guint32)MIN(group, planes - plane),
                   &map, error))
      return FALSE;
  }
  return TRUE;
}
