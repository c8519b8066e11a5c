/* The receiver on datagrams of any bytes, one after another: it may only make good blocks of them,
 * or none. The first byte chooses the format, each two after it the length of the next datagram. */
#include "core/packets/receiver.h"
#include "core/stream/validity.h"

#define MOST_BLOCK ((gsize)1 << 24)

static gboolean describe(gpointer user, GstCaps *caps, GError **error)
{
  (void)user;
  (void)error;
  return gst_caps_is_fixed(caps);
}

static GstBuffer *allocate(gpointer user, gsize bytes)
{
  (void)user;
  return bytes > MOST_BLOCK ? NULL : gst_buffer_new_allocate(NULL, bytes, NULL);
}

static void begin(gpointer user, const AstroObservation *observation, gboolean is_by_arrival)
{
  (void)user;
  g_free(astro_observation_get_start(observation));
}

static void take_block(gpointer user, GstBuffer *block)
{
  (void)user;
  if (GST_BUFFER_OFFSET_END(block) <= GST_BUFFER_OFFSET(block) || !astro_buffer_get_validity(block))
    g_error("a block without steps or without counts");
  gst_buffer_unref(block);
}

static void warn(gpointer user, const char *text)
{
  (void)user;
  if (!*text)
    g_error("an empty warning");
}

static const AstroPacketSettings settings[] = {
  { .packet = (char *)"vdif", .stations = (char *)"0-3", .pols = 2, .rate = (char *)"1000000" },
  { .packet = (char *)"vdif" },
  { .packet = (char *)"lofar-beamlet", .stations = (char *)"0-3" },
  { .packet = (char *)"katgpucbf-antenna-voltage",
    .stations = (char *)"0-1",
    .packet_steps = 16,
    .sequence_step = 4096,
    .rate = (char *)"62500",
    .sync_epoch = (char *)"0" },
  { .packet = (char *)"meerkat-digitiser", .rate = (char *)"1712000000" },
  { .packet = (char *)"results" },
};

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
  static const AstroReceiverFunctions functions = { describe, allocate, begin, take_block, warn };
  g_autoptr(GError) error = NULL;
  if (!gst_is_initialized())
    gst_init(NULL, NULL);
  if (size == 0)
    return 0;
  AstroPacketSettings chosen = settings[data[0] % G_N_ELEMENTS(settings)];
  chosen.block_ms = 2;
  chosen.latency_ms = 3;
  g_autoptr(AstroReceiver) receiver = astro_receiver_new(&chosen, &functions, NULL, &error);
  g_assert_no_error(error);
  for (gsize at = 1; at + 2 < size && !error;) {
    const gsize length = MIN((gsize)(data[at] | data[at + 1] << 8), size - at - 2);
    astro_receiver_take(receiver, data + at + 2, length, 1 + data[at] % 3, &error);
    at += 2 + length;
  }
  astro_receiver_finish(receiver);
  return 0;
}
