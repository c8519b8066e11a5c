/* Planes that come transformed along u: rooms, tables, and what both passes of the columns do. */
#include "gpu/image-columns.h"

enum { THREADS = 256, LINE_BYTES = 256, MOST_PLANES = 65535, MOST_TERMS = 2 };

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
  return config->to == to && config->n_in <= MOST_PLANES && astro_fft_columns_first(config->grid.size);
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

AstroImageColumns *astro_image_columns_new(const AstroImageConfig *config, const AstroPlace *place, GError **error)
{
  AstroImageColumns *self = g_new0(AstroImageColumns, 1);
  const AstroDeviceFuncs *funcs = place->device->funcs;
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
  /* The grid repeats itself, where the image is as large as it. */
  if (grid->image_size == grid->size)
    columns->width_roll = (last + 1) % grid->size;
  if (send_tables(self, error) &&
      funcs->alloc(place->device,
                   (gsize)columns->n * columns->between_row * columns->planes * sample_bytes(config),
                   &self->between, error) &&
      funcs->alloc(place->device, (gsize)columns->n * columns->planes, &self->blank, error)) {
    columns->tables = self->tables;
    columns->between = self->between;
    return self;
  }
  astro_image_columns_free(self);
  return NULL;
}

/* ---- rows that no touched tile has a part of ---- */

/* A warp a row of tiles. A plane's rows are [row of points of the first pass][point] for it. */
static __global__ void __launch_bounds__(THREADS)
    find_blank(const guint8 *touched, guint32 tiles, guint32 n, guint32 origin, AstroDivisor others, guint32 planes,
               guint8 *blank)
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

/* ---- work ---- */

/* The terms of that number of all products, from channel's plane on. */
static void find_jobs(const AstroImageColumns *self, guint channel, guint number, const AstroImageArguments *arguments,
                      AstroImagePass *pass)
{
  pass->n_jobs = 0;
  for (guint i = 0; i < self->config.n_out; i++)
    if (number < self->config.products[i].n_terms) {
      const AstroImageTerm *term = &self->config.products[i].terms[number];
      pass->jobs[pass->n_jobs++] = { term->product, i, term->imaginary,
                                     number + 1 == self->config.products[i].n_terms,
                                     astro_image_scale(&self->config, arguments, channel, term) };
    }
}

gboolean astro_image_columns_run(AstroImageColumns *self, guint channel, gconstpointer in, const guint8 *touched,
                                 gpointer out, const AstroImageArguments *arguments, const double *inverse,
                                 GError **error)
{
  const AstroGrid *grid = &self->config.grid;
  const cudaStream_t stream = astro_cuda_stream(self->place.queue);
  AstroFftColumns columns = self->columns;
  AstroFftColumnsPass first, second;

  columns.in = in;
  if (grid->image_size < grid->size)
    columns.in = (const guint8 *)in +
                 (grid->size / 2 + grid->image_size / 2 + 1 - grid->image_size) * sample_bytes(&self->config);
  if (touched)
    columns.blank = (const guint8 *)self->blank;
  astro_fft_columns_passes(&columns, &first, &second);
  if (touched) {
    const guint32 tiles = astro_grid_tiles(columns.n);
    find_blank<<<(tiles * 32 + THREADS - 1) / THREADS, THREADS, 0, stream>>>(
        touched, tiles, columns.n, columns.origin_in, AstroDivisor(first.transforms), columns.planes,
        (guint8 *)self->blank);
  }
  const gint from = astro_fft_columns_kernel(second.transforms), to = astro_fft_columns_kernel(first.transforms);
  if (!(columns.is_double ? astro_fft_columns_double : astro_fft_columns_single)[from](&first, columns.planes, stream,
                                                                                      error))
    return FALSE;
  AstroImagePass image = { .out = out,
                           .image = grid->image_size,
                           .first = arguments->first,
                           .w = arguments->w,
                           .pixel = grid->pixel,
                           .centre_l = grid->centre_l,
                           .centre_m = grid->centre_m,
                           .inverse = inverse };
  for (guint number = 0; number < MOST_TERMS; number++) {
    find_jobs(self, channel, number, arguments, &image);
    if (image.n_jobs && !(columns.is_double ? astro_image_columns_double : astro_image_columns_single)[to](
                            &second, &image, stream, error))
      return FALSE;
    image.first = FALSE;
  }
  return TRUE;
}
