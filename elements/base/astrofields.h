/* Properties that lie in a struct: a table says where, and a value's type how it is set and got. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* A table ends with { 0 }. */
typedef struct {
  guint id;
  gsize offset;
  gboolean is_text;
} AstroField;

#define ASTRO_FIELD_IS_TEXT(type, member)                                                          \
  _Generic(((type *)0)->member, char * : TRUE, default : FALSE)
#define ASTRO_FIELD(id, type, member)                                                              \
  {                                                                                                \
    id, G_STRUCT_OFFSET(type, member), ASTRO_FIELD_IS_TEXT(type, member)                           \
  }

/* Of a double, gboolean, gint, guint, guint64, enum, or a string, which the struct owns; from any
 * thread. FALSE: the property is none of the table's. */
gboolean astro_fields_set(const AstroField *fields, gpointer data, guint id, const GValue *value);
gboolean astro_fields_get(const AstroField *fields, gconstpointer data, guint id, GValue *value);

/* A string among them as it is now, for a thread that works while another may set it. */
char *astro_fields_copy_text(char *const *field);

/* The whole struct, of so many bytes; strings of the copy are its own. */
void astro_fields_copy(const AstroField *fields, gpointer to, gconstpointer from, gsize bytes);
/* Frees a struct's strings. */
void astro_fields_clear(const AstroField *fields, gpointer data);

/* An empty text is none, as graphs have it. */
const char *astro_field_given(const char *text);

/* When an element is made: gives the properties of its class that are set when it is made
 * (G_PARAM_CONSTRUCT) their defaults. GLib does so too, but not where it was given a value that is
 * out of range: of that it warns, and sets nothing. */
void astro_fields_set_defaults(gpointer object);

/* For a class of elements all of whose properties are fields of the element, or of a struct that
 * lies at that offset in it: sets and gets them. */
void astro_fields_install(GObjectClass *klass, const AstroField *fields, gsize offset);

G_END_DECLS
