/* Shared by all files of the OpenCL module: the device, errors that name the call and the cause,
 * programs, launches.
 *
 * To add a stage: opencl/STAGE/STAGE.cl has its kernels in OpenCL C 1.2, which begin with what
 * opencl/runtime/common.cl says; opencl/STAGE/STAGE.c has its table (astro_opencl_STAGE), whose
 * create takes kernels by astro_opencl_kernel and whose submit launches them by
 * astro_opencl_launch. The stage's column.mk lists both in opencl_sources and opencl_programs,
 * opencl/runtime/module.c has the table in its list, and tests/core/STAGE runs its cases on it by
 * test_on_opencl (tests/core/on-device.h). A column's tests say whether its integers are equal and
 * its floats near. */
#pragma once

#include <CL/cl.h>

#include "core/backend/backend.h"
#include "core/backend/device.h"

G_BEGIN_DECLS

/* One for each device: the part that core knows, then our own. */
typedef struct {
  AstroDevice base;
  cl_device_id id;
  cl_context context;
  GMutex lock;
  GArray *areas;      /* AstroOpenclArea: memory that alloc has given */
  gsize ours;         /* sum of their bytes */
  GHashTable *mapped; /* host memory that the driver has allocated: see host.c */
  cl_command_queue maps;
  gsize whole, largest; /* bytes of all memory, and of the largest block */
  guint units;          /* compute units */
  gsize most_items;     /* work items of a group */
  gsize local_bytes;
  gboolean has_double, rounds_division;
  char *identity;       /* of the device and its driver, for binaries that are kept */
  GHashTable *programs; /* identity of a program -> cl_program */
} AstroOpenclDevice;

static inline AstroOpenclDevice *astro_opencl_device(AstroDevice *device)
{
  return (AstroOpenclDevice *)device;
}

static inline cl_command_queue astro_opencl_queue(AstroQueue *queue)
{
  return (cl_command_queue)queue;
}

AstroDevice *astro_opencl_device_new(gint index, GError **error);

/* For functions of AstroBackend and AstroDevice: returns FALSE with an error if the call failed. */
gboolean astro_opencl_ok(const AstroDevice *device, cl_int status, const char *call,
                         GError **error);
#define OPENCL_TRY(device, call) astro_opencl_ok(device, (call), #call, error)

/* ---- memory ---- */

/* Allocates count values of this many bytes on a place's device. stage is named in the error. */
gboolean astro_opencl_alloc(const AstroPlace *place, const char *stage, gpointer face, gsize count,
                            gsize bytes, GError **error);
/* Frees device memory of a place, or NULL; sets the pointer to NULL. */
void astro_opencl_free(const AstroPlace *place, gpointer face);
/* The memory that an address of the device leads to, and the offset in it. */
gboolean astro_opencl_look_up(AstroDevice *device, gconstpointer face, cl_mem *memory,
                              gsize *offset, GError **error);
/* Queue a copy within the device, and a fill with one byte. */
gboolean astro_opencl_copy(const AstroPlace *place, gpointer to, gconstpointer from, gsize bytes,
                           GError **error);
gboolean astro_opencl_fill(const AstroPlace *place, gpointer to, guint8 byte, gsize bytes,
                           GError **error);
/* Queues a copy of host memory, which the caller may change when this returns. */
gboolean astro_opencl_upload(const AstroPlace *place, gpointer to, gconstpointer from, gsize bytes,
                             GError **error);
/* Memory that grows as is needed; freed by astro_opencl_free of its face. */
typedef struct {
  gpointer face;
  gsize bytes;
} AstroOpenclRoom;

/* Makes room for so many bytes. Where there was less, what was there is lost. */
gboolean astro_opencl_make_room(const AstroPlace *place, const char *stage, AstroOpenclRoom *room,
                                gsize bytes, GError **error);
/* Makes room for a copy of host memory, and queues it. */
gboolean astro_opencl_send(const AstroPlace *place, const char *stage, AstroOpenclRoom *room,
                           gconstpointer from, gsize bytes, GError **error);
/* Waits for all work queued at a place, which counts as a wait of the host. */
gboolean astro_opencl_drain(const AstroPlace *place, GError **error);

/* ---- programs ---- */

/* A program in OpenCL C: compiled when it is first used, and then kept in the user's cache. */
typedef struct {
  const char *name; /* for errors */
  const char *text; /* compiled behind common.cl */
  gboolean needs_double;
} AstroOpenclProgram;

/* A kernel of a program, compiled with these options besides ours, for one instance: two threads
 * must not set the arguments of one at a time. NULL, with an error, if the device lacks what the
 * program needs, or its compiler fails. To be released with clReleaseKernel. */
cl_kernel astro_opencl_kernel(AstroDevice *device, const AstroOpenclProgram *program,
                              const char *options, const char *kernel, GError **error);
/* Compiles a program if need be, for stages that take its kernels only later. */
gboolean astro_opencl_compiles(AstroDevice *device, const AstroOpenclProgram *program,
                               const char *options, GError **error);
/* The same as astro_opencl_kernel for n of them. If it fails, they are to be released all the same.
 */
gboolean astro_opencl_kernels(AstroDevice *device, const AstroOpenclProgram *program,
                              const char *options, const char *const *names, guint n,
                              cl_kernel *kernels, GError **error);
/* Releases those that are not NULL. */
void astro_opencl_kernels_release(cl_kernel *kernels, guint n);

/* ---- launches ---- */

/* An argument of a kernel. A face takes two parameters there, FACE(type, name) of common.cl. */
typedef struct {
  gconstpointer value; /* NULL: local memory */
  gsize bytes;         /* 0: value is a face, or NULL, which the kernel does not read */
} AstroOpenclArgument;
#define OPENCL_FACE(face) ((AstroOpenclArgument){ (face), 0 })
#define OPENCL_VALUE(variable) ((AstroOpenclArgument){ &(variable), sizeof(variable) })
#define OPENCL_LOCAL(bytes) ((AstroOpenclArgument){ NULL, (bytes) })

typedef struct {
  guint n;         /* dimensions */
  gsize global[3]; /* work items; rounded up to whole groups: kernels compare with an extent */
  gsize local[3];  /* of a group; all 0: the driver's choice */
} AstroOpenclRange;

gboolean astro_opencl_launch(const AstroPlace *place, cl_kernel kernel,
                             const AstroOpenclArgument *arguments, guint n_arguments,
                             const AstroOpenclRange *range, GError **error);
/* In a row of items, in groups of that many. */
gboolean astro_opencl_launch_items(const AstroPlace *place, cl_kernel kernel,
                                   const AstroOpenclArgument *arguments, guint n_arguments,
                                   gsize items, gsize group, GError **error);

extern const AstroBackend astro_opencl_beamform;
extern const AstroBackend astro_opencl_channelizer;
extern const AstroBackend astro_opencl_convert;
extern const AstroBackend astro_opencl_correlator;
extern const AstroBackend astro_opencl_delay;
extern const AstroBackend astro_opencl_fft;
extern const AstroBackend astro_opencl_gridder;
extern const AstroBackend astro_opencl_histogram;
extern const AstroBackend astro_opencl_image;
extern const AstroBackend astro_opencl_power;
extern const AstroBackend astro_opencl_sideband;
extern const AstroBackend astro_opencl_transpose;

G_END_DECLS
