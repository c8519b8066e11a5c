/* Reads recordings: files as recorders of telescopes leave them. Each format in the table has a
 * parser for its headers, which trusts nothing that does not fit in the file; what a header leaves
 * out the user sets, and what the user sets against a header is refused unless it is forced.
 *
 * All files of a recording are one stream, in the order of their times. Its step 0 is the first
 * sample; samples are unpacked to integers by levels.h, and those that are missing or marked as
 * invalid are zeros that count as lost. */
#pragma once

#include "core/stream/observation.h"
#include "core/stream/stream.h"
#include "core/stream/validity.h"

G_BEGIN_DECLS

#define ASTRO_RECORDER_ERROR astro_recorder_error_quark()
typedef enum {
  ASTRO_RECORDER_ERROR_OPEN,     /* a file cannot be opened */
  ASTRO_RECORDER_ERROR_READ,     /* a file cannot be read */
  ASTRO_RECORDER_ERROR_FORMAT,   /* a file is not what was expected */
  ASTRO_RECORDER_ERROR_SETTINGS, /* a property is missing or does not fit the file */
} AstroRecorderError;
GQuark astro_recorder_error_quark(void);

/* The thread of a VDIF frame says nothing of what it is. */
typedef enum {
  ASTRO_RECORDER_THREADS_AUTO, /* up to two are polarisations, more are refused */
  ASTRO_RECORDER_THREADS_STATION,
  ASTRO_RECORDER_THREADS_POL,
  ASTRO_RECORDER_THREADS_BAND, /* neighbouring groups of channels */
} AstroRecorderThreads;

/* How numbers are written in DADA, whose headers do not tell: as offset binary or in two's
 * complement, and of fewer than 8 bits the first in the lowest or the highest bits of a byte. */
typedef enum {
  ASTRO_RECORDER_NUMBERS_AUTO, /* two's complement of 8 bits or more; fewer are refused */
  ASTRO_RECORDER_NUMBERS_OFFSET,
  ASTRO_RECORDER_NUMBERS_OFFSET_HIGH,
  ASTRO_RECORDER_NUMBERS_SIGNED,
  ASTRO_RECORDER_NUMBERS_SIGNED_HIGH,
} AstroRecorderNumbers;

/* Facts that headers leave out. 0 and NULL: not given. */
typedef struct {
  char *format; /* NULL or auto: by the content */
  guint channels, pols, bits;
  guint heap_steps; /* of DADA, steps that lie together */
  char *rate, *start_time;
  char *products; /* of power, as XX:YY */
  double frequency, bandwidth;
  AstroRecorderThreads threads;
  AstroRecorderNumbers numbers;
  gboolean force; /* settings go before headers */
} AstroRecorderSettings;

/* Names and descriptions of the formats, ending with a NULL name. */
typedef struct {
  const char *name, *about;
} AstroRecorderName;
const AstroRecorderName *astro_recorder_names(void);

/* How many bytes from the start of a file tell its format. */
#define ASTRO_RECORDER_PROBE (64u << 10)
/* The name of the format that such bytes begin; NULL: none. */
const char *astro_recorder_probe(const guint8 *bytes, gsize n);

typedef struct _AstroRecording AstroRecording;

AstroRecording *astro_recording_open(char *const *files, guint n_files,
                                     const AstroRecorderSettings *settings, GError **error);
void astro_recording_close(AstroRecording *recording);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroRecording, astro_recording_close)

const char *astro_recording_format(const AstroRecording *recording);
const AstroStream *astro_recording_stream(const AstroRecording *recording);
/* A new reference: telescope, basis, direction and start, as far as headers tell them. */
AstroObservation *astro_recording_make_observation(const AstroRecording *recording);
GstCaps *astro_recording_make_caps(const AstroRecording *recording);
guint64 astro_recording_steps(const AstroRecording *recording);
/* Steps of a block of about so many bytes; blocks begin at multiples of it. */
guint64 astro_recording_block(const AstroRecording *recording, gsize bytes);
/* Something that the user should know about the files; NULL: nothing. */
const char *astro_recording_note(const AstroRecording *recording);

typedef struct {
  guint64 frames, invalid, duplicate, late; /* frames by what became of them */
  guint64 odd_bytes;                        /* that are not of the format, between frames */
  guint64 lost, samples;                    /* in all stations, polarisations and channels */
} AstroRecordingStats;
const AstroRecordingStats *astro_recording_stats(const AstroRecording *recording);

/* Finds the first step from `from` on that is in a file, so that long gaps can be left out. FALSE
 * without an error: there is none. */
gboolean astro_recording_find(AstroRecording *recording, guint64 from, guint64 *step,
                              GError **error);
/* Fills data, in the stream's layout, with the steps from first on, which must not lie beyond the
 * end, and gives the buffer counts of them. *is_lost: none of them is there. */
gboolean astro_recording_read(AstroRecording *recording, guint64 first, guint64 steps,
                              gpointer data, GstBuffer *buffer, gboolean *is_lost, GError **error);
/* Counts steps as lost that are left out. */
void astro_recording_skip(AstroRecording *recording, guint64 steps);

G_END_DECLS
