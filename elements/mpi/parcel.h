/* A parcel: what one rank sends to another at once. */
#pragma once

#include "elements/mpi/way.h"

G_BEGIN_DECLS

typedef enum {
  PARCEL_HELLO, /* this rank has an element of that name, too: its settings */
  PARCEL_ITEM,  /* an event or buffer (core/ranks/item.h) */
  PARCEL_LAST,  /* the same, with EOS */
  PARCEL_ACK,   /* an item was taken */
  PARCEL_LEFT,  /* this rank takes part no more: why */
  PARCEL_FACTS, /* which ways bodies can go to this rank (elements/mpi/way.h) */
  PARCEL_TRIAL, /* a body that is of no other use, by a way that is tried (elements/mpi/trial.h) */
  PARCEL_TRIED, /* what is wrong with a way on this rank; empty: bodies of all others have come */
  PARCEL_BOND,  /* what the other end of a bond has to know (elements/mpi/bond.h) */
  PARCEL_READY, /* there is room for the next body of a bond */
  PARCEL_GO,    /* it is sent now, or there */
} ParcelKind;

typedef struct {
  ParcelKind kind;
  guint rank;  /* the other one */
  guint64 key; /* of the link that it belongs to, or the way */
  GBytes *head;
  GstBuffer *body; /* NULL: none */
  Way way;         /* that the body goes */
} Parcel;

/* Takes over head and body. */
Parcel *parcel_new(ParcelKind kind, guint rank, guint64 key, GBytes *head, GstBuffer *body);
void parcel_free(Parcel *parcel);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Parcel, parcel_free)

G_END_DECLS
