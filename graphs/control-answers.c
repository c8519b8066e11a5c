/* Answers requests to the control. */
#include "graphs/control-parts.h"
#include "graphs/control-page.h"
#include "graphs/json.h"
#include <string.h>

enum {
  OK = 200,
  BAD_REQUEST = 400,
  NOT_FOUND = 404,
  METHOD_NOT_ALLOWED = 405,
  CONFLICT = 409,
  UNAVAILABLE = 503,
};

#define JSON "application/json"

void astro_answer_refuse(AstroAnswer *answer, guint status, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *text = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  answer->status = status;
  answer->type = JSON;
  g_string_assign(answer->text, "{\"error\":");
  astro_json_text(answer->text, text);
  g_string_append(answer->text, "}\n");
}

char *astro_asked_text(const AstroAsked *asked)
{
  gsize n = asked->bytes;
  if (n > 0 && asked->body[n - 1] == '\n')
    n--;
  if (n > 0 && asked->body[n - 1] == '\r')
    n--;
  return n == 0                                      ? g_strdup("")
         : g_utf8_validate_len(asked->body, n, NULL) ? g_strndup(asked->body, n)
                                                     : NULL;
}

static AstroRunState run_state(const AstroControlState *state)
{
  return state->controlled->tell(state->controlled->data).state;
}

/* ---- places ---- */

/* rest: what follows the place's path. */
typedef void (*Answer)(const AstroControlState *state, const AstroAsked *asked, const char *rest,
                       AstroAnswer *answer);

static void answer_page(const AstroControlState *state, const AstroAsked *asked, const char *rest,
                        AstroAnswer *answer)
{
  answer->type = "text/html; charset=utf-8";
  g_string_assign(answer->text, astro_control_page_text);
}

static void answer_metrics(const AstroControlState *state, const AstroAsked *asked,
                           const char *rest, AstroAnswer *answer)
{
  answer->type = "text/plain; version=0.0.4; charset=utf-8";
  astro_control_tell_metrics(state, answer->text);
}

static void answer_state(const AstroControlState *state, const AstroAsked *asked, const char *rest,
                         AstroAnswer *answer)
{
  astro_control_tell_state(state, answer->text);
}

/* path: "NAME" or "NAME/PROPERTY"; property: NULL: there is none. To be unref'd; NULL: the answer
 * says why. */
static GstElement *find_element(const AstroControlState *state, const char *path, char **property,
                                AstroAnswer *answer)
{
  const char *slash = strchr(path, '/');
  g_autofree char *name = slash ? g_strndup(path, (gsize)(slash - path)) : g_strdup(path);
  GstElement *element = gst_bin_get_by_name(GST_BIN(state->controlled->pipeline), name);
  *property = slash ? g_strdup(slash + 1) : NULL;
  if (!element)
    astro_answer_refuse(answer, NOT_FOUND, "the graph has no element %s: /state names them all",
                        name);
  return element;
}

static void answer_element(const AstroControlState *state, const AstroAsked *asked,
                           const char *rest, AstroAnswer *answer)
{
  g_autofree char *property = NULL;
  g_autoptr(GstElement) element = find_element(state, rest, &property, answer);
  if (!element)
    return;
  if (property)
    astro_answer_refuse(answer, NOT_FOUND,
                        "properties are read together: expected GET /elements/NAME");
  else
    astro_control_tell_element(element, answer->text);
}

static void set_property(const AstroControlState *state, const AstroAsked *asked, const char *rest,
                         AstroAnswer *answer)
{
  g_autofree char *property = NULL;
  g_autoptr(GstElement) element = find_element(state, rest, &property, answer);
  if (!element)
    return;
  if (property && *property)
    astro_control_set(state, asked, element, property, answer);
  else
    astro_answer_refuse(answer, NOT_FOUND, "expected PUT /elements/NAME/PROPERTY");
}

/* The pad of "NAME/PAD"; to be unref'd. NULL: the answer says why. */
static GstPad *find_pad(const AstroControlState *state, const char *path, AstroAnswer *answer)
{
  g_autofree char *name = NULL;
  g_autoptr(GstElement) element = find_element(state, path, &name, answer);
  GstPad *pad = element && name ? gst_element_get_static_pad(element, name) : NULL;
  if (element && !pad)
    astro_answer_refuse(answer, NOT_FOUND, "element %s has no pad %s: /state names them",
                        GST_OBJECT_NAME(element), name ? name : "");
  return pad;
}

/* Drawing takes a moment, for which nobody waits: the answer is the picture before, or none yet. */
static void answer_picture(const AstroControlState *state, const AstroAsked *asked,
                           const char *rest, AstroAnswer *answer)
{
  g_autoptr(GstPad) pad = find_pad(state, rest, answer);
  g_autofree char *why = NULL;
  gboolean is_wrong;
  if (!pad)
    return;
  g_autoptr(GBytes) picture = astro_glimpse_ask(state->glimpse, pad, &why, &is_wrong);
  if (!picture) {
    astro_answer_refuse(answer, is_wrong ? CONFLICT : UNAVAILABLE, "%s", why);
    return;
  }
  answer->type = "image/png";
  g_string_append_len(answer->text, g_bytes_get_data(picture, NULL),
                      (gssize)g_bytes_get_size(picture));
}

static void start(const AstroControlState *state, const AstroAsked *asked, const char *rest,
                  AstroAnswer *answer)
{
  if (run_state(state) != ASTRO_RUN_RESTS) {
    astro_answer_refuse(answer, CONFLICT, "the graph plays already: POST /stop ends it first");
    return;
  }
  state->controlled->start(state->controlled->data);
  g_string_assign(answer->text, "{\"state\":\"playing\"}\n");
}

static void stop(const AstroControlState *state, const AstroAsked *asked, const char *rest,
                 AstroAnswer *answer)
{
  if (run_state(state) == ASTRO_RUN_RESTS) {
    astro_answer_refuse(answer, CONFLICT, "the graph is stopped already");
    return;
  }
  state->controlled->stop(state->controlled->data);
  g_string_assign(answer->text, run_state(state) == ASTRO_RUN_RESTS ? "{\"state\":\"stopped\"}\n"
                                                                    : "{\"state\":\"stopping\"}\n");
}

/* ---- triggers ---- */

/* Whether the element has an action signal as that of astroring. */
static gboolean has_trigger(gpointer element)
{
  GSignalQuery signal;
  const guint id = g_signal_lookup("trigger", G_OBJECT_TYPE(element));
  if (!id)
    return FALSE;
  g_signal_query(id, &signal);
  return (signal.signal_flags & G_SIGNAL_ACTION) && signal.return_type == G_TYPE_BOOLEAN &&
         signal.n_params == 1 && signal.param_types[0] == G_TYPE_STRING;
}

static void trigger(const AstroControlState *state, const AstroAsked *asked, const char *rest,
                    AstroAnswer *answer)
{
  g_autofree char *time = astro_asked_text(asked);
  g_autoptr(GPtrArray) elements = astro_counts_elements(state->counts);
  guint n = 0;
  if (!time) {
    astro_answer_refuse(answer, BAD_REQUEST, "the time is no text");
    return;
  }
  if (run_state(state) != ASTRO_RUN_PLAYS) {
    astro_answer_refuse(answer, CONFLICT, "the graph does not play: there is nothing to keep");
    return;
  }
  for (guint i = 0; i < elements->len; i++) {
    gboolean taken = FALSE;
    if (!has_trigger(elements->pdata[i]))
      continue;
    g_signal_emit_by_name(elements->pdata[i], "trigger", *time ? time : NULL, &taken);
    g_string_append(answer->text, n++ ? "," : "{\"taken\":{");
    astro_json_text(answer->text, GST_OBJECT_NAME(elements->pdata[i]));
    g_string_append(answer->text, taken ? ":true" : ":false");
  }
  if (n)
    g_string_append(answer->text, "}}\n");
  else
    astro_answer_refuse(answer, CONFLICT,
                        "no element of the graph takes triggers, as astroring does");
}

/* ---- requests ---- */

static const struct {
  const char *method, *path; /* a path that ends in / begins longer ones, but for / itself */
  Answer answer;
} places[] = {
  { "GET", "/", answer_page },
  { "GET", "/metrics", answer_metrics },
  { "GET", "/state", answer_state },
  { "GET", "/pictures/", answer_picture },
  { "GET", "/elements/", answer_element },
  { "PUT", "/elements/", set_property },
  { "POST", "/start", start },
  { "POST", "/stop", stop },
  { "POST", "/trigger", trigger },
};

/* The part that follows the place's path in the one that was asked for; NULL: that is another
 * place. */
static const char *rest_of(const char *path, const char *place)
{
  const gsize n = strlen(place);
  const gboolean is_prefix = n > 1 && place[n - 1] == '/';
  if (is_prefix)
    return g_str_has_prefix(path, place) && path[n] ? path + n : NULL;
  return g_str_equal(path, place) ? path + n : NULL;
}

static void refuse_method(const AstroAsked *asked, const char *allow, AstroAnswer *answer)
{
  astro_answer_refuse(answer, METHOD_NOT_ALLOWED, "%s is answered to %s only", asked->path, allow);
  answer->allow = allow;
}

AstroAnswer astro_control_answer(const AstroControlState *state, const AstroAsked *asked)
{
  AstroAnswer answer = { OK, JSON, NULL, g_string_new(NULL) };
  /* A HEAD is answered as a GET, and the server leaves the body out. */
  const char *method = g_str_equal(asked->method, "HEAD") ? "GET" : asked->method, *allow = NULL;
  for (guint i = 0; i < G_N_ELEMENTS(places); i++) {
    const char *rest = rest_of(asked->path, places[i].path);
    if (rest && g_str_equal(method, places[i].method)) {
      places[i].answer(state, asked, rest, &answer);
      return answer;
    }
    if (rest)
      allow = allow ? "GET, PUT" : places[i].method;
  }
  if (allow)
    refuse_method(asked, allow, &answer);
  else
    astro_answer_refuse(&answer, NOT_FOUND,
                        "there are /, /metrics, /state, /pictures/NAME/PAD, /elements/NAME, "
                        "/elements/NAME/PROPERTY, /start, /stop and /trigger");
  return answer;
}
