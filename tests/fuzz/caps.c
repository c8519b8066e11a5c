/* The caps parser on any text. */
#include <string.h>

#include "core/stream/stream.h"

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
  gst_init(NULL, NULL);
  return 0;
}

/* GStreamer leaks lists that it cannot parse. lsan.supp suppresses that by the caller's name, but
 * for lists within lists within lists the recorded stacks do not reach down to it. */
static gboolean is_nested_deeply(const char *text)
{
  guint depth = 0;
  for (; *text && depth <= 8; text++)
    if (strchr("{[<", *text))
      depth++;
    else if (strchr("}]>", *text))
      depth = MAX(depth, 1) - 1;
  return depth > 8;
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
  g_autofree char *text = g_strndup((const char *)data, size);
  GstCaps *caps = is_nested_deeply(text) ? NULL : gst_caps_from_string(text);
  AstroStream stream;
  AstroLayout layout;
  g_autoptr(GError) error = NULL;
  guint64 steps;

  if (caps && astro_stream_from_caps(&stream, caps, &error)) {
    g_autoptr(GstCaps) back = astro_stream_to_caps(&stream);
    astro_stream_steps(&stream, 1 << 20, &steps, NULL);
    astro_stream_shape(&stream, 7, &layout);
    if (astro_stream_step_bytes(&stream) == 0)
      abort();
  }
  astro_layout_parse(&layout, text, ASTRO_QUANTITY_VISIBILITIES, NULL);
  gst_clear_caps(&caps);
  return 0;
}
