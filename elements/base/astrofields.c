#include "config.h"
#include "elements/base/astrofields.h"

#include <string.h>

static gconstpointer find(const AstroField *fields, gconstpointer data, guint id)
{
  for (; fields->id != 0; fields++)
    if (fields->id == id)
      return (const char *)data + fields->offset;
  return NULL;
}

/* A text is not freed while another thread copies it, and a struct is one that was set. */
static GMutex lock;

char *astro_fields_copy_text(char *const *field)
{
  g_mutex_lock(&lock);
  char *text = g_strdup(*field);
  g_mutex_unlock(&lock);
  return text;
}

void astro_fields_copy(const AstroField *fields, gpointer to, gconstpointer from, gsize bytes)
{
  g_mutex_lock(&lock);
  memcpy(to, from, bytes);
  for (; fields->id != 0; fields++)
    if (fields->is_text)
      G_STRUCT_MEMBER(char *, to, fields->offset) =
          g_strdup(G_STRUCT_MEMBER(char *, from, fields->offset));
  g_mutex_unlock(&lock);
}

void astro_fields_clear(const AstroField *fields, gpointer data)
{
  for (; fields->id != 0; fields++)
    if (fields->is_text)
      g_clear_pointer(&G_STRUCT_MEMBER(char *, data, fields->offset), g_free);
}

const char *astro_field_given(const char *text)
{
  return text && *text ? text : NULL;
}

static void set(gpointer field, const GValue *value)
{
  if (G_VALUE_HOLDS_DOUBLE(value)) {
    *(double *)field = g_value_get_double(value);
  } else if (G_VALUE_HOLDS_BOOLEAN(value)) {
    *(gboolean *)field = g_value_get_boolean(value);
  } else if (G_VALUE_HOLDS_INT(value)) {
    *(gint *)field = g_value_get_int(value);
  } else if (G_VALUE_HOLDS_UINT(value)) {
    *(guint *)field = g_value_get_uint(value);
  } else if (G_VALUE_HOLDS_UINT64(value)) {
    *(guint64 *)field = g_value_get_uint64(value);
  } else if (G_VALUE_HOLDS_ENUM(value)) {
    *(gint *)field = g_value_get_enum(value);
  } else {
    g_free(*(char **)field);
    *(char **)field = g_value_dup_string(value);
  }
}

gboolean astro_fields_set(const AstroField *fields, gpointer data, guint id, const GValue *value)
{
  gpointer field = (gpointer)find(fields, data, id);
  if (!field)
    return FALSE;
  g_mutex_lock(&lock);
  set(field, value);
  g_mutex_unlock(&lock);
  return TRUE;
}

static void get(gconstpointer field, GValue *value)
{
  if (G_VALUE_HOLDS_DOUBLE(value))
    g_value_set_double(value, *(const double *)field);
  else if (G_VALUE_HOLDS_BOOLEAN(value))
    g_value_set_boolean(value, *(const gboolean *)field);
  else if (G_VALUE_HOLDS_INT(value))
    g_value_set_int(value, *(const gint *)field);
  else if (G_VALUE_HOLDS_UINT(value))
    g_value_set_uint(value, *(const guint *)field);
  else if (G_VALUE_HOLDS_UINT64(value))
    g_value_set_uint64(value, *(const guint64 *)field);
  else if (G_VALUE_HOLDS_ENUM(value))
    g_value_set_enum(value, *(const gint *)field);
  else
    g_value_set_string(value, *(char *const *)field);
}

gboolean astro_fields_get(const AstroField *fields, gconstpointer data, guint id, GValue *value)
{
  gconstpointer field = find(fields, data, id);
  if (!field)
    return FALSE;
  g_mutex_lock(&lock);
  get(field, value);
  g_mutex_unlock(&lock);
  return TRUE;
}

void astro_fields_set_defaults(gpointer object)
{
  guint n;
  g_autofree GParamSpec **specs = g_object_class_list_properties(G_OBJECT_GET_CLASS(object), &n);
  for (guint i = 0; i < n; i++)
    if (specs[i]->owner_type == G_OBJECT_TYPE(object) && specs[i]->flags & G_PARAM_CONSTRUCT)
      g_object_set_property(object, specs[i]->name, g_param_spec_get_default_value(specs[i]));
}

static G_DEFINE_QUARK(astro_fields, astro_fields)
static G_DEFINE_QUARK(astro_fields_offset, astro_fields_offset)

static gpointer struct_of(GObject *object, const GParamSpec *spec)
{
  gsize offset = GPOINTER_TO_SIZE(g_type_get_qdata(spec->owner_type, astro_fields_offset_quark()));
  return G_STRUCT_MEMBER_P(object, offset);
}

static void set_property(GObject *object, guint id, const GValue *value, GParamSpec *spec)
{
  const AstroField *fields = g_type_get_qdata(spec->owner_type, astro_fields_quark());
  if (!astro_fields_set(fields, struct_of(object, spec), id, value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
}

static void get_property(GObject *object, guint id, GValue *value, GParamSpec *spec)
{
  const AstroField *fields = g_type_get_qdata(spec->owner_type, astro_fields_quark());
  if (!astro_fields_get(fields, struct_of(object, spec), id, value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
}

void astro_fields_install(GObjectClass *klass, const AstroField *fields, gsize offset)
{
  g_type_set_qdata(G_OBJECT_CLASS_TYPE(klass), astro_fields_quark(), (gpointer)fields);
  g_type_set_qdata(G_OBJECT_CLASS_TYPE(klass), astro_fields_offset_quark(),
                   GSIZE_TO_POINTER(offset));
  klass->set_property = set_property;
  klass->get_property = get_property;
}
