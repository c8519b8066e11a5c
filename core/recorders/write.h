/* Writes recordings: files as recorders of telescopes make them, from a stream of voltages,
 * spectra or power.
 *
 * Samples become integers of so many bits. Integers that fit stay as they are; others are measured,
 * or scaled by a given rms, and rounded to the nearest level (write-levels.h). Samples that are
 * missing keep their place in time: a format marks them if it can, and otherwise they are zeros,
 * which are counted. */
#pragma once

#include "core/kit/fail.h"
#include "core/stream/observation.h"
#include "core/stream/stream.h"
#include "core/stream/validity.h"

G_BEGIN_DECLS

#define ASTRO_RECORD_ERROR astro_record_error_quark()
typedef enum {
  ASTRO_RECORD_ERROR_STREAM,   /* the format cannot hold such a stream */
  ASTRO_RECORD_ERROR_SETTINGS, /* what the user set does not fit the format or the stream */
} AstroRecordError;
GQuark astro_record_error_quark(void);

typedef struct _AstroRecordKind AstroRecordKind;

/* The format with that name; an error lists them. */
const AstroRecordKind *astro_record_kind(const char *name, GError **error);
const char *astro_record_kind_name(const AstroRecordKind *kind);
/* Tells what becomes of lost samples, to follow "lost samples are ". */
const char *astro_record_kind_losses(const AstroRecordKind *kind);
/* Whether files say which samples are lost, so that readers see it. */
gboolean astro_record_kind_marks(const AstroRecordKind *kind);
/* Whether files say which frequencies they hold. */
gboolean astro_record_kind_tells_frequency(const AstroRecordKind *kind);

typedef struct {
  const AstroRecordKind *kind;
  const char *location; /* of files; a pattern (core/lib/files/utc-name.h) if there are several */
  guint bits;           /* of a component; 0: as in the stream, or 8 for floats */
  double rms;           /* of a component, which decides its level; 0: measured */
  guint64 most_ns, most_bytes; /* of a file; 0: any */
  /* Steps that get lost together, as those of a packet do, and one at which such a group begins. 0:
   * not known. Frames that do not straddle groups spoil no good samples. */
  guint64 group, group_begin;
} AstroRecordSettings;

/* A file that is complete. Counts are of samples, of which each station, polarisation and channel
 * has one in a step. */
typedef struct {
  char *name;
  guint64 first, steps; /* of the stream */
  guint64 bytes;
  guint64 samples;
  guint64 lost;    /* missing, or without good samples behind them */
  guint64 partial; /* written as good, with some of the samples behind them lost */
  guint64 spoilt;  /* good, but in a frame that is marked as invalid for the lost ones in it */
  guint64 clipped; /* components beyond the highest or lowest level of 8 or 16 bits */
  guint64 nans;    /* components, which became 0 */
} AstroRecordFile;

typedef struct _AstroRecordWriter AstroRecordWriter;

/* done: is told of each complete file. observation: NULL if there is none. */
AstroRecordWriter *astro_record_writer_new(const AstroRecordSettings *settings,
                                           const AstroStream *stream,
                                           const AstroObservation *observation,
                                           void (*done)(gpointer user, const AstroRecordFile *file),
                                           gpointer user, GError **error);
/* Discards a file that is not complete. */
void astro_record_writer_free(AstroRecordWriter *writer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroRecordWriter, astro_record_writer_free)

/* Adds a buffer of so many steps, of which the first `skip` are left out; `first` is the step of
 * the stream that follows those. Steps rise from call to call; those between are lost. counts: NULL
 * without losses. data: NULL if all of it is lost. */
gboolean astro_record_writer_add(AstroRecordWriter *writer, gconstpointer data, guint64 steps,
                                 guint64 skip, guint64 first, const AstroValidityMeta *counts,
                                 GError **error);
/* Completes the last file. */
gboolean astro_record_writer_finish(AstroRecordWriter *writer, GError **error);
/* Whether anything has been added: an empty recording has no file. */
gboolean astro_record_writer_has_begun(const AstroRecordWriter *writer);

G_END_DECLS
