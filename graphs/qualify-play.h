/* Plays pipelines inside this process. */
#pragma once

#include "core/stream/stream.h"

G_BEGIN_DECLS

/* Says where to look while a pipeline plays. */
typedef struct {
  const char *element, *pad; /* where blocks are looked at: the element's name, and "src" */
  GstPadProbeCallback probe;
  void (*hear)(GstMessage *message, gpointer data);   /* element messages; NULL: nobody does */
  void (*start)(GstElement *pipeline, gpointer data); /* before it plays; NULL: nothing */
  void (*end)(GstElement *pipeline, gpointer data);   /* once it is done; NULL: nothing */
  gpointer data;
} AstroQualifyPlay;

/* Plays it to its end. Returns NULL, or what went wrong. */
char *astro_qualify_play(const char *line, const AstroQualifyPlay *play);

typedef struct {
  AstroFormat format; /* of the values */
  GByteArray *values; /* of all blocks */
  GArray *counts;     /* guint32: of good samples */
  GArray *told;       /* double: candidates of pulses */
} AstroQualifyOutput;

/* Plays a line whose sink is named end, and keeps what comes there; cleared also after trouble. */
char *astro_qualify_collect(const char *line, AstroQualifyOutput *output);
void astro_qualify_output_clear(AstroQualifyOutput *output);

G_END_DECLS
