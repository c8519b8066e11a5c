/* Shared by the writer and its formats. */
#pragma once

#include "core/lib/files/part-file.h"
#include "core/recorders/write-levels.h"
#include "core/recorders/write.h"

G_BEGIN_DECLS

/* The block that is being filled: levels, in the format's order of axes. */
typedef struct {
  guint8 *levels;
  guint8 *good; /* one byte a sample, in the same order; NULL: there were no losses yet */
  gboolean has_loss;
  gint64 first;  /* its first step, which may be before the stream's */
  guint64 steps; /* room */
  guint64 filled;
  guint64 strides[ASTRO_N_AXES]; /* in samples, of time, station, pol and channel */
} AstroRecordBlock;

struct _AstroRecordWriter {
  AstroRecordSettings settings;
  AstroStream stream;
  AstroObservation *observation;
  void (*done)(gpointer user, const AstroRecordFile *file);
  gpointer user;
  guint64 stations, pols, channels;
  guint components;  /* of a sample */
  guint bits;        /* of a component in files */
  gsize level_bytes; /* of a component in a block */
  gsize sample_bytes;
  guint64 grain;  /* steps that a file is a multiple of, counted from the origin */
  guint64 origin; /* the stream's step 0 in steps since 1970, if the grain is more than 1 */
  AstroRecordBlock block;
  AstroRecordLevels *levels;
  GPtrArray *held; /* buffers that wait for the rms to be measured */
  guint64 held_steps;
  guint8 *made, *mask; /* levels and validity of a buffer */
  gsize made_bytes, mask_bytes;

  char *pattern;
  GHashTable *names; /* of this recording's files */
  AstroPartFile *part;
  AstroRecordFile file; /* of the part */
  guint n_files;
  guint64 most_steps;         /* of a file; 0: any */
  AstroRecordMisfits misfits; /* for the next file that is complete */
  guint64 partial;            /* samples, likewise */
  guint64 next;               /* the step after the last one that was added */
  gboolean has_begun;
  gpointer room; /* of the format */
};

struct _AstroRecordKind {
  const char *name;
  const char *losses;
  gboolean marks, tells_frequency;
  guint bits[6]; /* that it can have, then 0 */
  gboolean takes_real;
  gboolean takes_stations;
  gboolean takes_power; /* and nothing else */
  gboolean has_blocks;  /* each block has a header, so files are cut between blocks */
  AstroAxis order[4];   /* of a block, slowest first */
  /* Refuses a stream that does not fit, and sets the block's steps and the grain. */
  gboolean (*begin)(AstroRecordWriter *writer, GError **error);
  /* Bytes of a file with so many steps, a multiple of the grain. */
  guint64 (*bytes)(const AstroRecordWriter *writer, guint64 steps);
  gboolean (*open)(AstroRecordWriter *writer, GError **error);
  gboolean (*write)(AstroRecordWriter *writer, GError **error); /* the block's filled steps */
  gboolean (*close)(AstroRecordWriter *writer, GError **error);
};

extern const AstroRecordKind astro_record_dada, astro_record_guppi, astro_record_vdif,
    astro_record_sigproc;

/* When a step was taken: UTC as a day (MJD) and nanoseconds into it. */
void astro_record_time(const AstroRecordWriter *writer, gint64 step, gint32 *mjd, guint64 *ns);
/* Steps in a block of about so many bytes, at least one. */
guint64 astro_record_block_steps(const AstroRecordWriter *writer, gsize bytes);
gsize astro_record_step_bytes(const AstroRecordWriter *writer); /* in a file, rounded up */

#define astro_record_refuse(error, ...)                                                            \
  astro_fail(error, ASTRO_RECORD_ERROR, ASTRO_RECORD_ERROR_STREAM, __VA_ARGS__)
#define astro_record_refuse_setting(error, ...)                                                    \
  astro_fail(error, ASTRO_RECORD_ERROR, ASTRO_RECORD_ERROR_SETTINGS, __VA_ARGS__)

G_END_DECLS
