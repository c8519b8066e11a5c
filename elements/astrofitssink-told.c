/* Tells of files that astrofitssink has completed. */
#include "elements/astrofitssink-parts.h"

static GstStructure *visibilities_of_file(AstroFitsSink *self)
{
  const AstroStream *stream = &self->contents.stream;
  const AstroFitsTally *tally = &self->tally;
  gint pols = (gint)astro_stream_extent(stream, ASTRO_AXIS_POL);
  g_autofree char *start =
      astro_observation_tell_time(self->contents.observation, (guint64)self->begin_ns);
  GstStructure *file = gst_structure_new(
      "astro-file", "location", G_TYPE_STRING, self->name, "format", G_TYPE_STRING,
      self->kind->name, "stations", G_TYPE_INT, (gint)self->contents.observation->n_stations,
      "baselines", G_TYPE_INT, (gint)astro_stream_extent(stream, ASTRO_AXIS_BASELINE), "channels",
      G_TYPE_INT, (gint)astro_stream_extent(stream, ASTRO_AXIS_CHANNEL), "products", G_TYPE_INT,
      pols * pols, "integrations", G_TYPE_UINT64, self->written, "start", G_TYPE_STRING, start,
      "seconds", G_TYPE_DOUBLE, (double)(self->end_ns - self->begin_ns) / GST_SECOND,
      "least-weight", G_TYPE_UINT, tally->least, "most-weight", G_TYPE_UINT, tally->most, "flagged",
      G_TYPE_DOUBLE, (double)tally->flagged / (double)tally->values, NULL);
  if (self->integrations.steps.again)
    gst_structure_set(file, "again", G_TYPE_UINT64, self->integrations.steps.again, NULL);
  return file;
}

static GstStructure *tables_of_file(AstroFitsSink *self)
{
  guint64 columns = astro_stream_extent(&self->contents.stream, ASTRO_AXIS_COLUMN);
  return gst_structure_new("astro-file", "location", G_TYPE_STRING, self->name, "format",
                           G_TYPE_STRING, self->kind->name, "tables", G_TYPE_UINT64, self->written,
                           "rows", G_TYPE_UINT64, self->tally.values / columns, "columns",
                           G_TYPE_STRING, self->contents.columns, NULL);
}

static GstStructure *images_of_file(AstroFitsSink *self)
{
  const AstroStream *stream = &self->contents.stream;
  g_autofree char *products = g_strjoinv(":", self->contents.grid.products);
  return gst_structure_new("astro-file", "location", G_TYPE_STRING, self->name, "format",
                           G_TYPE_STRING, self->kind->name, "images", G_TYPE_UINT64, self->written,
                           "width", G_TYPE_INT, (gint)astro_stream_extent(stream, ASTRO_AXIS_X),
                           "height", G_TYPE_INT, (gint)astro_stream_extent(stream, ASTRO_AXIS_Y),
                           "channels", G_TYPE_INT,
                           (gint)astro_stream_extent(stream, ASTRO_AXIS_CHANNEL), "products",
                           G_TYPE_STRING, products, NULL);
}

static GstStructure *blocks_of_file(AstroFitsSink *self)
{
  return gst_structure_new("astro-file", "location", G_TYPE_STRING, self->name, "format",
                           G_TYPE_STRING, self->kind->name, "quantity", G_TYPE_STRING,
                           astro_quantity_name(self->kind->quantity), "blocks", G_TYPE_UINT64,
                           self->written, "values", G_TYPE_UINT64, self->tally.values, NULL);
}

static GstStructure *samples_of_file(AstroFitsSink *self)
{
  const AstroStream *stream = &self->contents.stream;
  g_autofree char *start =
      astro_observation_tell_time(self->contents.observation, (guint64)self->begin_ns);
  return gst_structure_new(
      "astro-file", "location", G_TYPE_STRING, self->name, "format", G_TYPE_STRING,
      self->kind->name, "channels", G_TYPE_INT,
      (gint)astro_stream_extent(stream, ASTRO_AXIS_CHANNEL), "pols", G_TYPE_INT,
      (gint)astro_stream_extent(stream, ASTRO_AXIS_POL), "integrations", G_TYPE_UINT64,
      self->written, "start", G_TYPE_STRING, start, "seconds", G_TYPE_DOUBLE,
      (double)(self->end_ns - self->begin_ns) / GST_SECOND, "flagged", G_TYPE_DOUBLE,
      (double)self->tally.flagged / (double)self->tally.values, "partial", G_TYPE_UINT64,
      self->tally.partial, "filled", G_TYPE_UINT64, self->tally.filled, NULL);
}

static void warn_of_weights(AstroFitsSink *self)
{
  const AstroFitsTally *tally = &self->tally;
  if (tally->filled)
    GST_ELEMENT_WARNING(self, STREAM, FORMAT,
                        ("%s: %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                         " values were lost and have the mean of their channel in the file, whose "
                         "weights are for whole rows",
                         self->name, tally->filled, tally->values),
                        (NULL));
  if (tally->dropped)
    GST_ELEMENT_WARNING(self, STREAM, FORMAT,
                        ("%s: %" G_GUINT64_FORMAT " good values were left out, as another "
                         "polarisation of their channel was lost for a whole row",
                         self->name, tally->dropped),
                        (NULL));
  if (tally->not_finite)
    GST_ELEMENT_WARNING(self, STREAM, FORMAT,
                        ("%s: NaN or infinite values were written as flagged: %" G_GUINT64_FORMAT,
                         self->name, tally->not_finite),
                        (NULL));
}

void astro_fits_sink_tell_of_file(AstroFitsSink *self)
{
  GstStructure *file = self->kind->is_timed                           ? visibilities_of_file(self)
                       : self->kind->is_stepped                       ? samples_of_file(self)
                       : self->kind->is_blocks                        ? blocks_of_file(self)
                       : self->kind->quantity == ASTRO_QUANTITY_IMAGE ? images_of_file(self)
                                                                      : tables_of_file(self);
  gst_element_post_message(GST_ELEMENT(self), gst_message_new_element(GST_OBJECT(self), file));
  warn_of_weights(self);
}
