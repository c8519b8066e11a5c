/* Makes and frees parcels. */
#include "elements/mpi/parcel.h"

Parcel *parcel_new(ParcelKind kind, guint rank, guint64 key, GBytes *head, GstBuffer *body)
{
  Parcel *parcel = g_new(Parcel, 1);
  *parcel = (Parcel){ kind, rank, key, head, body, WAY_MPI };
  return parcel;
}

void parcel_free(Parcel *parcel)
{
  g_clear_pointer(&parcel->head, g_bytes_unref);
  gst_clear_buffer(&parcel->body);
  g_free(parcel);
}
