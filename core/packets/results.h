/* Heaps of results, visibilities, power and beams: each is a time step of a stream, or some of its
 * channels, and describes itself, so that a receiver needs no settings and any heap may be lost.
 *
 * The heap begins with a head of fixed size, in little-endian numbers of 64 bits, then has four
 * doubles for programs that know SPEAD but not GStreamer, the samples, the counts of good samples
 * behind them, the stream's caps and its observation as GStreamer writes them as text. Pointers of
 * SPEAD name all of these, and descriptors tell their types and shapes. */
#pragma once

#include "core/packets/part.h"
#include "core/stream/observation.h"

G_BEGIN_DECLS

#define ASTRO_RESULTS "results"

/* Items: as MeerKAT's correlator numbers them where it has them, and numbers of our own. */
enum {
  ASTRO_RESULTS_BASELINES = 0x1008,
  ASTRO_RESULTS_CHANNELS = 0x1009,
  ASTRO_RESULTS_STATIONS = 0x100a,
  ASTRO_RESULTS_FREQUENCY = 0x1011,
  ASTRO_RESULTS_BANDWIDTH = 0x1013,
  ASTRO_RESULTS_INTERVAL = 0x1016,
  ASTRO_RESULTS_START = 0x1027,
  ASTRO_RESULTS_STEP = 0x1600,
  ASTRO_RESULTS_SAMPLES = 0x1800,
  ASTRO_RESULTS_COUNTS = 0x1801,
  ASTRO_RESULTS_FIRST_CHANNEL = 0x4103,
  ASTRO_RESULTS_HEAD = 0x5a00,
  ASTRO_RESULTS_CAPS,
  ASTRO_RESULTS_OBSERVATION,
};

/* Offset of the doubles, which are the centre of the band, its width, the length of a step (s) and
 * UTC of step 0 (s since 1970); then of the samples. */
#define ASTRO_RESULTS_DOUBLES 64
#define ASTRO_RESULTS_N_DOUBLES 4
#define ASTRO_RESULTS_BEGIN (ASTRO_RESULTS_DOUBLES + 8 * ASTRO_RESULTS_N_DOUBLES)

typedef struct {
  guint64 first_channel, channels;
  AstroPartAxes counted; /* axes of the counts, as in the stream's layout */
  guint32 full;
  gsize sample_bytes, n_counts, caps_bytes, observation_bytes;
} AstroResultsHead;

/* The parts of a heap, within its bytes. */
typedef struct {
  AstroResultsHead head;
  const guint8 *samples, *counts; /* counts: little-endian, 32 bits */
  const char *caps, *observation; /* not terminated */
} AstroResultsHeap;

gsize astro_results_heap_bytes(const AstroResultsHead *head);
void astro_results_write_head(const AstroResultsHead *head, guint8 *heap);
/* FALSE: the bytes are no such heap. */
gboolean astro_results_read(const guint8 *bytes, gsize size, AstroResultsHeap *heap,
                            GError **error);

/* The stream and observation that texts of a heap describe. */
GstCaps *astro_results_read_caps(const char *text, gsize length, AstroStream *stream,
                                 GError **error);
/* The stream that caps describe, which heaps of results have to carry. */
gboolean astro_results_take_caps(const GstCaps *caps, AstroStream *stream, GError **error);
AstroObservation *astro_results_read_observation(const char *text, gsize length, GError **error);

/* Whether heaps of results carry such streams. */
gboolean astro_results_carry(const AstroStream *stream);

G_END_DECLS
