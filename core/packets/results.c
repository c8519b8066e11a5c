/* The layout of heaps of results. */
#include "config.h"
#include "core/packets/results.h"

#include <string.h>
#include "core/packets/formats.h"
#include "core/stream/power.h"

/* "gst-astr", as the first bytes of a heap, and the version of its layout. */
#define MAGIC 0x727473612d747367u
#define LAYOUT_VERSION 1
#define WORD 8

enum {
  WORD_MAGIC,
  WORD_VERSION_AXES, /* version in the low half, axes of the counts in the high one */
  WORD_FIRST_CHANNEL,
  WORD_CHANNELS,
  WORD_SAMPLE_BYTES,
  WORD_COUNTS, /* how many, and the full count in the high half */
  WORD_CAPS_BYTES,
  WORD_OBSERVATION_BYTES,
  N_WORDS
};
G_STATIC_ASSERT(N_WORDS *WORD == ASTRO_RESULTS_DOUBLES);

/* Longest texts: those of a thousand stations have some 100 kB. */
#define MOST_CAPS ((guint64)1 << 16)
#define MOST_OBSERVATION ((guint64)1 << 24)

gsize astro_results_heap_bytes(const AstroResultsHead *head)
{
  return ASTRO_RESULTS_BEGIN + head->sample_bytes + head->n_counts * sizeof(guint32) +
         head->caps_bytes + head->observation_bytes;
}

void astro_results_write_head(const AstroResultsHead *head, guint8 *heap)
{
  const guint64 words[N_WORDS] = {
    [WORD_MAGIC] = MAGIC,
    [WORD_VERSION_AXES] = LAYOUT_VERSION | (guint64)head->counted << 32,
    [WORD_FIRST_CHANNEL] = head->first_channel,
    [WORD_CHANNELS] = head->channels,
    [WORD_SAMPLE_BYTES] = head->sample_bytes,
    [WORD_COUNTS] = (guint64)head->n_counts | (guint64)head->full << 32,
    [WORD_CAPS_BYTES] = head->caps_bytes,
    [WORD_OBSERVATION_BYTES] = head->observation_bytes,
  };
  for (guint i = 0; i < N_WORDS; i++)
    astro_packet_write_little(heap + WORD * i, WORD, words[i]);
}

static gboolean read_head(const guint8 *bytes, AstroResultsHead *head)
{
  guint64 words[N_WORDS];
  for (guint i = 0; i < N_WORDS; i++)
    words[i] = astro_packet_read_little(bytes + WORD * i, WORD);
  *head = (AstroResultsHead){
    .first_channel = words[WORD_FIRST_CHANNEL],
    .channels = words[WORD_CHANNELS],
    .counted = (AstroPartAxes)(words[WORD_VERSION_AXES] >> 32),
    .full = (guint32)(words[WORD_COUNTS] >> 32),
    .sample_bytes = words[WORD_SAMPLE_BYTES],
    .n_counts = words[WORD_COUNTS] & G_MAXUINT32,
    .caps_bytes = words[WORD_CAPS_BYTES],
    .observation_bytes = words[WORD_OBSERVATION_BYTES],
  };
  return words[WORD_MAGIC] == MAGIC && (guint32)words[WORD_VERSION_AXES] == LAYOUT_VERSION &&
         head->sample_bytes <= ASTRO_PACKET_MAX_BYTES && head->caps_bytes <= MOST_CAPS &&
         head->observation_bytes <= MOST_OBSERVATION;
}

gboolean astro_results_read(const guint8 *bytes, gsize size, AstroResultsHeap *heap, GError **error)
{
  AstroResultsHead *head = &heap->head;
  if (size < ASTRO_RESULTS_BEGIN || !read_head(bytes, head) ||
      astro_results_heap_bytes(head) != size)
    return astro_packet_is_alien(error,
                                 "a heap of %zu bytes does not begin with the head that "
                                 "astropay writes, or has another length than that tells",
                                 size);
  heap->samples = bytes + ASTRO_RESULTS_BEGIN;
  heap->counts = heap->samples + head->sample_bytes;
  heap->caps = (const char *)(heap->counts + head->n_counts * sizeof(guint32));
  heap->observation = heap->caps + head->caps_bytes;
  return TRUE;
}

gboolean astro_results_carry(const AstroStream *stream)
{
  return stream->quantity == ASTRO_QUANTITY_VISIBILITIES ||
         stream->quantity == ASTRO_QUANTITY_POWER ||
         (stream->quantity == ASTRO_QUANTITY_SPECTRA &&
          astro_layout_find(&stream->layout, ASTRO_AXIS_BEAM) >= 0);
}

gboolean astro_results_take_caps(const GstCaps *caps, AstroStream *stream, GError **error)
{
  AstroPowerProducts products;
  if (!astro_stream_from_caps(stream, caps, error) ||
      (stream->quantity == ASTRO_QUANTITY_POWER &&
       !astro_power_from_caps(stream, &products, caps, error)))
    return FALSE;
  return astro_results_carry(stream) ||
         astro_packet_is_alien(error, "a heap holds %s, expected visibilities, power or beams",
                               astro_quantity_name(stream->quantity));
}

GstCaps *astro_results_read_caps(const char *text, gsize length, AstroStream *stream,
                                 GError **error)
{
  g_autofree char *copy = g_strndup(text, length);
  g_autoptr(GstCaps) caps = g_utf8_validate(copy, -1, NULL) ? gst_caps_from_string(copy) : NULL;
  if (!caps || !gst_caps_is_fixed(caps)) {
    astro_packet_is_alien(error, "a heap's caps are \"%.200s\", expected those of a stream", copy);
    return NULL;
  }
  if (!astro_results_take_caps(caps, stream, error))
    return NULL;
  if (stream->rate_n <= 0) {
    astro_packet_is_alien(error, "a heap's caps have no field \"rate\", which times need");
    return NULL;
  }
  return g_steal_pointer(&caps);
}

AstroObservation *astro_results_read_observation(const char *text, gsize length, GError **error)
{
  g_autofree char *copy = g_strndup(text, length);
  char *end = NULL;
  GstStructure *told =
      g_utf8_validate(copy, -1, NULL) ? gst_structure_from_string(copy, &end) : NULL;
  if (!told || *end || !gst_structure_has_name(told, ASTRO_OBSERVATION_EVENT)) {
    g_clear_pointer(&told, gst_structure_free);
    astro_packet_is_alien(error, "a heap's observation is \"%.200s\", expected %s", copy,
                          ASTRO_OBSERVATION_EVENT);
    return NULL;
  }
  g_autoptr(GstEvent) event = gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, told);
  return astro_observation_from_event(event, error);
}
