/* Measures this machine. */
#pragma once

#include "core/backend/device.h"
#include "core/machine/machine.h"

G_BEGIN_DECLS

/* The host, in less than a minute. folder: where files would be written, whose disk is measured
 * with a file that has no name; NULL: the disk is not measured. */
AstroMachine *astro_machine_measure(const char *folder);

/* The parts, in bytes a second; 0 where it cannot be measured. */
double astro_measure_bandwidth(void);
double astro_measure_disk(const char *folder);
double astro_measure_network(void);
/* The fastest instruction of this machine for that kind of number. */
double astro_measure_operations(AstroArithmetic arithmetic);
/* Copies of memory that is page-locked where the device can. 0, with an error, if it fails. */
double astro_measure_bus(AstroDevice *device, AstroCopyDirection direction, GError **error);
/* Copies from one device to another that reaches its memory. */
double astro_measure_across(AstroDevice *from, AstroDevice *to, GError **error);

G_END_DECLS
