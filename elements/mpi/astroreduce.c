/**
 * SECTION:element-astroreduce
 *
 * Adds the streams of all ranks of an MPI job: visibilities, power, grids in (u,v), pair counts or
 * images that they share, with their weights and counts of good samples. The sum goes on at rank
 * root alone. On the other ranks the stream ends here, once root has all of it; sinks behind it
 * write nothing there.
 *
 * It adds as astroadd does: visibilities and power are aligned by absolute time, whatever the size
 * of buffers, and what a rank lacks is accounted as loss; grids and histograms are added in order,
 * the n-th of every rank together, as long as it has one. Integers are exact, and floats are added
 * in the order of ranks, so that a run gives the same bits again. Streams that may not be added, as
 * of another format, are refused by the number of the rank. If a rank stops before the end of its
 * stream, all others give an error.
 *
 * Behind astroimage it adds up images of grids that the ranks share (share= of astrogridder): each
 * rank makes and transforms some planes, and images cross, which are a small part of that.
 *
 * |[
 * mpirun -n 2 sh -c 'gst-launch-1.0 astrovissrc duration=60 ! \
 *   astrogridder size=512 cell=10 share=$OMPI_COMM_WORLD_RANK/2 ! astrofft ! astroimage ! \
 *   astroreduce ! astrofitssink location=one.fits'
 * ]|
 *
 * Elements of one name belong together on all ranks. A process that was not started by mpirun or
 * srun is the only rank, and the stream passes through.
 *
 * |[
 * mpirun -n 2 sh -c 'gst-launch-1.0 astrovissrc duration=60 seed=$OMPI_COMM_WORLD_RANK ! \
 *   astrogridder size=512 cell=10 algorithm=wprojection ! astroreduce ! astrofft ! astroimage ! \
 *   astrofitssink location=both.fits'
 * ]|
 */
#include "config.h"
#include "elements/mpi/astroreduce.h"

#include "core/kit/fail.h"
#include "core/stream/stream.h"
#include "elements/base/astrofields.h"
#include "elements/base/astrostage.h"

struct _AstroReduce {
  MpiExchange parent;
  guint root; /* property */
};

G_DEFINE_TYPE(AstroReduce, astro_reduce, MPI_TYPE_EXCHANGE)
GST_ELEMENT_REGISTER_DEFINE(astroreduce, "astroreduce", GST_RANK_NONE, ASTRO_TYPE_REDUCE)

static char *tell_settings(MpiExchange *exchange)
{
  return g_strdup_printf("astroreduce root=%u", ASTRO_REDUCE(exchange)->root);
}

/* Before there are caps, the element upstream says what it may send. */
static gboolean takes_images(MpiExchange *exchange)
{
  g_autoptr(GstCaps) caps = gst_pad_peer_query_caps(mpi_exchange_sink(exchange), NULL);
  g_autoptr(GstCaps) images =
      gst_caps_new_empty_simple(astro_quantity_media_type(ASTRO_QUANTITY_IMAGE));
  return !gst_caps_is_empty(caps) && gst_caps_is_subset(caps, images);
}

static gboolean build(MpiExchange *exchange, GError **error)
{
  const guint root = ASTRO_REDUCE(exchange)->root;
  const AstroWorld *world = mpi_exchange_world(exchange);
  if (root >= world->ranks)
    return astro_fail(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                      "root=%u, expected a rank of this job of %u: 0 to %u", root, world->ranks,
                      world->ranks - 1);
  if (takes_images(exchange)) {
    mpi_exchange_add_sums(exchange, root);
    return TRUE;
  }
  const gboolean is_root = world->rank == root;
  GstElement *sender = mpi_exchange_add_sender(exchange, root, !is_root);
  mpi_exchange_set_sink(exchange, sender, "sink");
  if (is_root)
    return mpi_exchange_add_merge(exchange, "astroadd", FALSE, error) != NULL;
  mpi_exchange_set_src(exchange, sender, "src");
  return TRUE;
}

static const AstroField fields[] = {
  ASTRO_UINT(AstroReduce, root, "root", "Root",
             "The rank at which the sum goes on; less than the number of ranks", 0, 1048575, 0),
  { 0 },
};

#define CAPS                                                                                       \
  "application/x-astro-visibilities; application/x-astro-power; application/x-astro-uvgrid; "      \
  "application/x-astro-histogram; application/x-astro-image"

static void astro_reduce_class_init(AstroReduceClass *klass)
{
  static GstStaticPadTemplate sink =
      GST_STATIC_PAD_TEMPLATE("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS(CAPS));
  static GstStaticPadTemplate src =
      GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS(CAPS));
  GstElementClass *element = GST_ELEMENT_CLASS(klass);
  MPI_EXCHANGE_CLASS(klass)->tell_settings = tell_settings;
  MPI_EXCHANGE_CLASS(klass)->build = build;
  astro_fields_install(G_OBJECT_CLASS(klass), fields, 0);
  gst_element_class_add_static_pad_template(element, &sink);
  gst_element_class_add_static_pad_template(element, &src);
  gst_element_class_set_static_metadata(
      element, "Add over MPI ranks", "Filter/Network",
      "Adds visibilities, power, grids, pair counts or shared images of all ranks of an MPI job",
      ASTRO_AUTHOR);
  gst_element_class_add_static_metadata(element, "takes",
                                        "visibilities CI32LE CF32LE CF64LE, power F32LE, uvgrids "
                                        "CF32LE CF64LE, histograms U64LE F64LE, images "
                                        "F32LE F64LE of astroimage, of grids with share");
  gst_element_class_add_static_metadata(element, "gives", "the same, at rank root");
}

static void astro_reduce_init(AstroReduce *self)
{
  astro_fields_set_defaults(self);
}
