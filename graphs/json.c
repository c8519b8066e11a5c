/* Writes JSON. */
#include "graphs/json.h"
#include <math.h>

void astro_json_text(GString *out, const char *text)
{
  static const char letters[] = "\"\"\\\\\nn\rr\tt"; /* characters, each with its letter */
  g_autofree char *valid = g_utf8_make_valid(text, -1);
  g_string_append_c(out, '"');
  for (const char *c = valid; *c; c++) {
    const char *letter = letters;
    while (*letter && *letter != *c)
      letter += 2;
    if (*letter)
      g_string_append_printf(out, "\\%c", letter[1]);
    else if ((guchar)*c < ' ' || *c == '\x7f')
      g_string_append_printf(out, "\\u%04x", (guchar)*c);
    else
      g_string_append_c(out, *c);
  }
  g_string_append_c(out, '"');
}

static void append_real(GString *out, double value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  g_string_append(out, isfinite(value) ? g_ascii_dtostr(text, sizeof text, value) : "null");
}

static void append_array(GString *out, const GValue *value, guint n,
                         const GValue *(*get)(const GValue *, guint))
{
  g_string_append_c(out, '[');
  for (guint i = 0; i < n; i++) {
    g_string_append(out, i ? "," : "");
    astro_json_value(out, get(value, i));
  }
  g_string_append_c(out, ']');
}

static void append_other(GString *out, const GValue *value)
{
  const GEnumValue *named =
      G_VALUE_HOLDS_ENUM(value)
          ? g_enum_get_value(g_type_class_peek(G_VALUE_TYPE(value)), g_value_get_enum(value))
          : NULL;
  g_autofree char *text = named ? g_strdup(named->value_nick) : gst_value_serialize(value);
  if (text)
    astro_json_text(out, text);
  else
    g_string_append(out, "null");
}

void astro_json_value(GString *out, const GValue *value)
{
  GValue number = G_VALUE_INIT;
  if (G_VALUE_HOLDS_STRING(value) && g_value_get_string(value)) {
    astro_json_text(out, g_value_get_string(value));
  } else if (G_VALUE_HOLDS_BOOLEAN(value)) {
    g_string_append(out, g_value_get_boolean(value) ? "true" : "false");
  } else if (GST_VALUE_HOLDS_ARRAY(value)) {
    append_array(out, value, gst_value_array_get_size(value), gst_value_array_get_value);
  } else if (GST_VALUE_HOLDS_LIST(value)) {
    append_array(out, value, gst_value_list_get_size(value), gst_value_list_get_value);
  } else if (GST_VALUE_HOLDS_STRUCTURE(value) && gst_value_get_structure(value)) {
    astro_json_structure(out, gst_value_get_structure(value));
  } else if (G_VALUE_HOLDS_DOUBLE(value) || G_VALUE_HOLDS_FLOAT(value)) {
    g_value_init(&number, G_TYPE_DOUBLE);
    g_value_transform(value, &number);
    append_real(out, g_value_get_double(&number));
  } else if (G_VALUE_HOLDS_UINT64(value) || G_VALUE_HOLDS_ULONG(value)) {
    g_value_init(&number, G_TYPE_UINT64);
    g_value_transform(value, &number);
    g_string_append_printf(out, "%" G_GUINT64_FORMAT, g_value_get_uint64(&number));
  } else if (!G_VALUE_HOLDS_ENUM(value) && !G_VALUE_HOLDS_FLAGS(value) &&
             g_value_type_transformable(G_VALUE_TYPE(value), G_TYPE_INT64) &&
             !G_VALUE_HOLDS_STRING(value)) {
    g_value_init(&number, G_TYPE_INT64);
    g_value_transform(value, &number);
    g_string_append_printf(out, "%" G_GINT64_FORMAT, g_value_get_int64(&number));
  } else {
    append_other(out, value);
  }
  if (G_IS_VALUE(&number))
    g_value_unset(&number);
}

typedef struct {
  GString *out;
  gboolean any;
} Object;

static gboolean append_field(GQuark field, const GValue *value, gpointer data)
{
  Object *object = data;
  g_string_append(object->out, object->any ? "," : "");
  astro_json_text(object->out, g_quark_to_string(field));
  g_string_append_c(object->out, ':');
  astro_json_value(object->out, value);
  object->any = TRUE;
  return TRUE;
}

void astro_json_structure(GString *out, const GstStructure *structure)
{
  Object object = { .out = out };
  g_string_append_c(out, '{');
  gst_structure_foreach(structure, append_field, &object);
  g_string_append_c(out, '}');
}
