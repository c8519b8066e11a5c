/**
 * SECTION:element-astroadd
 *
 * Adds several streams of the same kind: visibilities, power, grids in (u,v) or pair counts. They
 * have to agree in all fields of their caps, and in phase centre, basis and processing history.
 *
 * Visibilities and power are aligned by absolute time. Sums (CI32LE) are added. Means are averaged,
 * weighted by the good samples behind them; streams without counts all get the same weight. The
 * output counts the good samples of all streams together. A stream that has no data at some time
 * adds nothing there.
 *
 * Grids and histograms are added in order, the n-th of every pad together, whenever they were made:
 * so nights, or parts of a survey, that were gridded or counted apart become one, with their sums
 * of weights or numbers of pairs. Grids have to have the same w-planes. W-stacking chooses its
 * planes from the data, so use algorithm=wprojection, which has none. A histogram holds all that
 * was counted until then, so the last one of a stream that has ended keeps being added.
 *
 * |[
 * gst-launch-1.0 astroadd name=sum ! astrofft ! astroimage ! astrofitssink location=both.fits \
 *   astrofitssrc location=a.uvfits ! astrogridder size=512 cell=10 algorithm=wprojection ! sum. \
 *   astrofitssrc location=b.uvfits ! astrogridder size=512 cell=10 algorithm=wprojection ! sum.
 * ]|
 */
#include "config.h"
#include "elements/astroadd.h"

#include "core/add/add.h"
#include "elements/astroadd-said.h"
#include "elements/base/astrostage.h"
#include "elements/base/astroshares.h"
#include "elements/base/astrosteps.h"

struct _AstroAdd {
  AstroMerge parent;

  /* as negotiated */
  AstroAddConfig config;
  guint n;
  char **pads;           /* names of the inputs */
  AstroMergePiece *last; /* the last histogram of each pad: all its pairs so far */
};

G_DEFINE_TYPE(AstroAdd, astro_add, ASTRO_TYPE_MERGE)
GST_ELEMENT_REGISTER_DEFINE(astroadd, "astroadd", GST_RANK_NONE, ASTRO_TYPE_ADD)

static void forget(AstroAdd *self)
{
  for (guint i = 0; i < self->n; i++) {
    gst_clear_buffer(&self->last[i].buffer);
    gst_clear_event(&self->last[i].told);
  }
  self->n = 0;
  g_clear_pointer(&self->last, g_free);
  g_clear_pointer(&self->pads, g_strfreev);
}

static void reset(AstroMerge *merge)
{
  AstroAdd *self = ASTRO_ADD(merge);
  for (guint i = 0; i < self->n; i++) {
    gst_clear_buffer(&self->last[i].buffer);
    gst_clear_event(&self->last[i].told);
  }
}

/* ---- which streams can be added ---- */

static gboolean check_grids(const AstroMergeInput *inputs, GError **error)
{
  const GstStructure *s = gst_caps_get_structure(inputs[0].caps, 0);
  if (astro_shares_of(s) > 1)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "pad %s: the grid is one of %u parts (share= of astrogridder), "
                               "which are added up as images: expected astrofft and astroimage "
                               "before astroreduce",
                               inputs[0].pad, astro_shares_of(s));
  return !astro_field_is_true(s, "touched-only") ||
         astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "pad %s: caps field \"touched-only\" is true, which leaves tiles "
                             "undefined: expected false, or astrogridder upstream",
                             inputs[0].pad);
}

static gboolean agree(AstroMerge *merge, const AstroMergeInput *inputs, guint n, GstCaps *caps,
                      AstroObservation *observation, gpointer config, GError **error)
{
  AstroAdd *self = ASTRO_ADD(merge);
  if (!astro_merge_check_all_caps(inputs, n, error) || !check_grids(inputs, error) ||
      !astro_merge_check_beams(inputs, n, error) ||
      (astro_steps_count_once(inputs[0].stream) && !astro_merge_check_stations(inputs, n, error)))
    return FALSE;
  forget(self);
  self->n = n;
  self->last = g_new0(AstroMergePiece, n);
  self->pads = g_new0(char *, (gsize)n + 1);
  for (guint i = 0; i < n; i++)
    self->pads[i] = g_strdup(inputs[i].pad);
  self->config.stream = *inputs[0].stream;
  *(AstroAddConfig *)config = self->config;
  return TRUE;
}

/* ---- visibilities and power ---- */

/* For each input, the number of samples behind a value that lost none. An input whose buffers do
 * not say takes the largest number of the others: streams of one kind have equally many. */
static guint32 *find_full(const AstroAdd *self, const AstroMergeBlock *block)
{
  guint32 *full = g_new0(guint32, self->n), most = 0;
  for (guint i = 0; i < block->n_pieces; i++) {
    const AstroMergePiece *piece = &block->pieces[i];
    const AstroValidityMeta *meta = piece->buffer ? astro_buffer_get_validity(piece->buffer) : NULL;
    if (meta)
      full[piece->input] = MAX(full[piece->input], meta->full);
    most = MAX(most, full[piece->input]);
  }
  for (guint i = 0; i < self->n; i++)
    if (!full[i])
      full[i] = MAX(most, 1);
  return full;
}

static gboolean add_steps(AstroAdd *self, const AstroMergeBlock *block, GstBuffer *out,
                          GError **error)
{
  g_autofree AstroAddPiece *pieces = g_new0(AstroAddPiece, block->n_pieces);
  g_autofree guint32 *full = find_full(self, block);
  AstroAddArguments arguments = { block->steps, pieces };
  gboolean is_counted = self->config.stream.has_counts;
  guint64 all = 0;
  for (guint i = 0; i < block->n_pieces; i++) {
    const AstroMergePiece *piece = &block->pieces[i];
    const AstroValidityMeta *meta = piece->buffer ? astro_buffer_get_validity(piece->buffer) : NULL;
    pieces[i] =
        (AstroAddPiece){ piece->steps, piece->first, piece->n,
                         piece->at,    meta,         piece->buffer ? full[piece->input] : 0 };
    is_counted |= meta || !piece->buffer;
  }
  for (guint i = 0; i < self->n; i++)
    all += full[i];
  if (!astro_merge_submit(ASTRO_MERGE(self), block, out, &arguments, error))
    return FALSE;
  if (is_counted)
    astro_add_validity(&self->config, &arguments, block->n_pieces, (guint32)MIN(all, G_MAXUINT32),
                       out);
  return TRUE;
}

/* ---- grids and histograms ---- */

static gboolean submit_whole(AstroAdd *self, const AstroMergeBlock *block, GstBuffer *out,
                             GError **error)
{
  g_autofree AstroAddPiece *pieces = g_new0(AstroAddPiece, block->n_pieces);
  AstroAddArguments arguments = { 0, pieces };
  if (!astro_stream_steps(&self->config.stream, gst_buffer_get_size(out), &arguments.steps, error))
    return FALSE;
  for (guint i = 0; i < block->n_pieces; i++) {
    const AstroMergePiece *piece = &block->pieces[i];
    if (piece->buffer && gst_buffer_get_size(piece->buffer) != gst_buffer_get_size(out))
      return astro_stream_refuse(error, ASTRO_STREAM_ERROR_SIZE,
                                 "pad %s: a buffer of %" G_GSIZE_FORMAT
                                 " bytes, expected %" G_GSIZE_FORMAT ", as on the previous pad",
                                 self->pads[piece->input], gst_buffer_get_size(piece->buffer),
                                 gst_buffer_get_size(out));
    pieces[i] = (AstroAddPiece){ .steps = arguments.steps, .n = arguments.steps };
  }
  return astro_merge_submit(ASTRO_MERGE(self), block, out, &arguments, error);
}

static void keep_last(AstroAdd *self, AstroMergePiece *piece)
{
  AstroMergePiece *last = &self->last[piece->input];
  if (piece->buffer) {
    gst_buffer_replace(&last->buffer, piece->buffer);
    gst_event_replace(&last->told, piece->told);
    return;
  }
  piece->buffer = last->buffer;
  piece->told = last->told;
}

static gboolean add_histograms(AstroAdd *self, const AstroMergeBlock *block, GstBuffer *out,
                               GError **error)
{
  g_autofree AstroMergePiece *pieces =
      g_memdup2(block->pieces, block->n_pieces * sizeof *block->pieces);
  const AstroMergeBlock whole = { block->steps, pieces, block->n_pieces };
  GstEvent *event;
  for (guint i = 0; i < block->n_pieces; i++)
    keep_last(self, &pieces[i]);
  if (!astro_add_summaries(&whole, self->pads, &event, error))
    return FALSE;
  if (event)
    gst_pad_push_event(GST_AGGREGATOR_SRC_PAD(self), event);
  return submit_whole(self, &whole, out, error);
}

static gboolean combine(AstroMerge *merge, const AstroMergeBlock *block, GstBuffer *out,
                        GError **error)
{
  AstroAdd *self = ASTRO_ADD(merge);
  switch (self->config.stream.quantity) {
  case ASTRO_QUANTITY_VISIBILITIES:
  case ASTRO_QUANTITY_POWER:
    return add_steps(self, block, out, error);
  case ASTRO_QUANTITY_UVGRID:
    return astro_add_grids(block, self->pads, out, error) && submit_whole(self, block, out, error);
  default:
    return add_histograms(self, block, out, error);
  }
}

static void finalize(GObject *object)
{
  forget(ASTRO_ADD(object));
  G_OBJECT_CLASS(astro_add_parent_class)->finalize(object);
}

static void astro_add_class_init(AstroAddClass *klass)
{
  static const AstroQuantity quantities[] = { ASTRO_QUANTITY_VISIBILITIES, ASTRO_QUANTITY_POWER,
                                              ASTRO_QUANTITY_UVGRID, ASTRO_QUANTITY_HISTOGRAM,
                                              ASTRO_QUANTITY_UNKNOWN };
  AstroMergeClass *merge = ASTRO_MERGE_CLASS(klass);

  G_OBJECT_CLASS(klass)->finalize = finalize;
  merge->stage = "add";
  merge->tell_work = astro_add_work;
  merge->backends = astro_add_backends;
  merge->agree = agree;
  merge->combine = combine;
  merge->reset = reset;
  astro_merge_class_add_pads(merge, quantities);
  gst_element_class_set_static_metadata(
      GST_ELEMENT_CLASS(klass), "Add", "Filter/Muxer",
      "Adds visibilities, power, grids or pair counts of several streams with their weights",
      ASTRO_AUTHOR);
  gst_element_class_add_static_metadata(GST_ELEMENT_CLASS(klass), "takes",
                                        "visibilities CI32LE CF32LE CF64LE, power F32LE, uvgrids "
                                        "CF32LE CF64LE, histograms U64LE F64LE");
  gst_element_class_add_static_metadata(GST_ELEMENT_CLASS(klass), "gives", "the same");
}

static void astro_add_init(AstroAdd *self)
{
}
