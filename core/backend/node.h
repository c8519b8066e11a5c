/* The part of a host that is near a device (NUMA node): its memory, and its cores. A host of one
 * node has nothing nearer than anything else, and all of this does nothing there. */
#pragma once

#include <sched.h>
#include "core/backend/device.h"
#include "core/kit/exports.h"

ASTRO_BEGIN_DECLS

/* The node of a device, as Linux tells it; -1: it does not. */
gint astro_node_of(AstroDevice *device);
/* How many nodes the host has; 0: Linux does not tell. */
guint astro_node_count(void);

#define ASTRO_NODE_WORDS 16 /* of bits, for nodes or cores */

/* Pages that the calling thread touches first come from the device's node, where that has some
 * left, until the thread leaves. */
typedef struct {
  gboolean is_set;
  int mode; /* before */
  gulong nodes[ASTRO_NODE_WORDS];
} AstroNodeMemory;

void astro_node_memory_enter(AstroNodeMemory *memory, AstroDevice *device);
void astro_node_memory_leave(AstroNodeMemory *memory);

/* Starts the workers of astro_parallel. They have the cores of the thread that starts them, so that
 * this comes before a thread is bound to some. */
void astro_threads_start(void);

/* The calling thread runs on cores of the device's node, as far as it may use some of them, until
 * it leaves. */
typedef struct {
  gboolean is_set;
  cpu_set_t before;
} AstroNodeCores;

void astro_node_cores_enter(AstroNodeCores *cores, AstroDevice *device);
void astro_node_cores_leave(AstroNodeCores *cores);

ASTRO_END_DECLS
