/* What the backends of this stage share. */
#pragma once

#include "core/delay/delay.h"
#include "core/lib/interpolate/kernels.h"
#include "core/lib/sky/store.h"

/* Samples of every input as they came, from the absolute sample start on. */
typedef struct {
  gint64 start;
  gsize length, capacity;
  guint8 *samples; /* inputs x capacity */
} AstroDelayWindow;

typedef struct {
  gsize time, station, pol, channel; /* in samples */
} AstroDelayStrides;

/* A block, or room for as many samples in another order. */
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
  /* The work itself, of reference or cpu. */
  gboolean (*turn_spectra)(AstroDelayInstance *instance, const guint8 *in, guint8 *out,
                           const AstroDelayArguments *arguments, GError **error);
  gboolean (*delay_voltages)(AstroDelayInstance *instance, guint8 *out,
                             const AstroDelayArguments *arguments, GError **error);
  AstroDelayWindow window;
  AstroDelayRoom rows_in, rows_out; /* of blocks of another order */
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
                            const AstroBlock *out, guint n_out, gconstpointer arguments,
                            AstroResult *result, GError **error);

/* Samples that go into one of voltages. */
guint astro_delay_taps(const AstroStream *voltages);
/* What zero in the samples of voltages stands for. */
double astro_delay_zero_frequency(const AstroStream *voltages);

void astro_delay_strides(const AstroStream *stream, guint64 steps, AstroDelayStrides *strides);

/* Moves steps of a stream, of which from and to are in different orders. */
void astro_delay_move(const AstroStream *stream, guint64 steps, const AstroDelayRows *to,
                      const AstroDelayRows *from, guint threads);

/* Where the samples of a block's rows (an input's in time, or its channels of a time step) lie side
 * by side: in the block if they do so there, else in the room. */
gboolean astro_delay_rows(AstroDelayRows *rows, const AstroStream *stream, guint64 steps,
                          const AstroDelayRows *block, AstroDelayRoom *room, GError **error);

/* An input's samples in the window, from that one on. */
const guint8 *astro_delay_window_at(const AstroDelayInstance *instance, guint input, gint64 sample);
/* Adds n samples (NULL: zeros) behind the last one; those before keep may go. */
gboolean astro_delay_window_append(AstroDelayInstance *instance, const guint8 *in, gsize n,
                                   gint64 keep, GError **error);

/* Middle of a spectrum, start of a sample. */
gint64 astro_delay_spectrum_ns(const AstroStream *stream, guint64 step);
gint64 astro_delay_sample_ns(const AstroStream *stream, guint64 sample);
