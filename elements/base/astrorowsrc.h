/* Sources of visibilities in files of rows have this in common: caps, observation, times, buffers,
 * several files as one stream, and errors. A source is a type of its own with this as its
 * instance, since the sources are in plugins that may each be missing. */
#pragma once

#include "core/lib/rows/files.h"
#include "elements/base/astrofields.h"
#include "elements/base/astrofilesrc.h"
#include "elements/base/astrostamps.h"

G_BEGIN_DECLS

/* The properties that all have. */
typedef struct {
  char *location, *field, *earth_orientation;
} AstroRowSettings;

typedef struct _AstroRowSrc AstroRowSrc;
typedef struct {
  const AstroRowReaderKind *reader;
  const AstroField *fields; /* of a struct that begins with AstroRowSettings */
  gsize settings, now;      /* where an instance has two of these: `now` from start to stop */
  gsize bytes;              /* of the struct */
  /* Whether there may be such a file; an error of the element if not. */
  gboolean (*check)(AstroRowSrc *src, const char *name);
  /* The reader's options by the properties in `now`. */
  void (*choose)(AstroRowSrc *src);
  gsize options; /* where an instance has what choose sets */
} AstroRowSrcKind;

struct _AstroRowSrc {
  AstroFileSrc parent;
  char **names;         /* of the files, from start to stop */
  GArray *given;        /* files that add_file gave, in place of those; NULL: none */
  AstroRowFiles *files; /* under the object's lock: queries ask for it */
  guint64 not_finite;   /* number of NaN or infinite values so far */
  AstroStamps stamps;
};

typedef struct {
  AstroFileSrcClass parent;
  const AstroRowSrcKind *kind;
} AstroRowSrcClass;

/* For the type's class_init: methods, properties and pad. The caller sets the metadata. */
void astro_row_src_install(AstroRowSrcClass *class, const AstroRowSrcKind *kind, const char *caps);
/* For its init. */
void astro_row_src_init(AstroRowSrc *self);

/* Adds a file to be read. With such files location is only the name of all in messages. reader,
 * which stays in NULL, says by its properties how this file is read, which may be of its kind;
 * NULL: this source. For a source in NULL or READY. */
void astro_row_src_add_file(AstroRowSrc *self, AstroRowSrc *reader, const char *name);

/* For AstroRowSrcKind.check: posts that a file cannot be opened, and is FALSE. */
gboolean astro_row_src_not_found(AstroRowSrc *self, const char *name, const char *what);

/* The rows of the common properties, in front of the others. file: what a location is called. */
#define ASTRO_ROW_SRC_FIELDS(type, nick, location_help, field_help, file)                          \
  ASTRO_TEXT(type, rows.location, "location", nick, location_help, NULL),                          \
      ASTRO_TEXT(type, rows.field, "field", "Field", field_help " (unset: the only one)", NULL),   \
      ASTRO_TEXT(type, rows.earth_orientation, "earth-orientation", "Earth orientation",           \
                 ASTRO_EARTH_HELP " (unset: the " file "'s own)", NULL)

G_END_DECLS
