/* The interface of FITS files for sinks and sources.
 *
 * Each kind of file (UVFITS, images, catalogues, tables) has a table of functions for its writer
 * and one for its reader, in files of their own. The quantity in the caps chooses the writer; the
 * file's header chooses the reader. */
#pragma once

#include "core/lib/catalogue/catalogue.h"
#include "core/kit/fail.h"
#include "core/lib/files/part-file.h"
#include "core/lib/rows/values.h"
#include "core/stream/grid.h"
#include "core/stream/observation.h"
#include "core/stream/stream.h"
#include "core/stream/validity.h"

G_BEGIN_DECLS

#define ASTRO_FITS_ERROR astro_fits_error_quark()
typedef enum {
  ASTRO_FITS_ERROR_OPEN,    /* the file cannot be opened, or its kind is unknown */
  ASTRO_FITS_ERROR_FORMAT,  /* the content is wrong: says what was found and expected */
  ASTRO_FITS_ERROR_READ,    /* the operating system reports an error */
  ASTRO_FITS_ERROR_HEADER,  /* a header cannot be written */
  ASTRO_FITS_ERROR_MISSING, /* the stream lacks something that such a file needs */
} AstroFitsError;
GQuark astro_fits_error_quark(void);
/* Sets ASTRO_FITS_ERROR_MISSING and is FALSE, so that a check can return it. */
#define astro_fits_refuse(error, ...)                                                              \
  astro_fail(error, ASTRO_FITS_ERROR, ASTRO_FITS_ERROR_MISSING, __VA_ARGS__)

/* Description of a file that is read or to be written. stations: 0 if the caps do not say. */
typedef struct {
  AstroStream stream;
  guint stations;
  AstroObservation *observation; /* NULL: unknown */
  char *columns;                 /* names joined by ':', if the layout has this axis */
  guint64 duration_ns;           /* of a file that is read; 0: unknown */
  guint64 step_ns;    /* from one of its frames to the next; 0: they have no time steps */
  AstroGrid grid;     /* of images: products, centre, pixel (0: unknown) */
  char *unit;         /* of images that are read: BUNIT of the first; NULL: none */
  char *note;         /* what the file says but the stream cannot; NULL: nothing */
  GstCaps *caps;      /* the stream's caps, if given; NULL: they follow from the rest */
  guint bits;         /* of a number, where the kind of file has a choice; 0: not chosen */
  gboolean continues; /* several such files may be one stream */
  gboolean is_blocks; /* the file that is read has whole buffers: core/fits/blocks */
} AstroFitsContents;

void astro_fits_contents_clear(AstroFitsContents *contents);
/* Adds to the note, which starts with the file's name. */
void astro_fits_contents_note(AstroFitsContents *contents, const char *file, const char *format,
                              ...) G_GNUC_PRINTF(3, 4);
gboolean astro_fits_contents_from_caps(AstroFitsContents *contents, const GstCaps *caps,
                                       GError **error);
GstCaps *astro_fits_contents_to_caps(const AstroFitsContents *contents);

/* Consecutive frames, or the points of one catalogue, as a buffer carries them. Times are relative
 * to the observation's start. */
typedef struct {
  gconstpointer data;
  guint64 frames;
  const AstroValidityMeta *validity; /* NULL: no known losses */
  gint64 start_ns, duration_ns;      /* of all frames together; 0: unknown */
  const AstroImageMeta *image;       /* NULL: none */
  const double *uvw;    /* of visibilities: the buffer's own; NULL: they follow from stations */
  const guint8 *absent; /* of visibilities: known to have no groups; NULL: none */
  const GstStructure *about; /* of correlation functions: core/tpacf/about.h; NULL: none */
  GstBuffer *buffer;         /* of blocks: the whole buffer, with its metas and times */
  GstEvent *told;            /* of histograms, the summary event; NULL: none */
  guint64 first;             /* of kinds that are stepped: the step of the first frame */
} AstroFitsFrames;

typedef AstroRowTally AstroFitsTally;

typedef struct {
  const char *name; /* "UVFITS" */
  AstroQuantity quantity;
  const char *suffix;  /* of file names; NULL: any */
  const char *caps;    /* the caps it takes */
  const char *frame;   /* the word for a frame: "integration" */
  gboolean is_timed;   /* frames must have times */
  gboolean is_stepped; /* the writer is told which steps the frames are, each once */
  gboolean has_bits;   /* numbers of 8 bits can be chosen, or floats */
  gboolean is_blocks;  /* buffers go to the file whole, with their metas and events */
  /* The caller keeps ownership of file, and commits or discards it. */
  gpointer (*create)(AstroPartFile *file, const AstroFitsContents *contents, GError **error);
  /* Adds to the tally. */
  gboolean (*write)(gpointer writer, const AstroFitsFrames *frames, AstroFitsTally *tally,
                    GError **error);
  gboolean (*finish)(gpointer writer, AstroFitsTally *tally, GError **error);
  void (*destroy)(gpointer writer);
} AstroFitsWriterKind;

extern const AstroFitsWriterKind *const astro_fits_writer_kinds[]; /* ends with NULL */
const AstroFitsWriterKind *astro_fits_writer_kind(AstroQuantity quantity, const char *path,
                                                  GError **error);

/* One frame of a file that is read. The caller sets data (room for a whole frame) and counts (one
 * per sample of visibilities; NULL for others, which have none); reading fills in these and the
 * other members. */
typedef struct {
  gpointer data;
  guint32 *counts;
  double *uvw;        /* metres, 3 per baseline, if the observation has uvw_metres; else unused */
  guint8 *absent;     /* whether a baseline of visibilities has no group; NULL: not wanted */
  guint32 full;       /* the count of a value without losses, according to the file; one for all */
  guint64 not_finite; /* visibilities with a weight but NaN or infinite; their counts are 0 */
  gint64 start_ns;
  guint64 duration_ns; /* may be less than a step; 0: unknown */
  gboolean has_beam;
  double major, minor, angle; /* as in AstroImageMeta: radians */
  guint border;               /* as in AstroImageMeta: pixels, for a cleaned image */
  GstBuffer *buffer; /* of blocks: the caller's buffer, whose metas and times reading sets; data is
                        in it */
  GstEvent *told;    /* of blocks: an event to send before the buffer, to be freed; or NULL */
} AstroFitsFrame;

typedef struct _AstroFitsReader AstroFitsReader;

/* Which (u,v,w) the visibilities of a file get. */
typedef enum {
  ASTRO_FITS_UVW_AUTO, /* the stations', which those in the groups must agree with */
  ASTRO_FITS_UVW_FILE,
  ASTRO_FITS_UVW_TABLE,
} AstroFitsUvw;
#define ASTRO_TYPE_FITS_UVW astro_fits_uvw_get_type()
GType astro_fits_uvw_get_type(void);

typedef struct {
  AstroCatalogueColumns columns; /* of a catalogue; ra and dec NULL: RA and DEC */
  const char *where;             /* rows of a catalogue, as a row filter of CFITSIO; NULL: all */
  GstCaps *wanted;               /* files that give other caps are refused; NULL: any */
  AstroFitsUvw uvw;              /* of visibilities */
  const char *band;              /* of visibilities: an IF, or a range N-M; NULL: all */
  gboolean ignore_epoch;         /* of visibilities: the phase centre is of 2000 */
  gboolean takes_models;         /* of images: values per pixel need not be named MODEL */
  gboolean
      has_counts; /* files that continue each other give counts, though one may have no losses */
  const char
      *earth_orientation; /* of visibilities: core/lib/sky/earth-file.h; NULL: the file's own */
} AstroFitsOptions;

/* options may be NULL. Reads all of a UVFITS file once, and unpacks gzip, so that opening can be
 * given up (core/backend/threads.h), as reading can: ASTRO_BACKEND_ERROR_GIVEN_UP. */
AstroFitsReader *astro_fits_reader_open(const char *path, const AstroFitsOptions *options,
                                        GError **error);
/* Opens the first of the files, up to a NULL. If it is UVFITS, all have to be, and are opened as
 * one stream. *n: how many files were opened. */
AstroFitsReader *astro_fits_reader_open_some(const char *const *names, guint *n,
                                             const AstroFitsOptions *options, GError **error);
const AstroFitsContents *astro_fits_reader_contents(const AstroFitsReader *reader);
/* The number of steps in the next frame: 1, or the number of points of a catalogue. FALSE with *end
 * set if there are no more frames. */
gboolean astro_fits_reader_next(AstroFitsReader *reader, guint64 *steps, gboolean *end,
                                GError **error);
/* FALSE with *end set if there are no more frames. For catalogues call astro_fits_reader_next
 * first. */
gboolean astro_fits_reader_read(AstroFitsReader *reader, AstroFitsFrame *frame, gboolean *end,
                                GError **error);
void astro_fits_reader_close(AstroFitsReader *reader);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroFitsReader, astro_fits_reader_close)

/* Like astro_catalogue_parse_text, for a file, which may be packed with gzip. */
gboolean astro_fits_read_text(const char *path, const AstroCatalogueColumns *columns,
                              AstroCatalogue *catalogue, GArray *ends, GError **error);

/* The caps that all readers may give, for a pad template. */
char *astro_fits_reader_caps(void);

G_END_DECLS
