/* Which way blocks go between ranks: from device to device by NCCL, or through the hosts' memory by
 * MPI. Each rank tells all others what it found with its first block. If nothing speaks against
 * NCCL, it is tried (elements/mpi/trial.h), and all come to the same answer. */
#pragma once

#include "core/backend/device.h"

#include <gst/gst.h>

G_BEGIN_DECLS

typedef enum {
  WAY_AUTO, /* whichever is better */
  WAY_MPI,
  WAY_NCCL, /* an error if it cannot be */
} Way;

/* A rank tells this to the others. */
typedef struct {
  char trouble[256]; /* why it cannot use NCCL, behind "rank N"; empty: it can */
  char bus[ASTRO_BUS_CHARS];
  guint32 version;
} WayFacts;

/* first: the first block of the stream; NULL: it has none. reads_on_host: what this rank receives
 * is read there. */
void way_find_facts(WayFacts *facts, GstBuffer *first, gboolean reads_on_host);

/* Whether a block can go by NCCL without memory being allocated for it. */
gboolean way_is_on_device(GstBuffer *block);

/* The first of n ranks that cannot use NCCL beside the others, and why, of those whose facts are
 * known (not NULL); NULL: none. */
char *way_find_trouble(const WayFacts *const *facts, guint n, guint *rank);

G_END_DECLS
