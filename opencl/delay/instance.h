/* The instance of the OpenCL delay: delay.c is the backend, spectra.c and voltages.c queue its work
 * on either. */
#pragma once

#include "core/delay/instance.h"
#include "opencl/lib/formats/gather.h"

#define GROUP 64       /* work items */
#define TAP_STEPS 1024 /* fractions in the table of taps; interpolated linearly between them */

typedef struct {
  AstroDelayInstance core; /* its window has no memory: that is here */
  AstroPlace place;
  guint inputs;
  cl_kernel gather, work; /* work: interpolate or turn */
  gpointer taps;          /* [fraction][tap]; real voltages: real parts, then imaginary ones */
  AstroOpenclRoom window; /* [input][capacity], in the format of the input */
  AstroOpenclRoom spare;  /* where samples go that are kept, when earlier ones are dropped */
  AstroOpenclRoom pieces; /* of voltages; or the phases of spectra */
  AstroOpenclRoom gains, curves, bandpass; /* of spectra */
} Delay;

/* A phase in units of which there are 2^64 in a cycle. */
cl_ulong astro_opencl_delay_phase(double cycles);

/* Functions of the core's instance. */
gboolean astro_opencl_delay_spectra(AstroDelayInstance *core, const guint8 *in, guint8 *out,
                                    const AstroDelayArguments *arguments, GError **error);
gboolean astro_opencl_delay_voltages(AstroDelayInstance *core, guint8 *out,
                                     const AstroDelayArguments *arguments, GError **error);
gboolean astro_opencl_delay_append(AstroDelayInstance *core, const guint8 *in, gsize n, gint64 keep,
                                   GError **error);
