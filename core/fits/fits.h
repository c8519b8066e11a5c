/* FITS files: what the sink and the source of files need to know of them.
 *
 * Each kind of file (UVFITS, images, catalogues, tables) is a writer's table and a reader's table
 * in files of its own; the quantity in the caps picks the writer, the file's header picks the
 * reader. */
#pragma once

#include "core/lib/catalogue/catalogue.h"
#include "core/kit/fail.h"
#include "core/fits/part-file.h"
#include "core/stream/grid.h"
#include "core/stream/observation.h"
#include "core/stream/stream.h"
#include "core/stream/validity.h"

G_BEGIN_DECLS

#define ASTRO_FITS_ERROR astro_fits_error_quark()
typedef enum {
  ASTRO_FITS_ERROR_OPEN,    /* the file cannot be opened, or is none that is known */
  ASTRO_FITS_ERROR_FORMAT,  /* its content is not what it should be: found and expected */
  ASTRO_FITS_ERROR_READ,    /* the system cannot read */
  ASTRO_FITS_ERROR_HEADER,  /* a header cannot be made */
  ASTRO_FITS_ERROR_MISSING, /* the stream lacks what such a file has to say */
} AstroFitsError;
GQuark astro_fits_error_quark(void);
/* Sets ASTRO_FITS_ERROR_MISSING; FALSE, for a check to return. */
#define astro_fits_refuse(error, ...)                                                              \
  astro_fail(error, ASTRO_FITS_ERROR, ASTRO_FITS_ERROR_MISSING, __VA_ARGS__)

/* What a file is of, or is to be of. stations: 0 where the caps do not say. */
typedef struct {
  AstroStream stream;
  guint stations;
  AstroObservation *observation; /* NULL: none known */
  char *columns;                 /* names joined by ':', where the layout has such an axis */
  guint64 duration_ns;           /* of a file that is read; 0: not known */
  guint64 step_ns;               /* from one of its frames to the next; 0: they have no steps */
  AstroGrid grid;                /* of images: products, centre, pixel (0: not known) */
  char *note;         /* what a file that is read says and the stream cannot; NULL: nothing */
  GstCaps *caps;      /* the stream's, where it came with them; NULL: they follow from the rest */
  gboolean is_blocks; /* a file that is read has buffers as they were: core/fits/blocks */
} AstroFitsContents;

void astro_fits_contents_clear(AstroFitsContents *contents);
/* Adds to the note, after the file's name. */
void astro_fits_contents_note(AstroFitsContents *contents, const char *file, const char *format,
                              ...) G_GNUC_PRINTF(3, 4);
gboolean astro_fits_contents_from_caps(AstroFitsContents *contents, const GstCaps *caps,
                                       GError **error);
GstCaps *astro_fits_contents_to_caps(const AstroFitsContents *contents);

/* Frames that follow each other, or the points of one catalogue, as a buffer carries them. Times
 * count from the observation's start. */
typedef struct {
  gconstpointer data;
  guint64 frames;
  const AstroValidityMeta *validity; /* NULL: nothing is known to be missing */
  gint64 start_ns, duration_ns;      /* of all frames together; 0: not known */
  const AstroImageMeta *image;       /* NULL: there is none */
  const double *uvw;         /* of visibilities, that the buffer brings; NULL: the stations' */
  const GstStructure *about; /* of correlation functions: core/tpacf/about.h; NULL: none */
  GstBuffer *buffer;         /* of blocks: what they come in; they have metas and times */
  GstEvent *told;            /* of histograms, the summary; NULL: none */
} AstroFitsFrames;

/* What was written; to begin with all of it is 0. */
typedef struct {
  guint64 values, flagged, not_finite; /* flagged: with weight 0; not_finite: for being no number */
  guint32 least, most;                 /* weight of a value that is not flagged */
} AstroFitsTally;

typedef struct {
  const char *name; /* "UVFITS" */
  AstroQuantity quantity;
  const char *suffix; /* of the names of such files; NULL: any */
  const char *caps;   /* what it takes */
  const char *frame;  /* what a file has at least one of: "integration" */
  gboolean is_timed;  /* frames have to have times */
  gboolean is_blocks; /* buffers go to the file as they are, with all that belongs to them */
  /* file stays the caller's, who commits or discards it. */
  gpointer (*create)(AstroPartFile *file, const AstroFitsContents *contents, GError **error);
  /* Adds to the tally. */
  gboolean (*write)(gpointer writer, const AstroFitsFrames *frames, AstroFitsTally *tally,
                    GError **error);
  gboolean (*finish)(gpointer writer, GError **error);
  void (*destroy)(gpointer writer);
} AstroFitsWriterKind;

extern const AstroFitsWriterKind *const astro_fits_writer_kinds[]; /* up to a NULL */
const AstroFitsWriterKind *astro_fits_writer_kind(AstroQuantity quantity, const char *path,
                                                  GError **error);

/* One frame of a file that is read. The caller sets data (a whole frame) and counts (one for every
 * sample of visibilities; NULL for others, whose values have none); reading fills them and the
 * rest. */
typedef struct {
  gpointer data;
  guint32 *counts;
  double *uvw;        /* metres, 3 a baseline, where the observation has uvw_metres; else unused */
  guint32 full;       /* the count of a value that lost nothing, as the file tells; one for all */
  guint64 not_finite; /* visibilities with a weight that are no numbers: their counts are 0 */
  gint64 start_ns;
  guint64 duration_ns; /* which may be less than a step; 0: not known */
  gboolean has_beam;
  double major, minor, angle; /* radians, as AstroImageMeta has them */
  guint border;               /* as there: pixels, of an image that was cleaned */
  GstBuffer
      *buffer;    /* of blocks: the caller's, whose metas and times reading sets; data is in it */
  GstEvent *told; /* of blocks: to go before the buffer, and the caller's to free; or NULL */
} AstroFitsFrame;

typedef struct _AstroFitsReader AstroFitsReader;

/* Whose (u,v,w) visibilities of a file have. */
typedef enum {
  ASTRO_FITS_UVW_AUTO, /* the stations', which the groups' have to agree with */
  ASTRO_FITS_UVW_FILE,
  ASTRO_FITS_UVW_TABLE,
} AstroFitsUvw;
#define ASTRO_TYPE_FITS_UVW astro_fits_uvw_get_type()
GType astro_fits_uvw_get_type(void);

typedef struct {
  AstroCatalogueColumns columns; /* of a catalogue; ra and dec NULL: RA and DEC */
  const char *where;             /* rows of a catalogue, as CFITSIO's row filters; NULL: all */
  GstCaps *wanted;               /* kinds of files that give other caps are none; NULL: any */
  AstroFitsUvw uvw;              /* of visibilities */
  const char
      *earth_orientation; /* of visibilities: core/lib/sky/earth-file.h; NULL: the file's own */
} AstroFitsOptions;

/* options: NULL for none. Looks at all of a UVFITS file, and unpacks what gzip packed, so that it
 * can be given up (core/backend/threads.h), as reading can: ASTRO_BACKEND_ERROR_GIVEN_UP. */
AstroFitsReader *astro_fits_reader_open(const char *path, const AstroFitsOptions *options,
                                        GError **error);
const AstroFitsContents *astro_fits_reader_contents(const AstroFitsReader *reader);
/* How many steps the next frame has: 1, or the points of a catalogue. FALSE with *end set: there is
 * no further frame. */
gboolean astro_fits_reader_next(AstroFitsReader *reader, guint64 *steps, gboolean *end,
                                GError **error);
/* FALSE with *end set: there is no further frame. Catalogues are read after astro_fits_reader_next.
 */
gboolean astro_fits_reader_read(AstroFitsReader *reader, AstroFitsFrame *frame, gboolean *end,
                                GError **error);
void astro_fits_reader_close(AstroFitsReader *reader);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroFitsReader, astro_fits_reader_close)

/* As astro_catalogue_parse_text, of a file, which gzip may have packed. */
gboolean astro_fits_read_text(const char *path, const AstroCatalogueColumns *columns,
                              AstroCatalogue *catalogue, GArray *ends, GError **error);

/* The field has no name in the stream: its place is as good as any, J1234+5678. To be freed. */
char *astro_fits_field_name(const AstroObservation *observation);

/* What all readers together may give, for a template. */
char *astro_fits_reader_caps(void);

G_END_DECLS
