/* Adds up values of all ranks at one of them, in the order of ranks. */
#include "config.h"
#include "elements/mpi/sums.h"

#include "elements/base/astroshares.h"
#include "elements/base/astrostage.h"
#include "elements/mpi/elsewhere.h"
#include "elements/mpi/pads.h"

struct _MpiSums {
  GstElement parent;
  GstPad *sink, *src;
  AstroLink *link;
  AstroWorld world;
  guint root;
  gboolean is_whole;  /* the next buffer has been added up */
  LinkResult trouble; /* what came of the last sum */
};

G_DEFINE_TYPE(MpiSums, mpi_sums, GST_TYPE_ELEMENT)

static gboolean is_root(const MpiSums *self)
{
  return self->world.rank == self->root;
}

static GstFlowReturn flow_of(LinkResult result)
{
  return result == LINK_OK        ? GST_FLOW_OK
         : result == LINK_STOPPED ? GST_FLOW_FLUSHING
                                  : GST_FLOW_ERROR;
}

static gsize bytes_of(const AstroSharesPart *part)
{
  return part->n * (part->is_double ? sizeof(double) : sizeof(float));
}

/* ---- between ranks ---- */

static LinkResult send(MpiSums *self, gpointer item)
{
  g_autoptr(GError) error = NULL;
  const LinkResult result = link_send(self->link, self->root, item, &error);
  if (error)
    GST_ELEMENT_ERROR(self, STREAM, FAILED, ("for rank %u: %s", self->root, error->message),
                      (NULL));
  return result;
}

static LinkResult take(MpiSums *self, guint from, GstMiniObject **item)
{
  g_autoptr(GError) error = NULL;
  const LinkResult result = link_take(self->link, from, item, &error);
  if (error)
    GST_ELEMENT_ERROR(self, STREAM, FAILED, ("from rank %u: %s", from, error->message), (NULL));
  if (result == LINK_OK)
    link_taken(self->link, from);
  return result;
}

static void add_values(const AstroSharesPart *part, gconstpointer from)
{
  for (guint64 i = 0; part->is_double && i < part->n; i++)
    ((double *)part->values)[i] += ((const double *)from)[i];
  for (guint64 i = 0; !part->is_double && i < part->n; i++)
    ((float *)part->values)[i] += ((const float *)from)[i];
}

static LinkResult refuse(MpiSums *self, guint rank, gboolean has_more)
{
  GST_ELEMENT_ERROR(self, STREAM, FAILED,
                    ("rank %u has %s images than this rank (%u): expected the same grids on all of "
                     "them, by one graph with the same parameters",
                     rank, has_more ? "more, or larger," : "fewer, or smaller,", self->world.rank),
                    (NULL));
  return LINK_FAILED;
}

static LinkResult add_from(MpiSums *self, guint rank, const AstroSharesPart *part)
{
  GstMiniObject *item;
  GstMapInfo map;
  const LinkResult result = take(self, rank, &item);
  gsize got = 0, expected = bytes_of(part);
  if (result != LINK_OK)
    return result;
  if (GST_IS_BUFFER(item) && gst_buffer_map(GST_BUFFER_CAST(item), &map, GST_MAP_READ)) {
    got = map.size;
    if (got == expected)
      add_values(part, map.data);
    gst_buffer_unmap(GST_BUFFER_CAST(item), &map);
  }
  gst_mini_object_unref(item);
  return got == expected ? LINK_OK : refuse(self, rank, got > expected);
}

static LinkResult add_up(MpiSums *self, const AstroSharesPart *part)
{
  LinkResult result = LINK_OK;
  if (!is_root(self))
    return send(self, gst_buffer_new_memdup(part->values, bytes_of(part)));
  for (guint rank = 0; rank < self->world.ranks && result == LINK_OK; rank++)
    if (rank != self->root)
      result = add_from(self, rank, part);
  return result;
}

/* ---- queries ---- */

static gboolean sum(MpiSums *self, GstQuery *query, guint shares, const AstroSharesPart *parts,
                    guint n)
{
  if (shares != self->world.ranks) {
    GST_ELEMENT_ERROR(self, STREAM, FAILED,
                      ("the grid is one of %u parts (share= of astrogridder), expected one of %u, "
                       "as many as this job has ranks",
                       shares, self->world.ranks),
                      (NULL));
    return FALSE;
  }
  self->trouble = LINK_OK;
  for (guint i = 0; i < n && self->trouble == LINK_OK; i++)
    self->trouble = add_up(self, &parts[i]);
  /* After a failure the image comes too, and what has failed ends the stream. */
  self->is_whole = is_root(self) || self->trouble != LINK_OK;
  astro_shares_answer(query, self->is_whole);
  return TRUE;
}

static gboolean answer(GstPad *pad, GstObject *parent, GstQuery *query)
{
  MpiSums *self = MPI_SUMS(parent);
  const AstroSharesPart *parts;
  guint shares, n;
  if (astro_shares_is_asked(query, &shares, &parts, &n))
    return sum(self, query, shares, parts, n);
  if (GST_QUERY_TYPE(query) == GST_QUERY_ALLOCATION && !is_root(self))
    return FALSE;
  return gst_pad_query_default(pad, parent, query);
}

/* ---- the stream ---- */

static GstFlowReturn chain(GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  MpiSums *self = MPI_SUMS(parent);
  if (!self->is_whole && self->world.ranks > 1) {
    GST_ELEMENT_ERROR(self, STREAM, FAILED,
                      ("an image that is not a part of one came: expected share=RANK/RANKS of "
                       "astrogridder upstream, in this job share=%u/%u",
                       self->world.rank, self->world.ranks),
                      (NULL));
    gst_buffer_unref(buffer);
    return GST_FLOW_ERROR;
  }
  self->is_whole = FALSE;
  if (self->trouble == LINK_OK)
    return gst_pad_push(self->src, buffer);
  gst_buffer_unref(buffer);
  return flow_of(self->trouble);
}

/* Whether no rank has another image. */
static gboolean all_have_ended(MpiSums *self)
{
  for (guint rank = 0; rank < self->world.ranks; rank++) {
    GstMiniObject *item;
    if (rank == self->root)
      continue;
    if (take(self, rank, &item) != LINK_OK)
      return FALSE;
    const gboolean is_end = !GST_IS_BUFFER(item);
    gst_mini_object_unref(item);
    if (!is_end)
      return refuse(self, rank, TRUE) == LINK_OK;
  }
  return TRUE;
}

static gboolean end(MpiSums *self, GstEvent *eos)
{
  const gboolean is_over = is_root(self) ? all_have_ended(self)
                                         : send(self, gst_event_ref(eos)) == LINK_OK &&
                                               link_settle(self->link, self->root) == LINK_OK;
  if (is_over && is_root(self))
    return gst_pad_push_event(self->src, eos);
  if (is_over)
    return mpi_end_elsewhere(self->src, self->root, eos);
  gst_event_unref(eos);
  return FALSE;
}

static gboolean take_event(GstPad *pad, GstObject *parent, GstEvent *event)
{
  MpiSums *self = MPI_SUMS(parent);
  if (GST_EVENT_TYPE(event) == GST_EVENT_EOS)
    return end(self, event);
  if (is_root(self))
    return gst_pad_push_event(self->src, event);
  gst_event_unref(event);
  return TRUE;
}

static void mpi_sums_class_init(MpiSumsClass *klass)
{
  gst_element_class_set_static_metadata(GST_ELEMENT_CLASS(klass), "Sums", "Filter/Network",
                                        "Adds up images that ranks share", ASTRO_AUTHOR);
}

static void mpi_sums_init(MpiSums *self)
{
}

static GstPad *add_passing_pad(MpiSums *self, const char *name, GstPadDirection direction,
                               GstCaps *caps)
{
  GstPad *pad = mpi_add_pad(GST_ELEMENT(self), name, direction, caps);
  GST_PAD_SET_PROXY_CAPS(pad);
  GST_PAD_SET_PROXY_ALLOCATION(pad);
  return pad;
}

GstElement *mpi_sums_new(AstroLink *link, const AstroWorld *world, guint root, GstCaps *caps)
{
  MpiSums *self = g_object_new(MPI_TYPE_SUMS, "name", "sums", NULL);
  self->sink = add_passing_pad(self, "sink", GST_PAD_SINK, caps);
  self->src = add_passing_pad(self, "src", GST_PAD_SRC, caps);
  self->link = link;
  self->world = *world;
  self->root = root;
  gst_pad_set_chain_function(self->sink, chain);
  gst_pad_set_event_function(self->sink, take_event);
  gst_pad_set_query_function(self->sink, answer);
  if (world->ranks > 1)
    gst_pad_set_event_function(self->src, mpi_drop_seek);
  if (!is_root(self))
    link_will_send(link, root);
  for (guint rank = 0; rank < world->ranks && is_root(self); rank++)
    if (rank != root)
      link_will_take(link, rank);
  return GST_ELEMENT(self);
}
