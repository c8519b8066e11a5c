/* A device as the memory sees it: somewhere to keep a second face of a block, queues that run in
 * order beside the host, and events that mark a place in a queue.
 *
 * The CUDA module implements this with streams and events; tests implement it with threads and a
 * second host area. No call waits for work to end, but for event_wait, unlock_host and free. */
#pragma once

#include "core/backend/handles.h"

G_BEGIN_DECLS

typedef struct _AstroEvent AstroEvent; /* a place in a queue */

typedef enum {
  ASTRO_COPY_UP,   /* host to device */
  ASTRO_COPY_DOWN, /* device to host */
} AstroCopyDirection;

/* Bytes of a device's memory. */
typedef struct {
  gsize free, whole;
  gsize ours; /* that alloc gave out and free has not had back */
} AstroDeviceMemory;

typedef struct {
  gboolean (*alloc)(AstroDevice *device, gsize bytes, gpointer *face, GError **error);
  void (*free)(AstroDevice *device, gpointer face);
  gboolean (*memory)(AstroDevice *device, AstroDeviceMemory *memory, GError **error);
  /* Page-locks a host area so that copies run beside the host. */
  gboolean (*lock_host)(AstroDevice *device, gpointer host, gsize bytes, GError **error);
  void (*unlock_host)(AstroDevice *device, gpointer host);

  AstroQueue *(*queue_new)(AstroDevice *device, GError **error);
  void (*queue_free)(AstroDevice *device, AstroQueue *queue); /* what was queued still runs */
  gboolean (*queue_copy)(AstroDevice *device, AstroQueue *queue, AstroCopyDirection direction,
                         gpointer to, gconstpointer from, gsize bytes, GError **error);
  gboolean (*queue_wait)(AstroDevice *device, AstroQueue *queue, AstroEvent *event, GError **error);

  AstroEvent *(*event_record)(AstroDevice *device, AstroQueue *queue, GError **error);
  void (*event_free)(AstroDevice *device, AstroEvent *event);
  /* TRUE only for work that ended well; what failed is for event_wait to say. */
  gboolean (*event_done)(AstroDevice *device, AstroEvent *event);
  gboolean (*event_wait)(AstroDevice *device, AstroEvent *event, GError **error);

  void (*close)(AstroDevice *device); /* frees the device itself */
} AstroDeviceFuncs;

/* What every device starts with; implementations append their own. Made by a module's open function
 * with one reference. */
struct _AstroDevice {
  const AstroDeviceFuncs *funcs;
  gint ref_count;
  gint index;
  char *name;
  AstroQueue *up, *down; /* the two copy queues, shared by all memory of this device */
  /* Counters, atomic, kept by whoever copies or waits: what was moved, and how often the host
   * waited for an event that was not done. */
  gsize bytes_up, bytes_down, host_waits;
};

G_END_DECLS
