/* Counts the operations of references, in builds for the test of the work that stages tell of
 * (work.h); elsewhere it is nothing. */
#pragma once

#ifdef ASTRO_COUNTS_WORK
extern double astro_counted_operations;
#define ASTRO_COUNT(operations) ((void)(astro_counted_operations += (operations)))
#else
#define ASTRO_COUNT(operations) ((void)0)
#endif
