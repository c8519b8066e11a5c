/* What the backends of this stage share. */
#pragma once

#include "core/delay/delay.h"
#include "core/delay/kernels.h"
#include "core/sky/store.h"

/* Samples of every input as they came, in single precision, from the absolute sample start on. */
typedef struct {
  gint64 start;
  gsize length, capacity;
  float *samples; /* inputs x (re, im) x capacity */
} AstroDelayWindow;

typedef struct {
  gsize time, station, pol, channel; /* in samples */
} AstroDelayStrides;

typedef struct AstroDelayInstance AstroDelayInstance;
struct AstroDelayInstance {
  AstroDelayConfig config;
  guint threads, stations, pols, channels;
  const AstroStore *in_format, *out_format;
  const AstroDelayKernels *kernels;
  const AstroSkyKernels *store_kernels;
  double rate, first_frequency, channel_width; /* of spectra */
  /* The work itself, of reference or cpu. */
  gboolean (*turn_spectra)(AstroDelayInstance *instance, const guint8 *in, guint8 *out,
                           const AstroDelayArguments *arguments, GError **error);
  gboolean (*delay_voltages)(AstroDelayInstance *instance, guint8 *out,
                             const AstroDelayArguments *arguments, GError **error);
  AstroDelayWindow window;
};

gboolean astro_delay_shape(gconstpointer config, GError **error);
/* Whether a call's blocks and model are of the streams' sizes. */
gboolean astro_delay_check_call(const AstroDelayConfig *config, const AstroBlock *in, guint n_in,
                                const AstroBlock *out, guint n_out,
                                const AstroDelayArguments *arguments, GError **error);
AstroDelayInstance *astro_delay_instance_new(const AstroDelayConfig *config,
                                             const AstroPlace *place);
void astro_delay_instance_free(gpointer instance);
gboolean astro_delay_submit(gpointer instance, const AstroBlock *in, guint n_in,
                            const AstroBlock *out, guint n_out, gpointer arguments, GError **error);

void astro_delay_strides(const AstroStream *stream, guint64 steps, AstroDelayStrides *strides);

/* n samples, every stride, to components of single precision. */
void astro_delay_load(AstroFormat format, gconstpointer in, gsize stride, gsize n, float *re,
                      float *im);

/* The components of an input's sample in the window. */
float *astro_delay_window_at(const AstroDelayWindow *window, guint input, gint64 sample,
                             float **im);

/* Middle of a spectrum, start of a sample. */
gint64 astro_delay_spectrum_ns(const AstroStream *stream, guint64 step);
gint64 astro_delay_sample_ns(const AstroStream *stream, guint64 sample);
