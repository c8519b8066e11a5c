/* Properties as rows of a table. A row has the property's name, what gst-inspect says about it, the
 * member of a struct that stores it, its range and default, and when it may be set. Nothing else
 * has to be written: the class installs the table, an instance begins with the defaults, and texts
 * are freed with it.
 *
 *   static const AstroField fields[] = {
 *     ASTRO_UINT(AstroX, taps, "taps", "Taps", "Samples of a spectrum", 1, 32, 8),
 *     ASTRO_TEXT(AstroX, layout, "layout", "Layout", "The order of axes", NULL,
 *                .when = ASTRO_WHEN_PLAYING),
 *     { 0 },
 *   };
 *
 * Any thread may set a property at any time, under the object's lock. One that is meant to be set
 * before the start is stored later too, for the next start, and a warning says so. */
#pragma once

#include <gst/gst.h>
#include "core/kit/exports.h"

ASTRO_BEGIN_DECLS

typedef enum {
  ASTRO_FIELD_BOOLEAN,
  ASTRO_FIELD_INT,
  ASTRO_FIELD_UINT,
  ASTRO_FIELD_UINT64,
  ASTRO_FIELD_DOUBLE,
  ASTRO_FIELD_ENUM,
  ASTRO_FIELD_TEXT,           /* a char * that the struct owns */
  ASTRO_FIELD_NUMBER_OR_AUTO, /* a guint where 0 means auto: elements/astronumberorauto.h */
  ASTRO_FIELD_STRUCTURE,      /* a GstStructure, always from a get function */
} AstroFieldKind;

typedef enum {
  ASTRO_WHEN_READY,   /* in state NULL or READY */
  ASTRO_WHEN_PLAYING, /* in any state; it applies to what comes next */
  ASTRO_WHEN_NEVER,   /* it is read-only */
} AstroFieldWhen;

typedef struct {
  const char *name, *nick, *help;
  AstroFieldKind kind;
  gsize offset;
  GType (*type)(void); /* for an enum */
  union {
    struct {
      gint64 least, most, value;
    } whole;
    struct {
      guint64 least, most, value;
    } large; /* for guint64 */
    struct {
      double least, most, value;
    } real;
  };
  const char *text; /* a text's default, or the help of the word auto */
  AstroFieldWhen when;
  gsize told; /* offset of a gboolean that is set with the property; 0: none */
  /* Called after the property was set, under the object's lock. */
  void (*changed)(GObject *object);
  /* In place of a member, called without the lock. With get alone the property is read-only. */
  void (*get)(GObject *object, GValue *value);
  void (*set)(GObject *object, const GValue *value);
} AstroField;

/* Does not compile if the member has another C type than the property. */
#define ASTRO_FIELD_AT(type, member, c_type)                                                       \
  .offset = G_STRUCT_OFFSET(type, member) + _Generic(((type *)0)->member, c_type : 0)
#define ASTRO_FIELD_AT_ENUM(type, member)                                                          \
  .offset = G_STRUCT_OFFSET(type, member) + _Generic(((type *)0)->member, gint : 0, guint : 0)
#define ASTRO_FIELD_SAYS(of_kind, its_name, its_nick, its_help)                                    \
  .name = its_name, .nick = its_nick, .help = its_help, .kind = ASTRO_FIELD_##of_kind

/* Rows. when, told and changed may follow the default, as .when = ... A property with code in place
 * of a member is written as { ASTRO_FIELD_SAYS(UINT, "port", "Port", "Where it listens"), .whole =
 * { 0, G_MAXUINT16, 0 }, .get = get_port }. */
#define ASTRO_BOOLEAN(type, member, name, nick, help, value, ...)                                  \
  {                                                                                                \
    ASTRO_FIELD_SAYS(BOOLEAN, name, nick, help), ASTRO_FIELD_AT(type, member, gboolean),           \
        .whole = { 0, 1, value }, __VA_ARGS__                                                      \
  }
#define ASTRO_INT(type, member, name, nick, help, least, most, value, ...)                         \
  {                                                                                                \
    ASTRO_FIELD_SAYS(INT, name, nick, help), ASTRO_FIELD_AT(type, member, gint),                   \
        .whole = { least, most, value }, __VA_ARGS__                                               \
  }
#define ASTRO_UINT(type, member, name, nick, help, least, most, value, ...)                        \
  {                                                                                                \
    ASTRO_FIELD_SAYS(UINT, name, nick, help), ASTRO_FIELD_AT(type, member, guint),                 \
        .whole = { least, most, value }, __VA_ARGS__                                               \
  }
#define ASTRO_UINT64(type, member, name, nick, help, least, most, value, ...)                      \
  {                                                                                                \
    ASTRO_FIELD_SAYS(UINT64, name, nick, help), ASTRO_FIELD_AT(type, member, guint64),             \
        .large = { least, most, value }, __VA_ARGS__                                               \
  }
#define ASTRO_DOUBLE(type, member, name, nick, help, least, most, value, ...)                      \
  {                                                                                                \
    ASTRO_FIELD_SAYS(DOUBLE, name, nick, help), ASTRO_FIELD_AT(type, member, double),              \
        .real = { least, most, value }, __VA_ARGS__                                                \
  }
#define ASTRO_ENUM(of, member, name, nick, help, get_type, first, ...)                             \
  {                                                                                                \
    ASTRO_FIELD_SAYS(ENUM, name, nick, help), ASTRO_FIELD_AT_ENUM(of, member),                     \
        .type = get_type, .whole = { 0, 0, first }, __VA_ARGS__                                    \
  }
#define ASTRO_TEXT(type, member, name, nick, help, value, ...)                                     \
  {                                                                                                \
    ASTRO_FIELD_SAYS(TEXT, name, nick, help), ASTRO_FIELD_AT(type, member, char *), .text = value, \
                                                                                    __VA_ARGS__    \
  }
#define ASTRO_NUMBER_OR_AUTO(type, member, name, nick, help, automatic, greatest, ...)             \
  {                                                                                                \
    ASTRO_FIELD_SAYS(NUMBER_OR_AUTO, name, nick, help), ASTRO_FIELD_AT(type, member, guint),       \
        .text = automatic, .whole = { 0, greatest, 0 }, __VA_ARGS__                                \
  }

/* For class_init: gives the class the properties of a table. offset: where the struct of their
 * members lies in an instance, or before it for private data. If a class has several tables, no
 * name may be in two of them. */
void astro_fields_install(GObjectClass *klass, const AstroField *fields, gssize offset);

/* For the instance's init: sets the members of all tables of its class to their defaults. */
void astro_fields_set_defaults(gpointer object);

/* A copy of a text, for a thread that works while another thread may set it. */
char *astro_fields_copy_text(gconstpointer object, char *const *field);

/* Copies numbers, which properties set, as they are at one moment: for a thread that works while
 * another may set them. A struct of several holds no text. */
void astro_fields_copy_numbers(gconstpointer object, gpointer to, gconstpointer from, gsize bytes);

/* Sets a text back that was refused, unless another thread has set it since. */
void astro_fields_put_back(gpointer object, char **field, const char *refused, const char *text);

/* Copies the whole struct of that many bytes, texts included. */
void astro_fields_copy(const AstroField *fields, gconstpointer object, gpointer to,
                       gconstpointer from, gsize bytes);
/* Frees the texts of such a copy. */
void astro_fields_clear(const AstroField *fields, gpointer data);

/* NULL for an empty text, which in graphs means that none was given. */
const char *astro_field_given(const char *text);

ASTRO_END_DECLS
