/* Private to files.c: join.c decides whether files belong together and describes the stream that
 * they make, stations.c numbers the stations of all, join-earth.c puts the orientations of the
 * Earth together, place.c puts an integration of a file into one of the stream. */
#pragma once

#include "core/lib/rows/files.h"
#include "core/lib/rows/rows.h"

G_BEGIN_DECLS

typedef struct {
  char *name;
  const AstroRowReaderKind *kind;
  gpointer reader;
  const AstroRowContents *contents;
  gint64 later_ns;   /* from the start of the stream's observation to that of the file's */
  guint *station_of; /* the number in the stream of each of its stations */
  gboolean is_same;  /* both have the same stations in the same order */
} AstroRowFile;

/* The files are in order of time. Sets what they have of the stream, and describes it. */
gboolean astro_row_files_join(AstroRowFile *files, guint n, AstroRowContents *joined,
                              GError **error);

/* Gives the observation the stations of all files. Equal names at one place are one station. */
void astro_row_files_number(AstroRowFile *files, guint n, AstroObservation *observation);

/* Gives the observation the Earth orientations of all files' days. */
gboolean astro_row_files_join_earth(const AstroRowFile *files, guint n,
                                    AstroObservation *observation, GError **error);

/* Where astro_row_place puts the integration that `from` holds, all of whose values are there. */
void astro_row_place(const AstroRowFile *file, const AstroStream *stream, const AstroRowFrame *from,
                     AstroRowFrame *to);

G_END_DECLS
