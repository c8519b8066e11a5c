/* Finds the bounds of the stages of a plan on a machine. */
#pragma once

#include "core/machine/machine.h"
#include "graphs/plan-shapes.h"

G_BEGIN_DECLS

/* Where a stage's work goes through. */
typedef enum {
  ASTRO_ROOF_ARITHMETIC,
  ASTRO_ROOF_MEMORY,
  ASTRO_ROOF_BUS_UP,
  ASTRO_ROOF_BUS_DOWN,
  ASTRO_N_ROOFS
} AstroRoof;

/* A stage on the machine. Amounts are those of a second of the stream, or of a frame. */
typedef struct {
  const AstroPlanStage *stage;
  gboolean on_device;
  double operations;    /* of all kinds */
  double memory;        /* bytes that it reads and writes where it computes */
  double up, down;      /* bytes on the bus */
  double intensity;     /* operations for a byte of memory */
  AstroRoof roof;       /* that holds it */
  AstroArithmetic kind; /* of most of its operations */
  double seconds;       /* under that roof, at best */
  double energy;        /* joules; 0: the power is not known */
  double host, device;  /* bytes that it takes */
} AstroPlanRow;

/* Parts of a machine that stages share. */
typedef enum {
  ASTRO_PART_HOST,
  ASTRO_PART_DEVICE,
  ASTRO_PART_BUS_UP,
  ASTRO_PART_BUS_DOWN,
  ASTRO_PART_NETWORK,
  ASTRO_PART_DISK,
  ASTRO_N_PARTS
} AstroMachinePart;

typedef struct {
  GArray *rows; /* AstroPlanRow */
  /* How busy each part is with the stream in real time, of streams that have a rate; 1: all the
   * time. Negative: the machine's description does not say how fast that part is. */
  double load[ASTRO_N_PARTS];
  AstroMachinePart bottleneck;
  double host, device; /* bytes that all stages take */
} AstroPlanRoofs;

/* NULL: *trouble says why it cannot run there. */
AstroPlanRoofs *astro_plan_roofs(const AstroPlanShapes *shapes, const AstroMachine *machine,
                                 char **trouble);
void astro_plan_roofs_free(AstroPlanRoofs *roofs);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroPlanRoofs, astro_plan_roofs_free)

/* The stages that the CUDA module has, NULL-terminated: the machine need not be here. */
extern const char *const astro_plan_cuda_stages[];

G_END_DECLS
