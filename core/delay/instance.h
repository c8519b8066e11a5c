/* The instance of the delay stage, and the functions that its backends share. */
#pragma once

#include "core/delay/delay.h"
#include "core/lib/interpolate/kernels.h"
#include "core/lib/sky/store.h"

/* The latest samples of every input, in its own format; start is the number of the first. */
typedef struct {
  gint64 start;
  gsize length, capacity;
  guint8 *samples; /* inputs x capacity */
} AstroDelayWindow;

typedef struct {
  gsize time, station, pol, channel; /* in samples */
} AstroDelayStrides;

/* A block, or a buffer for as many samples in another order. */
typedef struct {
  guint8 *data;
  AstroDelayStrides strides;
} AstroDelayRows;

typedef struct {
  guint8 *data;
  gsize bytes;
} AstroDelayRoom;

typedef struct AstroDelayInstance AstroDelayInstance;
struct AstroDelayInstance {
  AstroDelayConfig config;
  guint threads, stations, pols, channels;
  const AstroStore *in_format, *out_format;
  const AstroDelayKernels *kernels;
  const AstroSkyKernels *store_kernels;
  double rate;
  double zero_frequency;                 /* of voltages */
  double first_frequency, channel_width; /* of spectra */
  /* The kernels of a backend, and its window_append. */
  gboolean (*rotate_spectra)(AstroDelayInstance *instance, const guint8 *in, guint8 *out,
                             const AstroDelayArguments *arguments, GError **error);
  gboolean (*delay_voltages)(AstroDelayInstance *instance, guint8 *out,
                             const AstroDelayArguments *arguments, GError **error);
  gboolean (*append)(AstroDelayInstance *instance, const guint8 *in, gsize n, gint64 keep,
                     GError **error);
  AstroDelayWindow window;
  AstroDelayRoom rows_in, rows_out; /* for blocks whose rows are not contiguous */
};

gboolean astro_delay_shape(gconstpointer config, GError **error);
/* Whether the blocks and the model of a call fit the streams. */
gboolean astro_delay_check_call(const AstroDelayConfig *config, const AstroBlock *in, guint n_in,
                                const AstroBlock *out, guint n_out,
                                const AstroDelayArguments *arguments, GError **error);
/* For a backend whose instance begins with this one; there is nothing to clear. */
void astro_delay_instance_init(AstroDelayInstance *instance, const AstroDelayConfig *config,
                               const AstroPlace *place);
AstroDelayInstance *astro_delay_instance_new(const AstroDelayConfig *config,
                                             const AstroPlace *place);
void astro_delay_instance_free(gpointer instance);
gboolean astro_delay_submit(gpointer instance, const AstroBlock *in, guint n_in,
                            const AstroBlock *out, guint n_out, gconstpointer arguments,
                            AstroResult *result, GError **error);

/* Number of input samples that make one output sample of voltages. */
guint astro_delay_taps(const AstroStream *voltages);
/* The sky frequency at zero frequency of the samples. */
double astro_delay_zero_frequency(const AstroStream *voltages);

void astro_delay_strides(const AstroStream *stream, guint64 steps, AstroDelayStrides *strides);

/* Copies steps of a stream between two orders of samples. */
void astro_delay_move(const AstroStream *stream, guint64 steps, const AstroDelayRows *to,
                      const AstroDelayRows *from, guint threads);

/* Finds rows (an input's samples in time, or the channels of an input at a time step) whose samples
 * are contiguous: in the block if its layout has them so, else in the room. */
gboolean astro_delay_rows(AstroDelayRows *rows, const AstroStream *stream, guint64 steps,
                          const AstroDelayRows *block, AstroDelayRoom *room, GError **error);

/* An input's samples in the window, from the given sample on. */
const guint8 *astro_delay_window_at(const AstroDelayInstance *instance, guint input, gint64 sample);
/* Appends n samples (NULL: zeros); samples before keep may be dropped. */
gboolean astro_delay_window_append(AstroDelayInstance *instance, const guint8 *in, gsize n,
                                   gint64 keep, GError **error);

/* The stretches of samples of which output voltages are made, the same for all inputs. */
typedef struct {
  guint samples;        /* of a stretch */
  guint64 first, count; /* the sample at which the first one begins, at an edge of a tile */
  double *delays;       /* [end of a stretch][input] */
} AstroDelayStretches;

/* A stretch of an input, over which its delay changes linearly. */
typedef struct {
  gint64 first;          /* input sample at the delayed time of the first sample, rounded down */
  double fraction, gain; /* the fraction that was rounded off; a factor for the samples */
  double phase, rate;    /* rotation: cycles, and cycles per sample */
} AstroDelayStretch;

/* Those of a call's output. They are to be cleared if this does not fail. */
gboolean astro_delay_stretches_init(AstroDelayStretches *stretches,
                                    const AstroDelayInstance *instance,
                                    const AstroDelayArguments *arguments, GError **error);
void astro_delay_stretches_clear(AstroDelayStretches *stretches);
AstroDelayStretch astro_delay_stretch(const AstroDelayStretches *stretches,
                                      const AstroDelayInstance *instance,
                                      const AstroDelayModel *model, guint64 index, guint input);

/* The delays of a call's spectra, [step][input], to be freed with g_free(). */
double *astro_delay_of_spectra(const AstroDelayInstance *instance,
                               const AstroDelayArguments *arguments);

/* The time of the middle of a spectrum, and of the start of a sample. */
gint64 astro_delay_spectrum_ns(const AstroStream *stream, guint64 step);
gint64 astro_delay_sample_ns(const AstroStream *stream, guint64 sample);
