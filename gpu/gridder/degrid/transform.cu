/* Makes planes: of the images' columns alone, and then of those rows that visibilities reach. For
 * sizes without kernels for columns, the whole plane is transformed. */
#include "gpu/gridder/degrid/columns.h"

extern "C" {
#include "core/lib/fft/fft.h"
}

enum {
  LINE_BYTES = 256,
  FFT_BYTES = 8 << 20, /* its tables and lists */
};

struct DegridPlanes {
  DegridImages images;
  AstroPlace place;
  guint together;
  gpointer fft; /* an instance of astro_cuda_fft: of rows, or of both axes */
  gboolean has_columns;
  AstroFftColumns columns;
  gpointer tables;
};

static gsize sample_bytes(const DegridImages *images)
{
  return images->is_double ? sizeof(double2) : sizeof(float2);
}

static gsize plane_bytes(const DegridImages *images)
{
  return (gsize)images->size * images->size * sample_bytes(images);
}

guint64 astro_degrid_planes_bytes(const DegridImages *images, guint together)
{
  const gboolean has_columns = astro_fft_columns_first(images->size) != 0;
  /* Transforms of both axes go through a copy, and cuFFT may want another one. */
  return FFT_BYTES + (has_columns ? 0 : 2 * together * plane_bytes(images));
}

static gboolean make_fft(DegridPlanes *self, GError **error)
{
  const guint64 size = self->images.size;
  AstroFftConfig fft = {};
  const char *variant;
  fft.from = fft.to = self->images.is_double ? ASTRO_FORMAT_CF64LE : ASTRO_FORMAT_CF32LE;
  fft.n_axes = 3;
  fft.extents[0] = self->together;
  fft.extents[1] = fft.extents[2] = size;
  fft.axes[2] = { TRUE, size / 2, size / 2 };
  if (self->has_columns)
    fft.share_map = self->together;
  else
    fft.axes[1] = fft.axes[2];
  self->fft = astro_cuda_fft.create(&fft, &self->place, &variant, error);
  return self->fft != NULL;
}

static gboolean set_columns(DegridPlanes *self, GError **error)
{
  const DegridImages *images = &self->images;
  const guint32 grain = LINE_BYTES / (guint32)sample_bytes(images), n = images->image;
  const gsize bytes = astro_fft_columns_tables(images->size, 1, images->is_double, NULL);
  g_autofree gpointer tables = g_malloc(bytes);
  AstroFftColumns *columns = &self->columns;

  columns->n = columns->in_row = columns->n_wanted = images->size;
  columns->width = n;
  columns->between_row = MIN((n + grain - 1) / grain * grain, images->size);
  columns->origin_in = columns->origin_out = images->size / 2;
  columns->is_double = images->is_double;
  astro_fft_columns_tables(images->size, 1, images->is_double, tables);
  if (!self->place.device->funcs->alloc(self->place.device, bytes, &self->tables, error))
    return FALSE;
  columns->tables = self->tables;
  return CUDA_TRY(cudaMemcpyAsync(self->tables, tables, bytes, cudaMemcpyHostToDevice,
                                  astro_cuda_stream(self->place.queue)));
}

DegridPlanes *astro_degrid_planes_new(const DegridImages *images, guint together,
                                      const AstroPlace *place, GError **error)
{
  DegridPlanes *self = g_new0(DegridPlanes, 1);
  self->images = *images;
  self->place = *place;
  self->together = together;
  self->has_columns = astro_fft_columns_first(images->size) != 0;
  if (make_fft(self, error) && (!self->has_columns || set_columns(self, error)))
    return self;
  astro_degrid_planes_free(self);
  return NULL;
}

void astro_degrid_planes_free(DegridPlanes *self)
{
  if (self->fft)
    astro_cuda_fft.destroy(self->fft);
  astro_cuda_free(&self->place, &self->tables);
  g_free(self);
}

/* From pixels through the second room to the columns in the first one. */
static gboolean transform_columns(const DegridPlanes *self, gconstpointer pixels, double w,
                                  gpointer const rooms[2], GError **error)
{
  const DegridImages *images = &self->images;
  const cudaStream_t stream = astro_cuda_stream(self->place.queue);
  const gboolean is_whole = images->image == images->size;
  const guint first_column = astro_degrid_first_column(images);
  AstroFftColumns columns = self->columns;
  AstroFftColumnsPass first, second;
  columns.between = rooms[1];
  columns.out = (guint8 *)rooms[0] + (is_whole ? 0 : first_column * sample_bytes(images));
  astro_fft_columns_passes(&columns, &first, &second);
  second.width_roll = is_whole ? images->size - first_column : 0;
  const gint from = astro_fft_columns_kernel(second.transforms),
             to = astro_fft_columns_kernel(first.transforms);
  return (images->is_double ? astro_degrid_columns_double : astro_degrid_columns_single)[from](
             &first, images, pixels, self->together, w, stream, error) &&
         (images->is_double ? astro_fft_columns_double
                            : astro_fft_columns_single)[to](&second, self->together, stream, error);
}

gboolean astro_degrid_planes_make(const DegridPlanes *self, gconstpointer pixels, double w,
                                  gpointer map, gpointer const rooms[2], GError **error)
{
  const gsize bytes = self->together * plane_bytes(&self->images);
  const gsize tiles = astro_grid_tiles(self->images.size);
  const AstroBlock in[] = { { rooms[0], bytes }, { map, tiles * tiles } };
  const AstroBlock out = { rooms[1], bytes };
  const guint64 steps = 1;
  return (self->has_columns
              ? transform_columns(self, pixels, w, rooms, error)
              : astro_degrid_rotate(&self->images, pixels, self->together, w, rooms[0],
                                    astro_cuda_stream(self->place.queue), error)) &&
         astro_cuda_fft.submit(self->fft, in, self->has_columns ? 2 : 1, &out, 1, &steps, NULL,
                               error);
}
