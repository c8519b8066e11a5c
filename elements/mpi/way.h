/* Which way blocks go between ranks: from device to device, by copies or by NCCL, or through the
 * hosts' memory by MPI. Each rank tells all others what it found with its first block. If nothing
 * speaks against a way, it is tried (elements/mpi/trial.h), and all come to the same answer. */
#pragma once

#include "core/backend/device.h"

#include <gst/gst.h>

G_BEGIN_DECLS

typedef enum {
  WAY_AUTO, /* the best that can be used */
  WAY_MPI,
  WAY_NCCL, /* an error if it cannot be */
  WAY_COPY, /* the same */
  WAYS,
} Way;

/* Those from device to device. */
#define WAY_FIRST_OF_DEVICES WAY_NCCL

/* As a message says it, behind "by". */
const char *way_name(Way way);

/* A rank tells this to the others. */
typedef struct {
  char trouble[WAYS][256]; /* why it cannot go that way, behind "rank N"; empty: it can */
  char bus[ASTRO_BUS_CHARS];
  guint32 version; /* of NCCL */
} WayFacts;

/* first: the first block of the stream; NULL: it has none. reads_on_host: what this rank receives
 * is read there. */
void way_find_facts(WayFacts *facts, GstBuffer *first, gboolean reads_on_host);

/* Whether a block can go from device to device without memory being allocated for it. */
gboolean way_is_on_device(GstBuffer *block);

/* The first of n ranks that cannot go that way beside the others, and why, of those whose facts are
 * known (not NULL); NULL: none. */
char *way_find_trouble(Way way, const WayFacts *const *facts, guint n, guint *rank);

G_END_DECLS
