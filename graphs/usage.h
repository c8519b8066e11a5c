/* The memory, threads, files and energy that a run takes from the machine. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct {
  char *name;    /* "package-0", "gpu-0" */
  char *model;   /* of a GPU; else NULL */
  double joules; /* since the beginning */
  double watts;  /* over the last second or more; negative: not known yet */
} AstroEnergy;

typedef struct {
  guint64 memory; /* resident bytes */
  guint64 threads, files;
  double cpu_seconds;
  const GArray *energies; /* AstroEnergy, of what this user may read, whoever makes use of it */
  const char *no_gpus;    /* why none of them is a GPU; NULL: some are */
} AstroUsageTold;

typedef struct _AstroUsage AstroUsage;

/* powercap: the folder of energy counters, for tests; NULL: the machine's. */
AstroUsage *astro_usage_new(const char *powercap);
/* Has to be called every few minutes, since energy counters wrap. */
AstroUsageTold astro_usage_read(AstroUsage *usage);
void astro_usage_free(AstroUsage *usage);

G_END_DECLS
