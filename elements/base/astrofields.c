/* Properties as rows of a table. */
#include "config.h"
#include "elements/base/astrofields.h"

#include <string.h>

#include "elements/base/astronumberorauto.h"

/* ---- the tables of a class ---- */

typedef struct {
  const AstroField *field;
  gssize offset; /* where its struct lies in the instance */
  GParamSpec *spec;
} Place;

/* Each type has a GArray of Place. The id of a property is its index plus 1. */
static G_DEFINE_QUARK(astro_fields_places, places)

static const GArray *places_of(GType type)
{
  return g_type_get_qdata(type, places_quark());
}

/* GLib calls the class that installed a property, with the id it has there. */
static const Place *place_of(const GParamSpec *spec, guint id)
{
  return &g_array_index(places_of(spec->owner_type), Place, id - 1);
}

static gboolean has_member(const AstroField *field)
{
  return !field->get;
}

static gpointer struct_of(gpointer object, const Place *place)
{
  return (char *)object + place->offset;
}

static gpointer member_of(gpointer object, const Place *place)
{
  return (char *)struct_of(object, place) + place->field->offset;
}

/* ---- values of members ---- */

static void store(const AstroField *field, gpointer member, const GValue *value)
{
  switch (field->kind) {
  case ASTRO_FIELD_BOOLEAN:
    *(gboolean *)member = g_value_get_boolean(value);
    break;
  case ASTRO_FIELD_INT:
    *(gint *)member = g_value_get_int(value);
    break;
  case ASTRO_FIELD_UINT:
    *(guint *)member = g_value_get_uint(value);
    break;
  case ASTRO_FIELD_UINT64:
    *(guint64 *)member = g_value_get_uint64(value);
    break;
  case ASTRO_FIELD_DOUBLE:
    *(double *)member = g_value_get_double(value);
    break;
  case ASTRO_FIELD_ENUM:
  case ASTRO_FIELD_NUMBER_OR_AUTO:
    *(gint *)member = g_value_get_enum(value);
    break;
  case ASTRO_FIELD_TEXT:
    g_free(*(char **)member);
    *(char **)member = g_value_dup_string(value);
    break;
  case ASTRO_FIELD_STRUCTURE:
    g_assert_not_reached();
  }
}

static void load(const AstroField *field, gconstpointer member, GValue *value)
{
  switch (field->kind) {
  case ASTRO_FIELD_BOOLEAN:
    g_value_set_boolean(value, *(const gboolean *)member);
    break;
  case ASTRO_FIELD_INT:
    g_value_set_int(value, *(const gint *)member);
    break;
  case ASTRO_FIELD_UINT:
    g_value_set_uint(value, *(const guint *)member);
    break;
  case ASTRO_FIELD_UINT64:
    g_value_set_uint64(value, *(const guint64 *)member);
    break;
  case ASTRO_FIELD_DOUBLE:
    g_value_set_double(value, *(const double *)member);
    break;
  case ASTRO_FIELD_ENUM:
  case ASTRO_FIELD_NUMBER_OR_AUTO:
    g_value_set_enum(value, *(const gint *)member);
    break;
  case ASTRO_FIELD_TEXT:
    g_value_set_string(value, *(char *const *)member);
    break;
  case ASTRO_FIELD_STRUCTURE:
    g_assert_not_reached();
  }
}

/* ---- set and get ---- */

static void get_value(GObject *object, const Place *place, GValue *value)
{
  const AstroField *field = place->field;
  if (!has_member(field)) {
    field->get(object, value);
    return;
  }
  GST_OBJECT_LOCK(object);
  load(field, member_of(object, place), value);
  GST_OBJECT_UNLOCK(object);
}

static void set_value(GObject *object, const Place *place, const GValue *value)
{
  const AstroField *field = place->field;
  if (!has_member(field)) {
    field->set(object, value);
    return;
  }
  GST_OBJECT_LOCK(object);
  store(field, member_of(object, place), value);
  if (field->told)
    G_STRUCT_MEMBER(gboolean, struct_of(object, place), field->told) = TRUE;
  if (field->changed)
    field->changed(object);
  GST_OBJECT_UNLOCK(object);
}

/* Whether the pipeline runs and will ignore the new value until the next start. */
static gboolean is_late(GObject *object, const Place *place, const GValue *value)
{
  if (place->field->when != ASTRO_WHEN_READY || !GST_IS_ELEMENT(object) ||
      GST_STATE(object) <= GST_STATE_READY)
    return FALSE;
  g_auto(GValue) before = G_VALUE_INIT;
  g_value_init(&before, place->spec->value_type);
  get_value(object, place, &before);
  return g_param_values_cmp(place->spec, &before, value) != 0;
}

static void set_property(GObject *object, guint id, const GValue *value, GParamSpec *spec)
{
  const Place *place = place_of(spec, id);
  const gboolean warns = is_late(object, place, value);

  set_value(object, place, value);
  if (warns)
    GST_ELEMENT_WARNING(
        object, LIBRARY, SETTINGS,
        ("property %s was set in state %s: the pipeline goes on with the old value, and the new "
         "one counts from the next start or the next caps. Set it in state NULL or READY",
         spec->name, gst_element_state_get_name(GST_STATE(object))),
        (NULL));
}

static void get_property(GObject *object, guint id, GValue *value, GParamSpec *spec)
{
  get_value(object, place_of(spec, id), value);
}

/* ---- installing ---- */

static GParamFlags flags_of(const AstroField *field)
{
  const gboolean is_read_only =
      field->when == ASTRO_WHEN_NEVER || (!has_member(field) && !field->set);
  if (is_read_only)
    return G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;
  return G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
         (field->when == ASTRO_WHEN_PLAYING ? GST_PARAM_MUTABLE_PLAYING : GST_PARAM_MUTABLE_READY);
}

static GParamSpec *enum_spec(const AstroField *f, GParamFlags flags)
{
  gst_type_mark_as_plugin_api(f->type(), 0);
  return g_param_spec_enum(f->name, f->nick, f->help, f->type(), (gint)f->whole.value, flags);
}

static GParamSpec *new_spec(const AstroField *f)
{
  const GParamFlags flags = flags_of(f);
  switch (f->kind) {
  case ASTRO_FIELD_BOOLEAN:
    return g_param_spec_boolean(f->name, f->nick, f->help, (gboolean)f->whole.value, flags);
  case ASTRO_FIELD_INT:
    return g_param_spec_int(f->name, f->nick, f->help, (gint)f->whole.least, (gint)f->whole.most,
                            (gint)f->whole.value, flags);
  case ASTRO_FIELD_UINT:
    return g_param_spec_uint(f->name, f->nick, f->help, (guint)f->whole.least, (guint)f->whole.most,
                             (guint)f->whole.value, flags);
  case ASTRO_FIELD_UINT64:
    return g_param_spec_uint64(f->name, f->nick, f->help, f->large.least, f->large.most,
                               f->large.value, flags);
  case ASTRO_FIELD_DOUBLE:
    return g_param_spec_double(f->name, f->nick, f->help, f->real.least, f->real.most,
                               f->real.value, flags);
  case ASTRO_FIELD_ENUM:
    return enum_spec(f, flags);
  case ASTRO_FIELD_TEXT:
    return g_param_spec_string(f->name, f->nick, f->help, f->text, flags);
  case ASTRO_FIELD_NUMBER_OR_AUTO:
    return astro_param_spec_number_or_auto(f->name, f->nick, f->help, f->text, (guint)f->whole.most,
                                           flags);
  case ASTRO_FIELD_STRUCTURE:
    return g_param_spec_boxed(f->name, f->nick, f->help, GST_TYPE_STRUCTURE, flags);
  }
  return NULL;
}

void astro_fields_install(GObjectClass *klass, const AstroField *fields, gssize offset)
{
  const GType type = G_OBJECT_CLASS_TYPE(klass);
  GArray *places = (GArray *)places_of(type);
  if (!places) {
    places = g_array_new(FALSE, FALSE, sizeof(Place)); /* lives as long as the type, which is never
                                                        * freed */
    g_type_set_qdata(type, places_quark(), places);
    klass->set_property = set_property;
    klass->get_property = get_property;
  }
  for (; fields->name; fields++) {
    const Place place = { fields, offset, new_spec(fields) };
    g_array_append_val(places, place);
    g_object_class_install_property(klass, places->len, place.spec);
  }
}

/* ---- instances ---- */

/* Frees the texts in the tables of the class and its parents. */
static void free_texts(gpointer object)
{
  for (GType type = G_OBJECT_TYPE(object); type; type = g_type_parent(type)) {
    const GArray *places = places_of(type);
    for (guint i = 0; places && i < places->len; i++) {
      const Place *place = &g_array_index(places, Place, i);
      if (place->field->kind == ASTRO_FIELD_TEXT && has_member(place->field))
        g_clear_pointer((char **)member_of(object, place), g_free);
    }
  }
}

static G_DEFINE_QUARK(astro_fields_texts, texts)

void astro_fields_set_defaults(gpointer object)
{
  /* In an instance's init G_OBJECT_TYPE is the class whose init it is, which may have no table. */
  const GArray *places = places_of(G_OBJECT_TYPE(object));
  for (guint i = 0; places && i < places->len; i++) {
    const Place *place = &g_array_index(places, Place, i);
    if (has_member(place->field))
      store(place->field, member_of(object, place), g_param_spec_get_default_value(place->spec));
  }
  /* Data that is attached to an object is freed after the last finalize and before its memory. It
   * is attached once: replacing it would free the texts that were just stored. */
  if (!g_object_get_qdata(object, texts_quark()))
    g_object_set_qdata_full(object, texts_quark(), object, free_texts);
}

/* ---- copies ---- */

char *astro_fields_copy_text(gconstpointer object, char *const *field)
{
  GST_OBJECT_LOCK(object);
  char *text = g_strdup(*field);
  GST_OBJECT_UNLOCK(object);
  return text;
}

void astro_fields_copy_numbers(gconstpointer object, gpointer to, gconstpointer from, gsize bytes)
{
  GST_OBJECT_LOCK(object);
  memcpy(to, from, bytes);
  GST_OBJECT_UNLOCK(object);
}

void astro_fields_put_back(gpointer object, char **field, const char *refused, const char *text)
{
  GST_OBJECT_LOCK(object);
  if (g_strcmp0(*field, refused) == 0) {
    g_free(*field);
    *field = g_strdup(text);
  }
  GST_OBJECT_UNLOCK(object);
}

void astro_fields_copy(const AstroField *fields, gconstpointer object, gpointer to,
                       gconstpointer from, gsize bytes)
{
  GST_OBJECT_LOCK(object);
  memcpy(to, from, bytes);
  for (; fields->name; fields++)
    if (fields->kind == ASTRO_FIELD_TEXT && has_member(fields))
      G_STRUCT_MEMBER(char *, to, fields->offset) =
          g_strdup(G_STRUCT_MEMBER(char *, from, fields->offset));
  GST_OBJECT_UNLOCK(object);
}

void astro_fields_clear(const AstroField *fields, gpointer data)
{
  for (; fields->name; fields++)
    if (fields->kind == ASTRO_FIELD_TEXT && has_member(fields))
      g_clear_pointer(&G_STRUCT_MEMBER(char *, data, fields->offset), g_free);
}

const char *astro_field_given(const char *text)
{
  return text && *text ? text : NULL;
}
