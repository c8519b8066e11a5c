/* Writes UVFITS: the header, the groups, and the tables after them. */
#include "core/fits/uvfits/writer.h"

#define BLOCK 2880

static void destroy(gpointer writer)
{
  AstroUvfitsWriter *w = writer;
  astro_fits_contents_clear(&w->contents);
  astro_uvfits_clear_groups(w);
  g_free(w->tail);
  g_free(w);
}

static gpointer create(AstroPartFile *file, const AstroFitsContents *contents, GError **error)
{
  if (!astro_uvfits_check_contents(contents, error))
    return NULL;

  AstroUvfitsWriter *w = g_new0(AstroUvfitsWriter, 1);
  w->file = file;
  /* The caller keeps the other members of contents. */
  w->contents = (AstroFitsContents){ .stream = contents->stream,
                                     .observation = astro_observation_ref(contents->observation) };
  w->pols = astro_stream_extent(&contents->stream, ASTRO_AXIS_POL);
  w->products = w->pols * w->pols;
  w->channels = astro_stream_extent(&contents->stream, ASTRO_AXIS_CHANNEL);
  w->baselines = astro_stream_extent(&contents->stream, ASTRO_AXIS_BASELINE);
  const double jansky = astro_history_jansky(&contents->observation->done);
  w->jansky = jansky > 0 ? jansky : 1;
  astro_uvfits_init_groups(w);
  if (astro_uvfits_write_header(w, error))
    return w;
  destroy(w);
  return NULL;
}

static gboolean finish(gpointer writer, AstroFitsTally *tally, GError **error)
{
  static const guint8 zeros[BLOCK] = { 0 };
  AstroUvfitsWriter *w = writer;
  guint64 left = astro_part_file_bytes(w->file) % BLOCK;
  g_autofree char *card = g_strdup_printf("GCOUNT  = %20" G_GUINT64_FORMAT " /%*s", w->groups,
                                          ASTRO_UVFITS_CARD - 32, "");
  if (w->groups == 0)
    return astro_fits_refuse(error, "UVFITS needs at least one integration but none came");
  return astro_part_file_write(w->file, zeros, left ? BLOCK - left : 0, error) &&
         astro_part_file_write(w->file, w->tail, w->tail_bytes, error) &&
         astro_part_file_patch(w->file, w->gcount_at, card, ASTRO_UVFITS_CARD, error);
}

const AstroFitsWriterKind astro_uvfits_writer = {
  .name = "UVFITS",
  .quantity = ASTRO_QUANTITY_VISIBILITIES,
  .caps = ASTRO_UVFITS_CAPS,
  .frame = "integration",
  .is_timed = TRUE,
  .create = create,
  .write = astro_uvfits_write_groups,
  .finish = finish,
  .destroy = destroy,
};
