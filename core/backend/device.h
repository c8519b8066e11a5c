/* A device as the memory sees it: a place for a second copy of a block (its device face), queues
 * that run in order beside the host, and events that mark a position in a queue.
 *
 * The CUDA module implements this with streams and events, the OpenCL module with command queues
 * and events; tests implement it with threads and a second area of host memory. No call waits for
 * queued work, except event_wait, unlock_host, free_host and free. */
#pragma once

#include "core/backend/handles.h"

G_BEGIN_DECLS

typedef struct _AstroEvent AstroEvent; /* a position in a queue */

typedef enum {
  ASTRO_COPY_UP,   /* host to device */
  ASTRO_COPY_DOWN, /* device to host */
} AstroCopyDirection;

#define ASTRO_BUS_CHARS 32

/* Memory of a device, in bytes. */
typedef struct {
  gsize free, whole;
  gsize ours; /* allocated by alloc and not yet freed */
} AstroDeviceMemory;

/* Tells another process of this host where a face lies. */
typedef struct {
  char bytes[64];
} AstroTicket;

/* Devices may allocate less than this in one piece with something else, so that another process
 * would get hold of both. */
#define ASTRO_SHARED_UNIT ((gsize)2 << 20)

typedef struct {
  gboolean (*alloc)(AstroDevice *device, gsize bytes, gpointer *face, GError **error);
  void (*free)(AstroDevice *device, gpointer face);
  gboolean (*memory)(AstroDevice *device, AstroDeviceMemory *memory, GError **error);
  /* Page-locks an area of host memory, so that copies run asynchronously. */
  gboolean (*lock_host)(AstroDevice *device, gpointer host, gsize bytes, GError **error);
  void (*unlock_host)(AstroDevice *device, gpointer host);
  /* Or, if it can only lock what it allocates, in place of both: an area at a multiple of align. */
  gpointer (*alloc_host)(AstroDevice *device, gsize bytes, gsize align, GError **error);
  void (*free_host)(AstroDevice *device, gpointer host);

  AstroQueue *(*queue_new)(AstroDevice *device, GError **error);
  void (*queue_free)(AstroDevice *device, AstroQueue *queue); /* what was queued still runs */
  gboolean (*queue_copy)(AstroDevice *device, AstroQueue *queue, AstroCopyDirection direction,
                         gpointer to, gconstpointer from, gsize bytes, GError **error);
  gboolean (*queue_wait)(AstroDevice *device, AstroQueue *queue, AstroEvent *event, GError **error);

  AstroEvent *(*event_record)(AstroDevice *device, AstroQueue *queue, GError **error);
  void (*event_free)(AstroDevice *device, AstroEvent *event);
  /* TRUE only for work that ended without an error; event_wait reports errors. */
  gboolean (*event_done)(AstroDevice *device, AstroEvent *event);
  gboolean (*event_wait)(AstroDevice *device, AstroEvent *event, GError **error);

  void (*close)(AstroDevice *device); /* frees the device itself */

  /* Devices with the same functions are of one kind: their queues can wait for each other's events.
   * reaches: whether bytes can be copied from the other one without the host in between. */
  gboolean (*reaches)(AstroDevice *device, AstroDevice *other);
  gboolean (*queue_copy_across)(AstroDevice *device, AstroQueue *queue, gpointer to,
                                AstroDevice *other, gconstpointer from, gsize bytes,
                                GError **error);
  /* Its address on the PCI bus, as in /sys/bus/pci/devices; empty: it is on none. */
  void (*find_bus)(AstroDevice *device, char bus[ASTRO_BUS_CHARS]);
  /* Copies rows within the device's memory, from one block to another: n of so many bytes, whose
   * starts are at these distances, which are not less than that. */
  gboolean (*queue_copy_rows)(AstroDevice *device, AstroQueue *queue, gpointer to, gsize to_step,
                              gconstpointer from, gsize from_step, gsize bytes, gsize n,
                              GError **error);

  /* Lets other processes of this host write into a face of a multiple of ASTRO_SHARED_UNIT bytes,
   * which then has to stay until they are done with it. NULL: no face can be shared. */
  gboolean (*share)(AstroDevice *device, gpointer face, AstroTicket *ticket, GError **error);
  /* The face of another process, to which this device can copy its own until close_shared. */
  gpointer (*open_shared)(AstroDevice *device, const AstroTicket *ticket, GError **error);
  void (*close_shared)(AstroDevice *device, gpointer face);
  gboolean (*queue_copy_out)(AstroDevice *device, AstroQueue *queue, gpointer to,
                             gconstpointer from, gsize bytes, GError **error);
} AstroDeviceFuncs;

/* Every device starts with this; implementations append their own members. A module's open function
 * makes it with one reference. */
struct _AstroDevice {
  const AstroDeviceFuncs *funcs;
  gint ref_count;
  gint kind;  /* AstroBackendKind, set by astro_device_open_of */
  gint index; /* among those of its kind */
  char *name;
  AstroQueue *up, *down; /* the two copy queues, shared by all memory of this device */
  AstroQueue *across;    /* copies from other devices */
  gboolean on_host;      /* its memory is the host's */
  /* Atomic counters, kept by whoever copies or waits: bytes copied, and how often the host waited
   * for an event that was not done. */
  gsize bytes_up, bytes_down, bytes_across, host_waits;
};

G_END_DECLS
