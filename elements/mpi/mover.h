/* Bonds differ in how a block is moved: by NCCL, or by a copy. For bond.c and the two of them. */
#pragma once

#include "elements/mpi/bond.h"

G_BEGIN_DECLS

typedef struct {
  GstBuffer *buffer;
  gpointer face, owner;
  gpointer own; /* the mover's */
  BondStretch stretch;
  AstroEvent *event; /* the end of what it waits for; NULL: nothing */
  gint64 since;      /* of the stretch */
  guint64 us[BOND_STRETCHES];
} BondBlock;

typedef struct {
  /* id: what the sender's end has told; at the sender's end *id is NULL, and set. */
  gboolean (*open)(Bond *bond, GBytes **id, guint ranks, GError **error);
  void (*close)(Bond *bond);
  /* For the sender: where there is room for the block. NULL with an error, or, without one, if
   * memory for it may not be allocated now (bonds_may_allocate). */
  GBytes *(*tell_room)(Bond *bond, BondBlock *block, GError **error);
  /* Begins with blocks whose turn it is. */
  gboolean (*advance)(Bond *bond, gboolean may_begin, GError **error);
  /* A block has gone, or is there; may be NULL. */
  void (*has_moved)(Bond *bond, BondBlock *block);
} BondMover;

typedef enum { BOND_SENDER, BOND_RECEIVER } BondRole;

struct _Bond {
  const BondMover *mover;
  Way way;
  AstroDevice *device;
  AstroQueue *before, *moves; /* work that comes before; what moves blocks */
  BondRole role;
  guint rank;    /* the other one */
  GQueue heard;  /* GBytes: what the other end has said of blocks that are not begun */
  GQueue blocks; /* BondBlock */
  gpointer own;  /* the mover's; NULL: it is closed */
  gboolean lacks_room;
};

extern const BondMover bond_by_nccl, bond_by_copy;

/* Says it to the other end; takes over the bytes, which may be NULL. */
void bond_say(const Bond *bond, ParcelKind what, GBytes *bytes);
/* Lets the block enter the next stretch of its time. */
void bond_enter(BondBlock *block, BondStretch stretch);
/* The block moves, by what is in the queue. */
gboolean bond_moves(Bond *bond, BondBlock *block, GError **error);

G_END_DECLS
