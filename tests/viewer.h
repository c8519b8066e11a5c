/* A viewer of pictures over HTTP, like a browser: sends requests and parses answers. */
#pragma once

#include <gio/gio.h>
#include <gst/check/gstharness.h>
#include <string.h>

#define VIEWER_PATIENCE 100 /* seconds for anything to come */

typedef struct {
  GSocketConnection *connection;
  GDataInputStream *in;
  guint status;     /* of the answer, such as 200 */
  GHashTable *head; /* names in lower case to values */
} Viewer;

static inline void viewer_close(Viewer *viewer)
{
  g_clear_object(&viewer->in);
  g_clear_object(&viewer->connection);
  g_clear_pointer(&viewer->head, g_hash_table_unref);
}

/* A line without its line end; NULL: the connection was closed. */
static inline char *viewer_line(Viewer *viewer)
{
  char *line = g_data_input_stream_read_line(viewer->in, NULL, NULL, NULL);
  return line ? g_strchomp(line) : NULL;
}

static inline void viewer_read_fields(Viewer *viewer)
{
  char *line;
  g_hash_table_remove_all(viewer->head);
  while ((line = viewer_line(viewer)) && *line) {
    char *colon = strchr(line, ':');
    g_assert_nonnull(colon);
    g_hash_table_insert(viewer->head, g_ascii_strdown(line, colon - line),
                        g_strdup(g_strstrip(colon + 1)));
    g_free(line);
  }
  g_free(line);
}

static inline void viewer_connect(Viewer *viewer, guint port)
{
  g_autoptr(GSocketClient) client = g_socket_client_new();
  GError *error = NULL;
  g_socket_client_set_timeout(client, VIEWER_PATIENCE);
  g_socket_client_set_enable_proxy(client, FALSE);
  *viewer = (Viewer){ 0 };
  viewer->connection =
      g_socket_client_connect_to_host(client, "127.0.0.1", (guint16)port, NULL, &error);
  g_assert_no_error(error);
  viewer->in =
      g_data_input_stream_new(g_io_stream_get_input_stream(G_IO_STREAM(viewer->connection)));
  g_data_input_stream_set_newline_type(viewer->in, G_DATA_STREAM_NEWLINE_TYPE_LF);
  viewer->head = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
}

/* FALSE: it could not be sent. */
static inline gboolean viewer_send(Viewer *viewer, const char *text, gsize bytes)
{
  return g_output_stream_write_all(g_io_stream_get_output_stream(G_IO_STREAM(viewer->connection)),
                                   text, bytes, NULL, NULL, NULL);
}

/* Sends any text as a request, and reads the head of the answer. */
static inline void viewer_ask(Viewer *viewer, guint port, const char *request)
{
  char *line;
  viewer_connect(viewer, port);
  viewer_send(viewer, request, strlen(request));
  line = viewer_line(viewer);
  g_assert_nonnull(line);
  g_assert_true(g_str_has_prefix(line, "HTTP/1."));
  viewer->status = (guint)g_ascii_strtoull(line + 9, NULL, 10);
  g_free(line);
  viewer_read_fields(viewer);
}

static inline void viewer_get(Viewer *viewer, guint port, const char *path)
{
  g_autofree char *request = g_strdup_printf("GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path);
  viewer_ask(viewer, port, request);
}

static inline const char *viewer_field(Viewer *viewer, const char *name)
{
  return g_hash_table_lookup(viewer->head, name);
}

/* The body, of the length given in the head; NULL: fewer bytes came. */
static inline GBytes *viewer_body(Viewer *viewer)
{
  const char *length = viewer_field(viewer, "content-length");
  gsize bytes, got;
  g_assert_nonnull(length);
  bytes = g_ascii_strtoull(length, NULL, 10);
  guint8 *data = g_malloc(bytes + 1);
  if (g_input_stream_read_all(G_INPUT_STREAM(viewer->in), data, bytes, &got, NULL, NULL) &&
      got == bytes)
    return g_bytes_new_take(data, bytes);
  g_free(data);
  return NULL;
}

/* The next picture of a stream whose head was read; NULL: there is none. */
static inline GBytes *viewer_part(Viewer *viewer)
{
  const char *boundary;
  char *line;
  if (!g_hash_table_contains(viewer->head, "boundary")) { /* the first part */
    const char *type = viewer_field(viewer, "content-type");
    g_assert_nonnull(type);
    g_assert_true(g_str_has_prefix(type, "multipart/x-mixed-replace;"));
    boundary = strstr(type, "boundary=");
    g_assert_nonnull(boundary);
    g_object_set_data_full(G_OBJECT(viewer->in), "boundary",
                           g_strconcat("--", boundary + strlen("boundary="), NULL), g_free);
  }
  boundary = g_object_get_data(G_OBJECT(viewer->in), "boundary");
  while ((line = viewer_line(viewer)) && !*line)
    g_free(line);
  if (!line)
    return NULL;
  g_assert_cmpstr(line, ==, boundary);
  g_free(line);
  viewer_read_fields(viewer);
  if (!viewer_field(viewer, "content-length"))
    return NULL;
  g_hash_table_insert(viewer->head, g_strdup("boundary"), g_strdup(boundary));
  return viewer_body(viewer);
}

/* Decodes a picture from its JPEG. */
static inline GstBuffer *viewer_decode(GBytes *picture, gint *width, gint *height)
{
  GstHarness *h = gst_harness_new("jpegdec");
  gst_harness_set_src_caps_str(h, "image/jpeg,framerate=0/1");
  g_assert_cmpint(gst_harness_push(h, gst_buffer_new_wrapped_bytes(picture)), ==, GST_FLOW_OK);
  GstBuffer *buffer = gst_harness_pull(h);
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(h->sinkpad);
  const GstStructure *fields = gst_caps_get_structure(caps, 0);
  gst_structure_get_int(fields, "width", width);
  gst_structure_get_int(fields, "height", height);
  gst_harness_teardown(h);
  return buffer;
}
