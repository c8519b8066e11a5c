/* A type of properties that are a number or "auto". */
#include "elements/base/astronumberorauto.h"

#define AUTO "auto"

typedef struct {
  GParamSpecEnum parent;
  gint most;
} Spec;

/* The enumeration has a single value; how other numbers are read and shown is overridden here. */
static GType type_get(const char *automatic)
{
  static gsize type = 0;
  static GEnumValue values[2];
  if (g_once_init_enter(&type)) {
    values[0] = (GEnumValue){ 0, g_intern_string(automatic), AUTO };
    g_once_init_leave(&type, g_enum_register_static("AstroNumberOrAuto", values));
  }
  return type;
}

/* ---- as text ---- */

static char *serialize(const GValue *value)
{
  const gint number = g_value_get_enum(value);
  return number ? g_strdup_printf("%d", number) : g_strdup(AUTO);
}

static gboolean read_text(GValue *value, const gchar *text, gint most)
{
  gint64 number = 0;
  if (g_ascii_strcasecmp(text, AUTO) != 0 &&
      !g_ascii_string_to_signed(text, 10, 0, most, &number, NULL))
    return FALSE;
  g_value_set_enum(value, (gint)number);
  return TRUE;
}

static gboolean deserialize(GValue *value, const gchar *text)
{
  return read_text(value, text, G_MAXINT);
}

static gboolean deserialize_with_spec(GValue *value, const gchar *text, GParamSpec *spec)
{
  const gboolean is_ours = spec && spec->value_type == G_VALUE_TYPE(value);
  return read_text(value, text, is_ours ? ((Spec *)spec)->most : G_MAXINT);
}

static gint compare(const GValue *a, const GValue *b)
{
  const gint x = g_value_get_enum(a), y = g_value_get_enum(b);
  return x < y ? GST_VALUE_LESS_THAN : x > y ? GST_VALUE_GREATER_THAN : GST_VALUE_EQUAL;
}

/* GStreamer keeps a pointer to the table. */
static void register_text(GType type)
{
  static GstValueTable table = { .compare = compare,
                                 .serialize = serialize,
                                 .deserialize = deserialize,
                                 .deserialize_with_pspec = deserialize_with_spec };
  static gsize once = 0;
  if (!g_once_init_enter(&once))
    return;
  table.type = type;
  gst_value_register(&table);
  g_once_init_leave(&once, 1);
}

/* ---- as a property ---- */

static gboolean validate(GParamSpec *spec, GValue *value)
{
  const gint number = g_value_get_enum(value);
  if (number >= 0 && number <= ((Spec *)spec)->most)
    return FALSE;
  g_value_set_enum(value, 0);
  return TRUE;
}

static void spec_class_init(gpointer klass, gpointer unused)
{
  G_PARAM_SPEC_CLASS(klass)->value_validate = validate;
}

static GType spec_get_type(void)
{
  static gsize type = 0;
  if (g_once_init_enter(&type)) {
    const GTypeInfo info = { .class_size = sizeof(GParamSpecClass),
                             .class_init = spec_class_init,
                             .instance_size = sizeof(Spec) };
    g_once_init_leave(
        &type, g_type_register_static(G_TYPE_PARAM_ENUM, "AstroParamNumberOrAuto", &info, 0));
  }
  return type;
}

GParamSpec *astro_param_spec_number_or_auto(const char *name, const char *nick, const char *blurb,
                                            const char *automatic, guint most, GParamFlags flags)
{
  const GType type = type_get(automatic);
  register_text(type);
  Spec *spec = g_param_spec_internal(spec_get_type(), name, nick, blurb, flags);
  G_PARAM_SPEC(spec)->value_type = type;
  spec->parent.enum_class = g_type_class_ref(type);
  spec->most = (gint)most;
  g_param_spec_set_qdata_full(
      G_PARAM_SPEC(spec), g_quark_from_static_string(ASTRO_EXPECTED),
      g_strdup_printf("expected " AUTO " or a whole number from 1 to %u", most), g_free);
  return G_PARAM_SPEC(spec);
}
