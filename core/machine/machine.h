/* A machine as plans see it: what its parts can do at best. It is measured (measure.h), or read
 * from a file that describes it. */
#pragma once

#include "core/backend/work.h"
#include "core/kit/fail.h"

G_BEGIN_DECLS

#define ASTRO_MACHINE_ERROR astro_machine_error_quark()
typedef enum { ASTRO_MACHINE_ERROR_FILE, ASTRO_MACHINE_ERROR_VALUE } AstroMachineError;
GQuark astro_machine_error_quark(void);

/* Processor cores with their memory, or a GPU with its own. */
typedef struct {
  double memory;                          /* bytes */
  double bandwidth;                       /* bytes a second that it reads and writes there */
  double operations[ASTRO_N_ARITHMETICS]; /* a second */
  double power;                           /* watts, at full work */
} AstroMachineUnit;

/* Whatever is not known is 0. */
typedef struct {
  char *name;
  char *source;   /* where the numbers come from */
  double cores;   /* of the host */
  double devices; /* GPUs; 0: the machine has none */
  char *device;   /* their name */
  AstroMachineUnit host, gpu;
  double bus_up, bus_down; /* bytes a second to a GPU, and back */
  double network, disk;    /* bytes a second received, and written */
} AstroMachine;

/* An error names the file, the field, and what was expected. */
AstroMachine *astro_machine_read(const char *path, GError **error);
char *astro_machine_to_text(const AstroMachine *machine);
void astro_machine_free(AstroMachine *machine);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroMachine, astro_machine_free)

G_END_DECLS
