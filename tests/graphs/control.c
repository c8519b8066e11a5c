/* gst-astro run --control: metrics, state, start, stop, trigger and properties over HTTP, from
 * clients that are many, slow, strange or not allowed. */
#include "tests/graphs/asked.h"

#include <math.h>

#define ENDLESS "./endless.graph"

static void write_endless(void)
{
  write_file("endless.graph",
             "# Endless.\nfakesrc name=source sizetype=fixed sizemax=1000 filltype=zero\n"
             "! identity name=\"a \\\"b\\\\\" sleep-time=1000 ! queue name=q\n"
             "! filesink name=file location=endless.raw buffer-mode=unbuffered",
             -1);
}

static void write_drawn(void)
{
  write_file(
      "drawn.graph",
      "astrovissrc name=source stations=4 array=vla-like duration=7000 integration=1\n"
      "phase-centre=131,33 start-time=2026-11-20T12:00:00 ! identity name=i sleep-time=2000\n"
      "! fakesink name=sink",
      -1);
}

/* ---- metrics ---- */

/* The format of Prometheus: a family's help, its type and its samples, in one piece and once; no
 * sample twice; counters end in _total. */
static void check_metrics(const char *text)
{
  g_autoptr(GRegex) sample = g_regex_new("^([a-z_]+)(\\{([a-z]+=\"([^\"\\\\\n]|\\\\[\\\\\"n])*\""
                                         ",?)+\\})? (-?[0-9.e+-]+|NaN)$",
                                         0, 0, NULL);
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  g_autoptr(GHashTable) families = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
                        samples = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  g_autofree char *family = g_strdup("");
  g_assert_true(g_str_has_suffix(text, "\n"));
  for (guint i = 0; *lines[i]; i++) {
    g_auto(GStrv) words = g_strsplit(lines[i], " ", 4);
    g_autoptr(GMatchInfo) match = NULL;
    if (g_str_has_prefix(lines[i], "# HELP ")) {
      g_free(family);
      family = g_strdup(words[2]);
      g_assert_true(g_hash_table_add(families, g_strdup(family)));
      g_autofree char *type = g_strdup_printf("# TYPE %s ", family);
      g_assert_true(g_str_has_prefix(lines[i + 1], type));
    } else if (g_str_has_prefix(lines[i], "# TYPE ")) {
      g_assert_cmpstr(words[2], ==, family);
      g_assert_cmpint(g_str_has_suffix(family, "_total"), ==, g_str_equal(words[3], "counter"));
    } else {
      if (!g_regex_match(sample, lines[i], 0, &match))
        g_error("no sample: %s", lines[i]);
      g_autofree char *name = g_match_info_fetch(match, 1);
      g_assert_cmpstr(name, ==, family);
      g_assert_true(
          g_hash_table_add(samples, g_strndup(lines[i], strrchr(lines[i], ' ') - lines[i])));
    }
  }
  g_assert_cmpuint(g_hash_table_size(families), >, 10);
}

static void check_with_promtool(const char *text)
{
  g_autofree char *promtool = g_find_program_in_path("promtool");
  if (!promtool)
    return;
  write_file("metrics", text, -1);
  g_auto(Result) result = run_shell("promtool check metrics <metrics");
  g_assert_cmpint(result.status, ==, 0);
}

static void metrics(void)
{
  Controlled c = control_start(ENDLESS, NULL);
  while (control_metric(&c, "gst_astro_element_buffers_in_total{element=\"file\"") < 5)
    g_usleep(1000);
  g_autofree char *text = control_ask(&c, "GET", "/metrics", NULL, NULL, NULL);
  check_metrics(text);
  check_with_promtool(text);
  test_says(text, "gst_astro_info{graph=\"endless\",version=\"" PACKAGE_VERSION "\"} 1\n");
  test_says(text, "{element=\"a \\\"b\\\\\",factory=\"identity\"}");
  const double before =
      control_metric(&c, "gst_astro_element_bytes_in_total{element=\"file\",factory=\"filesink\"}");
  g_assert_cmpfloat(before, >=, 5000);
  g_assert_cmpfloat(fmod(before, 1000), ==, 0);
  g_usleep(100000);
  g_assert_cmpfloat(
      control_metric(&c, "gst_astro_element_bytes_in_total{element=\"file\",factory=\"filesink\"}"),
      >, before);
  g_assert_cmpint(control_end(&c), ==, 0);
}

/* Our own elements tell more, and a live source has a latency. */
static void own_counts(void)
{
  write_file("own.graph",
             "astroskysrc stations=2 bandwidth=1e5 duration=1000\n"
             "! application/x-astro-voltages,format=CF32LE ! identity sleep-time=2000\n"
             "! astroconvert name=convert scale=1e6 backend=cpu ! "
             "application/x-astro-voltages,format=CI8\n"
             "! fakesink",
             -1);
  Controlled c = control_start("./own.graph", NULL);
  control_await(&c, "\"busy-ns\":1");
  g_autofree char *text = control_ask(&c, "GET", "/metrics", NULL, NULL, NULL);
  check_metrics(text);
  test_says(text, "gst_astro_element_busy_seconds_total{element=\"convert\"");
  test_says(text, "gst_astro_element_steps_again_total{element=\"convert\"");
  g_assert_cmpfloat(
      control_metric(&c, "gst_astro_element_clipped_values_total{element=\"convert\""), >, 0);
  g_assert_cmpfloat(control_metric(&c, "gst_astro_latency_seconds"), ==, -1);
  g_assert_cmpint(control_end(&c), ==, 0);
  write_file("live.graph", "audiotestsrc is-live=true ! audio/x-raw,rate=48000 ! fakesink", -1);
  c = control_start("./live.graph", NULL);
  control_await(&c, "\"latency\":0.0");
  g_assert_cmpfloat(control_metric(&c, "gst_astro_latency_seconds "), >, 0);
  g_assert_cmpint(control_end(&c), ==, 0);
}

/* ---- start and stop ---- */

/* Each stop completes the file, and each start writes it anew; the run goes on until it is
 * interrupted. */
static void start_stop(void)
{
  g_autofree char *earlier = in_folder("endless.raw");
  g_remove(earlier);
  Controlled c = control_start(ENDLESS, NULL);
  control_await(&c, "\"state\":\"playing\"");
  control_expect(&c, "POST", "/start", NULL, 409, "plays already");
  for (guint i = 1; i <= 3; i++) {
    while (file_size("endless.raw") <= 0)
      g_usleep(1000);
    control_expect(&c, "POST", "/stop", NULL, 200, "\"stopping\"");
    control_await(&c, "\"state\":\"stopped\"");
    const gint64 size = file_size("endless.raw");
    g_assert_cmpint(size % 1000, ==, 0);
    g_usleep(50000);
    g_assert_cmpint(file_size("endless.raw"), ==, size);
    g_assert_cmpfloat(control_metric(&c, "gst_astro_playing"), ==, 0);
    control_expect(&c, "POST", "/stop", NULL, 409, "stopped already");
    g_autofree char *file = in_folder("endless.raw");
    g_assert_cmpint(g_remove(file), ==, 0);
    control_expect(&c, "POST", "/start", NULL, 200, "\"playing\"");
    g_assert_cmpfloat(control_metric(&c, "gst_astro_starts_total"), ==, i + 1);
  }
  control_expect(&c, "POST", "/stop", NULL, 200, "\"stopping\"");
  control_await(&c, "\"state\":\"stopped\"");
  g_assert_cmpint(control_end(&c), ==, 0); /* even while it is stopped */
}

/* A stream that does not end is stopped at once by the second request. */
static void stop_twice(void)
{
  write_file("stuck.graph",
             "fakesrc sizetype=fixed sizemax=1000 num-buffers=5 ! identity sleep-time=3000000\n"
             "! fakesink async=false",
             -1);
  Controlled c = control_start("./stuck.graph", NULL);
  control_await(&c, "\"buffers-in\":1");
  control_expect(&c, "POST", "/stop", NULL, 200, "\"stopping\"");
  control_expect(&c, "POST", "/stop", NULL, 200, "\"stopped\"");
  control_expect(&c, "GET", "/state", NULL, 200, "\"state\":\"stopped\"");
  g_assert_cmpint(control_end(&c), ==, 0);
}

/* Files end by themselves, and so does the run. */
static void natural_end(void)
{
  write_file("short.graph", "fakesrc num-buffers=100 ! identity sleep-time=1000 ! fakesink", -1);
  Controlled c = control_start("./short.graph", NULL);
  g_assert_cmpint(finish(c.pid), ==, 0);
  close(c.err);
}

static void triggers(void)
{
  write_file("ring.graph",
             "astroskysrc stations=2 bandwidth=1e5 duration=20000\n"
             "! application/x-astro-voltages,format=CI8 ! identity sleep-time=1000\n"
             "! astroring name=ring seconds=1 before=0.1 after=0.1 ! filesink location=ring.raw",
             -1);
  Controlled c = control_start("./ring.graph", NULL);
  while (control_metric(&c, "gst_astro_element_buffers_in_total{element=\"ring\"") < 1)
    g_usleep(1000);
  control_expect(&c, "POST", "/trigger", NULL, 200, "{\"taken\":{\"ring\":true}}");
  control_expect(&c, "POST", "/trigger", "19000\n", 200, "{\"taken\":{\"ring\":true}}");
  control_expect(&c, "POST", "/trigger", "nonsense", 200, "{\"taken\":{\"ring\":false}}");
  control_expect(&c, "POST", "/trigger", "\xff", 400, "no text");
  control_expect(&c, "POST", "/stop", NULL, 200, "stop");
  control_await(&c, "\"stopped\"");
  control_expect(&c, "POST", "/trigger", NULL, 409, "does not play");
  g_assert_cmpint(file_size("ring.raw"), >, 0);
  g_assert_cmpint(control_end(&c), ==, 0);
  c = control_start(ENDLESS, NULL);
  control_await(&c, "\"playing\"");
  control_expect(&c, "POST", "/trigger", NULL, 409, "no element of the graph takes triggers");
  g_assert_cmpint(control_end(&c), ==, 0);
}

/* ---- properties ---- */

static void properties(void)
{
  static const struct {
    const char *path, *value;
    guint status;
    const char *says;
  } cases[] = {
    { "/elements/q/max-size-buffers", "17", 200, "\"value\":17}" },
    { "/elements/q/max-size-buffers", "-1", 400, "expected from 0 to 4294967295" },
    { "/elements/q/max-size-buffers", "1.5", 400, "max-size-buffers: 1.5, expected" },
    { "/elements/q/max-size-buffers", "", 400, "expected from" },
    { "/elements/q/max-size-buffers", "\xff", 400, "no text" },
    { "/elements/q/leaky", "downstream\r\n", 200, "\"value\":\"downstream\"}" },
    { "/elements/q/leaky", "no", 200, "\"value\":\"no\"}" },
    { "/elements/q/leaky", "none", 400, "expected one of no, upstream, downstream" },
    { "/elements/q/silent", "maybe", 400, "expected a gboolean" },
    { "/elements/q/nothing", "1", 404, "element q has no property nothing" },
    { "/elements/q/name", "r", 403, "cannot be set" },
    { "/elements/q/parent", "r", 403, "cannot be set" },
    { "/elements/q/current-level-buffers", "1", 403, "cannot be set" },
    { "/elements/nobody/x", "1", 404, "no element nobody" },
    { "/elements/q/", "1", 404, "expected PUT /elements/NAME/PROPERTY" },
    { "/elements/file/location", "other.raw", 403, "only with a token" },
  };
  Controlled c = control_start(ENDLESS, NULL);
  control_await(&c, "\"playing\"");
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
    control_expect(&c, "PUT", cases[i].path, cases[i].value, cases[i].status, cases[i].says);
  control_expect(&c, "GET", "/elements/q", NULL, 200,
                 "{\"name\":\"max-size-buffers\",\"set\":\"now\"");
  control_expect(&c, "GET", "/elements/a%20%22b%5c", NULL, 200,
                 "{\"name\":\"a \\\"b\\\\\",\"properties\"");
  control_expect(&c, "GET", "/elements/q/leaky", NULL, 404, "expected GET /elements/NAME");
  g_assert_cmpint(control_end(&c), ==, 0);
}

/* A property of ours while the stream runs; a wrong value is a warning, and is not kept. */
static void playing(void)
{
  write_file(
      "shift.graph",
      "astrovissrc stations=4 array=vla-like duration=7000 integration=1 phase-centre=131,33\n"
      "start-time=2026-11-20T12:00:00 ! identity sleep-time=2000 ! astrophaseshift name=shift "
      "centre=132,33 ! fakesink",
      -1);
  Controlled c = control_start("./shift.graph", NULL);
  control_await(&c, "\"buffers-in\":5");
  control_expect(&c, "PUT", "/elements/shift/centre", "here", 200, "\"set\":\"now\"");
  control_await(&c, "\"warnings\":1");
  control_expect(&c, "GET", "/elements/shift", NULL, 200, "\"value\":\"132,33\"}");
  control_expect(&c, "PUT", "/elements/shift/centre", "132,34", 200, "\"value\":\"132,34\"}");
  control_expect(&c, "PUT", "/elements/shift/threads", "1", 403, "only with a token");
  g_assert_cmpint(control_end(&c), ==, 0);
}

/* Integrations of another length show in the caps of the links. */
static void lengths(void)
{
  write_file("lengths.graph",
             "astroskysrc stations=2 bandwidth=1e5 block-steps=1600 duration=20000\n"
             "! application/x-astro-voltages,format=CF32LE ! identity sleep-time=2000\n"
             "! astrochannelizer channels=16 taps=1 ! astrocorrelator name=correlator "
             "integration=625 ! fakesink",
             -1);
  Controlled c = control_start("./lengths.graph", NULL);
  control_await(&c, "rate=(fraction)10/1");
  control_expect(&c, "PUT", "/elements/correlator/integration", "1250", 200, "\"value\":1250}");
  control_await(&c, "rate=(fraction)5/1");
  control_expect(&c, "PUT", "/elements/correlator/integration-time", "0.5", 200, "\"set\":\"now\"");
  control_await(&c, "rate=(fraction)2/1");
  control_expect(&c, "PUT", "/elements/correlator/integration-time", "1e-9", 200, "1e-09");
  control_await(&c, "\"warnings\":1");
  control_expect(&c, "GET", "/elements/correlator", NULL, 200, "\"value\":0.5}");
  g_assert_cmpint(control_end(&c), ==, 0);
}

/* Pictures of pads: PNG for streams of ours, a reason for others; the stream goes on. */
static void pictures(void)
{
  guint status = 503;
  Controlled c = control_start("./drawn.graph", NULL);
  control_expect(&c, "GET", "/pictures/nobody/src", NULL, 404, "no element nobody");
  control_expect(&c, "GET", "/pictures/source", NULL, 404, "no pad");
  control_expect(&c, "GET", "/pictures/source/sink", NULL, 404, "no pad sink");
  for (guint i = 0; status == 503 && i < VIEWER_PATIENCE * 20; i++) {
    g_free(control_ask(&c, "GET", "/pictures/i/src", NULL, NULL, &status));
    g_usleep(50000);
  }
  g_assert_cmpuint(status, ==, 200);
  Viewer viewer;
  viewer_get(&viewer, c.port, "/pictures/i/src");
  g_assert_cmpuint(viewer.status, ==, 200);
  g_assert_cmpstr(viewer_field(&viewer, "content-type"), ==, "image/png");
  g_autoptr(GBytes) picture = viewer_body(&viewer);
  g_assert_cmpmem(g_bytes_get_data(picture, NULL), 8, "\x89PNG\r\n\x1a\n", 8);
  viewer_close(&viewer);
  control_expect(&c, "GET", "/state", NULL, 200, "\"playing\"");
  g_assert_cmpint(control_end(&c), ==, 0);
  c = control_start(ENDLESS, NULL);
  for (status = 503; status == 503;) {
    g_free(control_ask(&c, "GET", "/pictures/q/src", NULL, NULL, &status));
    g_usleep(50000);
  }
  g_assert_cmpuint(status, ==, 409);
  control_expect(&c, "GET", "/state", NULL, 200, "\"playing\"");
  g_assert_cmpint(control_end(&c), ==, 0);
}

/* The script of the page shows the elements with rates, and a picture of a pad, and its buttons
 * work. */
static void page(void)
{
  const char *source = g_getenv("G_TEST_SRCDIR");
  g_autofree char *script =
      g_build_filename(source ? source : ".", "tests", "graphs", "page.js", NULL);
  g_autofree char *node = g_find_program_in_path("node");
  if (!node || !g_file_test(script, G_FILE_TEST_EXISTS)) {
    g_test_skip("there is no node, or no source");
    return;
  }
  Controlled c = control_start("./drawn.graph", NULL);
  g_autofree char *line = g_strdup_printf("node '%s' http://127.0.0.1:%u", script, c.port);
  g_auto(Result) result = run_shell(line);
  g_assert_cmpint(result.status, ==, 0);
  test_says(result.out, "\nrow i|");
  test_says(result.out, "|sink\n");
  test_says(result.out, "state playing, ");
  test_says(result.out, "pads source/src i/src\n");
  test_says(result.out, "picture blob:image/png hidden false\n");
  test_says(result.out, "word \n");
  control_await(&c, "\"stopped\"");
  g_assert_cmpint(control_end(&c), ==, 0);
}

#define TOKEN "0123456789abcdefghij"
#define BRINGS "Authorization: Bearer " TOKEN "\r\n"

/* With a token all properties may be set while the graph is stopped, and nothing without it. */
static void tokens(void)
{
  static const char *const bad[] = { NULL, "Authorization: Bearer 0123456789abcdefghiJ\r\n",
                                     "Authorization: Basic " TOKEN "\r\n" };
  static const char *const requests[][2] = { { "GET", "/metrics" }, { "GET", "/state" },
                                             { "POST", "/stop" },   { "PUT", "/elements/q/leaky" },
                                             { "GET", "/nothing" }, { "PUT", "/" } };
  guint status;
  write_file("token", TOKEN "\n", -1);
  Controlled c = control_start(ENDLESS, "--control-token token");
  for (guint i = 0; i < G_N_ELEMENTS(bad); i++)
    for (guint j = 0; j < G_N_ELEMENTS(requests); j++) {
      g_autofree char *text =
          control_ask(&c, requests[j][0], requests[j][1], bad[i], NULL, &status);
      g_assert_cmpuint(status, ==, 401);
      test_says(text, "expected the header Authorization: Bearer TOKEN");
    }
  control_expect(&c, "GET", "/", NULL, 200, "<!DOCTYPE html>");
  g_autofree char *early =
      control_ask(&c, "PUT", "/elements/file/location", BRINGS, "other.raw", &status);
  g_assert_cmpuint(status, ==, 409);
  test_says(early, "POST /stop, set it, and POST /start");
  g_free(control_ask(&c, "POST", "/stop", BRINGS, NULL, &status));
  g_assert_cmpuint(status, ==, 200);
  do
    g_free(control_ask(&c, "PUT", "/elements/file/location", BRINGS, "other.raw", &status));
  while (status == 409);
  g_assert_cmpuint(status, ==, 200);
  const gint64 first = file_size("endless.raw");
  g_free(control_ask(&c, "POST", "/start", BRINGS, NULL, &status));
  g_assert_cmpuint(status, ==, 200);
  while (file_size("other.raw") <= 0)
    g_usleep(1000);
  g_assert_cmpint(file_size("endless.raw"), ==, first);
  g_assert_cmpint(control_end(&c), ==, 0);
}

static void refused_starts(void)
{
  static const struct {
    const char *options, *says;
    int status;
  } cases[] = {
    { "--control 8080", "expected an address and a port, as 127.0.0.1:8090", 2 },
    { "--control 127.0.0.1:x", "expected an address and a port", 2 },
    { "--control 127.0.0.1:65536", "expected an address and a port", 2 },
    { "--control :80", "expected an address and a port", 2 },
    { "--control ::1:80", "expected an address and a port", 2 },
    { "--control somewhere:80", "somewhere is not an address of an interface", 1 },
    { "--control 203.0.113.1:0", "cannot listen at 203.0.113.1, port 0", 1 },
    { "--control 0.0.0.0:0", "open to other machines: expected --control-token", 1 },
    { "--control [::]:0", "open to other machines", 1 },
    { "--control 127.0.0.1:0 --control-token nowhere", "the token's file", 1 },
    { "--control 127.0.0.1:0 --control-token short", "a shorter line", 1 },
    { "--control-token token", "--control-token without --control", 1 },
  };
  write_file("short", "abc", -1);
  write_file("token", TOKEN, -1);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_auto(Result) result = run("run good %s", cases[i].options);
    assert_refused(&result, cases[i].status, cases[i].says);
  }
}

/* ---- strange clients ---- */

/* Pages of other sites, by their name in Host or in Origin. */
static void other_sites(void)
{
  static const struct {
    const char *host, *origin;
    guint status;
  } cases[] = {
    { "localhost", NULL, 409 },
    { "localhost:1", "http://localhost:1", 409 },
    { "evil.example", NULL, 403 },
    { "localhost", "http://evil.example", 403 },
    { "localhost:1", "http://localhost:2", 403 },
    { "localhost", "null", 403 },
    { "localhost", "https://localhost", 403 },
  };
  Controlled c = control_start(ENDLESS, NULL);
  control_await(&c, "\"playing\"");
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    Viewer viewer;
    g_autofree char *origin =
        cases[i].origin ? g_strdup_printf("Origin: %s\r\n", cases[i].origin) : g_strdup("");
    g_autofree char *request = g_strdup_printf("POST /start HTTP/1.1\r\nHost: %s\r\n%s"
                                               "Content-Length: 0\r\n\r\n",
                                               cases[i].host, origin);
    viewer_ask(&viewer, c.port, request);
    g_test_message("%s %s", cases[i].host, cases[i].origin);
    g_assert_cmpuint(viewer.status, ==, cases[i].status);
    viewer_close(&viewer);
  }
  g_assert_cmpint(control_end(&c), ==, 0);
}

/* Bodies of any kind are bounded, wherever their length is told. */
static void large_bodies(void)
{
  enum { MOST = 65536 };
  guint status;
  Controlled c = control_start(ENDLESS, NULL);
  g_autofree char *most = g_strnfill(MOST, 'x'), *more = g_strnfill(MOST + 1, 'x');
  g_autofree char *chunked = g_strdup_printf("PUT /elements/q/leaky HTTP/1.1\r\nHost: localhost\r\n"
                                             "Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n"
                                             "0\r\n\r\n",
                                             MOST + 1, more);
  control_await(&c, "\"playing\"");
  control_expect(&c, "PUT", "/elements/q/leaky", most, 400, "expected one of no");
  g_free(control_ask(&c, "PUT", "/elements/q/leaky", NULL, more, &status));
  g_assert_cmpuint(status, ==, 413);
  Viewer viewer;
  viewer_ask(&viewer, c.port, chunked);
  g_assert_cmpuint(viewer.status, ==, 413);
  viewer_close(&viewer);
  g_assert_cmpint(control_end(&c), ==, 0);
}

/* Clients that say nothing, or read nothing, take no place from others, and the stream goes on. */
static void slow_clients(void)
{
  const char *many = g_getenv("ASTRO_MANY_CLIENTS");
  const guint n = many ? (guint)g_ascii_strtoull(many, NULL, 10) : 200;
  g_autofree Viewer *slow = g_new(Viewer, n);
  Controlled c = control_start(ENDLESS, NULL);
  control_await(&c, "\"buffers-in\":5");
  for (guint i = 0; i < n; i++) {
    viewer_connect(&slow[i], c.port);
    const char *some = i % 2 ? "GET /metrics HTTP/1.1\r\n" : "";
    viewer_send(&slow[i], some, strlen(some));
  }
  const double before = control_metric(&c, "gst_astro_element_buffers_in_total{element=\"file\"");
  const gint64 begin = g_get_monotonic_time();
  for (guint i = 0; i < 10; i++)
    control_expect(&c, "GET", "/metrics", NULL, 200, "gst_astro_playing 1");
  g_assert_cmpint(g_get_monotonic_time() - begin, <, 5 * G_USEC_PER_SEC); /* half their patience */
  g_assert_cmpfloat(control_metric(&c, "gst_astro_element_buffers_in_total{element=\"file\""), >,
                    before);
  g_assert_cmpfloat(control_metric(&c, "process_open_fds"), <, 100);
  for (guint i = 0; i < n; i++)
    viewer_close(&slow[i]);
  g_assert_cmpint(control_end(&c), ==, 0);
}

/* libsoup leaks some requests that it refuses: with whole stacks its leaks are suppressed by name.
 */
static void see_who_allocated(void)
{
  const char *options = g_getenv("ASAN_OPTIONS"), *more = g_getenv("ASTRO_WHO_ALLOCATED");
  if (!options || !more)
    return;
  g_autofree char *both = g_strjoin(":", options, more, NULL);
  g_setenv("ASAN_OPTIONS", both, TRUE);
}

/* Requests with bytes changed, cut and repeated at random: each gets an answer or the end of its
 * connection, and the run goes on. */
static void mutated_requests(void)
{
  static const char *const seeds[] = {
    "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "GET /elements/q HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer x\r\n\r\n",
    "PUT /elements/q/leaky HTTP/1.1\r\nHost: [::1]:80\r\nContent-Length: 2\r\n\r\nno",
    "PUT /elements/q/max-size-bytes HTTP/1.1\r\nHost: localhost\r\n"
    "Transfer-Encoding: chunked\r\n\r\n2\r\n10\r\n0\r\n\r\n",
    "POST /trigger HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\n1e3",
  };
  g_autoptr(GRand) random = g_rand_new_with_seed(50);
  see_who_allocated();
  Controlled c = control_start(ENDLESS, NULL);
  control_await(&c, "\"playing\"");
  for (guint i = 0; i < 600; i++) {
    g_autoptr(GString) text = g_string_new(seeds[i % G_N_ELEMENTS(seeds)]);
    Viewer viewer;
    char answer[4096];
    for (gint j = g_rand_int_range(random, 1, 6); j > 0 && text->len > 1; j--) {
      const gint at = g_rand_int_range(random, 0, (gint32)text->len);
      const gint action = g_rand_int_range(random, 0, 3);
      if (action == 0)
        text->str[at] = (char)g_rand_int_range(random, 0, 256);
      else if (action == 1)
        g_string_insert_c(text, at, (char)g_rand_int_range(random, 0, 256));
      else
        g_string_erase(text, at, 1);
    }
    viewer_connect(&viewer, c.port);
    viewer_send(&viewer, text->str, text->len);
    g_socket_shutdown(g_socket_connection_get_socket(viewer.connection), FALSE, TRUE, NULL);
    while (g_input_stream_read(G_INPUT_STREAM(viewer.in), answer, sizeof answer, NULL, NULL) > 0)
      ;
    viewer_close(&viewer);
  }
  control_expect(&c, "GET", "/state", NULL, 200, "\"state\":\"playing\"");
  g_assert_cmpfloat(control_metric(&c, "process_open_fds"), <, 60);
  g_assert_cmpint(control_end(&c), ==, 0);
}

static void methods(void)
{
  Controlled c = control_start(ENDLESS, NULL);
  control_await(&c, "\"playing\"");
  control_expect(&c, "POST", "/metrics", NULL, 405, "/metrics is answered to GET only");
  control_expect(&c, "GET", "/stop", NULL, 405, "/stop is answered to POST only");
  control_expect(&c, "DELETE", "/elements/q", NULL, 405, "is answered to GET, PUT only");
  control_expect(&c, "GET", "/metrics/", NULL, 404, "there are /, /metrics");
  control_expect(&c, "GET", "/elements/", NULL, 404, "there are /, /metrics");
  control_expect(&c, "GET", "/../etc/passwd", NULL, 404, "there are /, /metrics");
  control_expect(&c, "GET", "/?a=b", NULL, 200, "<!DOCTYPE html>");
  g_assert_cmpint(control_end(&c), ==, 0);
}

/* A build without libsoup says why there is no control. */
static void left_out(void)
{
#ifdef HAVE_SOUP
  g_test_skip("it is not left out");
#else
  g_auto(Result) result = run("run good --control 127.0.0.1:0");
  assert_refused(&result, 1, "it needs libsoup-3.0");
#endif
}

static void add_tests(void)
{
  write_endless();
  write_drawn();
  g_test_add_func("/control/left-out", left_out);
#ifdef HAVE_SOUP
  g_test_add_func("/control/metrics", metrics);
  g_test_add_func("/control/own-counts", own_counts);
  g_test_add_func("/control/start-stop", start_stop);
  g_test_add_func("/control/stop-twice", stop_twice);
  g_test_add_func("/control/natural-end", natural_end);
  g_test_add_func("/control/triggers", triggers);
  g_test_add_func("/control/properties", properties);
  g_test_add_func("/control/playing", playing);
  g_test_add_func("/control/lengths", lengths);
  g_test_add_func("/control/pictures", pictures);
  g_test_add_func("/control/page", page);
  g_test_add_func("/control/tokens", tokens);
  g_test_add_func("/control/refused-starts", refused_starts);
  g_test_add_func("/control/other-sites", other_sites);
  g_test_add_func("/control/large-bodies", large_bodies);
  g_test_add_func("/control/slow-clients", slow_clients);
  g_test_add_func("/control/mutated-requests", mutated_requests);
  g_test_add_func("/control/methods", methods);
#endif
}

int main(int argc, char **argv)
{
  return test_program(argc, argv, add_tests);
}
