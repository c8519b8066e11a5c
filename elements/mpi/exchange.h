/* Base of elements that exchange streams with those of the same name on other ranks: a bin that is
 * filled anew for each stream. */
#pragma once

#include "elements/mpi/link.h"

G_BEGIN_DECLS

#define MPI_TYPE_EXCHANGE mpi_exchange_get_type()
G_DECLARE_DERIVABLE_TYPE(MpiExchange, mpi_exchange, MPI, EXCHANGE, GstBin)

struct _MpiExchangeClass {
  GstBinClass parent;

  /* The settings that have to be the same on all ranks, as a user writes them: "astroreduce
   * root=0". */
  char *(*tell_settings)(MpiExchange *self);
  /* Fills the bin, by the functions below. */
  gboolean (*build)(MpiExchange *self, GError **error);
};

const AstroWorld *mpi_exchange_world(MpiExchange *self);

/* Elements in the bin, which owns them. NULL with an error if there is no such element. */
GstElement *mpi_exchange_add(MpiExchange *self, const char *factory, GError **error);
GstElement *mpi_exchange_add_sender(MpiExchange *self, guint to, gboolean has_end);
GstElement *mpi_exchange_add_receiver(MpiExchange *self, guint from, gboolean is_live);

/* Blocks of the senders may go from device to device, or must, that way. receives: this rank gets
 * something. */
void mpi_exchange_try_devices(MpiExchange *self, Way wanted, gboolean receives);

/* Images that the ranks share, from the bin's sink pad to its source pad. */
void mpi_exchange_add_sums(MpiExchange *self, guint root);

/* Adds an element with inputs sink_0, sink_1 ... that takes a stream from each rank, and gives it
 * to the bin's source pad. */
GstElement *mpi_exchange_add_merge(MpiExchange *self, const char *factory, gboolean is_live,
                                   GError **error);

/* Streams come to the bin, and leave it, at that pad of a child. */
void mpi_exchange_set_sink(MpiExchange *self, GstElement *child, const char *pad);
void mpi_exchange_set_src(MpiExchange *self, GstElement *child, const char *pad);

/* The bin's own pads: sink and src. The class has to have templates of those names. */
GstPad *mpi_exchange_sink(MpiExchange *self);

G_END_DECLS
