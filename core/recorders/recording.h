/* The parts of a recording that is open, which formats and the reader share.
 *
 * Samples lie in frames: blocks of GUPPI, frames of VDIF and Mark 5B, whole files of DADA. A frame
 * has one row of the recording or several, one behind the other. A row is the steps of time of one
 * thread or beam, or of one channel where channels come one after another in the file. Steps of a
 * row hold the axes that vary faster than time. Frames may also consist of heaps, each of which has
 * some steps of all rows. */
#pragma once

#include "core/recorders/file.h"
#include "core/recorders/recorders.h"
#include "core/recorders/unpack.h"
#include "core/stream/power.h"

G_BEGIN_DECLS

typedef struct {
  guint file;
  guint64 at;     /* of the samples in the file */
  guint64 end;    /* of the frame in the file, where the next one may follow */
  gint64 begin;   /* the first step, counted from wherever the format likes */
  guint64 steps;  /* that count */
  guint64 stored; /* that are there: rows lie so far apart */
  guint64 skip;   /* the first of them that counts */
  guint row;      /* its first row */
  gboolean is_valid;
} AstroRecorderFrame;

/* A place in the recording: of the frame that comes next. */
typedef struct {
  guint file; /* or the frame's index */
  guint64 at;
} AstroRecorderPlace;

/* One of several beams, in the order of rows. */
typedef struct {
  gint32 number;
  gboolean has_centre;
  double ra, dec; /* degrees */
} AstroRecorderBeam;

typedef struct _AstroRecorderFormat AstroRecorderFormat;

struct _AstroRecorderFormat {
  AstroRecorderName name;
  /* Whether such bytes begin a file of the format. NULL: files have no mark. */
  gboolean (*probe)(const guint8 *bytes, gsize n);
  /* Reads the headers of all files and fills the recording in, from packing to frames. */
  gboolean (*open)(AstroRecording *recording, GError **error);
  /* For formats with too many frames for an index: reads the header at a place. FALSE without an
   * error: no frame begins there. */
  gboolean (*parse)(AstroRecording *recording, guint file, guint64 at, AstroRecorderFrame *frame,
                    GError **error);
  void (*close)(gpointer room);
};

struct _AstroRecording {
  const AstroRecorderFormat *format;
  const AstroRecorderSettings *settings; /* while it is opened */
  gint given_n, given_d;                 /* the rate in settings; 0/1: none */
  gboolean has_given_start;
  gint64 given_start; /* ns since 1970 */
  GPtrArray *files;

  /* From the format: */
  AstroRecorderPacking packing;
  AstroLayout rows, inner;     /* axes slower and faster than time, without it */
  guint frame_rows;            /* in each frame */
  guint64 heap;                /* steps of a row that lie together in a frame; 0: all of them */
  GArray *beams;               /* AstroRecorderBeam; NULL: the rows are no beams */
  double rate;                 /* told by headers; 0: they do not tell */
  double claimed_rate;         /* told in a way that programs understand differently; 0: not */
  gint rate_n, rate_d;         /* exact */
  double frequency, bandwidth; /* Hz; a negative width falls from channel to channel */
  AstroPowerProducts products; /* of power */
  char *telescope, *basis;
  gboolean has_centre;
  double ra, dec; /* degrees */
  gboolean has_start;
  gint64 start_ns;   /* of the first step, since 1970; wide enough until 2262 */
  gint64 first;      /* the number that frames give the first step */
  guint64 steps;     /* in all */
  guint64 grid;      /* steps of frames that all begin at multiples of it; 0: they do not */
  guint64 overlap;   /* steps that a frame of the index shares with the one before, as told */
  GArray *index;     /* of frames, in order of time; NULL: they are parsed as they come */
  gsize frame_bytes; /* where they are parsed: between the headers of two frames */
  guint64 frame_steps;
  guint64 frames_a_second; /* 0: not known yet (timing.c) */
  gpointer room;
  GString *notes;

  /* From the reader: */
  AstroStream stream;
  gboolean is_moved; /* in the stream time is slower than the rows */
  guint n_rows;
  guint64 inner_components;
  gboolean is_turned;             /* frequencies fall in the files */
  AstroRecorderPlace place, seen; /* the next frame to look at, and the first one never seen */
  guint64 next;                   /* the step that place is for */
  gboolean is_sought;             /* frames before it have not been looked at */
  guint8 *scratch;
  gsize scratch_bytes;
  AstroRecordingStats stats;
};

extern const AstroRecorderFormat astro_recorder_vdif, astro_recorder_dada, astro_recorder_guppi,
    astro_recorder_mark5b, astro_recorder_cu8, astro_recorder_sigproc;

AstroRecorderFile *astro_recording_file(const AstroRecording *recording, guint file);

/* Adds a line for the user. */
void astro_recording_add_note(AstroRecording *recording, const char *format, ...)
    G_GNUC_PRINTF(2, 3);

/* The value of a property, of which headers tell (0: nothing) and the user sets (0: nothing).
 * Refused if they differ, unless forced. where: "FILE: NBITS" or the like. */
gboolean astro_recording_agree(const AstroRecording *recording, const char *property,
                               const char *where, double told, double set, double *value,
                               GError **error);
/* The same for whole numbers; 0 is refused, since somebody has to tell. */
gboolean astro_recording_need(const AstroRecording *recording, const char *property,
                              const char *where, guint64 told, guint set, guint *value,
                              GError **error);

/* Sets rate from headers and settings, as an exact fraction. */
gboolean astro_recording_settle_rate(AstroRecording *recording, const char *where, GError **error);
/* The time of a step, in ns, rounded. */
gint64 astro_recording_ns(const AstroRecording *recording, gint64 steps);

/* Axes of a layout, slowest first; those of length 1 may be left out later. */
void astro_recorder_add_axis(AstroLayout *layout, AstroAxis axis, guint64 extent);

/* Sorts an index by time and sets what follows from it: first and steps. Steps that two valid
 * frames of a row have are counted in the earlier one. FALSE: there are no frames. */
gboolean astro_recording_sort(AstroRecording *recording, GError **error);

/* Derives the stream from what the format has filled in. */
gboolean astro_recording_describe(AstroRecording *recording, GError **error);

/* The next frame at or behind a place, which moves behind it. *odd: bytes between that are no
 * frames. FALSE without an error: the end. */
gboolean astro_recording_next(AstroRecording *recording, AstroRecorderPlace *place,
                              AstroRecorderFrame *frame, guint64 *odd, GError **error);
/* A place before all frames that have a step. */
gboolean astro_recording_place(AstroRecording *recording, gint64 step, AstroRecorderPlace *place,
                               GError **error);
/* The last frames of the recording: the end of the latest. */
gboolean astro_recording_last(AstroRecording *recording, gint64 *end, GError **error);

/* The number of the first step of a frame, by its second and its number in it. While
 * frames_a_second is not known, this only keeps the order of time. */
gint64 astro_recording_begin_of(const AstroRecording *recording, gint64 second, guint64 number);
/* Finds out how many frames a second has, from the rate that headers or the user give, or from the
 * numbers that frames have before the second changes; sets rate, first, steps and grid. */
gboolean astro_recording_settle_frames(AstroRecording *recording, GError **error);

/* Frames may be as many places from the order of time as this. */
guint astro_recording_disorder(const AstroRecording *recording);

G_END_DECLS
