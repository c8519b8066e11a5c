/* Properties of elements: tells them, and sets those that may be set. */
#include "graphs/control-parts.h"
#include "graphs/json.h"
#include <string.h>

enum {
  BAD_REQUEST = 400,
  FORBIDDEN = 403,
  NOT_FOUND = 404,
  CONFLICT = 409,
};

typedef enum { SET_NOW, SET_STOPPED, SET_NEVER } Settable;

static const char *const settable_names[] = {
  [SET_NOW] = "now", [SET_STOPPED] = "stopped", [SET_NEVER] = "never"
};

/* GST_PARAM_MUTABLE_PLAYING is what an element promises; one that promises nothing takes a property
 * before its start. Name and parent are no settings. */
static Settable settable(const GParamSpec *spec)
{
  if (!(spec->flags & G_PARAM_WRITABLE) || (spec->flags & G_PARAM_CONSTRUCT_ONLY) ||
      spec->owner_type == GST_TYPE_OBJECT || g_type_is_a(spec->value_type, G_TYPE_OBJECT))
    return SET_NEVER;
  return spec->flags & GST_PARAM_MUTABLE_PLAYING ? SET_NOW : SET_STOPPED;
}

/* ---- told ---- */

static void append_property(GString *out, GstElement *element, const GParamSpec *spec)
{
  GValue value = G_VALUE_INIT;
  g_string_append(out, "{\"name\":");
  astro_json_text(out, spec->name);
  g_string_append_printf(out, ",\"set\":\"%s\",\"help\":", settable_names[settable(spec)]);
  astro_json_text(out, g_param_spec_get_blurb((GParamSpec *)spec)
                           ? g_param_spec_get_blurb((GParamSpec *)spec)
                           : "");
  if (!g_type_is_a(spec->value_type, G_TYPE_OBJECT)) {
    g_value_init(&value, spec->value_type);
    g_object_get_property(G_OBJECT(element), spec->name, &value);
    g_string_append(out, ",\"value\":");
    astro_json_value(out, &value);
    g_value_unset(&value);
  }
  g_string_append_c(out, '}');
}

void astro_control_tell_element(GstElement *element, GString *out)
{
  guint n;
  gboolean any = FALSE;
  g_autofree GParamSpec **specs = g_object_class_list_properties(G_OBJECT_GET_CLASS(element), &n);
  g_string_append(out, "{\"name\":");
  astro_json_text(out, GST_OBJECT_NAME(element));
  g_string_append(out, ",\"properties\":[");
  for (guint i = 0; i < n; i++) {
    if (!(specs[i]->flags & G_PARAM_READABLE))
      continue;
    g_string_append(out, any ? "," : "");
    append_property(out, element, specs[i]);
    any = TRUE;
  }
  g_string_append(out, "]}\n");
}

/* ---- set ---- */

/* "from 1 to 32" for a number, "one of a, b" for an enum. */
static char *describe_values(const GParamSpec *spec)
{
  GValue least = G_VALUE_INIT, most = G_VALUE_INIT;
  if (G_IS_PARAM_SPEC_ENUM(spec)) {
    const GEnumClass *values = G_PARAM_SPEC_ENUM(spec)->enum_class;
    GString *text = g_string_new("one of");
    for (guint i = 0; i < values->n_values; i++)
      g_string_append_printf(text, "%s %s", i ? "," : "", values->values[i].value_nick);
    return g_string_free(text, FALSE);
  }
  g_value_init(&least, spec->value_type);
  g_value_init(&most, spec->value_type);
#define BOUNDS(KIND, kind)                                                                         \
  if (G_IS_PARAM_SPEC_##KIND(spec)) {                                                              \
    g_value_set_##kind(&least, G_PARAM_SPEC_##KIND(spec)->minimum);                                \
    g_value_set_##kind(&most, G_PARAM_SPEC_##KIND(spec)->maximum);                                 \
  }
  BOUNDS(INT, int)
  BOUNDS(UINT, uint)
  BOUNDS(INT64, int64)
  BOUNDS(UINT64, uint64)
  BOUNDS(FLOAT, float)
  BOUNDS(DOUBLE, double)
#undef BOUNDS
  g_autofree char *from = g_strdup_value_contents(&least), *to = g_strdup_value_contents(&most);
  const gboolean is_number = g_value_type_transformable(spec->value_type, G_TYPE_DOUBLE) &&
                             spec->value_type != G_TYPE_BOOLEAN;
  g_value_unset(&least);
  g_value_unset(&most);
  return is_number ? g_strdup_printf("from %s to %s", from, to)
                   : g_strdup_printf("a %s", g_type_name(spec->value_type));
}

/* FALSE: the text is no value of the property's. Nothing is rounded or moved into the range. */
static gboolean read_value(const char *text, GParamSpec *spec, GValue *value)
{
  g_value_init(value, spec->value_type);
  if (G_VALUE_HOLDS_STRING(value)) {
    g_value_set_string(value, text);
    return TRUE;
  }
  /* GStreamer reads -1 as the largest number, and nothing as 0. */
  const gboolean is_unsigned = G_VALUE_HOLDS_UINT(value) || G_VALUE_HOLDS_UINT64(value);
  return text[strspn(text, " \t")] && !(is_unsigned && strchr(text, '-')) &&
         gst_value_deserialize_with_pspec(value, text, spec) && g_param_value_is_valid(spec, value);
}

static gboolean check_when(const AstroControlState *state, const AstroAsked *asked,
                           const GParamSpec *spec, AstroAnswer *answer)
{
  const Settable when = settable(spec);
  const AstroRunState run = state->controlled->tell(state->controlled->data).state;
  if (when == SET_NEVER)
    astro_answer_refuse(answer, FORBIDDEN, "property %s cannot be set", spec->name);
  else if (when == SET_STOPPED && !asked->has_token)
    astro_answer_refuse(answer, FORBIDDEN,
                        "property %s can be set only with a token (gst-astro run "
                        "--control-token), since it may name a file: without one, those that may "
                        "be set while the graph plays",
                        spec->name);
  else if (when == SET_STOPPED && run != ASTRO_RUN_RESTS)
    astro_answer_refuse(answer, CONFLICT,
                        "property %s can be set only while the graph is stopped: POST /stop, set "
                        "it, and POST /start",
                        spec->name);
  else
    return TRUE;
  return FALSE;
}

void astro_control_set(const AstroControlState *state, const AstroAsked *asked, GstElement *element,
                       const char *property, AstroAnswer *answer)
{
  GParamSpec *spec = g_object_class_find_property(G_OBJECT_GET_CLASS(element), property);
  g_autofree char *text = astro_asked_text(asked);
  GValue value = G_VALUE_INIT;
  if (!spec) {
    astro_answer_refuse(answer, NOT_FOUND, "element %s has no property %s",
                        GST_OBJECT_NAME(element), property);
    return;
  }
  if (!check_when(state, asked, spec, answer))
    return;
  if (text && read_value(text, spec, &value)) {
    g_object_set_property(G_OBJECT(element), spec->name, &value);
    append_property(answer->text, element, spec);
    g_string_append_c(answer->text, '\n');
  } else {
    g_autofree char *expected = describe_values(spec);
    astro_answer_refuse(answer, BAD_REQUEST, "property %s: %.100s, expected %s", spec->name,
                        text ? text : "no text", expected);
  }
  if (G_IS_VALUE(&value))
    g_value_unset(&value);
}
