/* Sinks of visibilities in files of rows have this in common: caps, observation, times, the end of
 * a stream, flushes, and errors. A sink is a type of its own with this as its instance, since the
 * sinks are in plugins that may each be missing. */
#pragma once

#include <gst/base/gstbasesink.h>

#include "core/lib/rows/frames.h"
#include "core/lib/rows/values.h"
#include "elements/base/astroearth.h"
#include "elements/base/astrointegrations.h"

G_BEGIN_DECLS

/* How a kind of file is written. Errors of G_IO_ERROR are about the file, all others about the
 * stream; those of `open` name the file. */
typedef struct _AstroRowSink AstroRowSink;
typedef struct {
  const char *format;  /* "uvh5" */
  gboolean has_delays; /* the file tells whether delays were taken out */
  /* sink: for properties of its own. */
  gpointer (*open)(AstroRowSink *sink, const char *location, GError **error);
  gboolean (*begin)(gpointer writer, const AstroStream *stream, guint stations,
                    AstroObservation *observation, GError **error);
  gboolean (*write)(gpointer writer, const AstroRowFrames *frames, AstroRowTally *tally,
                    GError **error);
  /* Both free the writer, whether they succeed or not. */
  gboolean (*finish)(gpointer writer, GError **error);
  void (*discard)(gpointer writer);
} AstroRowSinkKind;

struct _AstroRowSink {
  GstBaseSink parent;
  char *location;          /* property */
  char *earth_orientation; /* property */
  AstroEarthUse earth;

  char *name;      /* of the file that is written */
  gpointer writer; /* from READY on to the end of the stream */
  gint is_begun;   /* atomic: stream and observation of the file are settled, as queries tell */
  AstroStream stream;
  guint stations; /* of the caps, or 0 */
  GstCaps *caps;  /* these */
  AstroObservation *observation;
  GstEvent *observed; /* the event that it is from */
  AstroIntegrations integrations;
  guint64 written; /* integrations */
  AstroRowTally tally;
  gint64 begin_ns, end_ns; /* of what has been written */
  gboolean refused;        /* the last observation was refused: nothing of it is written */
  gboolean failed;         /* an error was posted: nothing more is written until a flush */
};

typedef struct {
  GstBaseSinkClass parent;
  const AstroRowSinkKind *kind;
} AstroRowSinkClass;

/* For the type's class_init: methods, properties and pad. help: of the property location. The
 * caller sets the metadata. */
void astro_row_sink_install(AstroRowSinkClass *class, const AstroRowSinkKind *kind,
                            const char *caps, const AstroField *fields);
/* For its init. */
void astro_row_sink_init(AstroRowSink *self);

/* The rows of its properties. */
#define ASTRO_ROW_SINK_FIELDS(location_help)                                                       \
  ASTRO_TEXT(AstroRowSink, location, "location", "File name", location_help, NULL),                \
      ASTRO_EARTH_FIELD(AstroRowSink, earth_orientation)

G_END_DECLS
