/* Timed work: the energy that it takes, where counters can be read, and its rate. */
#pragma once

#include "graphs/qualify-result.h"

G_BEGIN_DECLS

/* Times for which a stage that falls short is timed: the machine may be busy with something else,
 * but a slow kernel is slow each time. */
#define ASTRO_QUALIFY_ROUNDS 3

typedef struct _AstroUsage AstroQualifyMeter;

AstroQualifyMeter *astro_qualify_meter_start(void);
/* ", 0.12 J of package-0" for each of so many runs, or "", to be freed; the meter is gone. */
char *astro_qualify_meter_stop(AstroQualifyMeter *meter, guint runs);
/* Why there is no counter for the CPU or for a GPU; NULL: there is one for either. To be freed. */
char *astro_qualify_meter_lacks(void);

/* Judges a rate by the seconds taken and those that the machine allows, of which at least the part
 * `least` is asked for. A call or a pipeline takes up to `overhead` seconds whatever its work:
 * where that may be all, the rate is not told, and the remark says so. */
void astro_qualify_judge_rate(AstroQualifyResult *result, double seconds, double bound,
                              double least, double overhead);

/* For times of runs that are to be sorted. */
int astro_qualify_compare_doubles(gconstpointer a, gconstpointer b);

G_END_DECLS
