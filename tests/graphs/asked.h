/* Asks a run that was started with --control, over HTTP. */
#pragma once

#include "tests/graphs/program.h"
#include "tests/graphs/interrupted.h"
#include "tests/tests.h"
#include "tests/viewer.h"

typedef struct {
  GPid pid;
  guint port;
  int err;
} Controlled;

/* Reads the standard error up to and including a text. */
static inline char *read_until(int fd, const char *text)
{
  GString *had = g_string_new(NULL);
  char letter;
  while (!strstr(had->str, text) || had->str[had->len - 1] != '\n') {
    if (read(fd, &letter, 1) != 1)
      g_error("%s instead of %s", had->str, text);
    g_string_append_c(had, letter);
  }
  return g_string_free(had, FALSE);
}

/* options: as a shell would split them; without --control. */
static inline Controlled control_start(const char *graph, const char *options)
{
  Controlled c = { 0 };
  g_autofree char *line =
      g_strdup_printf("%s run %s --control 127.0.0.1:0 %s", program, graph, options ? options : "");
  g_auto(GStrv) argv = NULL;
  g_autoptr(GError) error = NULL;
  g_assert_true(g_shell_parse_argv(line, NULL, &argv, NULL));
  g_spawn_async_with_pipes(folder, argv, NULL, G_SPAWN_DO_NOT_REAP_CHILD, end_with_parent, NULL,
                           &c.pid, NULL, NULL, &c.err, &error);
  g_assert_no_error(error);
  g_autofree char *said = read_until(c.err, "control at http://127.0.0.1:");
  c.port = (guint)g_ascii_strtoull(strrchr(said, ':') + 1, NULL, 10);
  return c;
}

/* head: further lines of the request's head, each with its end. The answer's body; *status: NULL is
 * allowed. */
static inline char *control_ask(const Controlled *c, const char *method, const char *path,
                                const char *head, const char *body, guint *status)
{
  Viewer viewer;
  g_autofree char *request =
      g_strdup_printf("%s %s HTTP/1.1\r\nHost: localhost\r\n%sContent-Length: %zu\r\n\r\n%s",
                      method, path, head ? head : "", body ? strlen(body) : 0, body ? body : "");
  viewer_ask(&viewer, c->port, request);
  g_autoptr(GBytes) bytes = viewer_body(&viewer);
  if (status)
    *status = viewer.status;
  g_assert_nonnull(bytes);
  char *text = g_strndup(g_bytes_get_data(bytes, NULL), g_bytes_get_size(bytes));
  g_test_message("%s %s: %u %.300s", method, path, viewer.status, text);
  viewer_close(&viewer);
  return text;
}

static inline void control_expect(const Controlled *c, const char *method, const char *path,
                                  const char *body, guint status, const char *says)
{
  guint got;
  g_autofree char *text = control_ask(c, method, path, NULL, body, &got);
  g_assert_cmpuint(got, ==, status);
  test_says(text, says);
}

/* Asks for the state until it contains a text. */
static inline void control_await(const Controlled *c, const char *text)
{
  for (guint i = 0; i < VIEWER_PATIENCE * 100; i++) {
    g_autofree char *state = control_ask(c, "GET", "/state", NULL, NULL, NULL);
    if (strstr(state, text))
      return;
    g_usleep(10000);
  }
  g_error("the state never has %s", text);
}

/* The number of a sample whose line begins like that; -1: there is none. */
static inline double control_metric(const Controlled *c, const char *sample)
{
  g_autofree char *text = control_ask(c, "GET", "/metrics", NULL, NULL, NULL),
                  *begin = g_strconcat("\n", sample, NULL);
  const char *line = strstr(text, begin);
  return line ? g_ascii_strtod(strchr(line + strlen(begin) - 1, ' '), NULL) : -1;
}

/* Ends the run; its exit status. */
static inline int control_end(Controlled *c)
{
  kill(c->pid, SIGINT);
  const int status = finish(c->pid);
  close(c->err);
  return status;
}
