/* Finds which source reads an input, by its content. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* A file of an input with files of several kinds. */
typedef struct {
  const char *factory, *about; /* as in AstroOpenFound */
  char *name;
} AstroOpenFile;

/* A source, and what it is to be told. */
typedef struct {
  const char *factory;
  const char *about;     /* what the input is, as "a recording" */
  char *first;           /* the first file, or the address */
  guint n_files;         /* 0: it is no file */
  GArray *mixed;         /* AstroOpenFile: visibilities of several kinds; NULL: all of one kind */
  GPtrArray *properties; /* names and values in turn */
  GstCaps *caps;         /* of samples without a header, which filesrc reads; NULL: others */
  gboolean is_file;      /* with a header, which what the user says must not contradict */
} AstroOpenFound;

/* The user's settings for samples without a header; format is that of a recording too. Without
 * pols they are 2. NULL or empty: not given. */
typedef struct {
  char *format, *stations, *pols, *rate, *frequency, *bandwidth;
} AstroOpenSamples;

void astro_open_found_clear(AstroOpenFound *found);

void astro_open_samples_clear(AstroOpenSamples *samples);

/* An error names the file and tells what it is. */
gboolean astro_open_find(AstroOpenFound *found, const char *input, const AstroOpenSamples *samples,
                         GError **error);

G_END_DECLS
