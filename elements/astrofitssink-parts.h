/* The parts of the element astrofitssink, which its files share. */
#pragma once

#include "core/fits/fits.h"
#include "elements/astrofitssink.h"
#include "elements/base/astroearth.h"
#include "elements/base/astrointegrations.h"

G_BEGIN_DECLS

struct _AstroFitsSink {
  GstBaseSink parent;
  char *location;          /* property: name of the next file */
  char *earth_orientation; /* property */
  guint64 max_duration;    /* property: ns of a file; 0: any */
  guint bits;              /* property */
  AstroEarthUse earth;

  AstroPartFile *file; /* open from READY on to the end of the stream */
  char *name;          /* its final name */
  char *pattern;       /* of the names of files, if there may be several; else NULL */
  guint64 file_begin;  /* of one of several, ns since the observation's start */
  guint64 most_ns;     /* of a file, as of the start; 0: any */
  GHashTable *names;   /* of these files */
  guint n_files;       /* opened since the start */
  const AstroFitsWriterKind *kind;
  gpointer writer; /* made when the first frame comes; set atomically, since queries look */
  AstroFitsContents contents;
  GstEvent *observation;          /* the event that contents' observation is from */
  GstEvent *about;                /* describes the correlation functions that follow it */
  GstEvent *summary;              /* describes the histograms that follow it */
  AstroIntegrations integrations; /* of visibilities: their times */
  guint64 written;                /* frames, or tables */
  AstroFitsTally tally;
  gint64 begin_ns, end_ns; /* of what has been written */
  gboolean refused;        /* the last observation was refused: no frame of it is written */
  gboolean failed;         /* an error was posted: nothing more is written until a flush */
};

/* Completes the open file. FALSE: it failed, and an error was posted. */
gboolean astro_fits_sink_finish(AstroFitsSink *self);
/* Posts what is in the file that was completed, and warns of what it could not hold. */
void astro_fits_sink_tell_of_file(AstroFitsSink *self);

/* Fills in the frames of a buffer and their times; *buffer may become a part of it, or NULL where
 * there is nothing to write. */
gboolean astro_fits_sink_read_frames(AstroFitsSink *self, GstBuffer **buffer,
                                     AstroFitsFrames *frames, GError **error);
/* Writes frames whose data and buffer were filled in too, to the next file if this one is full.
 * FALSE without an error: it was posted. */
gboolean astro_fits_sink_write_frames(AstroFitsSink *self, AstroFitsFrames *frames, GError **error);

G_END_DECLS
