/* Planes that come transformed along u: buffers, tables, and the launches of both passes. */
#include "gpu/image/columns.h"

enum { THREADS = 256, LINE_BYTES = 256, MOST_PLANES = 65535 };

struct AstroImageColumns {
  AstroImageConfig config;
  AstroPlace place;
  AstroFftColumns columns;
  gpointer tables, between, blank;
};

static gboolean is_double(const AstroImageConfig *config)
{
  return config->from == ASTRO_FORMAT_CF64LE;
}

static gsize sample_bytes(const AstroImageConfig *config)
{
  return is_double(config) ? sizeof(double2) : sizeof(float2);
}

gboolean astro_image_columns_fit(const AstroImageConfig *config)
{
  const AstroFormat to = is_double(config) ? ASTRO_FORMAT_F64LE : ASTRO_FORMAT_F32LE;
  for (guint i = 0; i < config->n_out; i++)
    if (config->products[i].n_terms == 0)
      return FALSE;
  return config->to == to && config->n_in <= MOST_PLANES &&
         astro_fft_columns_first(config->grid.size);
}

void astro_image_columns_free(AstroImageColumns *self)
{
  astro_cuda_free(&self->place, &self->tables);
  astro_cuda_free(&self->place, &self->between);
  astro_cuda_free(&self->place, &self->blank);
  g_free(self);
}

static gboolean send_tables(AstroImageColumns *self, GError **error)
{
  const AstroFftColumns *columns = &self->columns;
  const gsize bytes = astro_fft_columns_tables(columns->n, 1, columns->is_double, NULL);
  g_autofree gpointer tables = g_malloc(bytes);

  astro_fft_columns_tables(columns->n, 1, columns->is_double, tables);
  return self->place.device->funcs->alloc(self->place.device, bytes, &self->tables, error) &&
         CUDA_TRY(cudaMemcpyAsync(self->tables, tables, bytes, cudaMemcpyHostToDevice,
                                  astro_cuda_stream(self->place.queue)));
}

/* Makes room for all products, which then share phases, or for as many of them as fit in a quarter
 * of the free memory. */
static gboolean make_room(AstroImageColumns *self, GError **error)
{
  const AstroDeviceFuncs *funcs = self->place.device->funcs;
  AstroFftColumns *columns = &self->columns;
  const gsize plane_bytes = (gsize)columns->n * columns->between_row * sample_bytes(&self->config);
  AstroDeviceMemory memory;

  if (!funcs->memory(self->place.device, &memory, error))
    return FALSE;
  while (columns->planes > 1 && columns->planes * plane_bytes > memory.free / 4)
    columns->planes = (columns->planes + 1) / 2;
  return funcs->alloc(self->place.device, columns->planes * plane_bytes, &self->between, error) &&
         funcs->alloc(self->place.device, (gsize)columns->n * columns->planes, &self->blank, error);
}

AstroImageColumns *astro_image_columns_new(const AstroImageConfig *config, const AstroPlace *place,
                                           GError **error)
{
  AstroImageColumns *self = g_new0(AstroImageColumns, 1);
  const AstroGrid *grid = &config->grid;
  AstroFftColumns *columns = &self->columns;
  const guint32 grain = LINE_BYTES / (guint32)sample_bytes(config);
  const guint32 last = grid->size / 2 + grid->image_size / 2; /* the image's first column */

  self->config = *config;
  self->place = *place;
  columns->n = columns->in_row = grid->size;
  columns->width = grid->image_size;
  columns->between_row = (grid->image_size + grain - 1) / grain * grain;
  columns->planes = config->n_in;
  columns->origin_in = columns->origin_out = grid->size / 2;
  columns->wanted = grid->size / 2 - grid->image_size / 2;
  columns->n_wanted = grid->image_size;
  columns->is_double = is_double(config);
  /* If the image is as large as the grid, its columns wrap around. */
  if (grid->image_size == grid->size)
    columns->width_roll = (last + 1) % grid->size;
  if (send_tables(self, error) && make_room(self, error)) {
    columns->tables = self->tables;
    columns->between = self->between;
    return self;
  }
  astro_image_columns_free(self);
  return NULL;
}

/* ---- rows without any touched tile ---- */

/* A warp handles a row of tiles. Rows of a plane are stored as [row of points of the first
 * pass][point]. */
static __global__ void __launch_bounds__(THREADS)
    note_blank(const guint8 *touched, guint32 tiles, guint32 n, guint32 origin, AstroDivisor others,
               guint32 planes, guint8 *blank)
{
  const guint32 row = (blockIdx.x * THREADS + threadIdx.x) / 32, lane = threadIdx.x % 32;
  bool any = false;
  if (row >= tiles)
    return;
  for (guint32 i = lane; i < tiles; i += 32)
    any |= touched[(gsize)row * tiles + i] != 0;
  any = __any_sync(~0u, any);
  const guint32 v = row * ASTRO_GRID_TILE + lane;
  if (lane >= ASTRO_GRID_TILE || v >= n)
    return;
  const guint32 at = v < origin ? v + n - origin : v - origin, point = others.divide(at);
  for (guint32 plane = 0; plane < planes; plane++)
    blank[(gsize)plane * n + (at - point * others.by) * (n / others.by) + point] = !any;
}

static gboolean find_blank(const AstroImageColumns *self, const guint8 *touched, guint32 others,
                           GError **error)
{
  const AstroFftColumns *columns = &self->columns;
  const guint32 tiles = astro_grid_tiles(columns->n);
  note_blank<<<(tiles * 32 + THREADS - 1) / THREADS, THREADS, 0,
               astro_cuda_stream(self->place.queue)>>>(touched, tiles, columns->n,
                                                       columns->origin_in, AstroDivisor(others),
                                                       columns->planes, (guint8 *)self->blank);
  return CUDA_TRY(cudaGetLastError());
}

/* ---- work ---- */

/* Finds, among products begin to end of the grid, one term for each product of the image that is
 * not done yet. FALSE: there is none. */
static gboolean find_jobs(const AstroImageColumns *self, guint channel, guint begin, guint end,
                          const AstroImageArguments *arguments, guint *done, AstroImagePass *pass)
{
  pass->n_jobs = 0;
  for (guint i = 0; i < self->config.n_out; i++) {
    const AstroImageProduct *product = &self->config.products[i];
    for (guint k = 0; k < product->n_terms; k++) {
      const AstroImageTerm *term = &product->terms[k];
      if (done[i] >> k & 1 || term->product < begin || term->product >= end)
        continue;
      pass->jobs[pass->n_jobs++] = { .from = term->product - begin,
                                     .to = i,
                                     .imaginary = term->imaginary,
                                     .begins = arguments->first && done[i] == 0,
                                     .ends = (done[i] | 1u << k) + 1 == 1u << product->n_terms,
                                     .scale = astro_image_scale(&self->config, arguments, channel,
                                                                term) };
      done[i] |= 1u << k;
      break;
    }
  }
  return pass->n_jobs > 0;
}

gboolean astro_image_columns_run(AstroImageColumns *self, guint channel, gconstpointer in,
                                 const guint8 *touched, gpointer out,
                                 const AstroImageArguments *arguments, const double *inverse,
                                 GError **error)
{
  const AstroGrid *grid = &self->config.grid;
  const cudaStream_t stream = astro_cuda_stream(self->place.queue);
  const gsize sample = sample_bytes(&self->config),
              plane_bytes = (gsize)grid->size * grid->size * sample;
  AstroFftColumns columns = self->columns;
  AstroFftColumnsPass first, second;
  AstroImagePass image = { .out = out,
                           .image = grid->image_size,
                           .w = arguments->w,
                           .pixel = grid->pixel,
                           .centre_l = grid->centre_l,
                           .centre_m = grid->centre_m,
                           .inverse = inverse };
  guint done[ASTRO_IMAGE_MAX_PRODUCTS] = {};

  columns.in = in;
  if (grid->image_size < grid->size)
    columns.in = (const guint8 *)in +
                 (grid->size / 2 + grid->image_size / 2 + 1 - grid->image_size) * sample;
  columns.blank = touched ? (const guint8 *)self->blank : NULL;
  astro_fft_columns_passes(&columns, &first, &second);
  const gint from = astro_fft_columns_kernel(second.transforms),
             to = astro_fft_columns_kernel(first.transforms);
  if (touched && !find_blank(self, touched, first.transforms, error))
    return FALSE;
  for (guint begin = 0; begin < self->config.n_in; begin += columns.planes) {
    const guint end = MIN(begin + columns.planes, self->config.n_in);
    first.in = (const guint8 *)columns.in + begin * plane_bytes;
    if (!(columns.is_double ? astro_fft_columns_double
                            : astro_fft_columns_single)[from](&first, end - begin, stream, error))
      return FALSE;
    while (find_jobs(self, channel, begin, end, arguments, done, &image))
      if (!(columns.is_double ? astro_image_columns_double
                              : astro_image_columns_single)[to](&second, &image, stream, error))
        return FALSE;
  }
  return TRUE;
}
