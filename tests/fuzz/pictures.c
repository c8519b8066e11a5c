/* The server of pictures on any request: an answer where the request is whole, else none. */
#include "core/serve/pictures.h"

#include <stdlib.h>
#include <string.h>

/* The picture is more than whoever asks takes, so that no stream of pictures goes on. */
enum { MOST = 8192 /* of a request */, TAKEN = 1024, PICTURE = 2048 };

static AstroPictureServer *server;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
  static const char picture[PICTURE] = "";
  g_autoptr(GBytes) bytes = g_bytes_new_static(picture, sizeof picture);
  server = astro_picture_server_new("127.0.0.1", 0, NULL);
  if (!server)
    abort();
  astro_picture_server_show(server, bytes, "image/jpeg");
  return 0;
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
  if (size > MOST)
    return 0;
  g_autofree char *request = g_strndup((const char *)data, size);
  const gboolean is_whole = strstr(request, "\r\n\r\n") || strstr(request, "\n\n");
  char answer[TAKEN + 1] = "";
  g_autoptr(GInputStream) in = g_memory_input_stream_new_from_data(data, (gssize)size, NULL);
  g_autoptr(GOutputStream) out = g_memory_output_stream_new(answer, TAKEN, NULL, NULL);
  astro_picture_server_answer(server, in, out);
  if (is_whole ? !g_str_has_prefix(answer, "HTTP/1.1 ") : *answer)
    abort();
  return 0;
}
