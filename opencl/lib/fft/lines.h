/* Transforms of lines of any length in device memory, queued behind what makes them and before what
 * takes them, with no wait of the host. A line's samples are contiguous, and so are lines. For
 * stages that make lines themselves; those that have a whole block to transform take
 * astro_opencl_fft, with its load and store.
 *
 *   astro_opencl_rooms_need(&rooms, &place, "stage", count * lines.room * bytes of a sample, error)
 *   ... queue a kernel that writes `count` lines of `n` complex samples to rooms.faces[0] ...
 *   astro_opencl_lines_run(&lines, &rooms, count, &at, error)
 *   ... queue a kernel that reads them from rooms.faces[at] */
#pragma once

#include "opencl/runtime/opencl.h"

G_BEGIN_DECLS

/* Two rooms of equal size, as each step of a transform goes from one to the other. */
typedef struct {
  gpointer faces[2];
  gsize bytes; /* of each */
} AstroOpenclRooms;

/* Makes rooms of at least that many bytes; what they had is lost if they were smaller. */
gboolean astro_opencl_rooms_need(AstroOpenclRooms *rooms, const AstroPlace *place,
                                 const char *stage, gsize bytes, GError **error);
void astro_opencl_rooms_clear(AstroOpenclRooms *rooms, const AstroPlace *place);

/* The sum over j of x[j] exp(-+2 pi i j k / n), not scaled. By one radix after the other; if n has
 * a long prime factor, as a convolution with a chirp, of a power of two. */
typedef struct {
  AstroPlace place;
  guint64 n;      /* samples of a line */
  guint64 length; /* of what goes by radices: n, or that of the convolution */
  guint64 room;   /* samples for which a line takes room in each of both rooms; n or more */
  gboolean is_double;
  cl_kernel combine_all;              /* of lines that fit in a group's local memory */
  cl_kernel combine;                  /* of others */
  cl_kernel spread, convolve, gather; /* of convolutions */
  gpointer roots;                     /* exp(-+2 pi i k / length) */
  gpointer chirp,
      response; /* exp(-+pi i k k / n), and the transform of what it is convolved with */
} AstroOpenclLines;

/* n: up to 2^30, as of fft. stage: for errors. If it fails, the lines are to be cleared all the
 * same. */
gboolean astro_opencl_lines_init(AstroOpenclLines *lines, const AstroPlace *place,
                                 const char *stage, guint64 n, gboolean inverse, gboolean is_double,
                                 GError **error);
void astro_opencl_lines_clear(AstroOpenclLines *lines);
/* Transforms the lines in the first room, fewer than 2^32 samples of it; *at: the room in which
 * they are then. */
gboolean astro_opencl_lines_run(const AstroOpenclLines *lines, const AstroOpenclRooms *rooms,
                                guint64 count, guint *at, GError **error);

G_END_DECLS
