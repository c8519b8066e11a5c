/* Metas of grids and images. */
#include "config.h"
#include "core/stream/grid.h"

#include <string.h>

/* These metas have no tags: elements that change samples but not their meaning (astrofft, or one
 * from elsewhere) keep them with the buffer. */

GType astro_grid_meta_api_get_type(void)
{
  static gsize type = 0;
  static const gchar *tags[] = { NULL };
  if (g_once_init_enter(&type))
    g_once_init_leave(&type, gst_meta_api_type_register("AstroGridMetaAPI", tags));
  return type;
}

GType astro_grid_image_only_api_get_type(void)
{
  static gsize type = 0;
  static const gchar *tags[] = { NULL };
  if (g_once_init_enter(&type))
    g_once_init_leave(&type, gst_meta_api_type_register("AstroGridImageOnlyAPI", tags));
  return type;
}

GType astro_image_meta_api_get_type(void)
{
  static gsize type = 0;
  static const gchar *tags[] = { NULL };
  if (g_once_init_enter(&type))
    g_once_init_leave(&type, gst_meta_api_type_register("AstroImageMetaAPI", tags));
  return type;
}

static gboolean grid_init(GstMeta *meta, gpointer params, GstBuffer *buffer)
{
  memset((char *)meta + sizeof *meta, 0, sizeof(AstroGridMeta) - sizeof *meta);
  return TRUE;
}

static gboolean image_init(GstMeta *meta, gpointer params, GstBuffer *buffer)
{
  memset((char *)meta + sizeof *meta, 0, sizeof(AstroImageMeta) - sizeof *meta);
  return TRUE;
}

static void grid_free(GstMeta *meta, GstBuffer *buffer)
{
  AstroGridMeta *self = (AstroGridMeta *)meta;
  g_free(self->weights);
  gst_clear_buffer(&self->touched);
}

static void image_free(GstMeta *meta, GstBuffer *buffer)
{
  g_free(((AstroImageMeta *)meta)->weights);
  g_free(((AstroImageMeta *)meta)->levels);
}

/* Copies all fields after the header and then gives the copy its own arrays; the map of tiles is
 * shared. */
#define COPY_FIELDS(to, from, first)                                                               \
  memcpy(&(to)->first, &(from)->first, sizeof *(from) - ((char *)&(from)->first - (char *)(from)))

static gboolean grid_transform(GstBuffer *dest, GstMeta *meta, GstBuffer *buffer, GQuark type,
                               gpointer data)
{
  AstroGridMeta *self = (AstroGridMeta *)meta;
  if (!GST_META_TRANSFORM_IS_COPY(type))
    return FALSE;
  AstroGridMeta *copy = astro_buffer_add_grid(dest, self->n_weights);
  double *weights = copy->weights;
  COPY_FIELDS(copy, self, w);
  copy->weights = weights;
  if (copy->touched)
    gst_buffer_ref(copy->touched);
  if (self->n_weights)
    memcpy(weights, self->weights, self->n_weights * sizeof *weights);
  return TRUE;
}

static gboolean image_transform(GstBuffer *dest, GstMeta *meta, GstBuffer *buffer, GQuark type,
                                gpointer data)
{
  AstroImageMeta *self = (AstroImageMeta *)meta;
  if (!GST_META_TRANSFORM_IS_COPY(type))
    return FALSE;
  AstroImageMeta *copy = astro_buffer_add_image(dest, self->n_weights);
  double *weights = copy->weights;
  AstroImageLevels *levels = copy->levels;
  COPY_FIELDS(copy, self, has_beam);
  copy->weights = weights;
  copy->levels = levels;
  if (self->n_weights) {
    memcpy(weights, self->weights, self->n_weights * sizeof *weights);
    memcpy(levels, self->levels, self->n_weights * sizeof *levels);
  }
  return TRUE;
}

const GstMetaInfo *astro_grid_meta_get_info(void)
{
  static const GstMetaInfo *info = NULL;
  if (g_once_init_enter((GstMetaInfo **)&info)) {
    const GstMetaInfo *registered =
        gst_meta_register(ASTRO_GRID_META_API, "AstroGridMeta", sizeof(AstroGridMeta), grid_init,
                          grid_free, grid_transform);
    g_once_init_leave((GstMetaInfo **)&info, (GstMetaInfo *)registered);
  }
  return info;
}

const GstMetaInfo *astro_image_meta_get_info(void)
{
  static const GstMetaInfo *info = NULL;
  if (g_once_init_enter((GstMetaInfo **)&info)) {
    const GstMetaInfo *registered =
        gst_meta_register(ASTRO_IMAGE_META_API, "AstroImageMeta", sizeof(AstroImageMeta),
                          image_init, image_free, image_transform);
    g_once_init_leave((GstMetaInfo **)&info, (GstMetaInfo *)registered);
  }
  return info;
}

AstroGridMeta *astro_buffer_get_grid(GstBuffer *buffer)
{
  return (AstroGridMeta *)gst_buffer_get_meta(buffer, ASTRO_GRID_META_API);
}

AstroImageMeta *astro_buffer_get_image(GstBuffer *buffer)
{
  return (AstroImageMeta *)gst_buffer_get_meta(buffer, ASTRO_IMAGE_META_API);
}

AstroGridMeta *astro_buffer_add_grid(GstBuffer *buffer, guint n_weights)
{
  AstroGridMeta *meta = astro_buffer_get_grid(buffer);
  if (!meta)
    meta = (AstroGridMeta *)gst_buffer_add_meta(buffer, astro_grid_meta_get_info(), NULL);
  grid_free(&meta->meta, buffer);
  grid_init(&meta->meta, NULL, buffer);
  meta->n_weights = n_weights;
  meta->weights = g_new0(double, n_weights);
  return meta;
}

AstroImageMeta *astro_buffer_add_image(GstBuffer *buffer, guint n_weights)
{
  AstroImageMeta *meta = astro_buffer_get_image(buffer);
  if (!meta)
    meta = (AstroImageMeta *)gst_buffer_add_meta(buffer, astro_image_meta_get_info(), NULL);
  image_free(&meta->meta, buffer);
  image_init(&meta->meta, NULL, buffer);
  meta->n_weights = n_weights;
  meta->weights = g_new0(double, n_weights);
  meta->levels = g_new0(AstroImageLevels, n_weights);
  return meta;
}
