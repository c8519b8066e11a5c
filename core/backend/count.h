/* Counts the operations of references, and the bytes that they read and write besides blocks, in
 * builds for the test of the work that stages tell of (work.h); elsewhere it is nothing. */
#pragma once

#ifdef ASTRO_COUNTS_WORK
extern double astro_counted_operations;
extern double astro_counted_bytes;
#define ASTRO_COUNT(operations) ((void)(astro_counted_operations += (operations)))
#define ASTRO_COUNT_BYTES(bytes) ((void)(astro_counted_bytes += (double)(bytes)))
#else
#define ASTRO_COUNT(operations) ((void)0)
#define ASTRO_COUNT_BYTES(bytes) ((void)0)
#endif
